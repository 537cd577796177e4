"""What names of features say of the width of the code, which the triple states already, and where the two contradict."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from targetspec import cpu as facts
from targetspec.errors import FeatureConflictError, FieldError
from targetspec.features import FeatureSet
from targetspec.triple import Triple

_WIDE, _NARROW, _TINY = 64, 32, 16
# The width of the code that has a feature; without it, code is of another width.
_MARKS: Mapping[str, Mapping[str, int]] = {
    "x86": {"64bit": _WIDE, "64bit-mode": _WIDE, "32bit-mode": _NARROW, "16bit-mode": _TINY},
    "riscv": {"64bit": _WIDE, "32bit": _NARROW},
    "loongarch": {"64bit": _WIDE, "32bit": _NARROW},
    "mips": {"gp64": _WIDE},
    "powerpc": {"64bit": _WIDE},
}
_WIDE_ARCHS = ("x86_64", "mips64", "mips64el")
# clang 22: "is only supported for 'rv32'".
_ONLY_RV32 = frozenset({
    *("xqci", "xqcia", "xqciac", "xqcibi", "xqcibm", "xqcicli", "xqcicm", "xqcics", "xqcicsr", "xqciint", "xqciio"),
    *("xqcilb", "xqcili", "xqcilia", "xqcilo", "xqcilsm", "xqcisim", "xqcisls", "xqcisync"),
    *("xwchc", "zcf", "zclsd", "zilsd"),
})  # fmt: skip


@functools.lru_cache(maxsize=256)
def contradicting(family: str, arch: str, bits: int) -> frozenset[str]:
    """Return the features that code of a triple's architecture and pointer width cannot have.

    >>> "xqci" in contradicting("riscv", "riscv64", 64), "rva23u64" in contradicting("riscv", "riscv32", 32)
    (True, True)
    """
    width = _WIDE if arch in _WIDE_ARCHS else bits
    wrong = {name for name, of in _MARKS.get(family, {}).items() if of != width}
    if family == "riscv" and width == _WIDE:
        wrong |= _ONLY_RV32
    if not wrong:
        return frozenset()
    # RISC-V's profiles stand for a width among other things.
    return frozenset(name for name in facts.feature_names(family) if facts.implied(family, name) & wrong)


@functools.lru_cache(maxsize=64)
def _own(family: str, width: int) -> frozenset[str]:
    """Return the features that code of a width has, whatever is stated."""
    marks = (mark for mark, of in _MARKS.get(family, {}).items() if of == width)
    return frozenset(name for mark in marks for name in facts.implied(family, mark))


def check_width(
    family: str, arch: str, bits: int, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> None:
    """Refuse features that contradict the width of a triple's code: its architecture, and its pointers' bits.

    `add` are asked for, or make up a whole set; `remove` are refused.

    Raises:
        FeatureConflictError: a feature of the other width is asked for, or the triple's own is refused.
        UnknownNameError: no such feature.

    >>> check_width("x86", "x86_64", 64, remove=["64bit"])
    Traceback (most recent call last):
        ...
    targetspec.errors.FeatureConflictError: x86_64 and -64bit cannot both hold on x86: the triple is for 64-bit code
    """
    if not (add or remove):
        return
    width = _WIDE if arch in _WIDE_ARCHS else bits
    reason = f"the triple is for {width}-bit code"
    wrong = contradicting(family, arch, bits)
    for name in (facts.canonical_feature(family, one) for one in add):
        if name in wrong:
            raise FeatureConflictError(family, arch, f"+{name}", reason)
    own = _own(family, width)
    for name in (facts.canonical_feature(family, one) for one in remove):
        if name in own:
            raise FeatureConflictError(family, arch, f"-{name}", reason)


def changed(
    features: FeatureSet, triple: Triple | None, add: Iterable[str], remove: Iterable[str]
) -> FeatureSet:
    """Return a set with changes, closed, for code of a triple.

    Raises UnknownNameError, FeatureRoleError, and FeatureConflictError, also where the triple's width is contradicted.
    """
    add, remove = tuple(add), tuple(remove)
    if triple is not None:
        check_width(features.family, triple.arch, triple.pointer_bits, add, remove)
    return features.with_changes(add, remove)


def settled(given: FeatureSet | frozenset[str], family: str | None, triple: Triple | None) -> FeatureSet:
    """Return the features of a target as it holds them: closed, for the width of its triple's code.

    Raises FieldError where they are of no family or another one, and what closing them raises.
    """
    if family is None:
        raise FieldError(
            "cpu",
            "features",
            ",".join(sorted(given)),
            "feature names mean nothing without a family",
            "state a triple whose architecture has a table",
        )
    if isinstance(given, FeatureSet):
        if family != given.family:
            raise FieldError("cpu", "features", repr(given), f"must be of the family {family}")
        return _for_code(given.names, given, triple)
    return _closed_for_code(given, family, triple)


# Documents come with the same few sets again and again; only sets of known names are kept.
@functools.lru_cache(maxsize=4096)
def _closed_for_code(names: frozenset[str], family: str, triple: Triple | None) -> FeatureSet:
    return _for_code(names, FeatureSet.closed(family, names), triple)


def _for_code(names: frozenset[str], found: FeatureSet, triple: Triple | None) -> FeatureSet:
    if triple is None:
        return found
    wrong = names & contradicting(found.family, triple.arch, triple.pointer_bits)
    check_width(found.family, triple.arch, triple.pointer_bits, add=sorted(wrong))
    return found.for_width(triple.pointer_bits)
