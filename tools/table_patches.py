"""What was reviewed by hand in `table_patches.toml`, as the builders of the tables ask for it."""

from __future__ import annotations

import fnmatch
from typing import Any


class PatchError(ValueError):
    """The patch file and the oracle do not fit: something was not reviewed, or a patch has no effect."""


class Patches:
    """One family's section: roles, aliases, and departures from clang."""

    def __init__(self, family: str, section: dict[str, Any]) -> None:
        self.family = family
        self.roles: dict[str, list[str]] = section.get("roles", {})
        self.fields: dict[str, str] = section.get("fields", {})
        self.left_out: dict[str, str] = section.get("left_out", {})
        self.aliases = _by_name(section.get("aliases", {}))
        self.spellings = _by_name(section.get("spellings", {}))
        self.cpu_patches: list[dict[str, Any]] = section.get("cpu", [])
        self.feature_patches: list[dict[str, Any]] = section.get("feature", [])
        self.notes: dict[str, str] = section.get("notes", {})
        self.sets: dict[str, str] = section.get("sets", {})
        self.widths: dict[str, str] = section.get("widths", {})
        self.defined = _by_name(section.get("defined", {}))
        self.copies: dict[str, dict[str, str]] = section.get("copies", {})
        self.versions: list[str] = section.get("versions", [])
        self.arches: list[str] = section.get("arches", [])
        self.groups: list[str] = [name for names in section.get("groups", {}).values() for name in names]
        self.less: dict[str, str] = {}
        self.conflicts = _pairs(section.get("conflicts", {}))
        self.together: dict[str, str] = section.get("together", {})
        self.needs: dict[str, str] = section.get("needs", {})
        self.texts: dict[str, str] = section.get("texts", {})

    def role(self, name: str, known: set[str]) -> str:
        """Return a feature's role: as reviewed, else isa where clang knows it."""
        for role, patterns in self.roles.items():
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                return role
        if name in known:
            return "isa"
        raise PatchError(f"{self.family}: the role of feature {name!r} was not reviewed")

    def is_version(self, name: str) -> bool:
        """Say whether a feature is an architecture version, which comes with other features and does not need them."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in [*self.versions, *self.arches])

    def is_arch(self, name: str) -> bool:
        """Say whether a version names a whole architecture, of which clang lists exactly one."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.arches)

    def field(self, name: str) -> str:
        """Return the field that states a feature in place of the set; "group" for a name that stands for others."""
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in self.groups):
            return "group"
        return self.fields.get(name, "")

    def describe(self, texts: dict[str, str]) -> dict[str, str]:
        """Return the descriptions, with ours where LLVM has left one to be written."""
        unwritten = {name for name, text in texts.items() if text.startswith("TODO")}
        if unwritten != self.texts.keys():
            raise PatchError(
                f"{self.family}: texts to write: {sorted(unwritten)}, written: {sorted(self.texts)}"
            )
        return texts | self.texts

    def defined_cpus(self) -> dict[str, str]:
        """Return the CPUs whose sets are as LLVM defines them, not as clang lists them, with the reasons."""
        return {f"cpu {cpu}": reason for cpu, reason in self.defined.items() if cpu not in self.aliases}

    def patch_cpus(self, sets: dict[str, set[str]], defined: dict[str, set[str]]) -> dict[str, str]:
        """Change the sets as reviewed; return what was changed, with the reasons.

        A patch adds or drops names; with `where = "defined"` only on the CPUs that LLVM's own definition gives the
        name to, so that the list need not be repeated. `less` has what LLVM itself goes on to give the name.
        """
        patched: dict[str, list[str]] = {}
        for patch in self.cpu_patches:
            add, drop = set(patch.get("add", "").split()), set(patch.get("drop", "").split())
            chosen = [cpu for cpu in sets if _chosen(cpu, patch, sets[cpu], defined.get(cpu, set()))]
            if not chosen:
                raise PatchError(f"{self.family}: a CPU patch has no effect: {patch['reason']}")
            for cpu in chosen:
                if kept := drop & sets[cpu] & defined.get(cpu, set()):
                    self.less[cpu] = " ".join(sorted(kept))
                sets[cpu] = sets[cpu] - drop | add
                patched.setdefault(f"cpu {cpu}", []).append(patch["reason"])
        return {key: " ".join(reasons) for key, reasons in sorted(patched.items())}

    def patch_features(self, features: dict[str, dict[str, str]]) -> dict[str, str]:
        """Change the rows of features as reviewed; return what was changed, with the reasons."""
        patched: dict[str, str] = {}
        for patch in self.feature_patches:
            for name in patch["names"].split():
                row = features[name]
                for key in ("implies", "brings", "covers", "takes"):
                    if key in patch:
                        row[key] = " ".join(sorted({*row.get(key, "").split(), *patch[key].split()}))
                if "brings_if" in patch:
                    row["brings"] = "; ".join(filter(None, (row.get("brings"), patch["brings_if"])))
                before = patched.get(f"feature {name}", "")
                patched[f"feature {name}"] = before or patch["reason"]
        return dict(sorted(patched.items()))


def _pairs(listed: dict[str, str]) -> dict[str, str]:
    """Return the reason of each conflict: of all before the colon with one of those behind it."""
    return {
        f"{first} {other}": reason
        for key, reason in listed.items()
        for first, _, others in [key.partition(": ")]
        for other in others.split()
    }


def _by_name(listed: dict[str, str]) -> dict[str, str]:
    """Return the key of each of the names that stand behind it."""
    return {name: key for key, names in listed.items() for name in names.split()}


def _chosen(cpu: str, patch: dict[str, Any], has: set[str], defined: set[str]) -> bool:
    add, drop = set(patch.get("add", "").split()), set(patch.get("drop", "").split())
    if patch.get("where") == "defined" and not add <= defined:
        return False
    listed = patch.get("cpus")
    if listed is not None and cpu not in listed.split():
        return False
    return not add <= has or bool(drop & has)
