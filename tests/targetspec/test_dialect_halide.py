"""Halide's target strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    FeatureConflictError,
    HexagonTarget,
    MetalTarget,
    NotRepresentableError,
    OpenCLTarget,
    RocmTarget,
    TargetSyntaxError,
    VulkanTarget,
    detect_host,
    parse,
    parse_full,
)
from targetspec.dialects import halide, halide_names
from targetspec.dialects.halide_devices import DEVICES

MACHINES = sorted(
    f"{arch}-{bits}-{os}"
    for arch, bits in halide_names.ARCHS
    for os in halide_names.OSES
    if (arch == "wasm") == (os == "wasmrt")
)
FLAGS = sorted(halide_names.COMPILER.union(*halide_names.FEATURES.values(), *DEVICES.values(), DEVICES))


def read(text):
    """Return the target of a text in this dialect."""
    return parse(text, "halide")


@pytest.mark.parametrize("text", MACHINES)
def test_each_machine_comes_back(text):
    """Architecture, bits and system are written as they were read."""
    assert text == read(text).format("halide")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flag", sorted(frozenset().union(*halide_names.FEATURES.values())))
def test_a_flag_of_the_cpu_comes_back(machine, flag):
    """A flag of the architecture is read back to the same target; one of another is refused."""
    arch = machine.partition("-")[0]
    if arch not in halide_names.arch_of_flag(flag):
        with pytest.raises(TargetSyntaxError, match="is a flag of"):
            read(f"{machine}-{flag}")
        return
    if flag not in halide_names.FEATURES[arch, int(machine.split("-")[1])]:
        return
    for text in (f"{machine}-{flag}", f"{machine}-{flag}-vector_bits_512"):
        assert read(text) == read(read(text).format("halide"))


def test_what_a_string_says():
    """The triple is Halide's, the flags are features, and the processor is what to tune for."""
    target = read("x86-64-linux-tune_znver3-avx2")
    assert ("x86_64-unknown-linux-gnu", "znver3", None) == (str(target.triple), target.tune, target.cpu)
    assert {"avx2", "fma", "f16c", "sse4.1"} < set(target.features)
    assert 256 == target.native_vector_bits
    assert "aarch64-apple-macosx" == str(read("arm-64-osx").triple)
    assert "v8.4a" in read("arm-64-osx").features
    assert "x86_64-pc-windows-msvc" == str(read("x86-64-windows").triple)
    assert "hard" == read("arm-32-linux").float_abi
    assert "neon" in read("arm-32-linux").features
    assert "neon" not in read("arm-32-linux-no_neon").features
    assert "aarch64-unknown-linux-android" == str(read("arm-64-android").triple)
    assert "armv7s-apple-ios" == str(read("arm-32-ios-armv7s").triple)
    assert "arm64-apple-ios-simulator".replace("arm64", "aarch64") == str(read("arm-64-ios-simulator").triple)
    assert "vsx" not in read("powerpc-64-linux").features
    assert "mvp" == read("wasm-32-wasmrt-wasm_mvponly").cpu
    assert ["simd128"] == list(read("wasm-32-wasmrt-wasm_mvponly-wasm_simd128").features)
    assert "zvl512b" in read("riscv-64-linux-rvv-vector_bits_512").features


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("x86-64-linux-avx2", "x86-64-linux-sse41-avx-avx2-f16c-fma"),
        (
            "x86-64-linux-avx512_zen5",
            "x86-64-linux-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-avxvnni-avx512_zen5",
        ),
        ("arm-64-linux-sve2", "arm-64-linux-armv8a-armv81a-armv82a-arm_fp16-arm_dot_prod-sve2"),
        ("arm-64-linux-armv85a", "arm-64-linux-armv82a-armv81a-armv85a"),
        (
            "x86-64-linux-avx10_1-vector_bits_512",
            "x86-64-linux-avx512_sapphirerapids-avx10_1-vector_bits_512",
        ),
        ("x86-64-osx-cuda-metal", "64-osx-x86-metal-cuda"),
        ("x86-64-linux", "linux-64-x86-tune_generic-vector_bits_0"),
        ("riscv-64-linux-soft_float_abi-rvv", "riscv-64-linux-rvv-soft_float_abi-rvv"),
    ],
)
def test_the_shortest_string_is_written(short, long):
    """What flags bring is not written, and the order of reading does not matter."""
    assert read(short) == read(long)
    assert sorted(short.split("-")) == sorted(read(long).format("halide").split("-"))


@pytest.mark.parametrize(
    ("flags", "device"),
    [
        ("cuda", CudaTarget()),
        ("cuda-cuda_capability_80", CudaTarget(arch="sm_80")),
        ("cuda-cuda_capability_80-cuda_capability_50", CudaTarget(arch="sm_50")),
        ("metal", MetalTarget()),
        ("cl_doubles-cl_half-opencl", OpenCLTarget(extensions={"cl_khr_fp64", "cl_khr_fp16"})),
        ("vk_int8-vk_v13-vulkan", VulkanTarget(api_version="1.3", capabilities={"Int8"})),
        ("hvx-hvx_128-hvx_v66", HexagonTarget(version="v66", hvx_bytes=128)),
        ("hvx_v62", HexagonTarget(version="v62")),
    ],
)
def test_a_device_has_the_cpu_as_its_host(flags, device):
    """The flags of a device make a target of its kind, and come back in Halide's order."""
    target = read(f"x86-64-linux-{flags}")
    assert device.with_host(read("x86-64-linux")) == target
    if flags.count("capability") < 2:
        assert f"x86-64-linux-{flags}" == target.format("halide")


def test_several_devices_are_a_composite():
    """Devices stand in the order of their names, whatever the text's."""
    target = read("x86-64-osx-opencl-metal-avx")
    members = (MetalTarget(), OpenCLTarget())
    assert CompositeTarget(members=members, host=read("x86-64-osx-avx")) == target
    assert "x86-64-osx-avx-metal-opencl" == target.format("halide")


def test_hexagon_is_a_device_with_its_system_as_host():
    """A DSP is a target of its own kind."""
    target = read("hexagon-32-noos-hvx_128")
    host = CpuTarget(triple="hexagon-unknown-none")
    assert HexagonTarget(hvx_bytes=128, host=host) == target
    assert "hexagon-32-noos-hvx-hvx_128" == target.format("halide")
    with pytest.raises(NotRepresentableError, match="kind"):
        host.format("halide")


@pytest.mark.parametrize(
    ("text", "leftovers"),
    [
        ("x86-64-linux-no_asserts-jit-avx-user_context", ("no_asserts", "jit", "user_context")),
        ("x86-64-linux-profile-profile", ("profile",)),
        ("x86-64-windows-d3d12compute-hlsl_sm66", ("d3d12compute", "hlsl_sm66")),
        ("x86-64-linux-avx512_knl", ("avx512_knl",)),
        ("x86-64-linux-avx10_1", ("avx10_1",)),
        ("x86-64-linux-avx10_1-vector_bits_512", ()),
        ("arm-64-linux-sme2-sme_svl512", ("sme_svl512",)),
        (
            "x86-64-linux-cuda_capability_80-vk_v12-soft_float_abi",
            ("cuda_capability_80", "vk_v12", "soft_float_abi"),
        ),
        ("arm-64-linux-no_neon-armv7s", ("no_neon", "armv7s")),
    ],
)
def test_leftovers(text, leftovers):
    """What says nothing of a machine that has a place here comes back, in its order."""
    parsed = parse_full(text, "halide")
    assert leftovers == parsed.leftovers
    assert parsed == parse_full("-".join((parsed.target.format("halide"), *leftovers)), "halide")
    assert parsed == parse_full(parsed.format(), "halide")


def test_host_is_this_machine():
    """`host` stands for the machine, and flags add to what it has."""
    assert detect_host() == read("host")
    assert CudaTarget(arch="sm_50", host=detect_host()) == read("host-cuda-cuda_capability_50")
    assert ("debug",) == parse_full("host-debug", "halide").leftovers


@pytest.mark.parametrize(
    ("text", "span", "words"),
    [
        ("x86-64", (0, 6), "os is not stated"),
        ("arm-linux", (0, 9), "bits is not stated"),
        ("avx2", (0, 4), "arch is not stated"),
        ("arch_unknown-0-os_unknown", (0, 12), "must be known"),
        ("x86-0-linux", (4, 5), "must be known"),
        ("x86-23-linux", (4, 6), "no '23'"),
        ("x86-64-linux-avx3", (13, 17), "did you mean"),
        ("x86-64-linux-64", (13, 15), "stated twice"),
        ("x86-64-linux-osx", (13, 16), "stated twice"),
        ("x86-64-linux-tune_k8-tune_znver1", (21, 32), "stated twice"),
        ("x86-64-linux-vector_bits_256-vector_bits_512", (29, 44), "stated twice"),
        ("x86-64-linux-vector_bits_7", (13, 26), "from 32"),
        ("x86-64-linux-host", (13, 17), "host comes first"),
        ("host-x86", (5, 8), "host states the arch"),
        ("x86-64--linux", (7, 8), "nothing between two dashes"),
        ("x86-64-linux-", (13, 13), "nothing between two dashes"),
        ("hexagon-64-qurt", (8, 10), "hexagon has no 64 bits"),
        ("x86-64-wasmrt", (7, 13), "wasm runs under wasmrt"),
        ("x86-64-linux-sve2", (13, 17), "is a flag of arm"),
        ("arm-64-linux-avx", (13, 16), "is a flag of x86"),
        ("x86-64-linux-simulator", (13, 22), "only ios"),
        ("arm-64-linux-sme2-sme_svl128-sme_svl256", (29, 39), "stated twice"),
        ("arm-64-linux-tune_znver1", (13, 24), "znver1"),
    ],
)
def test_faults(text, span, words):
    """Each fault says where it is."""
    with pytest.raises(TargetSyntaxError) as caught:
        read(text)
    assert words in str(caught.value)
    assert (span, "halide") == (caught.value.span, caught.value.dialect)


@given(st.sampled_from(MACHINES), st.sets(st.sampled_from(FLAGS), max_size=8))
def test_strings_of_flags_come_back(machine, flags):
    """Whatever flags a string has, what is written for its target is read back, and the leftovers with it."""
    arch = machine.partition("-")[0]
    fitting = [
        name for name in sorted(flags) if arch in halide_names.arch_of_flag(name) | {arch} & _any(name)
    ]
    parsed = parse_full("-".join((machine, *fitting)), "halide")
    assert parsed == parse_full("-".join((parsed.target.format("halide"), *parsed.leftovers)), "halide")


def _any(name: str) -> set[str]:
    """Return all architectures for a flag that is no CPU's; hexagon alone is no flag."""
    return set() if halide_names.arch_of_flag(name) or name == "hexagon" else set(halide_names.ARCH_NAMES)


@given(OPTION_TARGETS | CPU_TARGETS)
def test_what_is_written_without_loss_is_read_back(target):
    """A target that Halide can say comes back equal, and of others every field that does not fit is named."""
    try:
        text = target.format("halide")
    except NotRepresentableError as error:
        names = [name for name, _ in error.fields]
        assert len(names) == len(set(names))
        assert target != read(target.format("halide", lossy=True))
    else:
        assert target == read(text)


@given(st.sampled_from(MACHINES), st.data())
def test_lossy_strings_are_read(machine, data):
    """With some features gone, the string that loses them is still a string, and the loss is named."""
    target = read(machine)
    if not isinstance(target, CpuTarget) or not target.features:
        return
    gone = data.draw(st.sets(st.sampled_from(sorted(target.features)), min_size=1, max_size=2))
    try:
        changed = target.evolve(features=target.features.with_changes(remove=gone))
    except FeatureConflictError:
        return
    if read(changed.format("halide", lossy=True)) != changed:
        with pytest.raises(NotRepresentableError, match="features"):
            changed.format("halide")


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        (CudaTarget(arch="sm_80"), {"host"}),
        (CudaTarget(arch="sm_90a", host=read("x86-64-linux")), {"arch"}),
        (CudaTarget(num_cores=8, host=read("x86-64-linux")), {"num_cores"}),
        (
            VulkanTarget(api_version="1.1", capabilities={"Int8", "Linkage"}, host=read("x86-64-linux")),
            {"api_version", "capabilities"},
        ),
        (RocmTarget(host=read("x86-64-linux")), {"kind"}),
        (CpuTarget(cpu="haswell"), {"triple"}),
        (CpuTarget(triple="s390x-linux-gnu"), {"triple"}),
        (CpuTarget(triple="x86_64-unknown-unknown"), {"triple"}),
        (CpuTarget(triple="x86_64-linux-musl"), {"triple", "libc"}),
        (CpuTarget(triple="x86_64-linux-gnu", cpu="haswell"), {"cpu", "features"}),
        (read("x86-64-linux").evolve(num_cores=8, libs={"mkl"}), {"num_cores", "libs"}),
        (CudaTarget(host=CpuTarget(triple="x86_64-linux-gnu", num_cores=2)), {"host"}),
        (CudaTarget(host=HexagonTarget()), {"host"}),
    ],
)
def test_what_halide_cannot_say(target, fields):
    """Every field without a flag is named."""
    with pytest.raises(NotRepresentableError) as caught:
        target.format("halide")
    assert fields == {name for name, _ in caught.value.fields}


@given(
    st.text(max_size=100)
    | st.lists(st.sampled_from([*FLAGS, *MACHINES, "-", "host", "64", "x86"])).map("-".join)
)
def test_any_text_ends_in_a_target_or_a_fault(text):
    """No text raises anything but TargetSyntaxError."""
    try:
        found = halide.parse(text).dialect
    except TargetSyntaxError as error:
        found = error.dialect
    assert "halide" == found
