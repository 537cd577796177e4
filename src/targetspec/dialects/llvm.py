"""LLVM's own way: a triple, and the options of its tools.

    x86_64-unknown-linux-gnu -mcpu=znver3 -mattr=+vaes,-pku -mtune=znver4 -mabi=... -mfloat-abi=hard

    clang --target=aarch64-linux-gnu -mcpu=cortex-a710 -O2 a.c       aarch64-linux-gnu-clang -msve-vector-bits=256

In any order, with one dash or two. The triple may also come as `-mtriple=T`, `--target=T`, `-target T` or
`-triple T`. Clang's `-march=` is the CPU on x86, and what `dialects/march.py` reads elsewhere: an architecture of Arm or
an ISA string of RISC-V; its `-mcpu=X+ext+noext`, `-mfpu=` and `-mthumb` are read as well. `-mattr` may be repeated; its names change the CPU's set all at
once; clang's `-mNAME` and `-mno-NAME` say the same one by one (`dialects/clang_options.py`). Every option that is about the machine must be
known, for it would change the target; every other option is a leftover, and so is a word behind one that is no triple.
Behind a program of LLVM's, which is the first leftover, words without a dash are files, and no triples.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

import attrs

from targetspec import cpu as facts
from targetspec import registry
from targetspec.dialects import clang_options
from targetspec.dialects.deltas import delta_of, stated_fields
from targetspec.dialects.llvm_target import SOFT_FLOAT, target_of
from targetspec.dialects.words import Source, Word, split_words
from targetspec.errors import NotRepresentableError, TargetspecError, TargetSyntaxError, nearest
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import ground_of
from targetspec.parsing import Parsed
from targetspec.programs import clang_of
from targetspec.target import Target
from targetspec.triple import Triple
from targetspec.triple_archs import known_arch

NAME = "llvm"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*"
    r"(?:-[^\u0000]*|[A-Za-z0-9_.+/\\:-]+(?:[\s\u001c-\u001f\u0085][^\u0000]*)?)$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema: the leftovers may be anything."""

_FIELDS = {
    "mtriple": "triple",
    "triple": "triple",
    "target": "triple",
    "mcpu": "cpu",
    "march": "march",
    "mtune": "tune",
    "mattr": "features",
    "mabi": "abi",
    "target-abi": "abi",
    "mfloat-abi": "float_abi",
    "float-abi": "float_abi",
    "mfpu": "fpu",
    "msve-vector-bits": "vector_bits",
    "target-cpu": "cpu",
    "tune-cpu": "tune",
    "target-feature": "features",
}
_FLAGS = {"mthumb": "thumb", "marm": "arm"}
_OPTIONS = {"cpu": "-mcpu=", "tune": "-mtune=", "abi": "-mabi=", "float_abi": "-mfloat-abi="}
_MIPS = re.compile(r"mips(?:[1-5]|(?:32|64)(?:r[2356])?)")
# Of the words that may be the triple or the argument of the option before, how many are looked at.
_MOST_DOUBTFUL = 100
_LONGEST_KEPT = 100


@attrs.define
class _Stated:
    """What the words state: a place for each field, all `-mattr` items, `-mNAME` as a signed name, and the leftovers."""

    places: dict[str, Word] = attrs.Factory(dict)
    items: list[Word] = attrs.Factory(list)
    options: list[Word] = attrs.Factory(list)
    leftovers: list[str] = attrs.Factory(list)
    doubtful: int = 0


def parse(text: str) -> Parsed:
    """Read a CPU target; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    stated = _sorted_words(source)
    fields, base = _settled(source, stated.places)
    items = stated.items
    if stated.options:
        family = _family_of(source, stated.places, fields)
        items = [*items, *(item for option in stated.options for item in _meant_by(source, family, option))]
    target = target_of(source, stated.places, fields, base, items)
    return Parsed(target, tuple(stated.leftovers), NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the options that say a CPU target; NotRepresentableError for what has none, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise NotRepresentableError(NAME, (("kind", f"{target.kind}: only a cpu target has options"),))
    unfit: list[tuple[str, str]] = []
    words = list(_words(target, unfit))
    if not words:
        unfit.append(("triple", "not stated, and neither is anything else that has an option"))
    if unfit and not (lossy and words):
        raise NotRepresentableError(NAME, tuple(unfit))
    return " ".join(words)


def format_parsed(parsed: Parsed) -> str:
    """Return the text of the target and the leftovers; behind a program the triple is an option."""
    text = format(parsed.target)
    if not parsed.leftovers or clang_of(parsed.leftovers[0]) is None:
        return " ".join((text, *parsed.leftovers))
    program, *others = parsed.leftovers
    return " ".join((program, text if text.startswith("-") else f"--target={text}", *others))


# -- reading ------------------------------------------------------------------------------------------


def _sorted_words(source: Source) -> _Stated:
    stated = _Stated()
    words, is_command = _behind_program(source, stated)
    free = False
    for word in words:
        if not word.text.startswith("-"):
            if is_command:
                stated.leftovers.append(word.text)
                continue
            _take_bare(source, stated, word, free)
            free = False
            continue
        name, field, start = _option(word.text) if len(word.text) <= _LONGEST_KEPT else _split(word.text)
        value = word.after(start) if start else None
        if name in _FLAGS and not start:
            _state(source, stated, _FLAGS[name], word)
        elif field is None and name.startswith("m") and not clang_options.is_of_code(name):
            _take_feature(source, stated, word, name, value)
        elif field is None:
            stated.leftovers.append(word.text)
        else:
            _state(source, stated, field, value or _next(source, words, word, field))
        free = field is None and not start
    if "triple" in stated.places:
        _refuse_cpu(source, stated.places["triple"])
    if not (stated.places or stated.items or stated.options):
        hint = "state a triple or a CPU: x86_64-linux-gnu, -mcpu=cortex-a53"
        raise source.fault(None, "nothing here says what the target is", hint)
    return stated


def _behind_program(source: Source, stated: _Stated) -> tuple[Iterator[Word], bool]:
    """Return the words behind a program of LLVM's, and whether the text begins with one."""
    words = split_words(source.text)
    found = clang_of(words[0].text) if words and len(words[0].text) <= _LONGEST_KEPT else None
    if found is None:
        return iter(words), False
    program, triple, start = found
    stated.leftovers.append(program)
    if triple:
        _state(source, stated, "triple", Word(triple, words[0].start + start))
    return iter(words[1:]), True


def _split(text: str) -> tuple[str, str | None, int]:
    """Return the name of an option, the field that it states, and where its value begins, 0 where it has none."""
    name, equals, _ = text.lstrip("-").partition("=")
    return name, _FIELDS.get(name), text.index("=") + 1 if equals else 0


_option = functools.lru_cache(maxsize=1024)(_split)


def _feature_option(source: Source, word: Word, name: str, value: Word | None) -> Word:
    """Return the signed name of `-mNAME` or `-mno-NAME`, which waits for the architecture that tells what it means."""
    if value is not None:
        raise _unknown_option(source, word, name)
    refused = name.startswith("mno-")
    plain = word.after(word.text.index(name) + (4 if refused else 1))
    # The sign stands in the place of the letter before the name.
    return Word(f"{'-' if refused else '+'}{plain.text}", plain.start - 1)


def _take_feature(source: Source, stated: _Stated, word: Word, name: str, value: Word | None) -> None:
    if value is None and _MIPS.fullmatch(name):
        _state(source, stated, "march", word.after(word.text.index(name)))
    else:
        stated.options.append(_feature_option(source, word, name, value))


def _family_of(source: Source, places: dict[str, Word], fields: dict[str, Any]) -> str | None:
    """Return the family of what is stated; None where nothing says it."""

    def found() -> str | None:
        triple = fields.get("triple")
        return ground_of(Triple.parse(triple) if type(triple) is str else triple, fields.get("cpu")).family

    return cast("str | None", source.reading(places, found))


def _unknown_option(source: Source, word: Word, name: str) -> TargetSyntaxError:
    near = _near_options(name)
    hint = f"did you mean {' or '.join(f'-{option}=' for option in near)}?" if near else ""
    return source.fault(word, f"unknown option {word.text!r} about the machine", hint)


def _meant_by(source: Source, family: str | None, option: Word) -> Iterable[Word]:
    """Return the items of `-mattr` that an option stands for; one that is nearly a known option is refused as that."""
    items = clang_options.items_of(family, option) if family else None
    if items is not None:
        return cast("Iterable[Word]", items)
    name = f"m{'no-' if option.text[0] == '-' else ''}{option.text[1:]}"
    if _near_options(name):
        at = option.start - name.index(option.text[1:])
        raise _unknown_option(source, Word(f"-{name}", max(at, 0)), name)
    return (option,)


@functools.lru_cache(maxsize=256)
def _near_options(name: str) -> tuple[str, ...]:
    return nearest(name, _FIELDS)


def _next(source: Source, words: Iterator[Word], option: Word, field: str) -> Word:
    value = next(words, None)
    # What is given to the front end alone comes as -Xclang -target-feature -Xclang -avx2.
    if value is not None and value.text == "-Xclang":
        value = next(words, None)
    if value is None or (value.text.startswith("-") and field != "features"):
        raise source.fault(option, f"{option.text} has no value", f"write {option.text}=VALUE")
    return value


def _take_bare(source: Source, stated: _Stated, word: Word, free: bool) -> None:
    """Take a word without a dash for the triple, or for the argument of the unknown option before it."""
    stated.doubtful += free
    many = stated.doubtful > _MOST_DOUBTFUL
    if free and (many or "triple" in stated.places or not _is_triple(word.text)):
        stated.leftovers.append(word.text)
        return
    if "=" in word.text:
        raise source.fault(
            word,
            f"{word.text!r} is neither a triple nor an option",
            "an option begins with -, and our own form with its kind: cpu triple=...",
        )
    _state(source, stated, "triple", word)


def _refuse_cpu(source: Source, word: Word) -> None:
    """Refuse the name of a CPU, also as zig writes it, where a triple should be."""
    name = word.text.replace("_", "-")
    if known_arch(word.text.partition("-")[0].lower()) is None and facts.families_of_cpu(name):
        message = f"{word.text!r} is a CPU, and no triple"
        raise source.fault(word, message, f"state a triple and -mcpu={name}, or -mcpu={name} alone")


def _is_triple(text: str) -> bool:
    # Most words are none, and the error that says so looks for names that are near.
    if known_arch(text.partition("-")[0].lower()) is None:
        return False
    try:
        Triple.parse(text)
    except TargetspecError:
        return False
    return True


def _state(source: Source, stated: _Stated, field: str, value: Word) -> None:
    if not value.text:
        raise source.fault(value, "the option has no value", "leave it out where nothing is stated")
    if field == "features":
        stated.items.extend(_items(source, value))
        return
    if field in stated.places:
        first = stated.places[field].text
        raise source.fault(
            value, f"the {field} is stated twice, as {first!r} and {value.text!r}", "state it once"
        )
    if value.text == "native" and field != "triple":
        hint = "the text 'native' is this machine, with the features it really has"
        raise source.fault(value, "'native' names no CPU: it means another one on each machine", hint)
    stated.places[field] = value


def _items(source: Source, value: Word) -> Iterator[Word]:
    for item in value.items():
        if len(item.text) < 2 or item.text[0] not in "+-":  # noqa: PLR2004 - a sign and a name
            raise source.fault(
                item, "a feature of -mattr is +name or -name", f"write +{item.text.lstrip('+-') or 'NAME'}"
            )
        yield item


def _settled(source: Source, places: dict[str, Word]) -> tuple[dict[str, Any], FeatureSet | None]:
    """Return the fields that the places state, and the set that features change where it is not the CPU's."""
    if "vector_bits" in places:
        bits = clang_options.vector_bits(source, places["vector_bits"])
        fields, base = _settled(
            source, {name: word for name, word in places.items() if name != "vector_bits"}
        )
        return {**fields, "vector_bits": bits}, base
    cpu, march = places.get("cpu"), places.get("march")
    if not places.keys().isdisjoint(("fpu", "thumb", "arm")) or (
        cpu is not None and ("+" in cpu.text or not cpu.text.islower())
    ):
        return _more(source, places)
    if march is None:
        return {field: word.text for field, word in places.items()}, None
    if not _is_for_x86(source, places, march):
        return _more(source, places)
    if cpu is not None and cpu.text != march.text:
        raise source.fault(march, f"-march and -mcpu name two CPUs, {march.text!r} and {cpu.text!r}")
    fields = {field: word.text for field, word in places.items() if field != "march"}
    return {**fields, "cpu": march.text}, None


def _more(source: Source, places: dict[str, Word]) -> tuple[dict[str, Any], FeatureSet | None]:
    # Arm's and RISC-V's options need modules and tables that no other text should pay for.
    machine = registry.layer_above("dialects.march").read(source, places)
    return machine.fields, machine.features


def _is_for_x86(source: Source, places: dict[str, Word], march: Word) -> bool:
    if "triple" not in places:
        return "x86" in facts.families_of_cpu(march.text)
    triple: Triple = source.reading(places, lambda: Triple.parse(places["triple"].text))
    return triple.family == "x86"


# -- writing ------------------------------------------------------------------------------------------


def _words(target: CpuTarget, unfit: list[tuple[str, str]]) -> Iterator[str]:
    """Give the words; what has none goes to `unfit`."""
    stated = dict(stated_fields(target))
    if target.triple is not None:
        yield str(target.triple)
    for name, option in _OPTIONS.items():
        if name in stated:
            yield f"{option}{stated.pop(name)}"
    signs = list(_signs(target, unfit))
    if signs:
        yield f"-mattr={','.join(signs)}"
    if target.family == "aarch64" and "vector_bits" in stated:
        yield f"-msve-vector-bits={stated.pop('vector_bits')}"
    for name in ("triple", "features", "tuning", "restrictions"):
        stated.pop(name, None)
    unfit.extend((name, "LLVM's tools have no option for it") for name in stated)


def _signs(target: CpuTarget, unfit: list[tuple[str, str]]) -> Iterator[str]:
    delta = delta_of(target)
    if delta is None:
        unfit.append(("features", "no change of a CPU's set gives them"))
    elif f"+{SOFT_FLOAT}" in delta or f"-{SOFT_FLOAT}" in delta:
        unfit.append(("features", f"{SOFT_FLOAT} is read as the field float_abi"))
    yield from delta or ()
    yield from sorted(target.tuning)
    yield from (f"+{name}" for name in sorted(target.restrictions))
