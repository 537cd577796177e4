"""Captured texts of a few machines, and the facts that the readers make of them."""

from __future__ import annotations

from hypothesis import strategies as st

from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture, HostFacts

ZEN_4_GUEST = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu cx8 cmov mmx fxsr sse sse2 ht syscall lm pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes \
xsave avx f16c rdrand hypervisor lahf_lm abm sse4a 3dnowprefetch fsgsbase bmi1 avx2 bmi2 avx512f avx512dq avx512cd \
avx512bw avx512vl avx512_bf16 avx512_vnni
clflush size\t: 64

processor\t: 1
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
physical id\t: 0
core id\t\t: 1
flags\t\t: fpu cx8 cmov mmx fxsr sse sse2 ht syscall lm pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes \
xsave avx f16c rdrand hypervisor lahf_lm abm sse4a 3dnowprefetch fsgsbase bmi1 avx2 bmi2 avx512f avx512dq avx512cd \
avx512bw avx512vl avx512_bf16 avx512_vnni
"""
BIG_LITTLE = """\
processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd03
CPU revision\t: 4

processor\t: 1
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd09
CPU revision\t: 2
"""
OLD_PHONE = """\
Processor\t: ARMv7 Processor rev 4 (v7l)
processor\t: 0
BogoMIPS\t: 13.53

processor\t: 1
BogoMIPS\t: 13.53

Features\t: swp half thumb fastmult vfp edsp neon vfpv3 tls vfpv4
CPU implementer\t: 0x51
CPU architecture: 7
CPU variant\t: 0x1
CPU part\t: 0x06f
CPU revision\t: 0

Hardware\t: SAMSUNG JF
"""
TEXTS = (ZEN_4_GUEST, BIG_LITTLE, OLD_PHONE, "", "processor\t: 0\n")


def x86(text: str = ZEN_4_GUEST, **more: object) -> HostFacts:
    """Return the facts of an x86-64 Linux machine with this /proc/cpuinfo."""
    return read_facts(
        Capture(machine="x86_64", **{"pointer_bits": 64, "files": {"/proc/cpuinfo": text}, **more})
    )


def arm(text: str = BIG_LITTLE, **more: object) -> HostFacts:
    """Return the facts of an AArch64 Linux machine with this /proc/cpuinfo."""
    return read_facts(
        Capture(machine="aarch64", **{"pointer_bits": 64, "files": {"/proc/cpuinfo": text}, **more})
    )


words32 = st.integers(0, 2**32 - 1)
leaf_names = st.sampled_from(
    [(leaf, sub) for leaf in (0, 1, 2, 4, 7, 0xD, 0x14, 0x1E, 0x24) for sub in (0, 1, 2)]
    + [(0x8000_0000 + leaf, sub) for leaf in (0, 1, 2, 5, 6, 8, 0x1D) for sub in (0, 1)]
)
leaf_tables = st.dictionaries(leaf_names, st.tuples(words32, words32, words32, words32), max_size=12)
