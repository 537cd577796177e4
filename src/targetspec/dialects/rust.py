"""rustc's own way: the name of a target, and the flags that change what it says.

    x86_64-unknown-linux-gnu -C target-cpu=znver3 -C target-feature=+vaes,-pku -Z tune-cpu=znver4

The name is one of rustc's (`rust_names`), also as `--target NAME`, and comes with what rustc states of it: the
CPU, features, ABI, and whether the C library is linked statically. `-C`, also `--codegen`, takes its value as the next
word or joined; of the flags only the three above are about the machine, and `+crt-static` among the features links
the C library statically. Every other word is a leftover, and behind `rustc` or `cargo build` so is one without a dash. A text that begins with `{` is a target specification
(`rust_json`).

Source: the rustc book, and rustc 1.95.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import attrs

from targetspec import programs
from targetspec.dialects.rust_features import changed, difference, has_soft_float, made
from targetspec.dialects.rust_json import parse_specification
from targetspec.dialects.rust_names import RENAMED, VARIANTS, names_with, rust_facts, rust_names
from targetspec.dialects.words import Source, Word, split_words
from targetspec.errors import NotRepresentableError, UnknownNameError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target
from targetspec.triple import Triple

NAME = "rust"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*(?:[{-][^\u0000]*|[A-Za-z0-9_.+/\\:-]+(?:[\s\u001c-\u001f\u0085][^\u0000]*)?)$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_PREFIXES = {"-C": "C", "--codegen": "C", "-Z": "Z"}
_ABOUT_THE_MACHINE = {"C target-cpu": "cpu", "C target-feature": "features", "Z tune-cpu": "tune"}
_SIGN_AND_NAME = 2


@attrs.define
class _Stated:
    """What the words state: the name, a place for each field, the features in order, and the leftovers."""

    places: dict[str, Word] = attrs.Factory(dict)
    items: list[Word] = attrs.Factory(list)
    leftovers: list[str] = attrs.Factory(list)


def parse(text: str) -> Parsed:
    """Read a target; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    if text.lstrip().startswith("{"):
        target, leftovers = parse_specification(source)
        return Parsed(target, leftovers, NAME)
    stated = _sorted_words(source)
    name, options = _known(source, stated.places["name"])
    return Parsed(_target(source, name, stated), (*options, *stated.leftovers), NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the name and flags that say a CPU target; NotRepresentableError for what has none, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise NotRepresentableError(NAME, (("kind", f"{target.kind}: rustc's targets are those of CPUs"),))
    unfit: list[tuple[str, str]] = []
    name = _name_of(target, unfit)
    words = [] if name is None else [name, *_flags(name, target, unfit)]
    if unfit and not (lossy and words):
        raise NotRepresentableError(NAME, tuple(unfit))
    return " ".join(words)


# -- reading ------------------------------------------------------------------------------------------


def _sorted_words(source: Source) -> _Stated:
    stated = _Stated()
    behind, is_command = programs.options_of(split_words(source.text), programs.RUST)
    words = iter(behind)
    free = False
    for word in words:
        flag = _flag(source, word, words)
        if flag is not None:
            _take_flag(source, stated, *flag)
        elif not is_command and not word.text.startswith("-") and _is_name(stated, word, free):
            _state(source, stated, "name", word)
        else:
            stated.leftovers.append(word.text)
        free = flag is None and word.text.startswith("-") and "=" not in word.text
    if "name" not in stated.places:
        raise source.fault(
            None, "nothing here names a target", "begin with x86_64-unknown-linux-gnu, or such"
        )
    return stated


def _is_name(stated: _Stated, word: Word, free: bool) -> bool:
    """Whether a word without a dash is the name: the first one, unless it may be the argument of another option."""
    if "name" in stated.places:
        return False
    return not free or rust_facts(word.text) is not None or word.text in VARIANTS


def _flag(source: Source, word: Word, words: Iterator[Word]) -> tuple[tuple[str, ...], str, Word] | None:
    """Return the words, the name and the value of `--target`, `-C` and `-Z`; None for any other word."""
    text = word.text
    if text == "--target":
        value = _next(source, words, word)
        return (text, value.text), "target", value
    if text.startswith("--target="):
        return (text,), "target", word.after(len("--target="))
    if text in _PREFIXES:
        value = _next(source, words, word)
        return (text, value.text), *_option(_PREFIXES[text], value)
    if text.startswith(("-C", "-Z")):
        return (text,), *_option(text[1], word.after(2))
    if text.startswith("--codegen="):
        return (text,), *_option("C", word.after(len("--codegen=")))
    return None


def _option(letter: str, word: Word) -> tuple[str, Word]:
    name, _, _ = word.text.partition("=")
    return f"{letter} {name.replace('_', '-')}", word.after(min(len(name) + 1, len(word.text)))


def _next(source: Source, words: Iterator[Word], option: Word) -> Word:
    value = next(words, None)
    if value is None:
        raise source.fault(option, f"{option.text} has no value", f"write {option.text} VALUE")
    return value


def _take_flag(source: Source, stated: _Stated, words: tuple[str, ...], name: str, value: Word) -> None:
    field = "name" if name == "target" else _ABOUT_THE_MACHINE.get(name)
    if field is None:
        stated.leftovers.extend(words)
        return
    if not value.text:
        raise source.fault(value, f"{words[0]} has no value", "leave it out where nothing is stated")
    if field != "features":
        _state(source, stated, field, value)
        return
    for item in value.items():
        if len(item.text) < _SIGN_AND_NAME or item.text[0] not in "+-":
            raise source.fault(item, "a feature is +name or -name", f"write +{item.text}")
        stated.items.append(item)


def _state(source: Source, stated: _Stated, field: str, word: Word) -> None:
    first = stated.places.setdefault(field, word)
    if first.text != word.text:
        message = f"the {field} is stated twice, as {first.text!r} and {word.text!r}"
        raise source.fault(word, message, "state it once")
    if word.text == "native":
        hint = "the text 'native' is this machine, with the features it really has"
        raise source.fault(word, "'native' names no CPU: it means another one on each machine", hint)


def _known(source: Source, word: Word) -> tuple[str, tuple[str, ...]]:
    """Return the name that a word stands for, and the options that come with it."""
    name, options = VARIANTS.get(word.text, (RENAMED.get(word.text, word.text), ()))
    if rust_facts(name) is None:
        near = nearest(word.text, rust_names())
        hint = f"did you mean {' or '.join(near)}?" if near else "`rustc --print target-list` has the names"
        raise source.fault(word, f"rustc has no target {word.text[:80]!r}", hint)
    return name, options


def _target(source: Source, name: str, stated: _Stated) -> CpuTarget:
    if len(stated.places) == 1 and not stated.items:
        return _plain(name)
    _check_signs(source, stated.items)
    named = {**stated.places, **{f"item {index}": item for index, item in enumerate(stated.items)}}
    cpu, tune = (stated.places[field].text if field in stated.places else None for field in ("cpu", "tune"))
    target: CpuTarget = source.reading(named, lambda: changed(source, _made(name, cpu, tune), stated.items))
    return target


def _check_signs(source: Source, items: list[Word]) -> None:
    signs: dict[str, str] = {}
    for item in items:
        if signs.setdefault(item.text[1:], item.text[0]) != item.text[0]:
            raise source.fault(
                item, f"{item.text[1:]} is asked for and refused at once", "state one of the two"
            )


def _plain(name: str) -> CpuTarget:
    """Return the target of a name alone."""
    return _made(name, None, None)


@functools.lru_cache(maxsize=1024)
def _made(name: str, cpu: str | None, tune: str | None) -> CpuTarget:
    facts = rust_facts(name)
    if facts is None:
        raise UnknownNameError("rustc target", name)
    return made(Source(name, NAME), facts, Word(facts.features, 0), cpu, tune)


# -- writing ------------------------------------------------------------------------------------------


def _name_of(target: CpuTarget, unfit: list[tuple[str, str]]) -> str | None:
    """Return the name that says most of a target; None where rustc has none that is near."""
    if target.triple is None:
        unfit.append(("triple", "not stated, and every name of rustc's says one"))
        return None
    names = names_with(target.triple)
    if not names:
        names = _names_near(target.triple)
        near = f"; the nearest is {names[0]}" if names else ""
        unfit.append(("triple", f"rustc has no target for {target.triple}{near}"))
    return min(names, key=lambda name: _distance(_plain(name), target), default=None)


def _names_near(triple: Triple) -> tuple[str, ...]:
    """Return the names of a triple without its versions, with darwin as macOS, then of any vendor."""
    plain = attrs.evolve(triple, os_version="", environment_version="")
    if plain.os == "darwin":
        plain = attrs.evolve(plain, os="macosx")
    return names_with(plain) or next(
        (names for vendor in ("unknown", "pc", "apple") if (names := names_with(_of(plain, vendor)))), ()
    )


def _of(triple: Triple, vendor: str) -> Triple:
    return attrs.evolve(triple, vendor=vendor)


def _distance(base: CpuTarget, wanted: CpuTarget) -> tuple[bool, int, bool]:
    """Return how far a target is from what a name says: the ABI counts most, then the features."""
    apart = frozenset(base.features or ()) ^ frozenset(wanted.features or ())
    return base.abi != wanted.abi, len(apart), base.cpu != wanted.cpu


def _flags(name: str, target: CpuTarget, unfit: list[tuple[str, str]]) -> Iterator[str]:
    cpu = target.cpu if target.cpu != _plain(name).cpu else None
    if target.cpu is None and _plain(name).cpu is not None:
        unfit.append(("cpu", f"not stated, and rustc takes {_plain(name).cpu} for {name}"))
    if cpu is not None:
        yield f"-C target-cpu={cpu}"
    if target.tune is not None:
        yield f"-Z tune-cpu={target.tune}"
    base = _made(name, cpu, target.tune)
    items = list(difference(base, target, unfit))
    if target.float_abi != base.float_abi:
        items.extend(_soft_float(base, target, unfit))
    if items:
        yield f"-C target-feature={','.join(items)}"
    said = {"triple", "cpu", "tune", "features", "tuning", "restrictions", "static", "float_abi"}
    unsaid = (field for field in target.specs() if field not in said)
    unfit.extend(
        (field, _why(base, field)) for field in unsaid if getattr(base, field) != getattr(target, field)
    )


def _soft_float(base: CpuTarget, target: CpuTarget, unfit: list[tuple[str, str]]) -> Iterator[str]:
    if base.float_abi is None and target.float_abi in ("soft", "hard") and has_soft_float(base):
        yield f"{'+' if target.float_abi == 'soft' else '-'}soft-float"
    else:
        unfit.append(("float_abi", _why(base, "float_abi")))


def _why(base: CpuTarget, field: str) -> str:
    stated: Any = getattr(base, field)
    return f"rustc has no flag for it{'' if stated is None else f', and says {stated} by the name'}"
