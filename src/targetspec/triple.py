"""The target triple: architecture, vendor, operating system, environment and object format, as one exact value.

`Triple.parse` reads strictly: a name that no table has is an error, with the nearest legal ones. LLVM's own
reading, which takes any text, is `normalize_triple` and `read_triple`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

import attrs

from targetspec.errors import FieldError, FieldTypeError, TargetSyntaxError, UnknownNameError, nearest
from targetspec.triple_archs import ARCH_SPELLINGS, ARCH_TEXTS, ARCHS, known_arch, spell_arch
from targetspec.triple_llvm import (
    LLVMTriple,
    arrange,
    implied_environment,
    normalize_triple,
    read_triple,
    spell_dxil,
    windows_system,
)
from targetspec.triple_names import (
    APPLE_RENUMBERED,
    DARWIN_OSES,
    ENVIRONMENTS,
    EXTRA_ENVIRONMENTS,
    EXTRA_OSES,
    EXTRA_VENDORS,
    OBJECT_FORMATS,
    OSES,
    VENDORS,
    VERSION,
    WINDOWS_SYSTEMS,
    default_object_format,
    longest_prefix,
)

__all__ = ["LLVMTriple", "Triple", "normalize_triple", "read_triple"]

_ALL_OSES = OSES | EXTRA_OSES
_ALL_ENVIRONMENTS = ENVIRONMENTS | EXTRA_ENVIRONMENTS
_PLAIN_VENDORS = VENDORS | EXTRA_VENDORS | {"unknown"}
_NARROW = frozenset({"gnux32", "muslx32", "gnuabin32", "muslabin32", "gnu_ilp32", "ilp32", "x32", "abin32"})
# Darwin 4 to 19 are Mac OS X 10.0 to 10.15, 20 to 24 macOS 11 to 15, 25 and 26 macOS 26 and 27; then they agree.
_MACOS_OF_DARWIN = (
    {n: f"10.{n - 4}" for n in range(4, 20)} | {n: str(n - 9) for n in range(20, 25)} | {25: "26", 26: "27"}
)
_AGREED = 26
_VENDOR = re.compile(r"[a-z0-9_.]+")
_UNVERSIONED = frozenset({"", "none", "unknown", "freestanding"})
_COMPONENTS = 5
_ODD = re.compile(r"[^A-Za-z0-9_.-]")


@attrs.frozen(repr=False, order=True, cache_hash=True, getstate_setstate=False)
class Triple:
    """A machine that code is for, named the way compilers name it; every alias is resolved at construction.

    `sub_arch` is what the architecture's spelling adds ("v7", "e" of arm64e, "i686", "r6"); versions are kept as
    they are written; `vendor` is free text. "unknown" is an OS that is not stated, "none" one that is stated.

    >>> str(Triple.parse("arm64-apple-macos14.0"))
    'aarch64-apple-macosx14.0'
    """

    arch: str
    sub_arch: str = ""
    vendor: str = "unknown"
    os: str = "unknown"
    os_version: str = ""
    environment: str = ""
    environment_version: str = ""
    _object_format: str = ""

    def __attrs_post_init__(self) -> None:
        for name in _FIELDS:
            if type(getattr(self, name)) is not str:
                raise FieldTypeError("triple", name.lstrip("_"), repr(getattr(self, name)), "expected a str")
        for name, value in _settled(self).items():
            if getattr(self, name) != value:
                object.__setattr__(self, name, value)
        # There is no hash as yet to keep the text by.
        written = _written.__wrapped__(self)
        if self.vendor not in _PLAIN_VENDORS and not _keeps_vendor(written, self.vendor):
            raise FieldError(
                "triple",
                "vendor",
                self.vendor,
                f"{written!r} is read with another vendor",
                "choose another name",
            )

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, tuple(getattr(self, name) for name in _FIELDS)

    @classmethod
    def parse(cls, text: str) -> Triple:
        """Read a triple of one to five components, in any order that LLVM can undo.

        Raises TargetSyntaxError for a text that is no triple, and UnknownNameError for an architecture,
        OS, environment or object format that no table has.
        """
        if type(text) is not str:
            raise FieldTypeError("triple", "text", repr(text), "expected a str")
        return _parse(text)

    def __str__(self) -> str:
        return _written(self)

    def __repr__(self) -> str:
        return f"Triple.parse({str(self)!r})"

    @property
    def arch_name(self) -> str:
        """The architecture as the text writes it, sub-architecture included: `armv7`, `i686`, `mipsisa32r6`."""
        return spell_arch(self.arch, self.sub_arch)

    @property
    def object_format(self) -> str:
        """`elf`, `macho`, `coff`, `wasm`, `xcoff`, `goff`, `spirv` or `dxcontainer`: stated, or what LLVM derives."""
        return self._object_format or default_object_format(self.arch, self.os)

    @property
    def pointer_bits(self) -> int:
        """The width of a pointer: the architecture's, or 32 for x32, n32 and ILP32."""
        narrow = self.environment in _NARROW or self.sub_arch.startswith("n32")
        return 32 if narrow else ARCHS[self.arch].bits

    @property
    def endianness(self) -> str:
        """`little` or `big`."""
        return ARCHS[self.arch].endianness

    @property
    def family(self) -> str | None:
        """The table of CPUs and features that the architecture has (`x86`, `arm`, `riscv` ...), or None."""
        return ARCHS[self.arch].family

    @property
    def is_darwin(self) -> bool:
        """Whether the OS is one of Apple's."""
        return self.os in DARWIN_OSES

    @property
    def macos_version(self) -> str:
        """The macOS version that `macosx` or `darwin` names ("14" for darwin23), "" where there is none."""
        if self.os == "macosx":
            return apple_version("macosx", self.os_version)
        if self.os != "darwin" or not self.os_version:
            return ""
        major = int(self.os_version.partition(".")[0])
        return _MACOS_OF_DARWIN.get(major, str(major) if major > _AGREED else "")

    def llvm_compatible(self, other: Triple) -> bool:
        """Answer LLVM's `isCompatibleWith` for the two texts; systems LLVM does not know are all one to it."""
        return read_triple(str(self)).compatible_with(read_triple(str(other)))


_FIELDS = tuple(field.name for field in attrs.fields(Triple))


# Few triples are in use at a time: one object each makes comparing the targets that hold them cheap.
@functools.lru_cache(maxsize=4096)
def _one(triple: Triple) -> Triple:
    return triple


@functools.lru_cache(maxsize=4096)
def _written(triple: Triple) -> str:
    parts = [triple.arch_name, triple.vendor, triple.os + triple.os_version]
    if triple.environment:
        parts.append(triple.environment + triple.environment_version)
    if triple._object_format:  # noqa: SLF001 - one module, one value
        parts.append(triple._object_format)  # noqa: SLF001
    return "-".join(parts)


@functools.lru_cache(maxsize=4096)
def _restored(*values: str) -> Triple:
    """Make a triple from its stored values, which were checked when they were stored."""
    triple = Triple.__new__(Triple)
    for name, value in zip(_FIELDS, values, strict=True):
        object.__setattr__(triple, name, value)
    object.__setattr__(triple, "_attrs_cached_hash", None)
    return _one(triple)


def apple_version(os: str, version: str) -> str:
    """Return an Apple OS's version under its final number: macOS 10.16 is 11.0, and 16 to 25 became 26 and up."""
    if (os, version) == ("macosx", "10.16"):
        return "11.0"
    major, dot, rest = version.partition(".")
    first, step = APPLE_RENUMBERED.get(os, (_AGREED, 0))
    return f"{int(major) + step}{dot}{rest}" if major.isdigit() and first <= int(major) < _AGREED else version


def _settled(triple: Triple) -> dict[str, str]:
    """Return the fields with every alias resolved and every fact in its one place."""
    arch, sub_arch = _checked_arch(triple.arch, triple.sub_arch)
    os = _checked("operating system", triple.os, _ALL_OSES)
    environment = triple.environment and _checked("environment", triple.environment, _ALL_ENVIRONMENTS)
    object_format = triple._object_format  # noqa: SLF001 - one module, one value
    if object_format and object_format not in OBJECT_FORMATS:
        raise _unknown("object format", object_format, OBJECT_FORMATS)
    if not _VENDOR.fullmatch(triple.vendor):
        raise FieldError(
            "triple", "vendor", triple.vendor, "expected letters, digits, '_' and '.'; lower case"
        )
    _check_version("os_version", os in _UNVERSIONED, triple.os_version)
    _check_version("environment_version", environment in _UNVERSIONED, triple.environment_version)
    default = default_object_format(arch, os)
    if os == "windows" and not environment and object_format in {"", default}:
        environment = "msvc"
    if environment == "gnueabi" and triple.vendor == "suse":
        environment = "gnueabihf"
    if (arch, sub_arch, os) == ("dxil", "", "shadermodel"):
        sub_arch = spell_dxil(triple.os_version).removeprefix("dxil")
    if environment and object_format == default:
        object_format = ""
    return {
        "arch": arch,
        "sub_arch": sub_arch,
        "os": os,
        "environment": environment,
        "_object_format": object_format,
    }


def _checked_arch(arch: str, sub_arch: str) -> tuple[str, str]:
    if (arch, sub_arch) in ARCH_TEXTS:
        return arch, sub_arch
    known = known_arch(arch + sub_arch)
    if known is None:
        raise _unknown("architecture", arch + sub_arch, ARCH_SPELLINGS)
    return known


def _checked(what: str, name: str, names: Mapping[str, str]) -> str:
    if name not in names:
        raise _unknown(what, name, names)
    return names[name]


def _check_version(field: str, nameless: bool, version: str) -> None:
    if version and (nameless or not VERSION.fullmatch(version)):
        raise FieldError("triple", field, version, "expected numbers joined by '.', after a name")


def _unknown(what: str, name: str, names: Iterable[str]) -> UnknownNameError:
    return UnknownNameError(what, name, nearest(name, names), "triple")


def _split_version(text: str, names: Mapping[str, str]) -> tuple[str, str] | None:
    """Split a component into the name that it stands for and its version; None where it is neither."""
    found = longest_prefix(text, names)
    if found and found[1] and (found[0] in _UNVERSIONED or not VERSION.fullmatch(found[1])):
        return None
    return found


@functools.lru_cache(maxsize=512)
def _split_os(text: str) -> tuple[str, str] | None:
    found = longest_prefix(text, WINDOWS_SYSTEMS)
    if found:
        return ("windows", "") if not found[1] or VERSION.fullmatch(found[1]) else None
    return _split_version(text, _ALL_OSES)


@functools.lru_cache(maxsize=512)
def _split_environment(text: str) -> tuple[str, str] | None:
    return _split_version(text, _ALL_ENVIRONMENTS)


def _is_nothing(_text: str) -> bool:
    return False


def _is_arch(text: str) -> bool:
    return known_arch(text) is not None


def _is_vendor(text: str) -> bool:
    return text in VENDORS


def _is_os(text: str) -> bool:
    return _split_os(text) is not None


def _is_other_os(text: str) -> bool:
    return text != "unknown" and _is_os(text)


def _is_environment(text: str) -> bool:
    return _split_environment(text) is not None


def _is_ending(text: str) -> bool:
    return text in OBJECT_FORMATS or _is_environment(text)


def _arranged(text: str) -> tuple[list[str], list[bool]]:
    components = text.split("-")
    # In aarch64-linux-none the OS is linux: "none" and "unknown" hold the slot only where no OS is beside them.
    idle = (
        components[2:3] in (["none"], ["unknown"], ["freestanding"])
        and components[1] != "none"
        and _is_other_os(components[1])
    )
    in_place = (_is_arch, _is_vendor, _is_nothing if idle else _is_os, _is_environment)
    filled = arrange(components, in_place, (_is_arch, _is_vendor, _is_other_os, _is_ending))
    return components, filled


def _keeps_vendor(text: str, vendor: str) -> bool:
    """Whether both readings find a free vendor where it was written, or take it for something else."""
    return _arranged(text)[0][1] == vendor == normalize_triple(text).split("-")[1]


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> Triple:
    _check_syntax(text)
    components, filled = _arranged(text.lower())
    if not filled[0]:
        raise _unknown("architecture", text.partition("-")[0], ARCH_SPELLINGS)
    arch, vendor, os, ending, last, *more = components + [""] * (_COMPONENTS - len(components))
    if more:
        raise TargetSyntaxError(text, (0, len(text)), "more components than a triple has")
    _check_os(vendor, os, filled[2])
    if ending not in {"", "unknown"} and not filled[3]:
        raise _unknown("environment", ending, _ALL_ENVIRONMENTS)
    return _built(text, (arch, vendor, os, ending, last))


def _check_syntax(text: str) -> None:
    odd = _ODD.search(text)
    if odd:
        raise TargetSyntaxError(text, odd.span(), "a triple is letters, digits, '_' and '.', joined by '-'")
    if not text.partition("-")[0]:
        raise TargetSyntaxError(text, (0, min(1, len(text))), "a triple begins with an architecture")
    start = len("-".join(text.split("-")[:_COMPONENTS]))
    if start < len(text):
        raise TargetSyntaxError(text, (start, len(text)), "a triple has at most five components")


def _check_os(vendor: str, os: str, found: bool) -> None:
    """Refuse an unknown OS, also where its misspelled name would pass for a vendor (x86_64-linxu-gnu)."""
    if found:
        return
    if os:
        raise _unknown("operating system", os, _ALL_OSES)
    if vendor and vendor not in _PLAIN_VENDORS:
        raise _unknown("operating system", vendor, _ALL_OSES)


def _built(text: str, components: tuple[str, str, str, str, str]) -> Triple:
    arch, vendor, os, ending, last = components
    known, sub_arch = known_arch(arch) or (arch, "")
    os_name, os_version = _split_os(os) or ("unknown", "")
    environment, version = _split_environment(ending) or ("", "")
    environment = windows_system(os) or environment or ("" if "-" in text else implied_environment(arch))
    formats = [
        name for name in ((ending if ending in OBJECT_FORMATS else ""), last) if name not in {"", "unknown"}
    ]
    if len(formats) > 1:
        raise TargetSyntaxError(text, (0, len(text)), "a triple has one object format")
    parts = (known, sub_arch, vendor or "unknown", os_name, os_version, environment, version, *formats)
    return _one(Triple(*parts))
