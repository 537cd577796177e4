"""rustc's target names, and what each says: the triple, CPU, features, ABI, and whether the C library is linked statically.

The triple is that of the name itself, for it keeps what the one handed to LLVM forgets (`illumos` is solaris to
LLVM, `uwp` nothing). Where a name does not read as a triple, or means another than it says, `_TRIPLES` has it.
Source: rustc 1.95, `--print target-spec-json` of all its targets.
"""

from __future__ import annotations

import functools
import re

import attrs

from targetspec.triple import Triple

# CPU, features, ABI, float ABI of 32-bit ARM, and the names that have them; "-" where rustc states none. The
# features of architectures without a table (csky, sparc, xtensa) are left out.
_TARGETS = """
    apple-m1 - - - : aarch64-apple-darwin arm64e-apple-darwin
    apple-a7 +neon,+apple-a7 - - : aarch64-apple-ios aarch64-apple-tvos
    apple-a12 +neon,+apple-a12 - - : aarch64-apple-ios-macabi
    apple-a12 +neon,+apple-a7 - - : aarch64-apple-ios-sim aarch64-apple-tvos-sim aarch64-apple-watchos-sim
    apple-a7 +neon,+apple-a16 - - : aarch64-apple-visionos
    apple-a12 +neon,+apple-a16 - - : aarch64-apple-visionos-sim
    apple-a7 +v8a,+neon,+apple-a7 - - : aarch64-apple-watchos
    - +v8a,+neon - - : aarch64-kmc-solid_asp3 aarch64-linux-android aarch64-pc-windows-gnullvm
        aarch64-pc-windows-msvc arm64ec-pc-windows-msvc
    - +v8a,+neon,+crypto,+crc - - : aarch64-nintendo-switch-freestanding
    - +v8a - - : aarch64-unknown-freebsd aarch64-unknown-helenos aarch64-unknown-illumos
        aarch64-unknown-managarm-mlibc aarch64-unknown-netbsd aarch64-unknown-nto-qnx700
        aarch64-unknown-nto-qnx710 aarch64-unknown-nto-qnx710_iosock aarch64-unknown-nto-qnx800
        aarch64-unknown-openbsd aarch64-unknown-redox aarch64-unknown-uefi aarch64-uwp-windows-msvc
    - +v8a,+crc,+aes,+sha2,+neon - - : aarch64-unknown-fuchsia
    - +v8a,+strict-align,+neon - - : aarch64-unknown-hermit aarch64-unknown-none aarch64-unknown-nuttx
        aarch64_be-unknown-hermit
    - +v8a,+outline-atomics - - : aarch64-unknown-linux-gnu aarch64-unknown-linux-gnu_ilp32
        aarch64-unknown-linux-musl aarch64_be-unknown-linux-gnu aarch64_be-unknown-linux-gnu_ilp32
        aarch64_be-unknown-linux-musl
    - - - - : aarch64-unknown-linux-ohos aarch64_be-unknown-netbsd amdgcn-amd-amdhsa avr-none
        bpfeb-unknown-none bpfel-unknown-none csky-unknown-linux-gnuabiv2 msp430-none-elf
        powerpc-unknown-helenos powerpc-unknown-linux-musl powerpc-unknown-netbsd powerpc-unknown-openbsd
        wasm32-unknown-emscripten wasm32-unknown-unknown wasm32-wasip1 wasm32-wasip2 wasm32-wasip3
        x86_64-unknown-trusty
    - +v8a,+strict-align,-neon - - : aarch64-unknown-none-softfloat aarch64_be-unknown-none-softfloat
    - +strict-align,+neon - - : aarch64-unknown-teeos
    - +neon,+reserve-x18 - - : aarch64-unknown-trusty
    - +v8a,+reserve-x18 - - : aarch64-wrs-vxworks
    - +v8r,+strict-align - - : aarch64v8r-unknown-none
    - +v8r,+strict-align,-neon - - : aarch64v8r-unknown-none-softfloat
    - +strict-align,+v5te - soft : arm-linux-androideabi
    - +strict-align,+v6 - soft : arm-unknown-linux-gnueabi arm-unknown-linux-musleabi
    - +strict-align,+v6,+vfp2 - hard : arm-unknown-linux-gnueabihf arm-unknown-linux-musleabihf
    apple-s4 +v8a,+neon,+apple-a7 - - : arm64_32-apple-watchos
    apple-a12 +neon,+apple-a12,+v8.3a,+paca,+pacg - - : arm64e-apple-ios arm64e-apple-tvos
    - +strict-align,+v8,+crc - soft : armeb-unknown-linux-gnueabi
    - - - soft : armebv7r-none-eabi armv7r-none-eabi thumbv7em-none-eabi thumbv7em-nuttx-eabi
        thumbv7m-none-eabi thumbv7m-nuttx-eabi thumbv7r-none-eabi thumbv8m.main-none-eabi
        thumbv8m.main-nuttx-eabi
    - +vfp3d16 - hard : armebv7r-none-eabihf armv7r-none-eabihf thumbv7r-none-eabihf
    - +soft-float,+strict-align - soft : armv4t-none-eabi armv4t-unknown-linux-gnueabi armv5te-none-eabi
        armv5te-unknown-linux-gnueabi armv5te-unknown-linux-musleabi armv5te-unknown-linux-uclibceabi
        thumbv4t-none-eabi thumbv5te-none-eabi
    - +soft-float,+strict-align,+v6k - soft : armv6-none-eabi thumbv6-none-eabi
    - +strict-align,+v6k,+vfp2,-d32 - hard : armv6-none-eabihf
    - +v6,+vfp2 - hard : armv6-unknown-freebsd armv6-unknown-netbsd-eabihf
    mpcore +vfp2 - hard : armv6k-nintendo-3ds
    - +v7,+thumb-mode,+thumb2,+vfp3d16,-neon - soft : armv7-linux-androideabi
    - +thumb2,+neon,+vfp3 - hard : armv7-rtems-eabihf
    cortex-a9 +v7,+neon,+vfp3,+thumb2,+thumb-mode - hard : armv7-sony-vita-newlibeabihf
    - +v7,+vfp3d16,+thumb2,-neon - hard : armv7-unknown-freebsd armv7-unknown-linux-gnueabihf
        armv7-unknown-linux-musleabihf armv7-unknown-linux-uclibceabihf armv7-unknown-netbsd-eabihf
        armv7-wrs-vxworks-eabihf armv7a-kmc-solid_asp3-eabihf
    - +v7,+thumb2,+soft-float,-neon - soft : armv7-unknown-linux-gnueabi armv7-unknown-linux-musleabi
        armv7-unknown-linux-ohos armv7-unknown-linux-uclibceabi armv7-unknown-trusty
    - +v7,+soft-float,+thumb2,-neon - soft : armv7a-kmc-solid_asp3-eabi
    - +soft-float,-neon,+strict-align - soft : armv7a-none-eabi thumbv7a-none-eabi
    - +vfp3d16,-neon,+strict-align - hard : armv7a-none-eabihf thumbv7a-none-eabihf
    - +v7,+thumb2,+soft-float,-neon,+strict-align - soft : armv7a-nuttx-eabi
    - +v7,+thumb2,+vfp3,+neon,+strict-align - hard : armv7a-nuttx-eabihf
    cortex-a9 +v7,+neon,+vfp3d16,+thumb2 - hard : armv7a-vex-v5
    cortex-a8 +v7,+vfp4,+neon - hard : armv7k-apple-watchos
    swift +v7,+vfp4,+neon - hard : armv7s-apple-ios
    - - - hard : armv8r-none-eabihf thumbv8r-none-eabihf
    ck860fv - - - : csky-unknown-linux-gnuabiv2hf
    hexagonv60 -small-data,+hvx-length128b - - : hexagon-unknown-linux-musl hexagon-unknown-none-elf
    hexagonv69 -small-data,+hvx-length128b - - : hexagon-unknown-qurt
    penryn - - - : i386-apple-ios i686-apple-darwin x86_64-apple-darwin x86_64-apple-ios
        x86_64-apple-ios-macabi x86_64-apple-tvos x86_64-apple-watchos-sim
    pentium - - - : i586-unknown-linux-gnu i586-unknown-linux-musl i586-unknown-netbsd
    pentiumpro - - - : i586-unknown-redox
    pentium4 +mmx,+sse,+sse2,+sse3,+ssse3 - - : i686-linux-android
    pentium4 - - - : i686-pc-nto-qnx700 i686-pc-windows-gnu i686-pc-windows-gnullvm i686-pc-windows-msvc
        i686-unknown-freebsd i686-unknown-haiku i686-unknown-helenos i686-unknown-hurd-gnu
        i686-unknown-linux-gnu i686-unknown-linux-musl i686-unknown-netbsd i686-unknown-openbsd
        i686-uwp-windows-gnu i686-uwp-windows-msvc i686-win7-windows-gnu i686-win7-windows-msvc
        i686-wrs-vxworks
    pentium4 -mmx,-sse,+soft-float - - : i686-unknown-uefi
    - +f,+d ilp32d - : loongarch32-unknown-none
    - -f,-d ilp32s - : loongarch32-unknown-none-softfloat
    - +f,+d,+lsx lp64d - : loongarch64-unknown-linux-gnu loongarch64-unknown-linux-musl
        loongarch64-unknown-linux-ohos
    - +f,+d,-lsx lp64d - : loongarch64-unknown-none
    - -f,-d lp64s - : loongarch64-unknown-none-softfloat
    M68020 - - - : m68k-unknown-linux-gnu
    M68010 - - - : m68k-unknown-none-elf
    mips32r2 +mips32r2,+soft-float,+noabicalls - - : mips-mti-none-elf mipsel-mti-none-elf
        mipsel-unknown-none
    mips32r2 +mips32r2,+fpxx,+nooddspreg - - : mips-unknown-linux-gnu mipsel-unknown-linux-gnu
    mips32r2 +mips32r2,+soft-float - - : mips-unknown-linux-musl mips-unknown-linux-uclibc
        mipsel-unknown-linux-musl mipsel-unknown-linux-uclibc
    mips64r2 +mips64r2,+soft-float n64 - : mips64-openwrt-linux-musl
    mips64r2 +mips64r2,+xgot n64 - : mips64-unknown-linux-gnuabi64 mips64-unknown-linux-muslabi64
        mips64el-unknown-linux-gnuabi64 mips64el-unknown-linux-muslabi64
    mips2 +single-float - - : mipsel-sony-psp
    mips1 +soft-float o32 - : mipsel-sony-psx
    mips32 +soft-float - - : mipsel-unknown-netbsd
    mips32r6 +mips32r6 - - : mipsisa32r6-unknown-linux-gnu mipsisa32r6el-unknown-linux-gnu
    mips64r6 +mips64r6 n64 - : mipsisa64r6-unknown-linux-gnuabi64 mipsisa64r6el-unknown-linux-gnuabi64
    sm_30 - - - : nvptx64-nvidia-cuda
    - +secure-plt - - : powerpc-unknown-freebsd powerpc-unknown-linux-gnu powerpc-wrs-vxworks
    - +secure-plt,+msync - - : powerpc-unknown-linux-gnuspe powerpc-wrs-vxworks-spe
    - +msync - - : powerpc-unknown-linux-muslspe
    pwr7 - vec-extabi - : powerpc64-ibm-aix
    ppc64 - elfv2 - : powerpc64-unknown-freebsd powerpc64-unknown-linux-musl powerpc64-unknown-openbsd
    ppc64 - elfv1 - : powerpc64-unknown-linux-gnu powerpc64-wrs-vxworks
    ppc64le - elfv2 - : powerpc64le-unknown-freebsd powerpc64le-unknown-linux-gnu
        powerpc64le-unknown-linux-musl
    generic-rv32 +m,+a,+f,+d,+c,+zicsr,+zifencei ilp32d - : riscv32-wrs-vxworks
        riscv32gc-unknown-linux-gnu riscv32gc-unknown-linux-musl
    generic-rv32 +e,+forced-atomics ilp32e - : riscv32e-unknown-none-elf
    generic-rv32 +e,+m,+forced-atomics ilp32e - : riscv32em-unknown-none-elf
    generic-rv32 +e,+m,+c,+forced-atomics ilp32e - : riscv32emc-unknown-none-elf
    generic-rv32 +forced-atomics ilp32 - : riscv32i-unknown-none-elf
    generic-rv32 +m ilp32 - : riscv32im-risc0-zkvm-elf
    generic-rv32 +m,+forced-atomics ilp32 - : riscv32im-unknown-none-elf
    generic-rv32 +m,+a ilp32 - : riscv32ima-unknown-none-elf
    generic-rv32 +m,+a,+c ilp32 - : riscv32imac-esp-espidf riscv32imac-unknown-none-elf
        riscv32imac-unknown-nuttx-elf riscv32imac-unknown-xous-elf
    generic-rv32 +m,+a,+c,+f ilp32f - : riscv32imafc-esp-espidf riscv32imafc-unknown-none-elf
        riscv32imafc-unknown-nuttx-elf
    generic-rv32 +m,+c ilp32 - : riscv32imc-esp-espidf riscv32imc-unknown-nuttx-elf
    generic-rv32 +m,+c,+forced-atomics ilp32 - : riscv32imc-unknown-none-elf
    generic-rv64 +m,+a,+f,+d,+c,+b,+v,+zicsr,+zifencei lp64d - : riscv64-linux-android
    generic-rv64 +m,+a,+f,+d,+c,+zicsr,+zifencei lp64d - : riscv64-wrs-vxworks riscv64gc-unknown-freebsd
        riscv64gc-unknown-fuchsia riscv64gc-unknown-hermit riscv64gc-unknown-linux-gnu
        riscv64gc-unknown-linux-musl riscv64gc-unknown-netbsd riscv64gc-unknown-none-elf
        riscv64gc-unknown-nuttx-elf riscv64gc-unknown-openbsd
    generic-rv64 +rva23u64 lp64d - : riscv64a23-unknown-linux-gnu
    generic-rv64 +m,+a,+f,+d,+c lp64d - : riscv64gc-unknown-managarm-mlibc riscv64gc-unknown-redox
    generic-rv64 +m,+forced-atomics lp64 - : riscv64im-unknown-none-elf
    generic-rv64 +m,+a,+c lp64 - : riscv64imac-unknown-none-elf riscv64imac-unknown-nuttx-elf
    z10 - - - : s390x-unknown-linux-gnu s390x-unknown-linux-musl
    z10 +soft-float,-vector - - : s390x-unknown-none-softfloat
    v9 - - - : sparc-unknown-linux-gnu sparc64-unknown-helenos sparc64-unknown-linux-gnu
        sparc64-unknown-netbsd sparc64-unknown-openbsd sparcv9-sun-solaris
    v7 - - - : sparc-unknown-none-elf
    - +strict-align,+atomics-32 - soft : thumbv6m-none-eabi
    - +strict-align - soft : thumbv6m-nuttx-eabi thumbv8m.base-none-eabi thumbv8m.base-nuttx-eabi
    - +soft-float,-neon - soft : thumbv7a-nuttx-eabi
    - +vfp3,+neon - hard : thumbv7a-nuttx-eabihf thumbv7a-pc-windows-msvc thumbv7a-uwp-windows-msvc
    - +vfp4d16sp - hard : thumbv7em-none-eabihf thumbv7em-nuttx-eabihf
    - +v7,+thumb-mode,+thumb2,+vfp3,+neon - soft : thumbv7neon-linux-androideabi
    - +v7,+thumb-mode,+thumb2,+vfp3,+neon - hard : thumbv7neon-unknown-linux-gnueabihf
        thumbv7neon-unknown-linux-musleabihf
    - +fp-armv8d16sp - hard : thumbv8m.main-none-eabihf thumbv8m.main-nuttx-eabihf
    - +atomics,+bulk-memory,+mutable-globals,+sign-ext - - : wasm32-wali-linux-musl
    - +atomics,+bulk-memory,+mutable-globals - - : wasm32-wasip1-threads
    mvp +mutable-globals - - : wasm32v1-none
    - +bulk-memory,+mutable-globals,+sign-ext,+nontrapping-fptoint - - : wasm64-unknown-unknown
    x86-64 +rdrand,+rdseed,+lvi-cfi,+lvi-load-hardening - - : x86_64-fortanix-unknown-sgx
    x86-64 +mmx,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt - - : x86_64-linux-android
    x86-64 - - - : x86_64-lynx-lynxos178 x86_64-pc-cygwin x86_64-pc-nto-qnx710 x86_64-pc-nto-qnx710_iosock
        x86_64-pc-nto-qnx800 x86_64-pc-solaris x86_64-unikraft-linux-musl x86_64-unknown-dragonfly
        x86_64-unknown-freebsd x86_64-unknown-haiku x86_64-unknown-helenos x86_64-unknown-hurd-gnu
        x86_64-unknown-illumos x86_64-unknown-l4re-uclibc x86_64-unknown-linux-gnu
        x86_64-unknown-linux-gnux32 x86_64-unknown-linux-musl x86_64-unknown-linux-none
        x86_64-unknown-linux-ohos x86_64-unknown-managarm-mlibc x86_64-unknown-motor x86_64-unknown-netbsd
        x86_64-unknown-openbsd x86_64-unknown-redox x86_64-win7-windows-gnu x86_64-win7-windows-msvc
        x86_64-wrs-vxworks
    x86-64 +cmpxchg16b,+sse3,+lahfsahf - - : x86_64-pc-windows-gnu x86_64-pc-windows-gnullvm
        x86_64-pc-windows-msvc x86_64-uwp-windows-gnu x86_64-uwp-windows-msvc
    x86-64 +cmpxchg16b,+lahfsahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3 - - : x86_64-unknown-fuchsia
    x86-64 +rdrand,+rdseed - - : x86_64-unknown-hermit
    x86-64 -mmx,-sse,-sse2,-sse3,-ssse3,-sse4.1,-sse4.2,-avx,-avx2,+soft-float - - : x86_64-unknown-none
    x86-64 -mmx,-sse,+soft-float - - : x86_64-unknown-uefi
    core-avx2 -rdrand,-aes,-pclmulqdq,-rtm,-fsgsbase - - : x86_64h-apple-darwin
    esp32 - - - : xtensa-esp32-espidf xtensa-esp32-none-elf
    esp32s2 - - - : xtensa-esp32s2-espidf xtensa-esp32s2-none-elf
    esp32s3 - - - : xtensa-esp32s3-espidf xtensa-esp32s3-none-elf
"""
# Where the C library is linked statically unless the user says otherwise.
_STATIC = """
    aarch64-unknown-linux-musl aarch64-unknown-redox aarch64-unknown-trusty aarch64-wrs-vxworks
    arm-unknown-linux-musleabi arm-unknown-linux-musleabihf armv5te-unknown-linux-musleabi
    armv7-unknown-linux-musleabi armv7-unknown-linux-musleabihf armv7-unknown-trusty
    armv7-wrs-vxworks-eabihf i586-unknown-linux-musl i586-unknown-redox i686-unknown-linux-musl
    i686-wrs-vxworks powerpc-wrs-vxworks powerpc-wrs-vxworks-spe powerpc64-wrs-vxworks
    powerpc64le-unknown-linux-musl riscv32-wrs-vxworks riscv64-wrs-vxworks riscv64gc-unknown-redox
    wasm32-unknown-emscripten wasm32-wali-linux-musl wasm32-wasip1 wasm32-wasip1-threads wasm32-wasip2
    wasm32-wasip3 x86_64-unknown-linux-musl x86_64-unknown-motor x86_64-unknown-redox
    x86_64-unknown-trusty x86_64-wrs-vxworks
"""

_TRIPLES = {
    "aarch64-apple-darwin": "aarch64-apple-macosx",
    "aarch64v8r-unknown-none": "aarch64-unknown-none",
    "aarch64v8r-unknown-none-softfloat": "aarch64-unknown-none-softfloat",
    "arm64e-apple-darwin": "arm64e-apple-macosx",
    "armv7a-vex-v5": "armv7a-vex-vexos-v5",
    "i386-apple-ios": "i386-apple-ios-simulator",
    "i686-apple-darwin": "i686-apple-macosx",
    "powerpc-wrs-vxworks-spe": "powerpcspe-wrs-vxworks",
    "wasm32v1-none": "wasm32-unknown-none",
    "x86_64-apple-darwin": "x86_64-apple-macosx",
    "x86_64-apple-ios": "x86_64-apple-ios-simulator",
    "x86_64-apple-tvos": "x86_64-apple-tvos-simulator",
    "x86_64h-apple-darwin": "x86_64h-apple-macosx",
}
_RISCV = re.compile(r"(riscv(?:32|64))[a-z0-9]*")

VARIANTS = {"x86_64-unknown-linux-gnuasan": ("x86_64-unknown-linux-gnu", ("-Zsanitizer=address",))}
"""Names that are another one with options of the compiler."""

RENAMED = {"wasm32-wasi": "wasm32-wasip1"}
"""Names of older versions, and today's."""


@attrs.frozen
class RustFacts:
    """What rustc says of a target by its name; None and "" where it states nothing."""

    triple: Triple
    cpu: str | None
    features: str
    abi: str | None
    float_abi: str | None
    static: bool


@functools.cache
def rust_names() -> tuple[str, ...]:
    """Return all names, sorted, without those that are another one with options."""
    return tuple(sorted(_rows()))


@functools.lru_cache(maxsize=512)
def rust_facts(name: str) -> RustFacts | None:
    """Return what a name says; None for one that rustc has not."""
    row = _rows().get(name)
    if row is None:
        return None
    cpu, features, abi, float_abi = (None if word == "-" else word for word in row)
    return RustFacts(rust_triple(name), cpu, features or "", abi, float_abi, name in _static())


def rust_triple(name: str) -> Triple:
    """Return the triple that a name means: RISC-V's without the extensions, which are features."""
    return Triple.parse(_TRIPLES.get(name) or _RISCV.sub(r"\1", name, count=1))


def names_with(triple: Triple) -> tuple[str, ...]:
    """Return the names that mean a triple."""
    return _by_triple().get(triple, ())


@functools.cache
def _by_triple() -> dict[Triple, tuple[str, ...]]:
    found: dict[Triple, tuple[str, ...]] = {}
    for name in rust_names():
        triple = rust_triple(name)
        found[triple] = (*found.get(triple, ()), name)
    return found


@functools.cache
def _static() -> frozenset[str]:
    return frozenset(_STATIC.split())


@functools.cache
def _rows() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    row: tuple[str, ...] = ()
    for line in _TARGETS.strip().splitlines():
        head, colon, names = line.rpartition(" : ")
        row = tuple(head.split()) if colon else row
        found.update(dict.fromkeys(names.split(), row))
    return found
