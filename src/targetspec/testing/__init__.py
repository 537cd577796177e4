"""Hypothesis strategies for projects that take targets: needs hypothesis, the extra `testing`.

The strategies mix ordinary targets with a pool of tricky ones (`tricky_targets`): nothing stated, the smallest and
the largest counts, names full of blanks, brackets and escapes, empty sets, hosts of other systems, composites whose
members bring equal hosts. Kinds of other packages get theirs from the declarations of their fields: `kind_targets`.

    @given(targetspec.testing.targets())
    def test_my_cache_key_keeps_a_target(target): ...

With `other_tables=True` some targets hold features that another version of the tables closed, as old files do: pickle
and JSON keep them, and a text, which is relative to the tables of its reader, does not.
"""

from __future__ import annotations

from hypothesis import strategies as st

from targetspec import registry
from targetspec.target import Target
from targetspec.testing.cases import tricky_hosts, tricky_targets
from targetspec.testing.cpu import compatible_cpu_pairs, cpu_names, cpu_targets, triples
from targetspec.testing.devices import compatible_device_pairs, host_targets, kind_targets
from targetspec.testing.shapes import shape_values
from targetspec.testing.texts import target_strings, written_targets

__all__ = [
    "compatible_cpu_pairs",
    "compatible_device_pairs",
    "compatible_pairs",
    "cpu_names",
    "cpu_targets",
    "device_targets",
    "hosts",
    "kind_targets",
    "shape_values",
    "target_strings",
    "targets",
    "tricky_hosts",
    "tricky_targets",
    "triples",
    "written_targets",
]


def device_targets(*, hosts: bool = True, other_tables: bool = False) -> st.SearchStrategy[Target]:
    """Return targets of every kind of this package that is no processor, with a host now and then where `hosts`."""
    kinds = st.sampled_from(_device_kinds())
    return kinds.flatmap(lambda kind: kind_targets(kind, hosts=hosts, other_tables=other_tables))


def _device_kinds() -> list[str]:
    return sorted(set(registry.KINDS) - {"cpu"})


def targets(*, other_tables: bool = False) -> st.SearchStrategy[Target]:
    """Return targets of every kind of this package."""
    return cpu_targets(other_tables=other_tables) | device_targets(other_tables=other_tables)


def hosts(*, other_tables: bool = False) -> st.SearchStrategy[Target]:
    """Return targets that can be a host, without one of their own."""
    return host_targets(other_tables=other_tables)


def compatible_pairs() -> st.SearchStrategy[tuple[Target, Target]]:
    """Return pairs of which code for the first runs on the second."""
    return compatible_cpu_pairs() | st.sampled_from(_device_kinds()).flatmap(compatible_device_pairs)
