"""zig's own way: a target query, and the CPU with changes of its features, as zig's compiler takes them.

    x86_64-linux.5.10...6.1-gnu.2.38 -mcpu=skylake+avx512f-bmi2
    -target aarch64-macos.13.0...14.0-none -mcpu=apple_m1    thumb-freestanding-eabihf -mcpu cortex_m4
    zig cc -target aarch64-linux-musl -mcpu=cortex_a72       where words without a dash are files

The query is ARCH-OS-ABI, the ABI left out where nothing is stated. An OS may have a version of two or three numbers, or
a range of them: the least one is the floor that the triple holds, the greatest has no field, and is a leftover
(`...6.1`). Windows has names for versions (`win10_rs5`). The ABI has glibc's version, or Android's API level. The query
may also follow `-target` or be that of `-Dtarget=`, the CPU that of `-mcpu` or `-Dcpu=`, and `-ofmt=` names the object
format. `baseline` is the CPU that zig takes for it. `native` names no architecture and no CPU, for it means another one
on each machine; as the system it states none. zig's systems imply a vendor (apple, amd, nvidia ...), and names of its
own stand for the features that they bring, where LLVM has no such CPU. A model has the features that zig gives it,
which are not always those of LLVM's CPU of the name, and changes are closed as zig's compiler closes them. A feature
that zig alone has, or whose architecture has no table, is a leftover (`+smap`), and so is every other option.

Source: zig 0.17 (`lib/std/Target/Query.zig`, `zig targets`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import attrs

from targetspec import programs
from targetspec.dialects import zig_writing
from targetspec.dialects.words import Source, Word, split_words
from targetspec.dialects.zig_features import made
from targetspec.dialects.zig_names import (
    ABI_NAMES,
    ARCH_NAMES,
    NUMBERED_OSES,
    OS_NAMES,
    WITHOUT_TRIPLE,
    environment,
    is_arch,
    os_facts,
    windows_version,
)
from targetspec.errors import nearest
from targetspec.parsing import Parsed
from targetspec.target import Target
from targetspec.triple import Triple
from targetspec.triple_names import OBJECT_FORMATS

NAME = "zig"
PATTERN = r"^[\s\u001c-\u001f\u0085]*(?:(?:[A-Za-z0-9_.+/\\:-]*[/\\])?zig[^\u0000]*|-[^\u0000]*|\.\.\.[^\u0000]*|[a-z0-9_]+-[A-Za-z0-9_.-]+(?:[\s\u001c-\u001f\u0085][^\u0000]*)?)$"
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_OPTIONS = {"-target": "query", "-Dtarget": "query", "-mcpu": "cpu", "-Dcpu": "cpu", "-ofmt": "format"}
_VERSION = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,2}")
_LEVEL = re.compile(r"[0-9]{1,9}")
_MOST_PARTS = 3
_NATIVE = "the text 'native' is this machine, with the features it really has"


@attrs.define
class _Stated:
    """What the words state: a place for each of the options, and the leftovers."""

    places: dict[str, Word] = attrs.Factory(dict)
    leftovers: list[str] = attrs.Factory(list)


@attrs.frozen
class _Query:
    """What a query says: zig's system, the triple, and the greatest version, "" where none is stated."""

    os: str
    triple: Triple
    most: str


def parse(text: str) -> Parsed:
    """Read a CPU target; TargetSyntaxError says what is wrong where."""
    return _parsed(text)


@functools.lru_cache(maxsize=512)
def _parsed(text: str) -> Parsed:
    source = Source(text, NAME)
    stated = _sorted_words(source)
    query = _query(source, stated.places["query"], stated.places.get("format"))
    cpu = stated.places.get("cpu")
    found = made(source, query.triple, query.os, stated.places["query"], cpu)
    most = (f"...{query.most}",) if query.most else ()
    return Parsed(found.target, (*most, *found.rest, *stated.leftovers), NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the query and CPU that say a target; NotRepresentableError for what they cannot, unless `lossy`."""
    return zig_writing.written(target, lossy=lossy)


# -- the words ----------------------------------------------------------------------------------------


def _sorted_words(source: Source) -> _Stated:
    stated = _Stated()
    behind, is_command = programs.options_of(split_words(source.text), programs.ZIG)
    words = iter(behind)
    free = False
    for word in words:
        if word.text[0] != "-" and "query" in stated.places:
            stated.leftovers.append(word.text)
            continue
        name, equals, _ = word.text.partition("=")
        field = _OPTIONS.get(name)
        if field is not None and (equals or name in ("-target", "-mcpu")):
            value = word.after(len(name) + 1) if equals else _next(source, words, word)
            _state(source, stated, field, value)
        elif not is_command and _is_query(word, free):
            _state(source, stated, "query", word)
        else:
            stated.leftovers.append(word.text)
        free = field is None and word.text.startswith("-") and not equals
    if "query" not in stated.places:
        raise source.fault(
            None, "nothing here is a target query: no architecture", "begin with x86_64-linux-gnu, or such"
        )
    return stated


def _is_query(word: Word, free: bool) -> bool:
    """Whether the first word without a dash is the query, and not the argument of another option."""
    if word.text.startswith(("-", "...")):
        return False
    return not free or is_arch(word.text.partition("-")[0])


def _next(source: Source, words: Iterator[Word], option: Word) -> Word:
    value = next(words, None)
    if value is None:
        raise source.fault(option, f"{option.text} has no value", f"write {option.text} VALUE")
    return value


def _state(source: Source, stated: _Stated, field: str, value: Word) -> None:
    if field == "format" and value.text not in OBJECT_FORMATS:
        stated.leftovers.append(f"-ofmt={value.text}")
        return
    if not value.text:
        raise source.fault(value, "the option has no value", "leave it out where nothing is stated")
    first = stated.places.setdefault(field, value)
    if first.text != value.text:
        message = f"the {field} is stated twice, as {first.text!r} and {value.text!r}"
        raise source.fault(value, message, "state it once")


# -- the query ----------------------------------------------------------------------------------------


def _query(source: Source, word: Word, object_format: Word | None) -> _Query:
    arch, *rest = word.items("-")
    triple_arch = _arch(source, arch)
    if not rest:
        raise source.fault(word, "a query has an operating system", f"write {arch.text}-linux, or such")
    os, version, most = _os(source, rest[0])
    abi, abi_version = _abi(source, os, rest[1]) if len(rest) > 1 else (None, "")
    if len(rest) >= _MOST_PARTS:
        raise source.fault(rest[_MOST_PARTS - 1], "a query has three parts: architecture, system, ABI")
    if os == "opencl":
        # No system of triples: the version is that of the environment.
        abi_version, version = _opencl_version(source, rest[0], abi, abi_version, version), ""
    name, vendor = os_facts(os)
    triple: Triple = source.reading(
        {"triple": word},
        lambda: Triple(
            arch=triple_arch,
            vendor=vendor,
            os=name,
            os_version=version,
            environment=environment(os, abi),
            environment_version=abi_version,
            object_format=object_format.text if object_format else "",
        ),
    )
    return _Query(os, triple, most)


def _opencl_version(source: Source, system: Word, abi: str | None, abi_version: str, version: str) -> str:
    if version and abi not in (None, "none"):
        place = system.after(len("opencl."))
        raise source.fault(place, "no triple has a version of opencl beside an ABI", "leave one out")
    return version or abi_version


def _arch(source: Source, word: Word) -> str:
    if word.text == "native":
        raise source.fault(word, "'native' is another architecture on each machine", _NATIVE)
    if word.text in WITHOUT_TRIPLE:
        raise source.fault(word, f"no triple has the architecture {word.text!r}")
    found = ARCH_NAMES.get(word.text)
    if found is None:
        near = nearest(word.text, ARCH_NAMES)
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(word, f"unknown architecture {word.text[:80]!r}", hint)
    return found


def _os(source: Source, word: Word) -> tuple[str, str, str]:
    """Return zig's system, the least version and the greatest one, "" for each that is not stated."""
    os, dot, _ = word.text.partition(".")
    if os not in OS_NAMES:
        near = nearest(os, OS_NAMES)
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(Word(os, word.start), f"unknown operating system {os[:80]!r}", hint)
    version = word.after(len(os) + len(dot))
    if not version.text:
        return os, "", ""
    least, dots, most = version.text.partition("...")
    floor = _os_version(source, os, Word(least, version.start))
    if not dots:
        return os, floor, ""
    _os_version(source, os, version.after(len(least) + len(dots)))
    return os, floor, most


def _os_version(source: Source, os: str, word: Word) -> str:
    found: str | None = None
    hint = "two or three numbers, as in 5.10 or 13.0"
    if os == "windows":
        found, hint = windows_version(word.text), "a name such as win10 or win10_rs5"
    elif os not in NUMBERED_OSES:
        hint = f"zig's {os} has none"
    elif _VERSION.fullmatch(word.text):
        found = word.text
    if found is None:
        raise source.fault(word, f"invalid version {word.text[:80]!r} of the operating system", hint)
    return found


def _abi(source: Source, os: str, word: Word) -> tuple[str, str]:
    """Return the ABI, and its version, "" where none is stated."""
    abi, dot, version = word.text.partition(".")
    if abi not in ABI_NAMES:
        near = nearest(abi, ABI_NAMES)
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(Word(abi, word.start), f"unknown ABI {abi[:80]!r}", hint)
    shape = _VERSION if abi.startswith("gnu") else _LEVEL if abi.startswith("android") else None
    if dot and (shape is None or not shape.fullmatch(version)):
        hint = "glibc's has two or three numbers, and Android's API level is one"
        raise source.fault(
            word.after(len(abi) + 1), f"invalid version {version[:80]!r} of the ABI {abi}", hint
        )
    if version and os == "windows":
        raise source.fault(word.after(len(abi) + 1), "Windows has no glibc", "leave the version out")
    return abi, version
