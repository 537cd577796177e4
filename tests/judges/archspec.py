"""archspec's microarchitectures, their order, and the flags of compilers that it has for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from judges.host import ARCHSPEC, flags_of_linux
from judges.judge import Judge, Row
from targetspec import CpuTarget, FeatureSet, cpu, parse
from targetspec.host.arm_features import unlisted
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture
from targetspec.host.x86 import x86_level

_TRIPLES = {
    "x86": "i386-unknown-linux-gnu",
    "x86_64": "x86_64-unknown-linux-gnu",
    "aarch64": "aarch64-unknown-linux-gnu",
    "ppc64": "powerpc64-unknown-linux-gnu",
    "ppc64le": "powerpc64le-unknown-linux-gnu",
    "riscv64": "riscv64-unknown-linux-gnu",
    "sparc": "sparc-unknown-linux-gnu",
    "sparc64": "sparcv9-unknown-linux-gnu",
}
# The CPU of LLVM that a name stands for, with the triple's key; "" for the architecture alone.
_NAMES: Mapping[str, tuple[str, str]] = {
    **{name: (name, "") for name in _TRIPLES},
    "x86": ("x86", "i386"),
    **{name: ("x86", name) for name in ("i686", "pentium2", "pentium3", "pentium4", "prescott")},
    **{f"x86_64_v{n}": ("x86_64", f"x86-64-v{n}") for n in (2, 3, 4)},
    "icelake": ("x86_64", "icelake-client"),
    "m4": ("aarch64", "apple-m4"),
    "power7": ("ppc64", "pwr7"),
    "power8": ("ppc64", "pwr8"),
    "power9": ("ppc64", "pwr9"),
    "power10": ("ppc64", "pwr10"),
    "power8le": ("ppc64le", "pwr8"),
    "power9le": ("ppc64le", "pwr9"),
    "power10le": ("ppc64le", "pwr10"),
    "u74mc": ("riscv64", "sifive-u74"),
}
_VERSION = re.compile(r"armv([89]\.\d)a")
_VERSIONS = "versions of compilers are not told apart: the flags are those of today's"
_CRYPTO = "LLVM has no cryptography in this CPU's set: it is optional there"
COMPAT = {
    "asnoflag:excavator:gcc:4.8.5": _VERSIONS,
    "asnoflag:broadwell:apple-clang:7.0.0": _VERSIONS,
    "asnoflag:ppc64le:nvhpc:23": _VERSIONS,
    "asapple:Apple M2000": "a processor that there is not yet: archspec takes the last one, and here nothing is said",
    "asle:skylake_avx512<=icelake": "the client's set has no clwb",
    "asle:cascadelake<=icelake": "the client's set has no clwb",
    "asle:cortex_a72<=neoverse_v2": _CRYPTO,
    "asle:neoverse_n1<=neoverse_v2": _CRYPTO,
}
UARCHS = {"as:m4": "GCC's flags ask for an Armv9.2 with SVE, which the processor is not"}


def target_of(name: str) -> CpuTarget:
    """Return the target that archspec's name stands for; an architecture of Arm is its features."""
    version = _VERSION.fullmatch(name)
    if version:
        plain = CpuTarget(triple=_TRIPLES["aarch64"])
        return plain.evolve(features=plain.features.with_changes([f"v{version[1].removesuffix('.0')}a"]))
    arch, model = _NAMES.get(name) or _same_as_ours(name)
    return CpuTarget(triple=_TRIPLES[arch], cpu=model or None)


def _same_as_ours(name: str) -> tuple[str, str]:
    """Return the architecture and the CPU whose name is LLVM's with another punctuation, or in the table of hosts."""
    model = str(ARCHSPEC.get(name, name)).replace("_", "-")
    return ("x86_64" if "x86" in cpu.families_of_cpu(model) else "aarch64"), model


# Cryptography is an option of these designs: LLVM's names are without it, and archspec saw machines that have it.
_OPTIONS = frozenset({"aes", "sha2"})


def _seen(code: CpuTarget) -> CpuTarget:
    """Return code without what no program can observe, statistical profiling for one: archspec knows what Linux shows."""
    if code.family != "aarch64":
        return code
    return code.evolve(features=FeatureSet.closed("aarch64", code.features.names - unlisted()))


def _runs(code_for: str, runs_on: str) -> bool:
    return _runs_on(target_of(code_for), target_of(runs_on))


def _runs_on(code: CpuTarget, machine: CpuTarget) -> bool:
    # 32-bit code on a 64-bit machine: archspec knows of no userland.
    return bool(code.compatible(machine, bridges=("compat32",)))


def _faults_of_order(row: Row) -> Iterator[str]:
    """Yield a true of archspec's that is none here: its false is often merely "unrelated"."""
    left, sign, right = row["op"].split()
    if sign == "!=":
        if target_of(left) == target_of(right):
            yield "equal"
    elif row["result"]:
        code, machine = (left, right) if sign[0] == "<" else (right, left)
        if not _runs(code, machine):
            yield f"{code} does not run on {machine}"
        if len(sign) == 1 and target_of(left) == target_of(right):
            yield "equal"


def _has(name: str, feature: str) -> bool:
    target = target_of(name)
    return bool({feature, cpu.feature_alias(target.family, feature, "linux")} & {*target.features})


def _faults_of_flags(row: Row) -> Iterator[str]:
    """The flags of a compiler give code that runs on the machine they are for; what no compiler here takes is refused."""
    if "error" in row:
        yield f"{row['compiler']} {row['version']} is not told from later ones"
        return
    triple = str(target_of(row["target"]).triple)
    code = parse(f"{triple} {row['flags']}", "gcc")
    if not code.compatible(target_of(row["target"])):
        yield f"{code} does not run on it"


def _faults_of_machine(row: Row) -> Iterator[str]:
    """A Mac's processor by its name."""
    outputs = {"sysctl": f"machdep.cpu.brand_string: {row['sysctl_brand']}\n"}
    facts = read_facts(Capture(machine="arm64", pointer_bits=64, system="darwin", outputs=outputs))
    if facts.identity.cpu != f"apple-{row['name']}":
        yield f"cpu {facts.identity.cpu}"


def _faults_of_fact(row: Row) -> Iterator[str]:
    """Yield what differs of a feature, of the architecture, and of the level of x86-64."""
    target = target_of(row["target"])
    if "has_feature" in row and _has(row["target"], row["has_feature"]) != row["result"]:
        yield f"{row['has_feature']} is {not row['result']}"
    if "family" in row and target.triple != CpuTarget(triple=_TRIPLES[row["family"]]).triple:
        yield str(target.triple)
    if "generic" in row:
        level = x86_level(frozenset(target.features))
        if (level or "").replace("-", "_") != row["generic"]:
            yield f"level {level}"


def _faults_of_compat(row: Row) -> Iterator[str]:
    if "op" in row:
        yield from _faults_of_order(row)
    elif "code_for" in row:
        if row["compatible"] and not _runs(row["code_for"], row["runs_on"]):
            yield "does not run"
    elif "sysctl_brand" in row:
        yield from _faults_of_machine(row)
    elif "compiler" in row:
        yield from _faults_of_flags(row)
    else:
        yield from _faults_of_fact(row)


def _faults_of_uarch(row: Row) -> Iterator[str]:
    """Yield what differs of a microarchitecture: its features, what runs on it, and what its flags mean."""
    if "feature_alias" in row:
        names = row["rule"].get("any_of", ())
        if len(names) == 1 and not _means(row["feature_alias"], names[0]):
            yield "not what the others are"
        return
    named = target_of(row["name"])
    lacking = flags_of_linux(named.family, row["features"]) - {*(named.features or ())}
    if lacking - _OPTIONS:
        yield f"without {sorted(lacking)}"
    machine = named.evolve(features=named.features.with_changes(lacking)) if lacking else named
    for name in row["ancestors"]:
        if not _runs_on(_seen(target_of(name)), machine):
            yield f"{name} does not run on it"
    for compiler in ("gcc", "clang"):
        for flags in _of_today(row["flags"].get(compiler, ())):
            code = parse(f"{machine.triple} {flags}", "gcc").evolve(vector_bits=None)
            if not code.compatible(machine):
                yield f"{compiler}'s {flags} does not run on it"


def _of_today(flags: Iterable[Row]) -> tuple[str, ...]:
    """Return the flags of the newest versions of a compiler: the last of those without an end."""
    return tuple(one["flags"] for one in flags if one["versions"].endswith(":"))[-1:]


def _means(alias: str, name: str) -> bool:
    meant = cpu.feature_alias("x86", name, "linux") or name
    return alias == meant or alias in cpu.implied("x86", meant)


FILES = {
    "archspec_compat": Judge(_faults_of_compat, COMPAT, 2),
    "archspec_uarch": Judge(_faults_of_uarch, UARCHS, 2),
}
