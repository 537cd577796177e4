"""What other systems' own listings say of an x86 processor: FreeBSD's boot messages, Haiku's sysinfo, Solaris's isainfo.

FreeBSD and Haiku print CPUID's registers as numbers, which are read as such; Solaris prints names. Sources: FreeBSD,
sys/x86/x86/identcpu.c; Haiku, src/bin/sysinfo.cpp; illumos, isainfo(1) and kstat's cpu_info.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from targetspec.host.cpuid import ECX, EDX, usable_features
from targetspec.host.cpuinfo import read_number
from targetspec.host.facts import Capture, Identity, Leaves, Processor, Topology
from targetspec.host.x86 import UNLISTED, flags_to_features, named, x86_level

_ORIGIN = re.compile(
    r'\bOrigin ?= ?"([^"\n]*)" {1,4}Id ?= ?(0x[0-9a-f]{1,8}) {1,4}Family ?= ?(?:0x)?([0-9a-f]{1,4})'
    r" {1,4}Model ?= ?(?:0x)?([0-9a-f]{1,4}) {1,4}Stepping ?= ?([0-9]{1,3})"
)
_FREEBSD_CPU = re.compile(r"^CPU: ([^\n]{1,200}?) *\([0-9.]{1,12}-MHz", re.MULTILINE)
_FREEBSD_CPUS = re.compile(r"FreeBSD/SMP: Multiprocessor System Detected: ([0-9]{1,5}) CPUs")
_FREEBSD_LINE = re.compile(r"^ {1,8}([A-Za-z][A-Za-z0-9 ]{1,40}?)=(0x[0-9a-f]{1,8})<", re.MULTILINE)
# FreeBSD's names of the registers
_REGISTERS: Mapping[str, tuple[int, int, int]] = {
    "Features": (1, 0, EDX),
    "Features2": (1, 0, ECX),
    "AMD Features": (0x8000_0001, 0, EDX),
    "AMD Features2": (0x8000_0001, 0, ECX),
    "Structured Extended Features": (7, 0, 1),
    "Structured Extended Features2": (7, 0, ECX),
    "Structured Extended Features3": (7, 0, EDX),
    "XSAVE Features": (0xD, 1, 0),
    "AMD Extended Feature Extensions ID EBX": (0x8000_0008, 0, 1),
}
_HAIKU_CPU = re.compile(r'^CPU #0: "([^"\n]{0,200})"', re.MULTILINE)
_HAIKU_COUNT = re.compile(r"^([0-9]{1,5}) [^\n]{0,100}, revision ", re.MULTILINE)
_HAIKU_MODEL = re.compile(r"\bType 0, family ([0-9]{1,4}), model ([0-9]{1,4}), stepping ([0-9]{1,3})")
_HAIKU_REGISTERS: tuple[tuple[re.Pattern[str], tuple[int, int, int]], ...] = (
    (re.compile(r"[Ff]eatures:? (0x[0-9a-f]{1,8})\b"), (1, 0, EDX)),
    (re.compile(r"Extended Intel: (0x[0-9a-f]{1,8})\b"), (1, 0, ECX)),
    (re.compile(r"Extended Features \(0x00000001\): (0x[0-9a-f]{1,8})\b"), (1, 0, ECX)),
    (re.compile(r"Extended AMD: [^\n]{0,80}features (0x[0-9a-f]{1,8})\b"), (0x8000_0001, 0, EDX)),
    (re.compile(r"Extended Features \(0x80000001\): (0x[0-9a-f]{1,8})\b"), (0x8000_0001, 0, EDX)),
)
_KSTAT_LINE = re.compile(r"^[ \t]+(\w{1,40})[ \t]+([^\n]{0,200})$", re.MULTILINE)
_KSTAT_CPU = re.compile(r"^module:[ \t]*cpu_info\b", re.MULTILINE)
# Solaris's names where Linux's are others
_SOLARIS = {
    "ahf": "lahf_lm",
    "amd_lzcnt": "abm",
    "amd_sse4a": "sse4a",
    "amd_xop": "xop",
    "amd_fma4": "fma4",
    "bmi1": "bmi1",
    "i387": "fpu",
    "prefetchw": "3dnowprefetch",
    "sha": "sha_ni",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}
_INTEL, _AMD = "GenuineIntel", "AuthenticAMD"


def read_freebsd(capture: Capture, _arch: str) -> tuple[Processor, Topology]:
    """Return what the boot messages say; the numbers that they print beside the names are CPUID's."""
    text = capture.outputs.get("dmesg", "")
    origin, brand = _ORIGIN.search(text), _FREEBSD_CPU.search(text)
    identity = Identity(brand=brand[1].strip() if brand else None)
    if origin:
        family, model = int(origin[3], 16), int(origin[4], 16)
        identity = attrs.evolve(
            identity, vendor=origin[1], family=family, model=model, stepping=int(origin[5])
        )
    stated = {
        _REGISTERS[name]: int(value, 16) for name, value in _FREEBSD_LINE.findall(text) if name in _REGISTERS
    }
    count = _FREEBSD_CPUS.search(text)
    return _processor(identity, stated, capture), Topology(num_threads=int(count[1]) if count else None)


def read_haiku(capture: Capture, _arch: str) -> tuple[Processor, Topology]:
    """Return what `sysinfo -cpu` says; Haiku does not print the maker, who is in the name."""
    text = capture.outputs.get("sysinfo", "")
    brand, model, count = _HAIKU_CPU.search(text), _HAIKU_MODEL.search(text), _HAIKU_COUNT.search(text)
    name = brand[1].strip() if brand else ""
    vendor = next((maker for word, maker in (("Intel", _INTEL), ("AMD", _AMD)) if word in name), None)
    numbers = [int(number) for number in model.groups()] if model else [None] * 3
    identity = Identity(
        vendor=vendor, family=numbers[0], model=numbers[1], stepping=numbers[2], brand=name or None
    )
    stated = {place: int(found[1], 16) for line, place in _HAIKU_REGISTERS if (found := line.search(text))}
    return _processor(identity, stated, capture), Topology(num_threads=int(count[1]) if count else None)


def read_solaris(capture: Capture, _arch: str) -> tuple[Processor, Topology]:
    """Return what `isainfo -vb` (names) and `kstat -m cpu_info` (the model) say."""
    kstat = capture.outputs.get("kstat", "")
    values: dict[str, str] = {}
    for name, value in _KSTAT_LINE.findall(kstat):
        values.setdefault(name, value.strip())
    identity = Identity(
        vendor=values.get("vendor_id"),
        family=read_number(values.get("family")),
        model=read_number(values.get("model")),
        stepping=read_number(values.get("stepping")),
        brand=values.get("brand"),
    )
    lines = capture.outputs.get("isainfo", "").strip().splitlines()
    flags = {
        word for line in lines if line[:1] in " \t" or "applications" not in line for word in line.split()
    }
    features = flags_to_features(frozenset(_SOLARIS.get(flag, flag) for flag in flags))
    threads = len(_KSTAT_CPU.findall(kstat)) or None
    if "ncpu_per_chip" in values and threads == 1:
        threads = read_number(values["ncpu_per_chip"])  # kstat was cut to the first processor
    wide = {"64bit"} if "64-bit amd64" in (lines[0] if lines else "") else set()
    return _of_features(identity, features | wide, capture), Topology(num_threads=threads)


def _processor(identity: Identity, stated: Mapping[tuple[int, int, int], int], capture: Capture) -> Processor:
    """Return the processor whose CPUID registers are given; the rest of the leaves is zero."""
    leaves: dict[tuple[int, int], tuple[int, int, int, int]] = {
        (0, 0): (0xD, 0, 0, 0),
        (0x8000_0000, 0): (0x8000_0008, 0, 0, 0),
    }
    for (leaf, subleaf, which), value in stated.items():
        words = list(leaves.get((leaf, subleaf), (0, 0, 0, 0)))
        words[which] = value
        leaves[leaf, subleaf] = (words[0], words[1], words[2], words[3])
    return _of_features(identity, _features(leaves, capture), capture)


def _features(leaves: Leaves, capture: Capture) -> frozenset[str]:
    return usable_features({**leaves, **capture.leaves}, capture.xcr0)


def _of_features(identity: Identity, features: frozenset[str], capture: Capture) -> Processor:
    if capture.pointer_bits == 32:  # noqa: PLR2004
        features -= {"64bit"}
    identity = named(identity, features)
    notes = [] if capture.leaves else ["CPUID was not run: the features are those that the system lists"]
    if not capture.leaves and capture.xcr0 is None and "avx" not in features:
        notes.append("XCR0 was not read: features that need saved vector state are not stated")
    if identity.cpu is None:
        level = x86_level(features) or "no psABI level"
        notes.append(
            f"LLVM has no name for {identity.brand or 'a processor without a name'}; they reach {level}"
        )
    return Processor(identity=identity, features=features, unlisted=UNLISTED, notes=tuple(notes))
