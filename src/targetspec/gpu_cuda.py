"""CUDA architectures: their names, order, families, and which code runs on which of them.

The answers for PTX are those of ptxas 13.5; those for machine code are the programming guide's (binary
compatibility), which does not promise it between Tegra and other parts, although nvlink accepts that.
"""

from __future__ import annotations

import difflib
import functools
import re
from typing import NamedTuple, Self

import attrs

from targetspec.errors import FieldTypeError, UnknownNameError

CODE_FORMS = ("ptx", "cubin", "fat", "lto")
_SUFFIXES = ("", "f", "a")
# Capability by capability: the first PTX ISA that knows it plain, with f, and with a.
_FIRST_ISA: dict[int, tuple[str | None, str | None, str | None]] = {
    20: ("2.0", None, None),
    21: ("2.0", None, None),
    30: ("3.0", None, None),
    32: ("4.0", None, None),
    35: ("3.1", None, None),
    37: ("4.1", None, None),
    50: ("4.0", None, None),
    52: ("4.1", None, None),
    53: ("4.2", None, None),
    60: ("5.0", None, None),
    61: ("5.0", None, None),
    62: ("5.0", None, None),
    70: ("6.0", None, None),
    72: ("6.1", None, None),
    75: ("6.3", None, None),
    80: ("7.0", None, None),
    86: ("7.1", None, None),
    87: ("7.4", None, None),
    88: ("9.0", None, None),
    89: ("7.8", None, None),
    90: ("7.8", None, "8.0"),
    100: ("8.6", "8.8", "8.6"),
    101: ("8.6", "8.8", "8.6"),
    103: ("8.8", "8.8", "8.8"),
    107: ("9.4", "9.4", "9.4"),
    110: ("9.0", "9.0", "9.0"),
    120: ("8.7", "8.8", "8.7"),
    121: ("8.8", "8.8", "8.8"),
}
_FAMILIES = (frozenset({100, 103, 107}), frozenset({101, 110}), frozenset({120, 121}))
_TEGRA = frozenset({32, 53, 62, 72, 87, 101, 110})


@functools.total_ordering
@attrs.frozen(eq=True, order=False)
class CudaArch:
    """A CUDA architecture: a capability as a number (90 is 9.0), and the suffix "", "f" or "a".

    `f` code is for a family, `a` code for one capability. They sort as numbers do, and then from plain to `a`.
    Raises UnknownNameError for one that does not exist.

    >>> CudaArch.parse("9.0a") < CudaArch.parse("sm_100")
    True
    """

    number: int
    suffix: str = ""

    def __attrs_post_init__(self) -> None:
        if type(self.number) is not int or type(self.suffix) is not str:
            hint = "CudaArch.parse reads a text"
            raise FieldTypeError(
                "cuda", "arch", repr(self), "must be an int and a str, such as (90, 'a')", hint
            )
        if self.suffix not in _SUFFIXES or str(self) not in arch_names():
            raise _unknown(str(self))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the architecture of a spelling that states no form of code, such as sm_90a, 9.0a or 90a."""
        spelled = read_code(text)
        if spelled.code_form is not None:
            raise _unknown(text)
        return cls(spelled.arch.number, spelled.arch.suffix)

    @property
    def capability(self) -> tuple[int, int]:
        """Major and minor."""
        return divmod(self.number, 10)

    @property
    def family(self) -> frozenset[int]:
        """The capabilities that its `f` code may run on, older ones included; itself where there is no family."""
        return next((family for family in _FAMILIES if self.number in family), frozenset({self.number}))

    @property
    def is_tegra(self) -> bool:
        """Whether it is a part of the Tegra line, whose machine code is its own."""
        return self.number in _TEGRA

    @property
    def first_ptx_isa(self) -> str:
        """The first version of the PTX ISA that has it."""
        first = _FIRST_ISA[self.number][_SUFFIXES.index(self.suffix)]
        return str(first)

    def __lt__(self, other: object) -> bool:
        if type(other) is not CudaArch:
            return NotImplemented
        return self._rank < other._rank

    @property
    def _rank(self) -> tuple[int, int]:
        return self.number, _SUFFIXES.index(self.suffix)

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


class CudaCode(NamedTuple):
    """What a spelling says: the architecture, and the form of the code where it states one."""

    arch: CudaArch
    code_form: str | None


@functools.cache
def arch_names() -> tuple[str, ...]:
    """Return the names of all architectures, in their order."""
    return tuple(
        f"sm_{number}{suffix}"
        for number, firsts in _FIRST_ISA.items()
        for suffix, first in zip(_SUFFIXES, firsts, strict=True)
        if first is not None
    )


_NAMED = re.compile(
    r"(?P<prefix>sm_|compute_|lto_|)(?P<number>[0-9]{2,3})(?P<suffix>[a-z]?)(?P<kind>-real|-virtual|)"
)
_DOTTED = re.compile(r"(?P<major>[0-9]{1,2})\.(?P<minor>[0-9])(?P<suffix>[a-z]?)(?P<fat>\+PTX|)")
_FORM_OF = {
    ("sm_", ""): None,
    ("", ""): None,
    ("sm_", "-real"): "cubin",
    ("", "-real"): "cubin",
    ("", "-virtual"): "ptx",
    ("compute_", ""): "ptx",
    ("lto_", ""): "lto",
}


_MINORS = 10


def read_code(spelling: str | tuple[int, int]) -> CudaCode:
    """Return what any usual spelling of an architecture says; raise UnknownNameError with the nearest names.

    >>> str(read_code("compute_90a").arch), read_code("compute_90a").code_form
    ('sm_90a', 'ptx')
    """
    if isinstance(spelling, tuple):
        major, minor = spelling
        if major < 0 or minor not in range(_MINORS):
            raise UnknownNameError("CUDA architecture", f"{major}.{minor}", ())
        return CudaCode(CudaArch(major * _MINORS + minor), None)
    if dotted := _DOTTED.fullmatch(spelling):
        number = int(dotted["major"]) * 10 + int(dotted["minor"])
        return CudaCode(_arch(number, dotted["suffix"], spelling), "fat" if dotted["fat"] else None)
    named = _NAMED.fullmatch(spelling)
    if named is None or (named["prefix"], named["kind"]) not in _FORM_OF:
        raise _unknown(spelling)
    arch = _arch(int(named["number"]), named["suffix"], spelling)
    return CudaCode(arch, _FORM_OF[named["prefix"], named["kind"]])


def _arch(number: int, suffix: str, spelling: str) -> CudaArch:
    if f"sm_{number}{suffix}" not in arch_names():
        raise _unknown(spelling)
    return CudaArch(number, suffix)


# A name that is written as names are, with another number in it.
_NUMBERED = re.compile(r"[^0-9]*[0-9][0-9. ]*[a-z]?(?:-real|-virtual)?")


def _unknown(spelling: str) -> UnknownNameError:
    """Return the error with the nearest names: by number where there is one, else by letters."""
    names, digits = arch_names(), re.search(r"[0-9]{1,4}", spelling.replace(".", ""))
    alike = tuple(difflib.get_close_matches(spelling[:32].lower(), names, 3, 0.75))
    if alike and not _NUMBERED.fullmatch(spelling):
        near = alike
    elif digits is None:
        near = tuple(difflib.get_close_matches(spelling[:32], names, 3, 0.0))
    else:
        wanted, suffix = int(digits[0]), spelling.removesuffix("-real").removesuffix("-virtual")[-1:]
        near = tuple(sorted(names, key=lambda name: _distance(name, wanted, suffix))[:3])
    return UnknownNameError("CUDA architecture", spelling[:80], near)


def _distance(name: str, wanted: int, suffix: str) -> tuple[int, bool]:
    number = int(name.removeprefix("sm_").rstrip("af"))
    return abs(number - wanted), not name.endswith(suffix)


def ptx_runs(code: CudaArch, device: CudaArch) -> bool | None:
    """Say whether PTX for `code` runs on `device`; None where only the device's suffix `a` would tell."""
    if code.suffix == "":
        return device.number >= code.number
    if code.suffix == "f":
        return device.number in code.family and device.number >= code.number
    # ptxas takes PTX for sm_101a where it makes code for sm_110a: 11.0 is what 10.1 is called since CUDA 13.
    if (code.number, device.number) != (101, 110) and code.number != device.number:
        return False
    return True if device.suffix == "a" else None


def cubin_runs(code: CudaArch, device: CudaArch) -> bool | None:
    """Say whether machine code for `code` runs on `device`; None as for PTX."""
    if code.suffix == "a" and code.number != device.number:
        return False
    # One part under two names: were plain code for 10.1 refused where its family's runs, no order were left.
    if code.suffix or code.number == device.number or (code.number, device.number) == (101, 110):
        return ptx_runs(code, device)
    later = code.capability[0] == device.capability[0] and code.number < device.number
    return later and not code.is_tegra and not device.is_tegra


@functools.cache
def replaces(code: CudaArch, other: CudaArch, form: str) -> bool | None:
    """Say whether code runs wherever code of the same form for `other` does; None where it runs on `other` itself."""
    runs = cubin_runs if form == "cubin" else ptx_runs
    archs = [CudaArch.parse(name) for name in arch_names()]
    if all(runs(code, device) for device in archs if runs(other, device)):
        return True
    return False if runs(code, other) is False else None


@functools.cache
def promised_isa(device: CudaArch) -> tuple[int, ...]:
    """Return the PTX ISA that every driver for a device has, however closely the device is described."""
    archs = (CudaArch.parse(name) for name in arch_names())
    return min(isa_key(arch.first_ptx_isa) for arch in archs if cubin_runs(device, arch))


def isa_key(version: str) -> tuple[int, ...]:
    """Return the numbers of a version of the PTX ISA."""
    return tuple(int(part) for part in version.split("."))
