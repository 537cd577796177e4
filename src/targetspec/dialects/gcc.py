"""GCC's options of a target, behind a driver's name, a triple, or neither.

    text   = [driver | triple] { option }
    driver = [triple "-"] ("gcc" | "g++" | ...) ["-" version], a path in front
    option = "-march=" | "-mcpu=" | "-mtune=" | "-mabi=" | "-mfpu=" | "-mfloat-abi=" NAME
           | "-m" FEATURE | "-mno-" FEATURE | "-m32" | "-m64" | "-mx32" | "-mthumb" | "-mbig-endian" ...

    x86_64-linux-gnu-gcc -march=haswell -mno-fma -O2

CPUs and features go by GCC's names. What they mean is what LLVM has under its own; what GCC has and LLVM does not is
refused. One departure of GCC's: an architecture of 32-bit Arm has no FPU until `+fp`, `+simd` or -mfpu= states one. All
other words are leftovers. Source: the manual of GCC 14, "Machine-Dependent Options".
"""

from __future__ import annotations

from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.dialects import llvm, march
from targetspec.dialects.clang_options import vector_bits
from targetspec.dialects.gcc_names import (
    CPUS,
    DRIVER,
    ENDIAN_OPTIONS,
    ENDIANNESS,
    GCC_ONLY_CPUS,
    GCC_ONLY_FEATURES,
    GROUPS,
    LONG_DOUBLE_ABIS,
    LONG_DOUBLES,
    MIPS_ABIS,
    NO_FLOAT,
    WIDTHS,
    leftovers,
)
from targetspec.dialects.gcc_writing import written
from targetspec.dialects.llvm_target import target_of
from targetspec.dialects.words import Source, Word, split_words
from targetspec.errors import NotRepresentableError, TargetspecError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import ground_of
from targetspec.parsing import Parsed
from targetspec.target import Target
from targetspec.triple import Triple

NAME = "gcc"
PATTERN = llvm.PATTERN
"""What every text matches that is read here, as a regular expression of JSON Schema: the leftovers may be anything."""

_VALUES = {
    "march": "march",
    "mcpu": "cpu",
    "mtune": "tune",
    "mabi": "abi",
    "mfpu": "fpu",
    "mfloat-abi": "float_abi",
    "msve-vector-bits": "vector_bits",
    "-target": "triple",
}
_FLAGS = {"mthumb": "thumb", "marm": "arm"}
_WIDTH_OPTIONS = ("-m32", "-m64", "-mx32")
_SOFTNESS = {"msoft-float": "soft", "mhard-float": "hard"}
_NAMES = ("march", "cpu", "tune")
# Looking for what may be meant takes a while.
_MOST_UNKNOWN = 16


@attrs.define
class _Words:
    """What the words state, sorted: named places, features by GCC's names, and the leftovers."""

    places: dict[str, Word] = attrs.Factory(dict)
    features: list[Word] = attrs.Factory(list)
    leftovers: list[str] = attrs.Factory(list)
    unknown: int = 0


def parse(text: str) -> Parsed:
    """Read a CPU target; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    words = _sorted_words(source)
    places = {name: word for name, word in words.places.items() if name not in ("width", "endian")}
    if not words.places and not words.features:
        hint = "state a triple, a driver or an option: x86_64-linux-gnu-gcc, -march=haswell"
        raise source.fault(None, "nothing here says what the target is", hint)
    target = source.reading({**words.places, "features": Word("", 0)}, lambda: _target(source, words, places))
    return Parsed(target, tuple(words.leftovers), NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return GCC's options for a CPU target; NotRepresentableError for what has none, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise NotRepresentableError(NAME, (("kind", f"{target.kind}: only a cpu target has options"),))
    unfit: list[tuple[str, str]] = []
    words = list(written(target, unfit))
    text = " ".join(words)
    if not words:
        unfit.append(("triple", "not stated, and neither is anything else that has an option"))
    elif not unfit and not _reads_back(text, target):
        unfit.append(("features", "GCC's options would be read otherwise"))
    if unfit and not (lossy and words):
        raise NotRepresentableError(NAME, tuple(unfit))
    return text


def _reads_back(text: str, target: CpuTarget) -> bool:
    try:
        return parse(text).target == target
    except TargetspecError:
        return False


# -- the words ----------------------------------------------------------------------------------------


def _sorted_words(source: Source) -> _Words:
    words = _Words()
    for index, word in enumerate(split_words(source.text)):
        if word.text.startswith("-"):
            _take_option(source, words, word)
        elif index == 0:
            _take_first(source, words, word)
        else:
            words.leftovers.append(word.text)
    return words


def _take_first(source: Source, words: _Words, word: Word) -> None:
    driver = DRIVER.fullmatch(word.text)
    if driver is None:
        _state(source, words, "triple", word)
    elif driver["triple"]:
        _state(source, words, "triple", Word(driver["triple"], word.start + driver.start("triple")))


def _take_option(source: Source, words: _Words, word: Word) -> None:
    name, equals, _ = word.text[1:].partition("=")
    if equals and name in _VALUES:
        _state(source, words, _VALUES[name], word.after(len(name) + 2))
    elif equals or (name[:1] != "m" and word.text not in ENDIAN_OPTIONS):
        _check_value(source, word, name, equals)
        words.leftovers.append(word.text)
    elif name in _VALUES:
        raise source.fault(word, f"{word.text} has no value", f"write {word.text}=VALUE")
    elif name in _FLAGS:
        _state(source, words, _FLAGS[name], word)
    elif word.text in _WIDTH_OPTIONS:
        _state(source, words, "width", word)
    elif word.text in ENDIAN_OPTIONS:
        _state(source, words, "endian", word)
    else:
        _take_flag(source, words, word, name[1:])


def _check_value(source: Source, word: Word, name: str, equals: str) -> None:
    """Refuse what is nearly one of the options that are read."""
    if not equals:
        return
    close = [one for one in _VALUES if abs(len(one) - len(name)) <= 1 and one[:3] == name[:3]]
    near = nearest(name, close) if close else ()
    if near:
        raise source.fault(word, f"unknown option {word.text[:80]!r}", f"did you mean -{near[0]}=?")


def _take_flag(source: Source, words: _Words, word: Word, name: str) -> None:
    if f"m{name}" in _SOFTNESS:
        _state(source, words, "float_abi", Word(_SOFTNESS[f"m{name}"], word.start))
    elif name in LONG_DOUBLES:
        _state(source, words, "long_double", Word(LONG_DOUBLES[name], word.start))
    elif name.removeprefix("no-") in leftovers():
        words.leftovers.append(word.text)
    else:
        words.features.append(word)


def _state(source: Source, words: _Words, place: str, value: Word) -> None:
    if not value.text:
        raise source.fault(value, "the option has no value", "leave it out where nothing is stated")
    first = words.places.get(place)
    if first is not None and first.text != value.text:
        message = f"the {place} is stated twice, as {first.text!r} and {value.text!r}"
        raise source.fault(value, message, "state it once")
    if place in _NAMES:
        if value.text == "native":
            hint = "the text 'native' is this machine, with the features it really has"
            raise source.fault(value, "'native' names no CPU: it means another one on each machine", hint)
        if value.text in GCC_ONLY_CPUS:
            hint = f"the nearest that it has is {GCC_ONLY_CPUS[value.text]}"
            raise source.fault(value, f"LLVM has no CPU {value.text!r}", hint)
        value = Word(CPUS.get(value.text, value.text), value.start)
    words.places[place] = value


# -- the target ---------------------------------------------------------------------------------------


def _target(source: Source, words: _Words, places: dict[str, Word]) -> CpuTarget:
    places = _with_triple(source, words, places)
    _check_cpu(source, places)
    more: dict[str, Word] = {
        name: places.pop(name) for name in ("vector_bits", "long_double") if name in places
    }
    machine = march.read(source, _with_abi(source, places, more), gcc=True)
    fields = dict(machine.fields)
    fields.update(_numbers(source, more))
    family = ground_of(fields.get("triple"), fields.get("cpu")).family
    items = [item for word in words.features for item in _items(source, words, family, word)]
    return target_of(source, words.places, fields, machine.features, items)


def _with_triple(source: Source, words: _Words, places: dict[str, Word]) -> dict[str, Word]:
    """Return the places with the width and the byte order moved into the triple."""
    changes = [words.places[name] for name in ("width", "endian") if name in words.places]
    if not changes:
        return places
    if "triple" not in places:
        raise source.fault(changes[0], f"{changes[0].text} changes a triple, and none is stated", "state it")
    word = places["triple"]
    triple = Triple.parse(word.text)
    for change in changes:
        triple = _changed(source, triple, change)
    return {**places, "triple": Word(str(triple), word.start)}


def _changed(source: Source, triple: Triple, change: Word) -> Triple:
    if change.text == "-mx32":
        environment = {"gnu": "gnux32", "musl": "muslx32"}.get(triple.environment)
        if triple.arch != "x86_64" or environment is None:
            raise source.fault(change, f"{triple} has no x32", "x86_64-linux-gnu has")
        return attrs.evolve(triple, environment=environment)
    if change.text in ENDIAN_OPTIONS:
        wanted = ENDIAN_OPTIONS[change.text]
        if triple.endianness == wanted:
            return triple
        arch = ENDIANNESS[wanted].get(triple.arch)
    else:
        arch = WIDTHS.get((triple.arch, change.text[2:]))
        if arch == triple.arch:
            return triple
    if arch is None:
        raise source.fault(change, f"{triple.arch_name} has no {change.text}")
    sub_arch = "" if triple.family == "x86" else triple.sub_arch
    return attrs.evolve(triple, arch=arch, sub_arch=sub_arch)


def _check_cpu(source: Source, places: dict[str, Word]) -> None:
    if "cpu" not in places:
        return
    triple = places.get("triple")
    family = Triple.parse(triple.text).family if triple else None
    if family == "x86" or (family is None and facts.families_of_cpu(places["cpu"].text) == ("x86",)):
        raise source.fault(places["cpu"], "-mcpu is no option of x86", "state -march= or -mtune=")


def _with_abi(source: Source, places: dict[str, Word], more: dict[str, Word]) -> dict[str, Word]:
    """Return the places with -mabi under LLVM's name; the format of long double is another field."""
    abi = places.get("abi")
    if abi is None:
        return places
    rest = {name: word for name, word in places.items() if name != "abi"}
    if abi.text in LONG_DOUBLE_ABIS:
        more["long_double"] = Word(LONG_DOUBLE_ABIS[abi.text], abi.start)
        return rest
    family = Triple.parse(places["triple"].text).family if "triple" in places else None
    if family == "aarch64" and abi.text in ("lp64", "ilp32"):
        if abi.text == "ilp32":
            raise source.fault(abi, "ilp32 is another triple", "state aarch64-linux-gnu_ilp32")
        return rest
    name = MIPS_ABIS.get(abi.text, abi.text) if family == "mips" else abi.text
    return {**rest, "abi": Word(name, abi.start)}


def _numbers(source: Source, more: dict[str, Word]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "long_double" in more:
        fields["long_double"] = more["long_double"].text
    bits = more.get("vector_bits")
    if bits is not None:
        fields["vector_bits"] = vector_bits(source, bits)
    return fields


def _items(source: Source, words: _Words, family: str | None, word: Word) -> list[Word]:
    """Return the features that an option -mNAME asks for or refuses, signed, by LLVM's names."""
    name = word.text[2:]
    sign = "-" if name.startswith("no-") else "+"
    plain = name.removeprefix("no-")
    if family is None:
        hint = "state the triple, or a CPU that only one architecture has"
        raise source.fault(word, f"{word.text} means nothing without an architecture", hint)
    if plain == "general-regs-only":
        return [Word(f"-{one}", word.start) for one in NO_FLOAT.get(family, ())]
    if plain == "unaligned-access":
        return [Word("+strict-align", word.start)] if sign == "-" else []
    names = GROUPS.get((family, sign + plain)) or _feature(source, words, family, word, plain)
    # The sign stands in the place of the letter before the name.
    return [Word(sign + one, word.start + len(word.text) - len(plain) - 1) for one in names]


def _feature(source: Source, words: _Words, family: str, word: Word, name: str) -> tuple[str, ...]:
    nearby = GCC_ONLY_FEATURES.get(family, {}).get(name)
    if nearby is not None:
        raise source.fault(
            word, f"LLVM has no feature {name!r} of {family}", f"the nearest that it has is {nearby}"
        )
    found = facts.feature_alias(family, name, "gcc")
    if found is not None and not name.startswith(("v8", "v9", "armv")):
        return (found,)
    near = _near(source, words, family, word, name)
    if near:
        hint = f"did you mean {' or '.join(f'-m{one}' for one in near)}?"
        raise source.fault(word, f"LLVM has no feature {name!r} of {family}", hint)
    words.leftovers.append(word.text)
    return ()


def _near(source: Source, words: _Words, family: str, word: Word, name: str) -> tuple[str, ...]:
    """Return the features that are called nearly so; a text has only so many options that are not known."""
    words.unknown += 1
    if words.unknown > _MOST_UNKNOWN:
        raise source.fault(word, f"this is the {words.unknown}th option -m that is not known")
    close = [one for one in facts.feature_names(family) if one[:1] == name[:1]]
    return nearest(name, close)
