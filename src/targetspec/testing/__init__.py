"""Hypothesis strategies for projects that take targets: needs hypothesis, the extra `testing`.

The pool mixes ordinary targets with tricky ones. Kinds of other packages get their strategies from the
declarations of their fields: `kind_targets`.
"""

from __future__ import annotations

from hypothesis import strategies as st

from targetspec import registry
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.testing.cpu import compatible_cpu_pairs, cpu_names, cpu_targets, triples
from targetspec.testing.devices import compatible_device_pairs, kind_targets

__all__ = [
    "compatible_cpu_pairs",
    "compatible_device_pairs",
    "compatible_pairs",
    "cpu_names",
    "cpu_targets",
    "device_targets",
    "hosts",
    "kind_targets",
    "targets",
    "triples",
]


def device_targets(*, hosts: bool = True) -> st.SearchStrategy[Target]:
    """Return targets of every kind of this package that is no processor, with a host now and then where `hosts`."""
    return st.sampled_from(_device_kinds()).flatmap(lambda kind: kind_targets(kind, hosts=hosts))


def _device_kinds() -> list[str]:
    return sorted(set(registry.KINDS) - {"cpu"})


def targets() -> st.SearchStrategy[Target]:
    """Return targets of every kind of this package."""
    return cpu_targets() | device_targets()


def hosts() -> st.SearchStrategy[CpuTarget]:
    """Return targets that can be a host."""
    return cpu_targets(hosts=False)


def compatible_pairs() -> st.SearchStrategy[tuple[Target, Target]]:
    """Return pairs of which code for the first runs on the second."""
    return compatible_cpu_pairs() | st.sampled_from(_device_kinds()).flatmap(compatible_device_pairs)
