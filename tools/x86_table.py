"""The table of x86: clang closes features both ways, alike for both widths."""

from __future__ import annotations

from typing import Any

from llvm_oracle import Answer, ask_all, cc1, driver, subtarget_help, zig_table
from table_parts import check_aliases, close_covers, reduce, row, split_tuning, transitive
from table_patches import PatchError, Patches

WIDE, NARROW = "x86_64-linux-gnu", "i686-linux-gnu"


def build(patches: Patches) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table and the descriptions."""
    listed, texts = subtarget_help(WIDE)
    texts = {name: text for name, text in texts.items() if name not in patches.left_out}
    defined = zig_table("x86")
    wide = ask_all(lambda cpu: driver(WIDE, f"-march={cpu}"), listed)
    narrow = ask_all(lambda cpu: driver(NARROW, f"-march={cpu}"), listed)
    sets = _sets(wide, narrow)
    features, roles = _features(patches, texts, defined.implies, set().union(*sets.values()))
    aliases = check_aliases(patches, sets, listed)
    sets["generic"] = {
        name for name in transitive(defined.implies, defined.cpus["generic"]) if roles.get(name) == "isa"
    }
    sets["generic"] -= set(patches.roles["isa"])
    closed = {cpu: transitive(defined.implies, names) for cpu, names in defined.cpus.items()}
    for cpu, copy in patches.copies.items():
        sets[cpu], closed[cpu] = set(sets[copy["has"]]), closed[copy["tuning"]]
    kept = {cpu: sets[cpu] for cpu in sorted(listed) if cpu not in aliases and cpu in sets}
    patched = patches.patch_cpus(kept, closed)
    lost = set(listed) - kept.keys() - aliases.keys()
    if lost:
        raise PatchError(f"x86: neither clang nor the aliases know {sorted(lost)}")
    cpus = {
        cpu: {
            "has": " ".join(sorted(names)),
            **({"has64": "sse sse2"} if cpu == "generic" else {}),
            **({"bits": "32"} if "64bit" not in closed[cpu] and cpu != "generic" else {}),
            **split_tuning(closed[cpu], roles),
        }
        for cpu, names in kept.items()
    }
    patched |= patches.patch_features(features) | patches.notes
    close_covers(features)
    table = {"bits": "32 64", "features": features, "cpus": cpus, "aliases": aliases, "patched": patched}
    return table, dict(sorted(texts.items()))


def _sets(wide: dict[str, Answer], narrow: dict[str, Answer]) -> dict[str, set[str]]:
    sets = {}
    for cpu, answer in wide.items():
        other = narrow[cpu]
        if not answer.error and not other.error and answer.on != other.on:
            raise PatchError(f"x86: the set of {cpu} depends on the width")
        if not answer.error or not other.error:
            sets[cpu] = set(other.on if answer.error else answer.on)
    return sets


def _features(
    patches: Patches, texts: dict[str, str], defined: dict[str, tuple[str, ...]], listed: set[str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    accepted = ask_all(lambda name: driver(WIDE, "-march=x86-64", f"-m{name}"), texts)
    known = listed | {name for name, answer in accepted.items() if not answer.error}
    roles = {name: patches.role(name, known) for name in sorted(texts)}
    held = [name for name, role in roles.items() if role in ("isa", "abi")]
    bare = cc1(NARROW, "i386")
    added = ask_all(lambda name: cc1(NARROW, "i386", f"+{name}").on - bare.on | {name}, held)
    gone = ask_all(lambda name: cc1(NARROW, "i386", f"-{name}").off, held)
    hard = {name: {one for one in held if name in gone[one]} | {name} for name in held}
    for name in held:
        if name not in known:
            hard[name] |= {one for one in transitive(defined, [name]) if one in held}
    soft = {name: added[name] - transitive(hard, [name]) - bare.on for name in held}
    features = {}
    for name, role in roles.items():
        if name not in held:
            features[name] = row(role)
            continue
        direct = reduce(name, hard)
        # What an implied feature already brings is said there.
        own = soft[name] - set().union(*(soft[other] for other in hard[name] - {name}))
        features[name] = row(role, implies=direct, brings=own, field=patches.fields.get(name, ""))
    return features, roles
