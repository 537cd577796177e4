"""What a Mac can use, from the names and values that sysctl has.

Sources: Apple, "Determining instruction set characteristics" (hw.optional); xnu, osfmk/mach/machine.h (families) and
osfmk/i386/cpuid.c (names of bits).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from targetspec.host.apple_features import apple_cpu_name, mac_features
from targetspec.host.arm_features import unlisted
from targetspec.host.cpuid import usable_features
from targetspec.host.cpuinfo import read_number, words
from targetspec.host.facts import Caches, Capture, Identity, Leaves, Processor, Topology
from targetspec.host.x86 import UNLISTED, answered_identity, flags_to_features, named, x86_level

Values = Mapping[str, str]

_LINE = re.compile(r"([a-z][\w.]*)\s*[:=]\s?(.*)", re.ASCII)
# xnu's names of x86 features where Linux's are others
_LINUX_NAMES = {
    "avx1.0": "avx",
    "bmi1": "bmi1",
    "clfsopt": "clflushopt",
    "em64t": "lm",
    "lahf": "lahf_lm",
    "lzcnt": "abm",
    "prefetchw": "3dnowprefetch",
    "rdwrfsgs": "fsgsbase",
    "sha": "sha_ni",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "avx512vnni": "avx512_vnni",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512bitalg": "avx512_bitalg",
    "avx512vpopcntdq": "avx512_vpopcntdq",
}
_NEEDS_OSXSAVE = frozenset(words("avx avx2 fma f16c xsave")) | {"vaes", "vpclmulqdq"}
_REGISTER = 32
_INTEL_MACS = 6


def read_sysctl(text: str) -> Values:
    r"""Return the values by name, of `sysctl -a` or a part of it.

    >>> read_sysctl("hw.ncpu: 8\nhw.osenvironment:\n")["hw.ncpu"]
    '8'
    """
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    return {line[1]: line[2].strip() for line in found if line}


def read_mac(capture: Capture, arch: str) -> tuple[Processor, Topology]:
    """Return the processor and the topology of a process on macOS."""
    values = read_sysctl(capture.outputs.get("sysctl", ""))
    processor = _read_intel(values, capture) if arch in {"x86_64", "i686"} else _read_apple(values)
    return processor, _topology(values)


def _read_apple(values: Values) -> Processor:
    brand = values.get("machdep.cpu.brand_string") or None
    cpu = apple_cpu_name(values)
    features = mac_features(values)
    notes = [] if cpu else [f"LLVM has no name for {brand or 'a processor that does not say its model'}"]
    if not features:
        notes.append("no hw.optional values: no features are stated")
    if _is_virtual(values):
        notes.append("virtualised: the hypervisor may hide features that this model has elsewhere")
    return Processor(
        identity=Identity(vendor="Apple", brand=brand, cpu=cpu),
        features=features,
        unlisted=unlisted() - {"predres", "specres2"},
        notes=tuple(notes),
    )


def _read_intel(values: Values, capture: Capture) -> Processor:
    leaves, bits = sysctl_leaves(values), _numbers(values, "machdep.cpu.xsave.extended_state")
    listed = _listed(values)
    features = usable_features(leaves, bits[0] if bits else None) if leaves else listed
    if leaves and not bits:
        features |= listed
    identity = named(_intel_identity(values, leaves), features)
    return Processor(
        identity=identity,
        features=features,
        unlisted=UNLISTED,
        notes=tuple(_intel_notes(values, capture, identity, features)),
    )


def sysctl_leaves(values: Values) -> Leaves:
    """Return the leaves of CPUID that machdep.cpu's numbers are, {} where there are none."""
    basic, extended = _pair(values, "machdep.cpu.feature_bits"), _pair(values, "machdep.cpu.extfeature_bits")
    seventh = _numbers(values, "machdep.cpu.leaf7_feature_bits")
    edx = _numbers(values, "machdep.cpu.leaf7_feature_bits_edx")
    if basic is None:
        return {}
    signature = read_number(values.get("machdep.cpu.signature")) or 0
    ebx, ecx = (*seventh, 0, 0)[:2]
    leaves = {(0, 0): (7, 0, 0, 0), (1, 0): (signature, 0, basic[1], basic[0])}
    leaves[7, 0] = (0, ebx, ecx, edx[0] if edx else 0)
    if extended is not None:
        leaves[0x8000_0000, 0] = (0x8000_0001, 0, 0, 0)
        leaves[0x8000_0001, 0] = (0, 0, extended[1], extended[0])
    return leaves


def _pair(values: Values, name: str) -> tuple[int, int] | None:
    """Return EDX and ECX, which newer systems print as one number of 64 bits, and older ones apart."""
    numbers = _numbers(values, name)
    if not numbers:
        return None
    if len(numbers) == 1:
        return numbers[0] & 0xFFFF_FFFF, numbers[0] >> _REGISTER & 0xFFFF_FFFF
    return numbers[0], numbers[1]


def _numbers(values: Values, name: str) -> tuple[int, ...]:
    numbers = (read_number(word) for word in values.get(name, "").split())
    return tuple(number for number in numbers if number is not None)


def _listed(values: Values) -> frozenset[str]:
    fields = ("machdep.cpu.features", "machdep.cpu.leaf7_features", "machdep.cpu.extfeatures")
    given = {word.lower() for field in fields for word in values.get(field, "").split()}
    linux = {_LINUX_NAMES.get(word, word) for word in given}
    if "osxsave" not in linux:
        linux = {name for name in linux if name not in _NEEDS_OSXSAVE and not name.startswith("avx")}
    return flags_to_features(frozenset(linux))


def _intel_identity(values: Values, leaves: Leaves) -> Identity:
    def number(key: str) -> int | None:
        return read_number(values.get(f"machdep.cpu.{key}"))

    answered = answered_identity({**leaves, (0, 0): (7, 1, 1, 1)}) if leaves else None
    stated = bool(answered and leaves[1, 0][0])
    family = number("family") or (answered.family if answered and stated else None)
    vendor, model = values.get("machdep.cpu.vendor") or None, number("model")
    if family is None and vendor == "GenuineIntel" and model is not None:
        family = _INTEL_MACS  # all of Intel's that Macs have
    return Identity(
        vendor=vendor,
        family=family,
        model=model,
        stepping=number("stepping"),
        brand=values.get("machdep.cpu.brand_string") or None,
    )


def _intel_notes(
    values: Values, capture: Capture, identity: Identity, features: frozenset[str]
) -> Iterator[str]:
    brand = identity.brand or ""
    if values.get("sysctl.proc_translated") == "1" or capture.emulated_on or "Apple" in brand:
        yield f"emulated: Rosetta runs this process on {brand or 'Apple silicon'}"
    elif _is_virtual(values):
        yield "virtualised: the hypervisor may hide features that this model has elsewhere"
    if not features:
        yield "no machdep.cpu values: no features are stated"
    if identity.cpu is None:
        level = x86_level(features) or "no psABI level"
        yield f"LLVM has no name for {brand or 'a processor that does not say its model'}; the features reach {level}"


def _is_virtual(values: Values) -> bool:
    return values.get("kern.hv_vmm_present") == "1" or "VMM" in values.get("machdep.cpu.features", "").split()


def _topology(values: Values) -> Topology:
    def number(*names: str) -> int | None:
        return next((found for name in names if (found := read_number(values.get(name)))), None)

    levels = range(number("hw.nperflevels") or 0)
    sizes = {
        cache: {size for level in levels if (size := number(f"hw.perflevel{level}.{cache}cachesize"))}
        for cache in ("l1d", "l2", "l3")
    }
    line = number("hw.cachelinesize", "machdep.cpu.cache.linesize")
    smallest = {name: min(found, default=number(f"hw.{name}cachesize")) for name, found in sizes.items()}
    differ = tuple(
        f"{name} caches differ between cores ({', '.join(map(str, sorted(found)))} bytes): the smallest is stated"
        for name, found in sizes.items()
        if len(found) > 1
    )
    return Topology(
        num_cores=number("hw.physicalcpu_max", "hw.physicalcpu", "machdep.cpu.core_count"),
        num_threads=number("hw.logicalcpu_max", "hw.logicalcpu", "hw.ncpu", "machdep.cpu.thread_count"),
        caches=Caches(line=line, **smallest),
        notes=differ,
    )
