"""`targetspec list`: the names that there are."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from targetspec import registry
from targetspec.commands.command import Output, UsageError, add_command
from targetspec.cpu import cpu_names, family_names, feature_names
from targetspec.schemas import NAMES
from targetspec.tags import tag_names
from targetspec.triple import Triple


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "list", _list, "list the names that there are")
    command.add_argument("what", choices=sorted(_LISTS), metavar="WHAT", help=", ".join(sorted(_LISTS)))
    arch = "an architecture, or the table of several (x86); all where it is not stated"
    command.add_argument("--arch", metavar="ARCH", help=arch)


def _list(arguments: argparse.Namespace) -> Output:
    names = _LISTS[arguments.what](arguments.arch)
    return Output(tuple(names), names)


def _by_family(names_of: Callable[[str], Iterable[str]]) -> Callable[[str | None], list[str]]:
    def listed(arch: str | None) -> list[str]:
        return sorted({name for family in _families(arch) for name in names_of(family)})

    return listed


def _families(arch: str | None) -> tuple[str, ...]:
    if arch is None or arch in family_names():
        return family_names() if arch is None else (arch,)
    family = Triple.parse(arch).family
    if family not in family_names():
        raise UsageError(f"no table of CPUs and features for {arch!r}; there are {', '.join(family_names())}")
    return (family,)


def _without_arch(names_of: Callable[[], Iterable[str]]) -> Callable[[str | None], list[str]]:
    def listed(arch: str | None) -> list[str]:
        if arch is not None:
            raise UsageError("--arch goes with cpus and features only")
        return list(names_of())

    return listed


_LISTS: dict[str, Callable[[str | None], list[str]]] = {
    "kinds": _without_arch(registry.kind_names),
    "dialects": _without_arch(registry.dialect_names),
    "cpus": _by_family(cpu_names),
    "features": _by_family(feature_names),
    "schemas": _without_arch(lambda: NAMES),
    "tags": _without_arch(tag_names),
}
