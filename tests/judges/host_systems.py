"""Captured machines of other projects that are no x86 or Arm under Linux: every one is read as its project asserts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judges import host
from judges.judge import Judge, Row
from targetspec.host.cpuinfo import common_words, count_processors, read_cpuinfo
from targetspec.host.detected import host_target
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture, HostFacts
from targetspec.host.sysctl import read_sysctl
from targetspec.host.x86 import flags_to_features, x86_level

# The kernel's name of the machine by what only its /proc/cpuinfo says
MACHINES = (
    (r"^cpu\s*: POWER", "ppc64le", 64),
    (r"^vendor_id\s*: IBM/S390", "s390x", 64),
    (r"^(isa\s*: rv64|uarch\s*:)", "riscv64", 64),
    (r"^(CPU Family|cpu family)\s*: Loongson-64bit", "loongarch64", 64),
    (r"^isa\s*:.*mips64r2", "mips64", 64),
    (r"^cpu model\s*: MIPS", "mips", 32),
)
ARCHSPEC = {
    "core2": "core2",
    "m1": "apple-m1",
    "m2": "apple-m2",
    "m3": "apple-m3",
    "m4": "apple-m4",
    "m5": "apple-m5",
    "power7": "pwr7",
    "power8": "pwr8",
    "power8le": "pwr8",
    "power9": "pwr9",
    "power9le": "pwr9",
    "power10": "pwr10",
    "u74mc": "sifive-u74",
    "x60": "spacemit-x60",
}
GOOGLE_LOONGARCH = {"FPU": "d", "LSX": "lsx", "LASX": "lasx", "UAL": "ual", "LVZ": "lvz"}
GOOGLE_MIPS = {
    "dsp": "dsp",
    "eva": "eva",
    "mips16": "mips16",
    "msa": "msa",
    "mips3d": "mips3d",
    "r6": "mips32r6",
}
# What py-cpuinfo's data sources are called, and the tool whose text they are
OUTPUTS = {
    "cat_var_run_dmesg_boot": "dmesg",
    "dmesg_a": "dmesg",
    "isainfo_vb": "isainfo",
    "kstat_m_cpu_info": "kstat",
    "sysctl_machdep_cpu_hw_cpufrequency": "sysctl",
    "sysinfo_cpu": "sysinfo",
}
SYSTEMS = {"sysctl": "darwin", "dmesg": "freebsd", "isainfo": "sunos", "sysinfo": "haiku"}
# The names of flags that these systems write where Linux writes others
LINUX_FLAGS = {
    "64": "lm",
    "aesni": "aes",
    "avx1.0": "avx",
    "fxstr": "fxsr",
    "lahf": "lahf_lm",
    "em64t": "lm",
    "pclmuldq": "pclmulqdq",
    "rdrnd": "rdrand",
    "moveb": "movbe",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}


def capture_of(row: Row) -> Capture | None:
    """Return the capture that a row is; None where it is an x86 or Arm machine under Linux, or no whole machine."""
    outputs = row.get("outputs", {})
    text = (
        row.get("text", "")
        or row.get("files", {}).get("/proc/cpuinfo")
        or outputs.get("cat_proc_cpuinfo")
        or ""
    )
    if row["kind"] == "sysctl":
        return mac(text, read_sysctl(text).get("hw.optional.x86_64") == "1" or "GenuineIntel" in text)
    for pattern, machine, bits in MACHINES:
        if re.search(pattern, text, re.MULTILINE):
            return Capture(machine=machine, pointer_bits=bits, files={"/proc/cpuinfo": text})
    if any(name.startswith("winreg") for name in outputs):
        return windows(row)
    tools = {OUTPUTS[name]: said for name, said in outputs.items() if name in OUTPUTS and said.strip()}
    system = next((SYSTEMS[tool] for tool in SYSTEMS if tool in tools), None) if not text else None
    if system is None:
        return None
    machine = row["platform"]["arch_string_raw"]
    wide = row["platform"]["bits"] == "64bit"
    return Capture(machine=machine, pointer_bits=64 if wide else 32, system=system, outputs=tools)


def mac(text: str, intel: bool) -> Capture:
    """Return the capture of a Mac."""
    machine = "x86_64" if intel else "arm64"
    return Capture(machine=machine, pointer_bits=64, system="darwin", outputs={"sysctl": text})


def windows(row: Row) -> Capture:
    """Return the capture of a Windows machine; the environment's identifier is the registry's, and the maker."""
    outputs, platform = row["outputs"], row["platform"]
    values = {
        "ProcessorNameString": outputs["winreg_processor_brand"],
        "VendorIdentifier": outputs["winreg_vendor_id_raw"],
        "Identifier": platform["uname_string_raw"],
    }
    return Capture(machine=platform["arch_string_raw"], pointer_bits=64, system="windows", registry=values)


def faults_of_archspec(row: Row, facts: HostFacts) -> Iterator[str]:
    """Yield what differs: the processor, the vendor, and the level."""
    expected, cpu = row["expected"], facts.identity.cpu
    if ARCHSPEC.get(expected["archspec_microarchitecture"], expected["archspec_microarchitecture"]) != cpu:
        yield f"cpu {cpu}"
    if expected["vendor"] not in {"generic", facts.identity.vendor}:
        yield f"vendor {facts.identity.vendor}"
    level = expected["generic"]
    if facts.arch == "x86_64" and level != (x86_level(facts.features) or "").replace("-", "_"):
        yield f"level {x86_level(facts.features)}"
    if facts.arch == "aarch64" and level.replace("arm", "", 1) not in facts.features:
        yield f"no {level}"


def faults_of_google(row: Row, facts: HostFacts) -> Iterator[str]:
    """Yield what differs of RISC-V, LoongArch and MIPS: features by their names, and the maker and core."""
    expected = row["expected"]
    tables = {"riscv64": {}, "loongarch64": GOOGLE_LOONGARCH}
    for names, wanted in ((expected["features_true"], True), (expected["features_false"], False)):
        for name in names:
            feature = tables.get(facts.arch, GOOGLE_MIPS).get(name)
            if facts.arch == "riscv64":
                feature = {"RV64I": "i", "RV32I": None}.get(name, name.lower())
            if feature is not None and (feature in facts.features) != wanted:
                yield f"{name} is {not wanted}"
    fields = expected["fields"]
    if "uarch" in fields and not (facts.identity.brand or "").endswith(fields["uarch"] or "\0"):
        yield f"core {facts.identity.brand}"


def faults_of_llvm(row: Row, facts: HostFacts) -> Iterator[str]:
    """Yield LLVM's name where ours is another."""
    if row["expected"]["llvm_cpu"] != (facts.identity.cpu or "generic"):
        yield f"cpu {facts.identity.cpu}"


def faults_of_py_cpuinfo(row: Row, facts: HostFacts) -> Iterator[str]:
    """Yield what differs: maker, name, numbers of the model, processors, and the flags that compilers know."""
    expected, identity = row["expected"], facts.identity
    if expected.get("vendor_id_raw") not in {None, identity.vendor}:
        yield f"vendor {identity.vendor}"
    if expected.get("brand_raw") not in {None, identity.brand}:
        yield f"brand {identity.brand}"
    for key in ("family", "model", "stepping"):
        if key in expected and expected[key] != getattr(identity, key):
            yield f"{key} {getattr(identity, key)}"
    if (facts.num_threads or 0) > expected["count"] and facts.os != "linux":
        yield f"processors {facts.num_threads}"
    if facts.os in {"darwin", "freebsd", "haiku", "sunos"}:
        yield from faults_of_flags(row, facts)
    elif facts.os == "linux":
        yield from faults_of_lines(row)


def faults_of_flags(row: Row, facts: HostFacts) -> Iterator[str]:
    """Yield the flags that a compiler knows, and the system could use, that are not among the features."""
    flags = frozenset(LINUX_FLAGS.get(flag, flag) for flag in row["expected"]["flags"])
    wanted = flags_to_features(flags)
    if "osxsave" not in flags or facts.os == "freebsd":
        wanted -= {"avx", "avx2", "fma", "f16c", "xsave"}  # nothing says that vector state is saved
    if facts.arch == "i686":
        wanted -= {"64bit"}
    if not wanted <= facts.features:
        yield f"without {sorted(wanted - facts.features)}"


def faults_of_lines(row: Row) -> Iterator[str]:
    """Yield what differs of a Linux machine's text: the flags as printed, and how many processors."""
    text = row["outputs"]["cat_proc_cpuinfo"]
    flags = common_words(read_cpuinfo(text), "flags", "Features", "features", "ASEs implemented")
    if flags and flags != frozenset(row["expected"].get("flags", ())):
        yield f"flags {flags}"
    if count_processors(read_cpuinfo(text)) > row["expected"]["count"]:
        yield f"processors {count_processors(read_cpuinfo(text))}"


JUDGES = {
    "archspec": faults_of_archspec,
    "cpu_features": faults_of_google,
    "llvm": faults_of_llvm,
    "py-cpuinfo": faults_of_py_cpuinfo,
}


def faults_of_system(row: Row) -> Iterator[str]:
    """Yield what differs of a machine that is no x86 or Arm under Linux; a target can be made of each."""
    capture = capture_of(row)
    if capture is None:
        yield "no machine that is known here"
        return
    facts = read_facts(capture)
    target, _ = host_target(facts)
    yield from JUDGES[row["id"].split(":")[1]](row, facts)
    if target.triple is None:
        yield f"no target of {facts.triple}"


def faults_of_machine(row: Row) -> Iterator[str]:
    """Yield what differs of any captured machine."""
    found = host.faults_of_machine(row)
    yield from faults_of_system(row) if found is None else found


FILES = {
    "host_detect": Judge(faults_of_machine, host.LISTED),
    "host_phones": Judge(host.faults_of_phone),
    "cpuid_dumps": Judge(host.faults_of_dump),
}
