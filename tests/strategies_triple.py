"""Hypothesis strategies of triples, drawn from the tables that the package reads them with."""

from __future__ import annotations

from hypothesis import strategies as st

from targetspec.triple import Triple
from targetspec.triple_archs import ARCH_SPELLINGS, ARM_SUB_ARCHS, ARM_SYNONYMS, EXTRA_ARCHS, known_arch
from targetspec.triple_names import (
    ENVIRONMENTS,
    EXTRA_ENVIRONMENTS,
    EXTRA_OSES,
    EXTRA_VENDORS,
    OBJECT_FORMATS,
    OSES,
    VENDORS,
    WINDOWS_SYSTEMS,
)

_UNVERSIONED = frozenset({"none", "unknown", "freestanding"})


def arch_names() -> st.SearchStrategy[str]:
    """Every way to write an architecture, ARM's versions included."""
    isas = ("arm", "thumb", "armeb", "aarch64")
    arm = [isa + version for isa in isas for version in (*ARM_SUB_ARCHS, *ARM_SYNONYMS) if "-" not in version]
    return st.sampled_from(sorted({*ARCH_SPELLINGS, *EXTRA_ARCHS, *filter(known_arch, arm)}))


def versions() -> st.SearchStrategy[str]:
    """A version's text, "" for none."""
    return st.lists(st.integers(0, 40), max_size=3).map(lambda numbers: ".".join(map(str, numbers)))


def triple_texts() -> st.SearchStrategy[str]:
    """Texts in the usual order of components, aliases and old names included; all of them parse."""
    named = st.sampled_from(sorted({*OSES, *EXTRA_OSES, *WINDOWS_SYSTEMS} - _UNVERSIONED))
    oses = st.one_of(st.sampled_from(sorted(_UNVERSIONED)), st.builds(str.__add__, named, versions()))
    ends = st.sampled_from(sorted({*ENVIRONMENTS, *EXTRA_ENVIRONMENTS} - _UNVERSIONED))
    environments = st.one_of(
        st.sampled_from(["none", "freestanding"]), st.builds(str.__add__, ends, versions())
    )
    vendors = st.sampled_from(["", "unknown", "none", "acme", "my_firm", *sorted(VENDORS | EXTRA_VENDORS)])
    formats = st.sampled_from(sorted(OBJECT_FORMATS - {"spirv"}))  # which LLVM takes for an architecture
    tails = st.one_of(
        st.tuples(), st.tuples(environments), st.tuples(formats), st.tuples(environments, formats)
    )
    parts = st.tuples(arch_names(), st.sampled_from(["full", "short"]), vendors, oses, tails)
    return parts.map(lambda p: "-".join((p[0], *((p[2],) if p[1] == "full" else ()), p[3], *p[4])))


def triples() -> st.SearchStrategy[Triple]:
    """Triples of every architecture, vendor, OS, environment and object format that has a name."""
    return triple_texts().map(Triple.parse)
