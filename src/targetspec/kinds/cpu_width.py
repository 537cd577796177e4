"""What names of features say of the width of the code, which the triple states already, and where the two contradict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from targetspec import cpu as facts
from targetspec.errors import FeatureConflictError

_WIDE, _NARROW, _TINY = 64, 32, 16
# The width of the code that has a feature; without it, code is of another width.
_MARKS: Mapping[str, Mapping[str, int]] = {
    "x86": {"64bit": _WIDE, "64bit-mode": _WIDE, "32bit-mode": _NARROW, "16bit-mode": _TINY},
    "riscv": {"64bit": _WIDE, "32bit": _NARROW},
    "loongarch": {"64bit": _WIDE, "32bit": _NARROW},
    "mips": {"gp64": _WIDE},
}
_WIDE_ARCHS = ("x86_64", "mips64", "mips64el")
# clang 22: "is only supported for 'rv32'".
_ONLY_RV32 = frozenset({
    *("xqci", "xqcia", "xqciac", "xqcibi", "xqcibm", "xqcicli", "xqcicm", "xqcics", "xqcicsr", "xqciint", "xqciio"),
    *("xqcilb", "xqcili", "xqcilia", "xqcilo", "xqcilsm", "xqcisim", "xqcisls", "xqcisync"),
    *("xwchc", "zcf", "zclsd", "zilsd"),
})  # fmt: skip


def check_width(
    family: str, arch: str, bits: int, add: Iterable[str] = (), remove: Iterable[str] = ()
) -> None:
    """Refuse features that contradict the width of a triple's code: its architecture, and its pointers' bits.

    `add` are asked for, or make up a whole set; `remove` are refused.

    Raises:
        FeatureConflictError: a feature of the other width is asked for, or the triple's own is refused.
        UnknownNameError: no such feature.

    >>> check_width("x86", "x86_64", 64, remove=["64bit"])
    Traceback (most recent call last):
        ...
    targetspec.errors.FeatureConflictError: -64bit and x86_64 cannot both hold on x86: the triple is for 64-bit code
    """
    width = _WIDE if arch in _WIDE_ARCHS else bits
    marks = _MARKS.get(family, {})
    reason = f"the triple is for {width}-bit code"
    for name in (facts.canonical_feature(family, one) for one in add):
        if marks.get(name, width) != width or (family == "riscv" and width == _WIDE and name in _ONLY_RV32):
            raise FeatureConflictError(family, f"+{name}", arch, reason)
    for name in (facts.canonical_feature(family, one) for one in remove):
        if marks.get(name) == width:
            raise FeatureConflictError(family, f"-{name}", arch, reason)
