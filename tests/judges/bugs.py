"""Public bug reports on other projects: the right answer to each, of values, of kept records, or of real processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from judges import bugs_records, bugs_workers
from judges.judge import Judge, Row
from targetspec import CpuTarget, CudaTarget, TargetSyntaxError, normalize_triple, parse, tag
from targetspec.dialects.gnu import canonical_gnu
from targetspec.gpu_cuda import CudaArch
from targetspec.host import nvidia_smi, rocminfo
from targetspec.host.detected import host_target
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture, HostFacts
from targetspec.interop import clang_flags

_LINUX = "x86_64-unknown-linux-gnu"


def _refused(text: str, dialect: str = "auto", part: str = "") -> bool:
    try:
        parse(text, dialect)
    except TargetSyntaxError as error:
        return part in str(error)
    return False


def _linux(machine: str, text: str, bits: int = 64) -> HostFacts:
    return read_facts(Capture(machine=machine, pointer_bits=bits, files={"/proc/cpuinfo": text}))


def _x86(flags: str, family: int, model: int, vendor: str = "GenuineIntel", name: str = "") -> HostFacts:
    lines = (
        "processor\t: 0",
        f"vendor_id\t: {vendor}",
        f"cpu family\t: {family}",
        f"model\t\t: {model}",
        f"model name\t: {name}",
        "stepping\t: 1",
        f"flags\t\t: {flags}",
    )
    return _linux("x86_64", "\n".join(lines) + "\n")


def _arm(implementer: str, part: str, features: str = "fp asimd", machine: str = "aarch64") -> HostFacts:
    text = (
        f"processor\t: 0\nFeatures\t: {features}\nCPU implementer\t: {implementer}\n"
        f"CPU architecture: {7 if machine.startswith('armv') else 8}\nCPU part\t: {part}\n"
    )
    return _linux(machine, text, 32 if machine.startswith("armv") else 64)


def _target(facts: HostFacts) -> CpuTarget:
    return host_target(facts)[0]


def _riscv(isa: str) -> HostFacts:
    return _linux(
        "riscv64", f"processor\t: 0\nhart\t\t: 0\nisa\t\t: {isa}\nmmu\t\t: sv39\nuarch\t\t: sifive,u74\n"
    )


def _cpu(name: str, triple: str = _LINUX) -> CpuTarget:
    return CpuTarget(triple=triple, cpu=name)


def _runs(code: str, machine: str, dialect: str) -> bool:
    return bool(parse(code, dialect).compatible(parse(machine, dialect)))


def _held(isa: str, *names: str) -> bool:
    return {*names} <= {*parse(isa, "riscv").features}


_BASE = "fpu cx8 cmov mmx fxsr sse sse2 pni ssse3 sse4_1 sse4_2 popcnt cx16 lahf_lm lm"
_ARMV7 = "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt vfpd32 lpae"
_V3 = f"{_BASE} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
_ZEN3 = f"{_V3} aes pclmulqdq sha_ni vaes vpclmulqdq clwb rdseed adx"
_MEGABYTES = "name, memory.total [MiB]\nNVIDIA TITAN X (Pascal), 12196 MiB\n"
_AGENT = "Agent 1\n*******\n  Name:                    gfx1201\n  Device Type:             GPU\n  Chip ID:                 5510(0x1586)\n"

CHECKS: Mapping[str, Callable[[], bool]] = {
    "apache/tvm#17492": lambda: _refused(
        '{"kind":"llvm","mtriple":"arm64-apple-macos","mcpu":"apple-latest"}', "tvm", "apple-latest"
    ),
    "apache/tvm#18884": lambda: (
        parse("llvm -mtriple=arm64-apple-macos -mcpu=apple-m1", "tvm").cpu == "apple-a14"
    ),
    "apache/tvm#18909": lambda: parse("arm64-apple-macos -mcpu=apple-m1", "llvm").cpu == "apple-a14",
    "apache/tvm#19427": lambda: tag("apple/m2-gpu").host.cpu is not None,
    "apache/tvm#16425": lambda: _refused("x86_64-linux-gnu -mcpu=nosuch", "llvm", "'nosuch' for x86"),
    "mit-han-lab/temporal-shift-module#69": lambda: (
        parse("llvm -target=aarch64-linux-gnu", "tvm") == parse("llvm -mtriple=aarch64-linux-gnu", "tvm")
    ),
    "archspec/archspec#40": lambda: (
        {"avx2"} <= _x86(_V3, 6, 60).features and _x86(_V3, 6, 60).identity.cpu != "nehalem"
    ),
    "spack/spack#15151": lambda: (
        _x86(_V3, 6, 60).identity == _x86(f"{_V3} aes", 6, 60).identity
        and _x86(_V3, 6, 60).features != _x86(f"{_V3} aes", 6, 60).features
    ),
    "spack/spack#43106": lambda: _arm("0x41", "0xd4f").identity.cpu == "neoverse-v2",
    "EESSI/software-layer#320": lambda: _arm("0x41", "0xd40").identity.cpu == "neoverse-v1",
    "archspec/archspec-json#38": lambda: _x86(_ZEN3, 25, 1, "AuthenticAMD").identity.cpu == "znver3",
    "archspec/archspec#235": lambda: _x86(_V3, 6, 61).identity.cpu == "broadwell",
    "workhorsy/py-cpuinfo#214": lambda: {"m", "a", "zba"} <= _riscv("rv64imafdc_zba").features,
    "workhorsy/py-cpuinfo#112": lambda: _arm("0x51", "0x800").identity.vendor == "Qualcomm",
    "workhorsy/py-cpuinfo#10": lambda: (
        _arm("0x41", "0xb76", "half thumb vfp", "armv6l").identity.stepping is None
    ),
    "workhorsy/py-cpuinfo#61": lambda: (
        _linux("ppc64le", "processor\t: 0\ncpu\t\t: POWER8 (raw)\n").identity.cpu == "pwr8"
    ),
    "workhorsy/py-cpuinfo#41": lambda: _arm("0x41", "0xc07", "half thumb neon", "armv7l").arch.startswith(
        "arm"
    ),
    "HorlogeSkynet/archey4#29": lambda: _arm("0x41", "0xd03").identity.cpu == "cortex-a53",
    "Dr-Noob/cpufetch#373": lambda: (
        {"zicbom", "zicond", "zicsr"}
        <= _riscv("rv64imafdcv_zicbom_zicboz_zicntr_zicond_zicsr_zqxxx").features
    ),
    "google/cpu_features#301": lambda: (
        {"i", "m", "a", "f", "d", "c", "zicsr", "zifencei"} <= _riscv("rv64imafdczicsr_zifencei").features
    ),
    "riscv/riscv-isa-explorer#276": lambda: _held("rv32i2p1_m2p0_zba1p0", "i", "m", "zba"),
    "bytecodealliance/wasmtime#6192": lambda: {"zba", "zbb"} <= _riscv("rv64gc_zba_zbb").features,
    "openjdk/jdk#12343": lambda: (
        {"h", "zba", "zbb", "zbc", "zbs", "sstc", "zihintpause"}
        <= _riscv("rv64imafdch_zicsr_zifencei_zihintpause_zba_zbb_zbc_zbs_sstc").features
    ),
    "llvm/llvm-project#89582": lambda: (
        [normalize_triple(t) for t in ("aarch64-none-elf", "armv7m-none-eabi")]
        == ["aarch64-unknown-none-elf", "armv7m-unknown-none-eabi"]
    ),
    "swiftlang/llvm-project#11788": lambda: normalize_triple("x86_64--freebsd") == "x86_64-unknown-freebsd",
    "swiftlang/llvm-project#4160": lambda: (
        parse("arm64-apple-macosx12-unknown") == parse("arm64-apple-macosx12")
    ),
    "rust-lang/rust#5354": lambda: normalize_triple("arm-linux-androideabi") == "arm-unknown-linux-android",
    "ziglang/zig#3518": lambda: _target(_x86(f"{_BASE} nx", 6, 13, name="QEMU Virtual CPU")).cpu is None,
    "ziglang/zig#21925": lambda: _target(_x86(f"{_BASE} nx", 6, 6, "AuthenticAMD")).cpu is None,
    "ziglang/zig#5110": lambda: (
        {"armv7-a", "neon"} <= {*_target(_arm("0x41", "0xc07", _ARMV7, "armv7l")).features}
    ),
    "ziglang/zig#9988": lambda: (
        parse(f"{_LINUX} -march=x86-64-v3", "llvm").cpu
        == parse("x86_64-linux-gnu -mcpu=x86_64_v3", "zig").cpu
    ),
    "ziglang/zig#9442": lambda: (
        not any("generic" in flag for flag in clang_flags(CpuTarget(triple="s390x-linux-musl")))
        and "generic" not in CpuTarget(triple="s390x-linux-musl").format("gcc")
    ),
    "tcsh-org/tcsh#46": lambda: canonical_gnu("arm64-apple-darwin20.0.0") == "aarch64-apple-darwin20.0.0",
    "ianlancetaylor/libbacktrace#84": lambda: (
        canonical_gnu("arm64-apple-darwin21.2.0") == "aarch64-apple-darwin21.2.0"
    ),
    "tjko/jpegoptim#134": lambda: canonical_gnu("riscv64-linux-gnu") == "riscv64-unknown-linux-gnu",
    "Mic92/repkgs#141": lambda: canonical_gnu("loongarch64-linux-gnu") == "loongarch64-unknown-linux-gnu",
    "p11-glue/p11-kit#241": lambda: _refused("...", "gnu", "..."),
    "halide/Halide#259": lambda: (
        {"kind", "triple", "features", "tables"} == {*parse("arm-32-android", "halide").to_dict()}
    ),
    "halide/Halide#6448": lambda: (
        parse("host-cuda", "halide") == CudaTarget(host=parse("host", "halide"))
        and parse("x86-64-linux-cuda", "halide").kind == "cuda"
    ),
    "halide/Halide#8531": lambda: _refused("cmake", "halide", "cmake"),
    "halide/Halide#528": lambda: (
        _refused("pnacl-32-nacl", "halide", "pnacl")
        and parse("arm-32-ios", "halide") == parse(parse("arm-32-ios", "halide").format("halide"), "halide")
    ),
    "containers/image#898": lambda: _runs("linux/arm64", "linux/arm64/v8", "oci"),
    "moby/moby#52773": lambda: _runs("linux/amd64/v3", "linux/amd64/v4", "oci"),
    "containerd/containerd#8533": lambda: (
        _linux("aarch64", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse\n").arch == "aarch64"
    ),
    "ROCm/legacy-rocm-build#2358": lambda: (
        not _runs("gfx90a:xnack-", "gfx90a:xnack+", "amdgpu")
        and all(_runs("gfx90a", f"gfx90a:xnack{sign}", "amdgpu") for sign in "+-")
    ),
    "ROCm/legacy-rocm-build#1530": lambda: (
        not any(_runs(code, "gfx908:sramecc+:xnack-", "amdgpu") for code in ("gfx900", "gfx906"))
    ),
    "pytorch/pytorch#125413": lambda: parse("9.0a", "cuda").format("cuda") == "sm_90a",
    "pytorch/pytorch#166120": lambda: parse("10.1", "cuda").format("cuda") == "sm_101",
    "OpenBMB/BMTrain#83": lambda: all(
        parse(one, "cuda") for one in ["5.2", "6.0", "6.1", "7.0", "7.5", "8.0", "8.6", "9.0+PTX"]
    ),
    "NVlabs/WarpConvNet#29": lambda: (
        [str(CudaArch.parse(one)) for one in ["8.0", "8.6", "8.9", "9.0a"]]
        == ["sm_80", "sm_86", "sm_89", "sm_90a"]
    ),
    "shader-slang/slang#11070": lambda: (
        not any(name.startswith("avx512") for name in _x86(_ZEN3, 25, 1, "AuthenticAMD").features)
    ),
    "terralang/terra#700": lambda: (
        ["x86_64-unknown-linux", "-mcpu=znver4", "-mattr=-avx512f"]
        == re.split("[ ,]", _target(_x86(_ZEN3, 25, 17, "AuthenticAMD")).format("llvm"))[:3]
    ),
    "rust-lang/rust#34806": lambda: _refused(
        '{"llvm-target": "x86_64-unknown-linux-gnu", "target-pointer-width": [32]}',
        "rust",
        "target-pointer-width",
    ),
    "rust-lang/rust#31367": lambda: _refused(
        '{"llvm-target": "thumbv7em-none-eabihf", "data-layout": "e-m:e-p:64:32-i64:64", "target-pointer-width": "32"}',
        "rust",
        "data-layout",
    ),
    "rust-lang/rust#78981": lambda: (
        parse(
            '{"llvm-target": "powerpc-unknown-linux-gnu", "target-endian": "big", '
            '"data-layout": "E-m:e-p:32:32-i64:64-n32", "target-pointer-width": "32"}',
            "rust",
        ).triple.endianness
        == "big"
    ),
    "rust-lang/rust#86496": lambda: _refused(
        '{"llvm-target": "x86_64-unknown-none", "target-pointer-width": "32"}', "rust", "32"
    ),
    "chanzuckerberg/cellxgene-census#1121": lambda: not _cpu("x86-64-v3").compatible(_cpu("ivybridge")),
    "innative-sdk/innative#15": lambda: not _cpu("haswell").compatible(_cpu("sandybridge")),
    "atopile/atopile#1838": lambda: not _cpu("skylake-avx512").compatible(_cpu("znver3")),
    "ggml-org/llama.cpp#8734": lambda: _refused(
        f"{_LINUX} -mcpu=native", "llvm", "another one on each machine"
    ),
    "leejet/stable-diffusion.cpp#1588": lambda: _cpu("x86-64-v3").compatible(_cpu("znver3")).answer == "yes",
    "axiom-crypto/openvm-eth#624": lambda: _refused(f"{_LINUX} -C target-cpu=native", "rust", "native"),
    "ROCm/legacy-rocm-build#5696": lambda: (
        [agent.target_id for agent in rocminfo.read_rocminfo(_AGENT)] == ["gfx1201"]
    ),
    "rossumai/nvgpu#12": lambda: (
        nvidia_smi.read_query(_MEGABYTES, ("name", "memory.total"))[0].name == "NVIDIA TITAN X (Pascal)"
    ),
    "lmstudio-ai/lmstudio-bug-tracker#883": lambda: _runs("gfx11-generic", "gfx1150", "amdgpu"),
}


CHECKS_OF_ALL = {**CHECKS, **bugs_records.CHECKS, **bugs_workers.CHECKS}


def _faults(row: Row) -> Iterator[str]:
    check = CHECKS_OF_ALL.get(row["id"])
    if check is None:
        yield "not asked"
    elif not check():
        yield f"not so: {row['right_answer']}"


FILES = {"bugreports": Judge(_faults)}
