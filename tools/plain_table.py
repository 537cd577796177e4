"""The tables of the families that clang treats plainly: it lists a set for each CPU, and closes single features or none.

clang's front end leaves out what it does not test for itself. Such mute features are covered by what it does list: by
what LLVM defines as implied, and, for families that are a line of ever larger designs, by all that the CPUs with a
listed version have in common. Where clang lists nothing but the newest of what LLVM defines as a chain (`graph`), all
that is implied is covered, and what is implied of the ABI is listed, for it must be seen to be compared.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from llvm_oracle import Answer, ask_all, cc1, driver, subtarget_help, zig_table
from table_parts import check_aliases, close_covers, reduce, row, split_tuning, transitive
from table_patches import PatchError, Patches


class Plan(NamedTuple):
    """How to ask about a family: zig's name, the triples by width, the option that names a CPU, what closes features."""

    zig: str
    triples: dict[int, str]
    option: str = "-mcpu="
    closure: str = "clang"
    base: str = ""
    line: bool = False
    graph: bool = False
    mute_counts: bool = True
    renames: bool = False


PLANS = {
    "arm": Plan("arm", {32: "arm-none-eabi"}, closure="llvm"),
    "riscv": Plan(
        "riscv", {64: "riscv64-linux-gnu", 32: "riscv32-unknown-elf"}, closure="llvm", mute_counts=False
    ),
    "powerpc": Plan("powerpc", {64: "powerpc64le-linux-gnu", 32: "powerpc-linux-gnu"}, base="pwr10"),
    "systemz": Plan("s390x", {64: "s390x-linux-gnu"}, "-march="),
    "loongarch": Plan(
        "loongarch", {64: "loongarch64-linux-gnu", 32: "loongarch32-unknown-elf"}, "-march=", closure="llvm"
    ),
    "webassembly": Plan("wasm", {32: "wasm32-unknown-unknown", 64: "wasm64-unknown-unknown"}),
    "hexagon": Plan("hexagon", {32: "hexagon-unknown-elf"}, line=True, graph=True),
    "mips": Plan("mips", {64: "mips64el-linux-gnu", 32: "mipsel-linux-gnu"}, "-march=", graph=True),
    "amdgpu": Plan("amdgcn", {64: "amdgcn-amd-amdhsa"}, mute_counts=False, renames=True),
    "nvptx": Plan(
        "nvptx", {64: "nvptx64-nvidia-cuda", 32: "nvptx-nvidia-cuda"}, "-march=", mute_counts=False
    ),
}


def build(patches: Patches) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table and the descriptions."""
    plan = PLANS[patches.family]
    listed, texts = subtarget_help(next(iter(plan.triples.values())))
    texts = {name: text for name, text in texts.items() if name not in patches.left_out}
    defined = zig_table(plan.zig)
    closed = {cpu: transitive(defined.implies, names) for cpu, names in defined.cpus.items()}
    answers = {
        bits: ask_all(functools.partial(_ask, triple, plan.option), listed)
        for bits, triple in plan.triples.items()
    }
    sets, widths = _sets(patches, listed, closed, answers)
    if plan.renames:
        by_cpu = next(iter(answers.values()))
        patches.aliases |= {cpu: answer.cpu for cpu, answer in by_cpu.items() if answer.cpu not in {cpu, ""}}
    aliases = check_aliases(patches, sets, listed)
    kept = {cpu: sets[cpu] for cpu in sorted(listed) if cpu not in aliases}
    aliases |= _spellings(plan, patches)
    known = set().union(*(answer.on for by_cpu in answers.values() for answer in by_cpu.values()))
    roles = {name: patches.role(name, known) for name in sorted(texts)}
    held = {name for name, role in roles.items() if role in ("isa", "abi")}
    for names in kept.values():
        if names - texts.keys():
            raise PatchError(f"{patches.family}: LLVM has no {sorted(names - texts.keys())}")
        names &= {name for name in held if not patches.field(name)}
    patched = patches.defined_cpus() | patches.patch_cpus(kept, closed)
    mute = (set().union(*closed.values()) & held) - known if plan.mute_counts else set()
    features = _features(plan, patches, roles, defined.implies, mute)
    if plan.graph:
        _cover_graph(patches, features, defined.implies)
    else:
        for name in held:
            covers = transitive(defined.implies, [name]) & mute - {name}
            features[name] |= {"covers": " ".join(sorted(covers))} if covers else {}
    if plan.line:
        _cover_line(patches, features, held, kept, closed)
    rules = _rules(plan, features)
    patched |= patches.patch_features(features) | patches.notes
    close_covers(features)
    usual = " ".join(str(bits) for bits in sorted(plan.triples))
    cpus = {
        cpu: {
            "has": " ".join(sorted(names)),
            **({"less": patches.less[cpu]} if cpu in patches.less else {}),
            **({"bits": widths[cpu]} if widths[cpu] != usual else {}),
            **split_tuning(closed.get(cpu, set()), roles),
        }
        for cpu, names in kept.items()
    }
    table = {
        "bits": usual,
        "features": features,
        "cpus": cpus,
        "aliases": dict(sorted(aliases.items())),
        "patched": patched,
    }
    if rules:
        table["rules"] = rules
    if patches.together:
        table["together"] = patches.together
    if patches.conflicts:
        table |= {"conflicts": patches.conflicts, "needs": patches.needs}
    return table, dict(sorted(texts.items()))


def _spellings(plan: Plan, patches: Patches) -> dict[str, str]:
    """Return the names that clang's driver takes for a CPU, and LLVM itself does not know."""
    triple = next(iter(plan.triples.values()))
    answers = ask_all(lambda name: driver(triple, plan.option + name).cpu, patches.spellings)
    for name, cpu in patches.spellings.items():
        if answers[name] != cpu:
            raise PatchError(f"{patches.family}: clang takes {name!r} for {answers[name] or 'no CPU'!r}")
    return patches.spellings


def _ask(triple: str, option: str, cpu: str) -> Answer:
    return driver(triple, option + cpu)


def _sets(
    patches: Patches,
    listed: tuple[str, ...],
    closed: dict[str, set[str]],
    answers: dict[int, dict[str, Answer]],
) -> tuple[dict[str, set[str]], dict[str, str]]:
    """Return the set of each CPU and the widths of code that it runs."""
    sets, widths = {}, {}
    for cpu in listed:
        good = {bits: by_cpu[cpu] for bits, by_cpu in answers.items() if not by_cpu[cpu].error}
        if cpu in patches.defined:
            good = {}
        if cpu in patches.sets:
            sets[cpu] = set(patches.sets[cpu].split())
        elif good:
            sets[cpu] = set(next(iter(good.values())).on)
        elif cpu in closed:
            sets[cpu] = set(closed[cpu])
        else:
            raise PatchError(f"{patches.family}: nothing is known of the CPU {cpu}")
        stated = [bits for bits in ("32", "64") if f"{bits}bit" in sets[cpu]]
        widths[cpu] = (
            patches.widths.get(cpu)
            or " ".join(stated)
            or " ".join(str(bits) for bits in sorted(good or answers))
        )
    return sets, widths


def _features(
    plan: Plan,
    patches: Patches,
    roles: dict[str, str],
    defined: dict[str, tuple[str, ...]],
    mute: set[str],
) -> dict[str, dict[str, str]]:
    held = [name for name, role in roles.items() if role in ("isa", "abi")]
    if plan.closure == "llvm":
        hard, soft = _defined(patches, held, defined, mute)
        taken: dict[str, set[str]] = {}
    else:
        hard, soft, taken = _asked(plan, held)
    return {
        name: row(
            role,
            implies=reduce(name, hard) if name in hard else (),
            brings=soft.get(name, ()),
            takes=taken.get(name, ()),
            field=patches.field(name),
        )
        for name, role in roles.items()
    }


def _defined(
    patches: Patches, held: list[str], defined: dict[str, tuple[str, ...]], mute: set[str]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return the closure as LLVM defines it; what a version comes with can be refused, as clang's driver lets one."""
    every = {name: transitive(defined, [name]) & set(held) for name in held}
    versions = {name for name in held if patches.is_version(name)}
    arches = {name for name in held if patches.is_arch(name)}
    spoken = {name: implied - ((mute | arches) - {name}) for name, implied in every.items()}
    hard = {name: implied & versions if name in versions else implied for name, implied in spoken.items()}
    soft = {name: spoken[name] - versions for name in versions}
    return hard, soft


def _rules(plan: Plan, features: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the names that clang lists where all they imply is there, as RISC-V's b with zba, zbb and zbs."""
    if plan.zig != "riscv":
        return {}
    triple, cpu = plan.triples[64], "generic-rv64"
    parts = {
        name: row["implies"].split()
        for name, row in features.items()
        if " " in row.get("implies", "") and not row.get("field")
    }
    answers = ask_all(lambda name: cc1(triple, cpu, *(f"+{part}" for part in parts[name])).on, parts)
    rules = {name: " ".join(parts[name]) for name, on in answers.items() if name in on}
    for name, needed in rules.items():
        features[name]["takes"] = needed
    # The compressed loads and stores of floating point are part of c where d or f is there; without them, c is not.
    features["zcd"]["takes"] = features["zcf"]["takes"] = "c"
    return rules | {"zcd": "c d", "zcf": "32bit c f"}


def _asked(
    plan: Plan, held: list[str]
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[str]]]:
    """Return what clang closes: what a feature implies, what it brings besides, and what goes with it besides."""
    triple = next(iter(plan.triples.values()))
    bare = cc1(triple, "").on
    added = ask_all(lambda name: set(cc1(triple, "", f"+{name}").on - bare), held)
    gone = ask_all(lambda name: cc1(triple, plan.base, f"-{name}").off & set(held), held)
    hard = {name: {one for one in added[name] | {name} if one == name or name in gone[one]} for name in held}
    hard = {name: transitive(hard, [name]) for name in held}
    soft = {name: added[name] - hard[name] for name in held}
    own = {
        name: names - set().union(*(soft[one] for one in hard[name] - {name})) for name, names in soft.items()
    }
    taken = {name: {one for one in gone[name] if name not in hard[one]} for name in held}
    return hard, own, taken


def _cover_graph(
    patches: Patches, features: dict[str, dict[str, str]], defined: dict[str, tuple[str, ...]]
) -> None:
    """Cover all that LLVM defines as implied; what is implied of the ABI becomes a part of the set."""
    held = {
        name for name, row in features.items() if row["role"] in ("isa", "abi") and not patches.field(name)
    }
    for name in held:
        reach = transitive(defined, [name]) & held - {name}
        binding = {one for one in reach if features[one]["role"] == "abi"}
        for key, names in (("implies", binding), ("covers", reach - binding)):
            found = {*features[name].get(key, "").split(), *names}
            features[name] |= {key: " ".join(sorted(found))} if found else {}


def _cover_line(
    patches: Patches,
    features: dict[str, dict[str, str]],
    held: set[str],
    kept: dict[str, set[str]],
    closed: dict[str, set[str]],
) -> None:
    for name in sorted(filter(patches.is_version, set().union(*kept.values()))):
        owners = [cpu for cpu, names in kept.items() if name in names and cpu in closed]
        common = set.intersection(*(closed[cpu] & held - kept[cpu] for cpu in owners)) if owners else set()
        common = {one for one in common if not features[one].get("field")} - {name}
        if common:
            features[name]["covers"] = " ".join(sorted({*features[name].get("covers", "").split(), *common}))
