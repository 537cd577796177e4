"""Host detection judged by captured machines of other projects that are x86 or Arm under Linux, and by registers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from judges.judge import Row
from targetspec.host import cpuid
from targetspec.host.arm_features import arm_features
from targetspec.host.arm_parts import machine_name
from targetspec.host.auxv import HWCAP
from targetspec.host.cpuid_caches import cache_descriptors, cache_levels
from targetspec.host.cpuinfo import count_processors, first_value, read_cpuinfo, read_number
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture, HostFacts, Leaves
from targetspec.host.x86 import flags_to_features, x86_level

ALL_STATE = 0xE7 | 0x6_0000
"""XCR0 of a system that saves vectors and tiles: what the projects' mocks assume."""

LISTED = {
    "host:llvm:midr:0x4100d870": "the answer rests on a second register (0xd85) that the row does not hold",
}
HWCAPS = {"host:ptcpuinfo:pixel-8": 0xFF}
"""What a mock's own main() sets HWCAP to, where that says less than its Features line; the row does not hold it."""

# What another project calls a processor, where it is not LLVM's name with other punctuation
ARCHSPEC = {
    "bulldozer": "bdver1",
    "cortex_a72": "cortex-a72",
    "excavator": "bdver4",
    "icelake": ("icelake-client", "icelake-server", "tigerlake"),  # it has no later client
    "k10": "amdfam10",
    "m1": "apple-m1",
    "m2": "apple-m2",
    "m3": "apple-m3",
    "mic_knl": "knl",
    "piledriver": "bdver2",
    "steamroller": "bdver3",
    "thunderx2": "thunderx2t99",
    "x86_64_v3": "haswell",  # made from a Haswell with AES taken away
    "zen": "znver1",
    "zen2": "znver2",
    "zen3": "znver3",
    "zen4": "znver4",
    "zen5": "znver5",
}
GOOGLE = {
    "AMD_BOBCAT": "btver1",
    "AMD_BULLDOZER": "bdver1",
    "AMD_EXCAVATOR": "bdver4",
    "AMD_HAMMER": ("k8", "k8-sse3"),
    "AMD_JAGUAR": "btver2",
    "AMD_K10": "amdfam10",
    "AMD_K11": "k8-sse3",
    "AMD_K12": "amdfam10",
    "AMD_PILEDRIVER": "bdver2",
    "AMD_PUMA": "btver2",
    "AMD_STREAMROLLER": "bdver3",
    "AMD_ZEN": "znver1",
    "AMD_ZEN2": "znver2",
    "AMD_ZEN3": "znver3",
    "AMD_ZEN4": "znver4",
    "AMD_ZEN5": "znver5",
    "AMD_ZEN_PLUS": "znver1",
    "INTEL_80486": "i486",
    "INTEL_ADL": ("alderlake", "gracemont"),
    "INTEL_ATOM_GMT": "goldmont",
    "INTEL_ATOM_GMT_PLUS": "goldmont-plus",
    "INTEL_ATOM_SMT": "silvermont",
    "INTEL_ATOM_TMT": "tremont",
    "INTEL_BDW": "broadwell",
    "INTEL_CCL": "skylake-avx512",
    "INTEL_CFL": "skylake",
    "INTEL_CML": "skylake",
    "INTEL_CNL": "cannonlake",
    "INTEL_CORE": ("core2", "yonah"),
    "INTEL_HSW": "haswell",
    "INTEL_ICL": ("icelake-client", "icelake-server"),
    "INTEL_IVB": "ivybridge",
    "INTEL_KBL": "skylake",
    "INTEL_KNIGHTS_L": "knl",
    "INTEL_KNIGHTS_M": "knm",
    "INTEL_LAKEMONT": "lakemont",
    "INTEL_NHM": "nehalem",
    "INTEL_P5": ("pentium", "pentium-mmx"),
    "INTEL_PNR": "penryn",
    "INTEL_RCL": "rocketlake",
    "INTEL_RPL": "raptorlake",
    "INTEL_SKL": ("skylake", "skylake-avx512"),
    "INTEL_SNB": "sandybridge",
    "INTEL_SPR": "sapphirerapids",
    "INTEL_TGL": "tigerlake",
    "INTEL_WHL": "skylake",
    "INTEL_WSM": "westmere",
    "X86_UNKNOWN": ("pentium3",),  # it begins later
}
# Google's names of x86 features where the kernel's differ, and those that no compiler has a name for
GOOGLE_FLAGS = {
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avx512bitalg": "avx512_bitalg",
}
NO_COMPILERS = frozenset({"uai"})
PYTORCH = {"airmont": "silvermont", "saltwell": "bonnell", "cortex_a55r0": "cortex-a55"}


def cpuinfo_text(row: Row) -> str:
    """Return the /proc/cpuinfo of a row, wherever its project keeps it."""
    holders = (
        row.get("text"),
        row.get("files", {}).get("/proc/cpuinfo"),
        row.get("outputs", {}).get("cat_proc_cpuinfo"),
    )
    return next((text for text in holders if text), "")


def machine_of(text: str) -> tuple[str, int] | None:
    """Return the kernel's name of the machine and the process's width as its text implies; None beyond x86 and Arm."""
    if re.search(r"^(flags\s*:.*\bfpu\b|vendor_id\s*:.*(Intel|AMD))", text, re.MULTILINE):
        return "x86_64", 64
    if "CPU implementer" not in text:
        return None
    narrow = re.search(r"\(v[4-7]\w*\)|architecture\s*: [4-7]|^Features\s*:.*\bthumb\b", text, re.MULTILINE)
    return ("armv7l", 32) if narrow else ("aarch64", 64)


def facts_of(row: Row, **more: object) -> HostFacts:
    """Return what the readers make of a row's text."""
    text = cpuinfo_text(row)
    machine, bits = machine_of(text) or ("x86_64", 64)
    files = {"/proc/cpuinfo": text, **row.get("sys", {})}
    return read_facts(Capture(**{"machine": machine, "pointer_bits": bits, "files": files, **more}))


def leaves_of(row: Row) -> Leaves:
    """Return the CPUID leaves of a row in either of its forms."""
    if "cpuid_leaves" in row:
        return {
            (int(leaf, 16), sub): (int(a, 16), int(b, 16), int(c, 16), int(d, 16))
            for leaf, sub, a, b, c, d in row["cpuid_leaves"]
        }
    lines = (
        [int(word) for word in line.split(",")] for line in row.get("text", "").splitlines() if line.strip()
    )
    return {(leaf, sub): (a, b, c, d) for leaf, sub, a, b, c, d in lines}


def named(name: str | None, theirs: str, table: Mapping[str, str | tuple[str, ...]]) -> bool:
    """Return whether LLVM's name is another project's."""
    meant = table.get(theirs, theirs.replace("_", "-"))
    return name == meant if isinstance(meant, str) else name in meant


def faults_of_archspec(row: Row) -> Iterator[str]:
    """Yield what differs: the processor, the vendor and on x86 the level."""
    leaves = leaves_of(row) if row["kind"] == "cpuid" else {}
    facts = (
        read_facts(Capture(machine="x86_64", pointer_bits=64, leaves=leaves, xcr0=ALL_STATE))
        if leaves
        else facts_of(row)
    )
    expected = row["expected"]
    if not named(facts.identity.cpu, expected["archspec_microarchitecture"], ARCHSPEC):
        yield f"cpu {facts.identity.cpu}"
    if expected["vendor"] not in {"generic", facts.identity.vendor}:
        yield f"vendor {facts.identity.vendor}"
    if facts.arch == "x86_64" and expected["generic"] != (x86_level(facts.features) or "").replace("-", "_"):
        yield f"level {x86_level(facts.features)}"


def faults_of_google_cpuid(row: Row) -> Iterator[str]:
    """Yield what differs: identity, features and how many caches are listed."""
    leaves, expected = leaves_of(row), row["expected"]
    files = {"/proc/cpuinfo": cpuinfo_text(row)}
    facts = read_facts(Capture(machine="x86_64", pointer_bits=64, files=files, leaves=leaves, xcr0=ALL_STATE))
    identity, fields = facts.identity, expected["fields"]
    for key, got in (("family", identity.family), ("model", identity.model), ("stepping", identity.stepping)):
        if key in fields and int(fields[key], 16) != got:
            yield f"{key} {got}"
    if "vendor" in fields and fields["vendor"].split("_")[-2] not in (identity.vendor or "").upper():
        yield f"vendor {identity.vendor}"
    if "brand_string" in fields and fields["brand_string"].strip() != (identity.brand or "").strip():
        yield f"brand {identity.brand}"
    if "microarchitecture" in fields and not named(identity.cpu, fields["microarchitecture"], GOOGLE):
        yield f"cpu {identity.cpu}"
    if "size" in fields and int(fields["size"]) not in {
        len(cache_levels(leaves)),
        len(cache_descriptors(leaves)),
    }:
        yield f"caches {cache_levels(leaves)}"
    wanted = {GOOGLE_FLAGS.get(name, name) for name in expected["features_true"]} - NO_COMPILERS
    if not flags_to_features(frozenset(wanted)) <= facts.features:
        yield f"features {flags_to_features(frozenset(wanted)) - facts.features}"


def faults_of_google_arm(row: Row) -> Iterator[str]:
    """Yield what differs: the fields as printed, the capabilities listed, and the features beyond the list."""
    blocks, facts, expected = read_cpuinfo(cpuinfo_text(row)), facts_of(row), row["expected"]
    for key, text in expected["fields"].items():
        stated = (
            facts.identity.architecture
            if key == "architecture"
            else read_number(first_value(blocks, f"CPU {key}"))
        )
        if read_number(text) != stated:
            yield f"{key} {stated}"
    listed = set((first_value(blocks, "Features") or "").split())
    unlisted = set(expected["features_true"]) - listed
    if not arm_features(frozenset(unlisted)) <= facts.features:
        yield f"features {unlisted}"
    claimed = arm_features(frozenset(expected["features_false"])) & facts.features - {"d32"}
    if claimed:
        yield f"claims {claimed}"


def faults_of_llvm(row: Row) -> Iterator[str]:
    """Yield LLVM's name where ours is another; its "generic" is no name."""
    cpu = machine_name([int(row["midr"], 16)], "") if row["kind"] == "midr" else facts_of(row).identity.cpu
    if (cpu or "generic") != row["expected"]["llvm_cpu"]:
        yield f"cpu {cpu}"


def faults_of_commands(row: Row) -> Iterator[str]:
    """Yield what differs: the flags as printed, and the numbers of the model."""
    blocks, facts, expected = read_cpuinfo(cpuinfo_text(row)), facts_of(row), row["expected"]
    flags = set((first_value(blocks, "flags", "Features") or "").split())
    if "flags" in expected and flags != set(expected["flags"]):
        yield f"flags {flags ^ set(expected['flags'])}"
    for key in ("family", "model", "stepping"):
        if key in expected and expected[key] != getattr(facts.identity, key):
            yield f"{key} {getattr(facts.identity, key)}"
    if count_processors(blocks) > expected["count"]:
        yield f"processors {count_processors(blocks)}"


def faults_of_machine(row: Row) -> Iterator[str] | None:
    """Return what differs of an x86 or Arm machine, or a register; None for another machine."""
    source = row["id"].split(":")[1]
    if row["kind"] == "midr":
        return faults_of_llvm(row)
    if row["kind"] == "cpuid" or (source == "cpu_features" and "X86" in row["id"]):
        return faults_of_archspec(row) if source == "archspec" else faults_of_google_cpuid(row)
    if row["kind"] == "sysctl" or machine_of(cpuinfo_text(row)) is None:
        return None
    judges = {
        "archspec": faults_of_archspec,
        "cpu_features": faults_of_google_arm,
        "llvm": faults_of_llvm,
        "py-cpuinfo": faults_of_commands,
    }
    return judges[source](row)


PYTORCH_FEATURES = {
    "arm_aes": "aes",
    "arm_atomics": "lse",
    "arm_bf16": "bf16",
    "arm_crc32": "crc",
    "arm_fcma": "complxnum",
    "arm_fp16_arith": "fullfp16",
    "arm_i8mm": "i8mm",
    "arm_jscvt": "jsconv",
    "arm_neon": "neon",
    "arm_neon_dot": "dotprod",
    "arm_neon_rdm": "rdm",
    "arm_sha2": "sha2",
    "arm_sve": "sve",
    "arm_sve2": "sve2",
}
PYTORCH_32_BIT = {
    "arm_idiv": "hwdiv-arm",
    "arm_vfpv3": "vfp3d16",
    "arm_vfpv4": "vfp4d16",
    "arm_vfpv4_d32": "vfp4",
}


def faults_of_phone(row: Row) -> Iterator[str]:
    """Yield what differs: processors, designs, registers and features."""
    auxv = {HWCAP: HWCAPS[row["id"]]} if row["id"] in HWCAPS else {}
    facts, expected = facts_of(row, auxv=auxv), row["expected"]
    designs = {PYTORCH.get(name, name.replace("_", "-")) for name in expected["uarchs"]}
    if designs and designs != (set(facts.identity.parts) or {facts.identity.cpu}):
        yield f"designs {facts.identity.parts}"
    registers = {int(text, 16) for text in expected["midrs"]}
    if registers and not registers >= set(facts.identity.midrs):
        yield f"midrs {facts.identity.midrs}"
    if expected["processors"] not in {None, facts.num_threads}:
        yield f"processors {facts.num_threads}"
    names = PYTORCH_FEATURES if facts.arch == "aarch64" else PYTORCH_32_BIT | {"arm_neon": "neon"}
    for name, feature in names.items():
        if name in expected["isa_true"] and feature not in facts.features:
            yield f"without {name}"
        if name in expected["isa_false"] and feature in facts.features:
            yield f"with {name}"


INSTRUCTION_SETS = {
    "x86-64": "64bit",
    "MMX": "mmx",
    "SSE": "sse",
    "SSE2": "sse2",
    "SSE3": "sse3",
    "SSSE3": "ssse3",
    "SSE4.1": "sse4.1",
    "SSE4.2": "sse4.2",
    "SSE4A": "sse4a",
    "AVX": "avx",
    "AVX2": "avx2",
    "AES": "aes",
    "SHA": "sha",
    "XOP": "xop",
    "FMA4": "fma4",
}


def faults_of_dump(row: Row) -> Iterator[str]:
    """Yield what differs from what the dumping tool says: vendor, signature and features; Intel's and AMD's have names."""
    parsed = (re.split(r"[.:-]", line) for line in row["leaves"])
    leaves = {
        (int(leaf, 16), int(sub, 16)): tuple(int(word, 16) for word in rest) for leaf, sub, *rest in parsed
    }
    # leaf 0xD lists the state that the processor could save; the dumps were taken where all of it was on
    state = leaves.get((0xD, 0), (0,))[0]
    facts = read_facts(Capture(machine="x86_64", pointer_bits=64, leaves=leaves, xcr0=state))
    says = row["tool_says"].get("instruction_set", "")
    told = {INSTRUCTION_SETS[name] for name in says.split(", ") if name in INSTRUCTION_SETS}
    got = facts.features & set(INSTRUCTION_SETS.values()) if says else set()
    if (row["vendor"], told) != (facts.identity.vendor, got):
        yield f"{facts.identity} {told ^ got}"
    if int(row["signature"], 16) & 0xF != cpuid.signature(leaves)[2]:
        yield "stepping"
    if row["vendor"] in {"GenuineIntel", "AuthenticAMD"} and facts.identity.cpu is None:
        yield "no name"


def flags_of_linux(family: str | None, names: Iterable[str]) -> frozenset[str]:
    """Return LLVM's features for the kernel's names of them; without a reader of the family's names, none."""
    readers = {"x86": flags_to_features, "aarch64": arm_features}
    return readers[family](frozenset(names)) if family in readers else frozenset()
