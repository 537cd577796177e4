"""GCC's names where they differ from LLVM's: CPUs, drivers, and options about the machine.

Names of features are in the table of aliases, under the world "gcc". Source: the manual of GCC 14, `gcc --help=target`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

DRIVER = re.compile(
    r"(?:.*/)?(?:(?P<triple>[A-Za-z0-9_.+-]+)-)?(?:gcc|g\+\+|cc|c\+\+|cpp|c99|c89|gfortran|gnat|gdc|xgcc)(?:-[0-9.]+)?"
)
"""The name of a compiler driver, its triple in front: `x86_64-linux-gnu-gcc-12`."""

CPUS: Mapping[str, str] = {
    **{f"power{version}": f"pwr{version}" for version in (3, 4, 5, 6, 7, 8, 9, 10, 11)},
    "power5+": "pwr5x",
    "power6x": "pwr6x",
    "powerpc": "ppc",
    "powerpc64": "ppc64",
    "powerpc64le": "ppc64le",
    "G3": "g3",
    "G4": "g4",
    "G5": "g5",
}
CPUS_IN_GCC: Mapping[str, str] = {name: alias for alias, name in CPUS.items()}
LLVM_ONLY_CPUS = frozenset({"yonah", "penryn", "ppc32", "g4+", "wildcatlake", "novalake"})
"""CPUs that GCC 15 has no name for."""

GCC_ONLY_CPUS: Mapping[str, str] = {
    **dict.fromkeys(("eden-x2", "nano", "nano-1000", "nano-2000", "nano-3000", "nano-x2"), "x86-64"),
    **dict.fromkeys(("eden-x4", "nano-x4"), "x86-64-v3"),
    **dict.fromkeys(("lujiazui", "yongfeng", "shijidadao"), "x86-64-v3"),
    **dict.fromkeys(("c7", "esther", "samuel-2", "nehemiah"), "c3-2"),
    "intel": "generic",
    "octeontx": "thunderx",
    "octeontx2": "thunderx2t99",
    "xgene1": "cortex-a57",
    "emag": "cortex-a57",
    "cell": "970",
    "8540": "e500",
    "8548": "e500",
    **dict.fromkeys(("z900", "z990", "z9-109", "z9-ec", "arch5", "arch6", "arch7"), "z10"),
}
"""CPUs that LLVM 22 does not know, with the nearest one it knows."""

# One option for several features.
GROUPS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("x86", "+abm"): ("lzcnt", "popcnt"),
    ("x86", "-abm"): ("lzcnt",),
    ("x86", "-sse4"): ("sse4.1",),
    ("x86", "+apxf"): ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu"),
    ("x86", "-apxf"): ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu"),
}
NO_FLOAT: Mapping[str, tuple[str, ...]] = {"x86": ("x87", "mmx", "sse"), "aarch64": ("fp-armv8",)}
"""What -mgeneral-regs-only takes away."""

GCC_ONLY_FEATURES: Mapping[str, Mapping[str, str]] = {
    "x86": {
        "3dnow": "mmx",
        "3dnowa": "mmx",
        "avx5124fmaps": "avx512f",
        "avx5124vnniw": "avx512vnni",
        "avx512er": "avx512f",
        "avx512pf": "avx512f",
        "hle": "rtm",
        "mpx": "pku",
        "mwait": "mwaitx",
        "pcommit": "clwb",
        "prefetchwt1": "prfchw",
        "sse5": "xop",
    }
}
"""What GCC has an option for, and LLVM 22 no feature: with the nearest one it has."""

LLVM_ONLY_FEATURES = {
    "x86": frozenset({"cx8", "cmov", "nopl", "invpcid", "rdpru", "sse-unaligned-mem", "movrs", "amx-movrs"}),
    "powerpc": frozenset(
        {"64bit", "bpermd", "extdiv", "fpcvt", "ldbrx", "lfiwax", "stfiwx", "fres", "fre", "fsqrt"}
    ),
}
"""What LLVM has a feature for, and GCC no option."""

FAMILIES_OF_OPTIONS = ("x86", "powerpc", "systemz", "loongarch", "mips")
"""Where each feature is an option of its own, -mNAME or -mno-NAME."""

# Neither change instructions nor the ABI, or only together with the code they are used in.
_LEFTOVERS = """
    128bit-long-double 8bit-idiv 96bit-long-double abicalls accumulate-outgoing-args align-double
    align-stringops android apcs-frame avx256-split-unaligned-load avx256-split-unaligned-store bionic
    branch-likely call-ms2sysv-xlogues cet-switch check-zero-division cld cmse default
    direct-extern-access dispatch-scheduler explicit-relocs fancy-math-387 fentry flip-thumb force-drap
    force-indirect-call fp-ret-in-387 full-toc fused-madd glibc gpopt iamcu ieee-fp
    indirect-branch-cs-prefix indirect-branch-register inline-all-stringops inline-stringops-dynamically
    intel-syntax long-calls low-precision-div low-precision-recip-sqrt low-precision-sqrt manual-endbr
    minimal-toc mitigate-rop ms-bitfields multiple musl needed neon-for-64bits nop-mcount
    omit-leaf-frame-pointer outline-atomics packed-stack pc-relative-literal-loads pc32 pc64 pc80 plt
    poke-function-name prefer-avx128 print-tune-info prototype push-args recip record-mcount
    record-return red-zone relax relax-cmpxchg-loop restrict-it rtd save-restore sched-prolog shared
    single-pic-base skip-rax-setup slow-flash-data small-exec sse2avx sseregparm stack-arg-probe
    stackrealign string stv sum-in-toc thumb-interwork tls-direct-seg-refs toc tpcs-frame
    tpcs-leaf-frame uclibc update vect8-ret-in-mem vectorize-with-neon-quad vzeroupper word-relocations
    zvector
"""


@functools.cache
def leftovers() -> frozenset[str]:
    """Return the options that say nothing of the machine, without -m."""
    return frozenset(_LEFTOVERS.split())


_NARROWER = {"x86_64": "i386", "powerpc64": "powerpc", "powerpc64le": "powerpcle", "sparcv9": "sparc"}
WIDTHS: Mapping[tuple[str, str], str] = {
    **{(wide, "32"): narrow for wide, narrow in _NARROWER.items()},
    **{(narrow, "64"): wide for wide, narrow in _NARROWER.items()},
    **{
        (wide, "64"): wide
        for wide in ("aarch64", "riscv64", "s390x", "loongarch64", "mips64", "mips64el", *_NARROWER)
    },
    **{(narrow, "32"): narrow for narrow in ("arm", "riscv32", "mips", "mipsel", *_NARROWER.values())},
}
"""The architecture that -m32 or -m64 makes of another."""

_LITTLE_OF_BIG = {
    "armeb": "arm",
    "thumbeb": "thumb",
    "aarch64_be": "aarch64",
    "powerpc64": "powerpc64le",
    "powerpc": "powerpcle",
    "mips": "mipsel",
    "mips64": "mips64el",
    "riscv32be": "riscv32",
    "riscv64be": "riscv64",
}
ENDIANNESS: Mapping[str, Mapping[str, str]] = {
    "little": _LITTLE_OF_BIG,
    "big": {little: big for big, little in _LITTLE_OF_BIG.items()},
}
ENDIAN_OPTIONS = {
    "-mlittle-endian": "little",
    "-mbig-endian": "big",
    "-mlittle": "little",
    "-mbig": "big",
    "-EL": "little",
    "-EB": "big",
}
MIPS_ABIS = {"32": "o32", "64": "n64"}
LONG_DOUBLE_ABIS = {"ieeelongdouble": "ieee128", "ibmlongdouble": "ibm128"}
LONG_DOUBLES = {"long-double-64": "64", "long-double-80": "80", "long-double-128": "ieee128"}
