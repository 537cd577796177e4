"""LLVM's own reading of a triple: what it normalises to, and what each component means to LLVM.

Nothing here raises: LLVM takes any text, and what it does not know is "unknown". `Triple` is the strict reading.
Source: the behaviour of LLVM 22.1 (`Triple::normalize`, the `Triple` constructor, `isCompatibleWith`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Literal

import attrs

from targetspec.errors import wrong_type
from targetspec.triple_archs import ARCH_SPELLINGS, read_arch
from targetspec.triple_names import (
    ENVIRONMENTS,
    OSES,
    VENDOR_ALIASES,
    VENDORS,
    WINDOWS_SYSTEMS,
    default_object_format,
    longest_prefix,
    object_format_suffix,
)

Recognisers = Sequence[Callable[[str], bool]]

_SLOTS = 4
_FORMS = {"any": 0, "three": 3, "four": 4, "five": 5}
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}")


def arrange(components: list[str], in_place: Recognisers, anywhere: Recognisers) -> list[bool]:
    """Move architecture, vendor, OS and environment to their slots, in place, the way LLVM permutes them.

    A component that `in_place` knows for the slot where it stands stays there. Each slot still open takes the
    first component that `anywhere` knows for it, and the others make room. Returns which slots were filled.
    """
    filled = [len(components) > slot and known(components[slot]) for slot, known in enumerate(in_place)]
    for slot, known in enumerate(anywhere):
        if not filled[slot]:
            filled[slot] = _fill(components, filled, slot, known)
    return filled


def _fill(components: list[str], filled: list[bool], slot: int, known: Callable[[str], bool]) -> bool:
    for at, component in enumerate(components):
        if (at < _SLOTS and filled[at]) or not known(component):
            continue
        if slot < at:
            components[at] = ""
            _insert(components, filled, slot, component)
        while at < slot:
            _insert(components, filled, at, "")
            at = _free(filled, at + 1)  # noqa: PLW2901 - follows the component that moves; the loop ends here
        return True
    return False


def _free(filled: list[bool], at: int) -> int:
    while at < _SLOTS and filled[at]:
        at += 1
    return at


def _insert(components: list[str], filled: list[bool], at: int, component: str) -> None:
    """Put a component at a place; each in the way moves on, until an empty place takes one in."""
    at = _free(filled, at)
    while at < len(components):
        components[at], component = component, components[at]
        if not component:
            return
        at = _free(filled, at + 1)
    components.append(component)


def _four(components: list[str]) -> tuple[str, str, str, str]:
    arch, vendor, os, environment = (components + [""] * _SLOTS)[:_SLOTS]
    return arch, vendor, os, environment


def _is_arch(text: str) -> bool:
    return read_arch(text)[0] != "unknown"


def _vendor(text: str) -> str:
    text = VENDOR_ALIASES.get(text, text)
    return text if text in VENDORS else "unknown"


@functools.lru_cache(maxsize=512)
def _os(text: str) -> str:
    found = longest_prefix(text, OSES)
    return found[0] if found else "unknown"


@functools.lru_cache(maxsize=512)
def _environment(text: str) -> str:
    found = longest_prefix(text, ENVIRONMENTS)
    return found[0] if found else "unknown"


def _is_vendor(text: str) -> bool:
    return _vendor(text) != "unknown"


def _is_os(text: str) -> bool:
    return _os(text) != "unknown"


def _is_environment(text: str) -> bool:
    return _environment(text) != "unknown"


def windows_system(text: str) -> str:
    """Return the Windows environment that an old system name stands for (mingw32: gnu), "" for other names."""
    return next((env for name, env in WINDOWS_SYSTEMS.items() if text.startswith(name)), "")


def normalize_triple(text: str, *, form: Literal["any", "three", "four", "five"] = "any") -> str:
    """Return a triple's text as LLVM 22 normalises it, whatever the text is; `form` fixes the component count.

    >>> normalize_triple("x86_64-linux-gnu")
    'x86_64-unknown-linux-gnu'
    """
    if not isinstance(text, str):
        raise wrong_type("normalize_triple", "the text", text, "a str")
    components = text.split("-")
    object_format = _settle(components)
    _, _, system, ending = _four(components)
    os, environment = _os(system), _environment(ending)
    components = [component or "unknown" for component in components]
    _rename_environment(components, environment)
    if os == "windows" or windows_system(system):
        components = _windows(components, windows_system(system), environment, object_format)
    if components[0] == "dxil":
        components = _dxil(components, os)
    count = _FORMS[form]
    if count:
        components = (components + ["unknown"] * count)[:count]
    return "-".join(components)


def _settle(components: list[str]) -> str:
    """Arrange the components, and return the object format that LLVM noticed on the way."""
    noticed = object_format_suffix(components[_SLOTS]) if len(components) > _SLOTS else ""

    def ends(text: str) -> bool:
        nonlocal noticed
        if _is_environment(text):
            return True
        noticed = object_format_suffix(text)
        return bool(noticed)

    def runs_on(text: str) -> bool:
        return _is_os(text) or bool(windows_system(text))

    arch, vendor, os, environment = arrange(
        components,
        (_is_arch, _is_vendor, _is_os, _is_environment),
        (_is_arch, _is_vendor, runs_on, ends),
    )
    if arch and environment and not vendor and not os and components[1:3] == ["none", ""]:
        components[1:3] = ["", "none"]
    return noticed


def _rename_environment(components: list[str], environment: str) -> None:
    if environment == "android" and components[3].startswith("androideabi"):
        components[3] = "android" + components[3].removeprefix("androideabi")
    # On SUSE gnueabi has always meant the hard-float variant.
    if environment == "gnueabi" and components[1] == "suse":
        components[3] = "gnueabihf"


def _windows(components: list[str], system: str, environment: str, object_format: str) -> list[str]:
    """Rewrite what follows the vendor; `system` is the environment that an old system name stands for."""
    other = object_format if object_format != "coff" else ""
    components = [*components[:2], "windows", *components[3:4]]
    if system:
        components[3:] = [system]
    elif environment == "unknown":
        components[3:] = [other or "msvc"]
        other = ""
    return [*components, other] if other else components


def _dxil(components: list[str], os: str) -> list[str]:
    """Add the DXIL version that a shader model stands for; LLVM takes no more than four components."""
    if os != "shadermodel":
        return components[:4]
    return [spell_dxil(components[2].removeprefix("shadermodel")), *components[1:4]]


def spell_dxil(shader_model: str) -> str:
    """Return the architecture's name for a shader model: "6.7" gives `dxilv1.7`.

    Models that are not 6.N have DXIL 1.0; LLVM ends the program on 6.10 and later, which keeps `dxil` here.
    """
    if shader_model == "6.x":
        return "dxilv1.9"
    version = parse_version(shader_model)
    if version[:1] != (6,) or version == (6,):
        return "dxilv1.0"
    name = f"dxilv1.{version[1]}"
    return name if name in ARCH_SPELLINGS else "dxil"


def parse_version(text: str) -> tuple[int, ...]:
    """Return up to four numbers from a version's text; () where it is none, as LLVM reads it."""
    return tuple(map(int, text.split("."))) if _VERSION.fullmatch(text) else ()


@attrs.frozen
class LLVMTriple:
    """What LLVM makes of a triple's text, component by component, without moving any.

    Names are LLVM's canonical ones, "unknown" for what LLVM does not know (`sub_arch`: "").
    """

    text: str
    arch: str
    sub_arch: str
    vendor: str
    os: str
    environment: str
    object_format: str

    @property
    def names(self) -> tuple[str, str, str, str]:
        """The components as they are written: architecture, vendor, OS, and all the rest."""
        return _four(self.text.split("-", _SLOTS - 1))

    @property
    def os_version(self) -> tuple[int, ...]:
        """The numbers after the OS's name."""
        name = self.names[2]
        prefixes = {"macosx": ("macosx", "macos"), "xros": ("xros", "visionos")}.get(self.os, (self.os,))
        return parse_version(next((name[len(p) :] for p in prefixes if name.startswith(p)), name))

    def compatible_with(self, other: LLVMTriple) -> bool:
        """Answer LLVM's `isCompatibleWith`: may modules of the two be linked together?

        ARM and Thumb are one here, Apple's OS versions and MinGW's vendors do not count. Not symmetric on
        the vendor: it is this side's environment that decides.
        """
        if (
            _machine(self.arch) != _machine(other.arch)
            or self.sub_arch != other.sub_arch
            or self.os != other.os
        ):
            return False
        if self.vendor != other.vendor and (self.os, self.environment) != ("windows", "gnu"):
            return False
        rest = (self.environment, self.object_format) == (other.environment, other.object_format)
        return rest or self.vendor == "apple"


def _machine(arch: str) -> str:
    return arch.replace("thumb", "arm") if arch.startswith("thumb") else arch


def read_triple(text: str) -> LLVMTriple:
    """Read a triple's text the way LLVM's constructor does; it never raises, and it normalises nothing."""
    name, vendor, system, ending = _four(text.split("-", _SLOTS - 1))
    arch, sub_arch = read_arch(name)
    os, environment = _os(system), _environment(ending)
    if "-" not in text:
        environment = implied_environment(name) or "unknown"
    object_format = object_format_suffix(ending) or default_object_format(arch, os)
    return LLVMTriple(text, arch, sub_arch, _vendor(vendor), os, environment, object_format)


def implied_environment(arch_name: str) -> str:
    """Return the environment of an architecture that stands alone, "" without one; only MIPS has them."""
    if arch_name.startswith("mipsn32"):
        return "gnuabin32"
    if arch_name.startswith(("mips64", "mipsisa64")):
        return "gnuabi64"
    plain = arch_name in {"mips", "mipsel", "mipsr6", "mipsr6el"} or arch_name.startswith("mipsisa32")
    return "gnu" if plain else ""
