"""CPU targets for the tests of dialects: of every family that has a table, with any set and any stated field."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from targetspec import CpuTarget, Triple, cpu
from targetspec.features import FeatureSet
from targetspec.kinds.cpu_width import contradicting

TRIPLES = {
    "x86": (
        "x86_64-unknown-linux-gnu",
        "i686-unknown-linux-musl",
        "x86_64-apple-macosx11.0",
        "x86_64-pc-windows-msvc",
    ),
    "aarch64": ("aarch64-unknown-linux-gnu", "aarch64-apple-macosx14.0", "aarch64-unknown-linux-android21"),
}
WIDTH_MARKS = frozenset({"64bit", "32bit", "64bit-mode", "32bit-mode", "16bit-mode", "gp64"})
_COUNTS = ("num_cores", "l1d_cache_bytes", "l2_cache_bytes", "l3_cache_bytes", "cache_line_bytes")


def _names(family: str, *roles: str) -> list[str]:
    return [name for name in cpu.feature_names(family) if cpu.role(family, name) in roles]


def _fitting(family: str, triple: str, *roles: str) -> list[str]:
    """Return the names that say nothing of the width, and that code of the triple can have."""
    parsed = Triple.parse(triple)
    wrong = contradicting(family, parsed.arch, parsed.pointer_bits) | WIDTH_MARKS
    return [name for name in _names(family, *roles) if not cpu.implied(family, name) & wrong]


@st.composite
def _options(draw: Any) -> dict[str, Any]:
    """Fields that LLVM's options can say, with a set that is a CPU's, or a changed one, or any one."""
    family = draw(st.sampled_from(sorted(TRIPLES)))
    fields: dict[str, Any] = {"triple": draw(st.sampled_from(TRIPLES[family]))}
    bits = CpuTarget(**fields).triple.pointer_bits
    fitting = [name for name in cpu.cpu_names(family) if bits in cpu.cpu_widths(family, name)]
    fields["cpu"] = draw(st.none() | st.sampled_from(fitting))
    fields["tune"] = draw(st.none() | st.sampled_from(fitting))
    isa = [name for name in _fitting(family, fields["triple"], "isa", "abi") if name != "soft-float"]
    drop = draw(st.sets(st.sampled_from(isa), max_size=2))
    add = {
        name
        for name in draw(st.sets(st.sampled_from(isa), max_size=3))
        if not drop & cpu.implied(family, name)
    }
    add = {name for name in add if not any(name in cpu.dependents(family, gone) for gone in drop)}
    fields["features"] = CpuTarget(triple=fields["triple"], cpu=fields["cpu"]).request_features(add, drop)
    tuning = draw(st.sets(st.sampled_from(_names(family, "tuning")), max_size=2))
    fields["tuning"] = {draw(st.sampled_from("+-")) + name for name in tuning}
    fields["restrictions"] = draw(st.sets(st.sampled_from(_names(family, "inverse")), max_size=2))
    fields["float_abi"] = draw(st.sampled_from([None, "soft", "hard"]))
    return fields


@st.composite
def _any_fields(draw: Any) -> dict[str, Any]:
    fields = draw(_options())
    family = CpuTarget(**fields).family
    if draw(st.booleans()):
        fitting = _fitting(family, fields["triple"], "isa")
        fields["features"] = FeatureSet.closed(family, draw(st.sets(st.sampled_from(fitting))))
    fields |= {name: draw(st.none() | st.integers(1, 2**40)) for name in _COUNTS}
    fields["static"] = draw(st.booleans())
    fields["libs"] = draw(st.sets(st.sampled_from(["cudnn", "mkl", "libstdc++.so"])))
    return fields


OPTION_TARGETS = _options().map(lambda fields: CpuTarget(**fields))
CPU_TARGETS = st.tuples(_any_fields(), st.none() | OPTION_TARGETS).map(
    lambda pair: CpuTarget(**pair[0], host=pair[1])
)
