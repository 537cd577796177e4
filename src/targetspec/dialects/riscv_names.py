"""Extensions of RISC-V as ISA strings name them: their versions, profiles and order, and what excludes what.

Source: the ISA manual's chapter on naming, the profile specifications, and LLVM 22.1 (`--print-supported-extensions`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from targetspec.cpu_tables import table

EXPERIMENTAL = "experimental-"
G = ("i", "m", "a", "f", "d", "zicsr", "zifencei")
SINGLE_LETTERS = frozenset("mafdqlcbkjtpvnh")
TYPES = {"z": "user-level", "s": "supervisor-level", "x": "non-standard user-level"}
_ORDER = {letter: place for place, letter in enumerate("iemafdqlcbkjtpvnh")}

# Every other extension is at version 1.0.
_VERSIONS = """
    2p1  i a
    2p0  e m c zicntr zicsr zifencei zihintpause zihpm
    2p2  f d q xwchc
    5p0  xandesbfhcvt xandesperf xandesvbfhcvt xandesvdot xandesvpackfph xandesvsinth xandesvsintload
    0p0  zvqdotq
    0p1  xqciio xrivosvisni xrivosvizip xsfmclic xsfsclic zibi zvfbfa
    0p2  xqcibi xqcicm xqcics xqcilb xqcili xqcilia xqcisim xqcisls xsfvfexpa xsfvfexpa64e zvfofp8min
    0p3  svukte xqccmp xqciac xqcicli xqcilo xqcisync
    0p4  xqcicsr
    0p5  xsfvfbfexp16e xsfvfexp16e xsfvfexp32e
    0p6  smpmpmt xqcilsm xsfmm128t xsfmm16t xsfmm32a16f xsfmm32a32f xsfmm32a8f xsfmm32a8i xsfmm32t xsfmm64a64f
    0p6  xsfmm64t xsfmmbase
    0p7  xqcia zvbc32e zvkgs
    0p8  xqcibm
    0p10 xqciint
    0p13 xqci
    0p18 p
"""
_NO_EXTENSIONS = frozenset({"unaligned-scalar-mem", "unaligned-vector-mem"})

_RVA20 = "i m a f d c zicsr zicntr ziccif ziccrse ziccamoa zicclsm"
_RVA22 = f"{_RVA20} za64rs zihpm zihintpause b zic64b zicbom zicbop zicboz zkt"
_RVB23 = f"{_RVA22} zihintntl zicond zimop zcmop zcb zfa zawrs"
_RVA23 = f"{_RVB23} zfhmin v zvfhmin zvbb zvkt supm"
_SUPERVISOR = "zifencei svbare svade ssccptr sstvecd sstvala"
_SUPERVISOR_22 = f"{_SUPERVISOR} sscounterenw svpbmt svinval"
_SUPERVISOR_23 = f"{_SUPERVISOR_22} svnapot sstc sscofpmf ssu64xl"

# What a profile lists; what that implies may be stated beside it, what is listed may not.
PROFILES: Mapping[str, tuple[int, str]] = {
    "rvi20u32": (32, "i"),
    "rvi20u64": (64, "i"),
    "rva20u64": (64, f"{_RVA20} za128rs"),
    "rva20s64": (64, f"{_RVA20} za128rs {_SUPERVISOR}"),
    "rva22u64": (64, f"{_RVA22} zfhmin"),
    "rva22s64": (64, f"{_RVA22} zfhmin {_SUPERVISOR_22}"),
    "rva23u64": (64, _RVA23),
    "rva23s64": (64, f"{_RVA23} {_SUPERVISOR_23} ssnpm sha"),
    "rvb23u64": (64, _RVB23),
    "rvb23s64": (64, f"{_RVB23} {_SUPERVISOR_23}"),
    "rvm23u32": (32, "i m b zicond zihintpause zihintntl zce zicbop zimop zcmop"),
}
EXPERIMENTAL_PROFILES = frozenset({"rvm23u32"})

ONLY_RV32 = frozenset({"zcf", "zclsd", "zilsd", "xwchc"})
"""What the narrow base alone has, and all of Qualcomm's `xqci`."""

EXCLUSIVE = (("f", "zfinx"), ("d", "xwchc"), ("xwchc", "zcb"), ("zclsd", "zcf"), ("zcmp", "xqccmp"))
# They use the encodings that c has for d.
NOT_WITH_C_AND_D = ("zcmt", "zcmp", "xqccmp", "xqciac", "xqcicm")
ONE_OF = {"zvl32b": ("v", "zve*", "zve32x"), "xsfvfbfexp16e": ("zvfbfmin", "zvfbfa", "zvfbfmin")}
"""What needs one of two others: how they are called, and what is there when one of them is."""


@functools.cache
def _stated_versions() -> Mapping[str, str]:
    rows = (line.split() for line in _VERSIONS.strip().splitlines())
    return {name: version for version, *names in rows for name in names}


@functools.cache
def features() -> Mapping[str, str]:
    """Return LLVM's feature of each extension: its name, with a prefix where it is experimental."""
    rows = table("riscv").features.items()
    names = (
        name
        for name, row in rows
        if row["role"] == "isa" and row.get("field") != "group" and name not in _NO_EXTENSIONS
    )
    return {name.removeprefix(EXPERIMENTAL): name for name in names}


def version_of(extension: str) -> str:
    """Return the one version of an extension that the tables know, as `2p1`."""
    return _stated_versions().get(extension, "1p0")


def place_of(extension: str) -> tuple[int, int, str]:
    """Return the sorting key of the canonical order: base, single letters, then names with z, s and x."""
    kind = extension[0]
    if len(extension) == 1:
        return 0, _ORDER[kind], ""
    if kind == "z":
        # By the letter behind it, which says what they belong to.
        return 1, _ORDER.get(extension[1], len(_ORDER) + ord(extension[1])), extension
    return (2 if kind == "s" else 3), 0, extension
