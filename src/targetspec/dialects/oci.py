"""Platforms of container images, as containerd reads them.

    platform = OS [ "(" [ VERSION ] { "+" FEATURE } ")" ] "/" ARCH [ "/" VARIANT ]  |  ARCH

Upper and lower case are one; macos is darwin, x86_64 and x86-64 amd64, aarch64 arm64, i386 386, armhf arm/v7, armel
arm/v6. arm is arm/v7, arm64 is arm64/v8, amd64 is amd64/v1. ARCH alone states no system. OS alone is refused: containerd takes
its own machine's architecture there, which the text does not say. `%` and two digits of base 16 stand for a
character in VERSION and FEATURE. A version that is no number, and features of the system, are leftovers.

Source: containerd/platforms; the OCI image specification.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from targetspec.dialects import go_names as names
from targetspec.dialects.fitting import fitted, refused_kind
from targetspec.dialects.go_names import PLAIN, Level
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "oci"
PATTERN = r"^[\s\u001c-\u001f\u0085]*[A-Za-z0-9_.-]+(?:\([A-Za-z0-9_.%+-]*\))?(?:/[A-Za-z0-9_.-]+){0,2}[\s\u001c-\u001f\u0085]*$"
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_SYSTEM = re.compile(
    r"(?P<os>[A-Za-z0-9_-]+)(?:\((?P<version>[A-Za-z0-9_.%-]*)(?P<features>(?:\+[A-Za-z0-9_.%-]+)*)\))?"
)
_PART = re.compile(r"[A-Za-z0-9_.-]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PARTS = 3
_ARCH_ALIASES = {"i386": "386", "x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}
# The architecture and the variant that go by one name; a variant beside it says nothing.
_WITH_VARIANT = {"armhf": ("arm", "v7"), "armel": ("arm", "v6")}
_VARIANT_ALIASES = {
    "amd64": {"": "v1"},
    "arm": {"": "v7", **{n: f"v{n}" for n in "5678"}},
    "arm64": {"": "v8.0", "8": "v8.0", "v8": "v8.0", "9": "v9.0", "9.0": "v9.0", "v9": "v9.0"},
}
_VARIANTS: dict[str, Mapping[str, Level]] = {
    "amd64": names.AMD64,
    "arm": names.ARM,
    "arm64": names.ARM64,
    "ppc64le": {"": PLAIN, **names.PPC64},
    "riscv64": {"": PLAIN, **{name: level for name, level in names.RISCV64.items() if level.add}},
}
_ONLY_PLAIN = {"": PLAIN}
# Go's name for a program in a JavaScript engine: no triple names that as a system.
_NO_SYSTEM = ("unknown", "unknown", "")
_PLAIN_TEXT = {"v1": "", "v8.0": "", "v9.0": "v9"}


def parse(text: str) -> Parsed:
    """Read a platform; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    parts = Word(text.strip(), len(text) - len(text.lstrip())).items("/")
    if len(parts) > _PARTS:
        raise source.fault(parts[_PARTS], "a platform has at most three parts", "write os/arch/variant")
    if len(parts) == 1 and not _names_system(parts[0].text):
        arch, variant = _arch(source, parts[0], None, alone=True)
        return Parsed(names.made(arch, _NO_SYSTEM, "", _level(source, arch, variant, parts[0])), (), NAME)
    return _whole(source, parts)


def _names_system(text: str) -> bool:
    name = text.partition("(")[0].lower()
    return name in names.SYSTEMS or name == "macos" or "(" in text or "*" in text


def _whole(source: Source, parts: tuple[Word, ...]) -> Parsed:
    system, version, leftovers = _system(source, parts[0])
    if len(parts) == 1:
        message = f"{parts[0].text!r} states no architecture, and containerd takes that of its own machine"
        raise source.fault(parts[0], message, f"write {parts[0].text}/amd64")
    for part in parts[1:]:
        if not _PART.fullmatch(part.text):
            raise source.fault(part, "a part is letters, digits, '_', '.' and '-'", "leave no part empty")
    arch, variant = _arch(source, parts[1], parts[2] if len(parts) == _PARTS else None)
    level = _level(source, arch, variant, parts[-1])
    target: CpuTarget = source.reading({"triple": parts[0]}, lambda: names.made(arch, system, version, level))
    return Parsed(target, leftovers, NAME)


def _system(source: Source, word: Word) -> tuple[tuple[str, str, str], str, tuple[str, ...]]:
    """Return the system for a triple, its version where that is a number, and what of it is left over."""
    if "*" in word.text:
        raise source.fault(word, "a platform has no wildcards", "name the system: linux, windows, darwin")
    found = _SYSTEM.fullmatch(word.text)
    if found is None:
        hint = "write it as linux or windows(10.0.17763+feature)"
        raise source.fault(word, f"{word.text[:80]!r} is no system", hint)
    if broken := _BROKEN_ESCAPE.search(word.text):
        raise source.fault(word.after(broken.start()), "% needs two digits of base 16", "write % as %25")
    name = found["os"].lower()
    name = "darwin" if name == "macos" else name
    if name not in names.SYSTEMS:
        near = nearest(name, names.SYSTEMS)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise source.fault(Word(found["os"], word.start), f"unknown system {found['os'][:80]!r}", hint)
    version = found["version"] or ""
    features = tuple(f"+{one}" for one in sorted(set((found["features"] or "").split("+")[1:])))
    if not version or _NUMBER.fullmatch(version):
        return names.SYSTEMS[name], version, features
    return names.SYSTEMS[name], "", (f"({version})", *features)


def _arch(source: Source, word: Word, variant: Word | None, *, alone: bool = False) -> tuple[str, str]:
    name = word.text.lower()
    if name in _WITH_VARIANT:
        return _WITH_VARIANT[name]
    arch = _ARCH_ALIASES.get(name, name)
    if arch not in names.ARCHS:
        near = nearest(name, [*names.ARCHS, *_ARCH_ALIASES, *(names.SYSTEMS if alone else ())])
        what = "system or architecture" if alone else "architecture"
        hint = f"did you mean {' or '.join(near)}?" if near else "write os/arch/variant"
        raise source.fault(word, f"unknown {what} {word.text[:80]!r}", hint)
    # i386 is one with every variant, as containerd has it.
    return arch, "" if variant is None or name == "i386" else variant.text.lower()


def _level(source: Source, arch: str, variant: str, word: Word) -> Level:
    levels = _VARIANTS.get(arch, _ONLY_PLAIN)
    name = _VARIANT_ALIASES.get(arch, {}).get(variant, variant)
    if name not in levels:
        known = [one for one in levels if one]
        hint = f"the variants are {', '.join(known)}" if known else "leave it out"
        raise source.fault(word, f"{arch} has no variant {variant[:80]!r}", hint)
    return levels[name]


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the platform of a CPU target as containerd normalises it; NotRepresentableError for what it cannot say."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "cpu")
    return fitted(NAME, target, _text(target), lambda said: parse(said).target, lossy=lossy)


def _text(target: Any, rest: str = "") -> str:
    triple = target.triple
    arch = names.arch_of(triple) if triple is not None else None
    if triple is None or arch is None:
        raise NotRepresentableError(NAME, (("triple", f"no platform has the architecture of {triple}"),))
    system = names.system_of(triple)
    if system is None and triple.os != "unknown":
        raise NotRepresentableError(NAME, (("triple", f"no platform has the system of {triple}"),))
    if system is None:
        return "armel" if triple.arch_name == "armv6" else arch
    level = names.closest(target, arch, names.SYSTEMS[system], _VARIANTS.get(arch, _ONLY_PLAIN))
    inner = f"{triple.os_version}{rest}"
    head = f"{system}({inner})" if inner else system
    return "/".join(filter(None, (head, arch, _PLAIN_TEXT.get(level, level))))


def format_parsed(parsed: Parsed) -> str:
    """Return the platform with the version and the features of its system that are leftovers."""
    rest = "".join(part.strip("()") for part in parsed.leftovers)
    return _text(parsed.target, rest)
