"""The parts that the tables of all families share: rows, and relations derived from clang's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from table_patches import PatchError, Patches


def reduce(name: str, implied: Mapping[str, set[str]]) -> set[str]:
    """Return what a feature implies directly: what no other implied feature brings along."""
    rest = implied[name] - {name}
    return {one for one in rest if not any(one in implied[other] - {other} for other in rest - {one})}


def transitive(direct: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    """Return all that is reached from some names."""
    found, todo = set(start), list(start)
    while todo:
        fresh = set(direct.get(todo.pop(), ())) - found
        found |= fresh
        todo += fresh
    return found


def row(role: str, **relations: Iterable[str] | str) -> dict[str, str]:
    """Return the row of a feature; relations that are empty are left out."""
    texts = {
        key: text if isinstance(text, str) else " ".join(sorted(text)) for key, text in relations.items()
    }
    return {"role": role, **{key: text for key, text in texts.items() if text}}


def close_covers(features: dict[str, dict[str, str]]) -> None:
    """Let each feature cover what the covered ones cover in turn, so that comparing sets stays transitive.

    What a covered feature implies is left alone: it may be listed by name, and be refused by name.
    """
    covers = {name: row["covers"].split() for name, row in features.items() if "covers" in row}
    for name, direct in covers.items():
        features[name]["covers"] = " ".join(sorted(transitive(covers, direct) - {name}))


def split_tuning(names: Iterable[str], roles: Mapping[str, str]) -> dict[str, str]:
    """Return the tuning and the inverse features among the names of a CPU's definition, as parts of its row."""
    parts = {
        role: " ".join(sorted(name for name in names if roles.get(name) == role))
        for role in ("tuning", "inverse")
    }
    return {role: text for role, text in parts.items() if text}


def check_aliases(patches: Patches, sets: Mapping[str, set[str]], known: Iterable[str]) -> dict[str, str]:
    """Return the aliases, each known to LLVM, and with the set of its CPU where clang knows both."""
    for alias, cpu in patches.aliases.items():
        if alias not in known or cpu not in known:
            raise PatchError(f"{patches.family}: LLVM knows no CPU {alias!r}, or no {cpu!r}")
        if alias in sets and sets[alias] != sets[cpu]:
            raise PatchError(f"{patches.family}: {alias} and {cpu} are not the same CPU")
    return dict(sorted(patches.aliases.items()))
