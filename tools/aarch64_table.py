"""The table of AArch64: clang's driver closes features, under its own names, and knows the architecture versions.

Three things are read off the driver. What `+X` adds to plain Armv8.0, what `+noX` takes from the newest architecture
with every extension, and what `-march=armv8.N-a` lists. An architecture version lists some of what it implies and leaves
the rest unsaid: the former comes with the version as a default (clang lets it be refused), the latter is covered by it.
"""

from __future__ import annotations

import re
from typing import Any

from llvm_oracle import ask_all, clang, driver, subtarget_help, zig_table
from table_parts import check_aliases, close_covers, reduce, row, split_tuning, transitive
from table_patches import PatchError, Patches

TRIPLE = "aarch64-linux-gnu"
BARE, FULL = "armv8-a", "armv9.7-a"


def build(patches: Patches) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table and the descriptions."""
    listed, texts = subtarget_help(TRIPLE)
    texts = {name: text for name, text in texts.items() if name not in patches.left_out}
    defined = zig_table("aarch64")
    answers = ask_all(lambda cpu: driver(TRIPLE, f"-mcpu={cpu}"), listed)
    sets = {cpu: set(answer.on) for cpu, answer in answers.items()}
    patches.aliases |= {cpu: answer.cpu for cpu, answer in answers.items() if answer.cpu != cpu}
    aliases = check_aliases(patches, sets, listed)
    kept = {cpu: sets[cpu] for cpu in sorted(listed) if cpu not in aliases}
    closed = {cpu: transitive(defined.implies, names) for cpu, names in defined.cpus.items()}
    patched = patches.patch_cpus(kept, closed)
    features, roles = _features(patches, texts, defined.implies, set().union(*sets.values()))
    cpus = {
        cpu: {"has": " ".join(sorted(names)), **split_tuning(closed[cpu], roles)}
        for cpu, names in kept.items()
    }
    patched |= patches.patch_features(features) | patches.notes
    close_covers(features)
    table = {"bits": "32 64", "features": features, "cpus": cpus, "aliases": aliases, "patched": patched}
    table["together"] = patches.together
    return table, dict(sorted(texts.items()))


def _versions(names: dict[str, str]) -> dict[str, str]:
    """Return the feature of each architecture version, with its -march name."""
    found = (re.fullmatch(r"v(8|9)(\.\d)?(a|r)", name) for name in names)
    return {match[0]: f"armv{match[1]}{match[2] or ''}-{match[3]}" for match in found if match}


def _extensions() -> dict[str, str]:
    """Return the driver's names of extensions, each with LLVM's name of the feature."""
    text = clang(f"--target={TRIPLE}", "--print-supported-extensions").stdout
    names = re.findall(r"^    ([a-z0-9.+-]+) +\S", text, re.MULTILINE)
    answers = ask_all(lambda name: driver(TRIPLE, f"-march={BARE}+{name}").on, names)
    found = {name: _RENAMED.get(name, name) for name in names}
    for name, feature in found.items():
        if feature not in answers[name]:
            raise PatchError(f"aarch64: which feature is the extension {name!r}?")
    return found


_RENAMED = {
    "fcma": "complxnum", "fp": "fp-armv8", "fp16": "fullfp16", "jscvt": "jsconv", "memtag": "mte", "pmuv3": "perfmon",
    "predres2": "specres2", "profile": "spe", "rng": "rand", "simd": "neon",
}  # fmt: skip


def _features(
    patches: Patches, texts: dict[str, str], defined: dict[str, tuple[str, ...]], listed: set[str]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    versions, extensions = _versions(texts), _extensions()
    own = {feature: name for name, feature in extensions.items()}
    marches = ask_all(lambda name: driver(TRIPLE, f"-march={versions[name]}").on, versions)
    known = listed | set(own) | set().union(*marches.values())
    roles = {name: patches.role(name, known) for name in sorted(texts)}
    held = {name for name, role in roles.items() if role in ("isa", "abi")}
    spoken = set(own) | set().union(*marches.values())

    everything = "+".join([FULL, *sorted(extensions)])
    full = driver(TRIPLE, f"-march={everything}").on
    base = driver(TRIPLE, f"-march={BARE}").on
    gone = {
        feature: full - answer.on
        for feature, answer in ask_all(
            lambda name: driver(TRIPLE, f"-march={everything}+no{own[name]}"), own
        ).items()
    }
    added = {
        feature: set(answer.on) | {feature}
        for feature, answer in ask_all(lambda name: driver(TRIPLE, f"-march={BARE}+{own[name]}"), own).items()
    }

    mute = held - known
    hard: dict[str, set[str]] = {}
    for name in held:
        reach = transitive(defined, [name]) & held - mute
        if name in versions:
            hard[name] = reach & versions.keys()
        elif name in own:
            removable = {one for one in added[name] if name in gone.get(one, ())}
            silent = {one for one in reach if one not in own} - versions.keys()
            hard[name] = removable | silent | {name}
        else:
            hard[name] = reach - versions.keys() | {name}
    for name in held:
        hard[name] = transitive(hard, [name])

    features = {}
    for name, role in roles.items():
        if name not in held:
            features[name] = row(role)
            continue
        relations: dict[str, Any] = {"implies": reduce(name, hard)}
        relations["covers"] = transitive(defined, [name]) & mute - {name}
        if name in versions:
            below = hard[name] - {name}
            # Armv8.0 itself comes with floating point and Advanced SIMD, which clang lists and lets be refused.
            brought = marches[name] - {name} - below
            relations["brings"] = brought - set().union(*(marches[one] for one in below))
            direct = set(defined[name]) - versions.keys() - spoken
            relations["covers"] = (transitive(defined, direct) & held) - spoken - versions.keys()
        elif name in own:
            relations["brings"] = added[name] - hard[name] - base
            inverse = {one for one in held if name in hard[one]}
            taken = gone[name] - inverse
            relations["takes"] = {one for one in taken if not hard[one] & taken - {one}}
        features[name] = row(role, **relations)
    return features, roles
