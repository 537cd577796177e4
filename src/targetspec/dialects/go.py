"""Go's targets: a pair of system and architecture, and the levels of the architecture as Go's environment has them.

    target = ( [ GOOS "/" GOARCH ] | GOOS=... | GOARCH=... ) { VARIABLE=VALUE }        in any order, each once

    linux/amd64 GOAMD64=v3            GOOS=linux GOARCH=arm GOARM=7,hardfloat

The pair is one of `go tool dist list`, or one that older versions had. A level alone states its architecture. A level that is not stated is
Go's own default: GOAMD64=v1, GO386=sse2, GOARM=7, GOARM64=v8.0, GOMIPS=hardfloat, GOMIPS64=hardfloat, GOPPC64=power8,
GORISCV64=rva20u64, GOWASM without features. Levels of other architectures say nothing here and are leftovers, and
so are other variables. Written is the pair, and the level where it is not the default.

Source: Go's documentation ("Optional environment variables") and `go tool dist list`, 1.26.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import attrs

from targetspec.dialects import go_names as names
from targetspec.dialects.fitting import fitted, refused_kind
from targetspec.dialects.go_levels import DEFAULTS, VARIABLES, levels_of
from targetspec.dialects.words import Source, Word, split_words
from targetspec.errors import NotRepresentableError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "go"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*(?:[a-z0-9]+/[a-z0-9]+|[A-Z][A-Z0-9_]*=[^\s\u001c-\u001f\u0085]*)"
    r"(?:[\s\u001c-\u001f\u0085]+(?:[a-z0-9]+/[a-z0-9]+|[A-Z][A-Z0-9_]*=[^\s\u001c-\u001f\u0085]*))*[\s\u001c-\u001f\u0085]*$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_ASSIGNMENT = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)")
_PAIRS_BY_SYSTEM = """
    aix ppc64
    android 386 amd64 arm arm64
    darwin 386 amd64 arm arm64
    dragonfly amd64
    freebsd 386 amd64 arm arm64 riscv64
    illumos amd64
    ios amd64 arm64
    js wasm
    linux 386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64
    netbsd 386 amd64 arm arm64
    openbsd 386 amd64 arm arm64 mips64 ppc64 riscv64
    plan9 386 amd64 arm
    solaris amd64
    wasip1 wasm
    windows 386 amd64 arm arm64
"""
# More than `go env` prints.
_MOST_WORDS = 100
_UNSTATED = ("unknown", "unknown", "")
# js is a host, not a system of a triple; iOS on x86-64 is its simulator.
_SYSTEMS = {**names.SYSTEMS, "js": _UNSTATED}
_SIMULATOR = ("apple", "ios", "simulator")


@functools.cache
def pairs() -> frozenset[tuple[str, str]]:
    """Return all pairs of GOOS and GOARCH that Go has or had a port for."""
    lines = (line.split() for line in _PAIRS_BY_SYSTEM.strip().splitlines())
    return frozenset((system, arch) for system, *archs in lines for arch in archs)


@attrs.define
class _Stated:
    places: dict[str, Word] = attrs.Factory(dict)
    leftovers: list[str] = attrs.Factory(list)


def parse(text: str) -> Parsed:
    """Read a target; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    stated = _sorted_words(source)
    arch = _arch(source, stated)
    system = _system(source, stated.places, arch)
    level = DEFAULTS[arch]
    for name in [name for name in stated.places if name in VARIABLES]:
        word = stated.places[name]
        if arch in VARIABLES[name]:
            level = _level(source, arch, name, word)
        else:
            stated.leftovers.append(f"{name}={word.text}")
    target: CpuTarget = source.reading(stated.places, lambda: names.made(arch, system, "", level))
    return Parsed(target, tuple(stated.leftovers), NAME)


def _sorted_words(source: Source) -> _Stated:
    stated = _Stated()
    words = split_words(source.text)
    if len(words) > _MOST_WORDS:
        raise source.fault(words[_MOST_WORDS], "a target and its environment have fewer words", "cut it down")
    for word in words:
        found = _ASSIGNMENT.fullmatch(word.text)
        if found is None:
            _take_pair(source, stated, word)
        elif found[1] in ("GOOS", "GOARCH") or found[1] in VARIABLES:
            _state(source, stated, found[1], word.after(found.start(2)))
        elif found[1].startswith("GO") and (near := nearest(found[1], ("GOOS", "GOARCH", *VARIABLES))):
            raise source.fault(
                word, f"unknown variable {found[1][:80]!r}", f"did you mean {' or '.join(near)}?"
            )
        else:
            stated.leftovers.append(word.text)
    return stated


def _take_pair(source: Source, stated: _Stated, word: Word) -> None:
    parts = word.items("/")
    if len(parts) != 2 or not all(part.text for part in parts):  # noqa: PLR2004 - a pair
        hint = "write linux/amd64, or GOOS=linux GOARCH=amd64"
        raise source.fault(
            word, f"{word.text[:80]!r} is neither a pair of GOOS and GOARCH nor a variable", hint
        )
    _state(source, stated, "GOOS", parts[0])
    _state(source, stated, "GOARCH", parts[1])


def _state(source: Source, stated: _Stated, name: str, value: Word) -> None:
    if name in stated.places:
        raise source.fault(value, f"{name} is stated twice", "state it once")
    # To Go an empty variable is one that is not set.
    if value.text:
        stated.places[name] = value


def _arch(source: Source, stated: _Stated) -> str:
    word = stated.places.get("GOARCH")
    if word is not None:
        return _known(source, "architecture", word, {arch for _, arch in pairs()})
    found = {VARIABLES[name] for name in stated.places if name in VARIABLES}
    if len(found) != 1 or len(next(iter(found))) != 1:
        hint = "write linux/amd64, or GOOS=linux GOARCH=amd64"
        raise source.fault(None, "nothing here says what the architecture is", hint)
    return next(iter(found))[0]


def _known(source: Source, what: str, word: Word, known: set[str]) -> str:
    if word.text not in known:
        near = nearest(word.text, known) or sorted(known)
        raise source.fault(word, f"Go has no {what} {word.text[:80]!r}", f"did you mean {' or '.join(near)}?")
    return word.text


def _system(source: Source, places: Mapping[str, Word], arch: str) -> tuple[str, str, str]:
    word = places.get("GOOS")
    if word is None:
        return _UNSTATED
    name = _known(source, "system", word, {system for system, _ in pairs()})
    if (name, arch) not in pairs():
        there = ", ".join(sorted(other for system, other in pairs() if system == name))
        raise source.fault(word, f"Go has no port for {name}/{arch}", f"{name} has {there}")
    return _triple_part(name, arch)


def _triple_part(name: str, arch: str) -> tuple[str, str, str]:
    return _SIMULATOR if (name, arch) == ("ios", "amd64") else _SYSTEMS[name]


def _level(source: Source, arch: str, name: str, word: Word) -> names.Level:
    text = word.text.lower() if name != "GOWASM" else word.text
    base, *options = text.split(",")
    found = levels_of(arch).get(",".join([base, *sorted(filter(None, options))]))
    if found is None:
        allowed = [value for value in levels_of(arch) if "," not in value and value] or ["satconv", "signext"]
        options_hint = {"arm": "; softfloat or hardfloat may follow", "arm64": "; lse and crypto may follow"}
        hint = f"the values are {', '.join(allowed)}{options_hint.get(arch, '')}"
        raise source.fault(word, f"{name} has no value {word.text[:80]!r}", hint)
    return found


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the pair, and the level that is not Go's default; NotRepresentableError for what they cannot say."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "cpu")
    return fitted(NAME, target, _text(target), lambda said: parse(said).target, lossy=lossy)


def _text(target: CpuTarget) -> str:
    triple = target.triple
    arch = names.arch_of(triple) if triple is not None else None
    if triple is None or arch not in DEFAULTS:
        raise NotRepresentableError(NAME, (("triple", f"Go has no name for the architecture of {triple}"),))
    system = names.system_of(triple)
    if triple.os == "unknown":
        system = "js" if arch == "wasm" else None
    if triple.os != "unknown" and (system, arch) not in pairs():
        raise NotRepresentableError(NAME, (("triple", f"Go has no port for {triple}"),))
    level = names.closest(target, arch, _triple_part(system, arch) if system else _UNSTATED, levels_of(arch))
    words = [f"{system}/{arch}" if system else f"GOARCH={arch}"]
    if levels_of(arch)[level] != DEFAULTS[arch]:
        variable = next(name for name, archs in VARIABLES.items() if arch in archs)
        words.append(f"{variable}={level}")
    return " ".join(words)
