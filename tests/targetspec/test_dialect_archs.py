from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import CpuTarget, CudaTarget, RocmTarget
from targetspec.dialects import go
from targetspec.dialects.go_levels import VARIABLES, levels_of
from targetspec.dialects.wheel import accepted_tags, targets_of
from targetspec.errors import NotRepresentableError, TargetSyntaxError
from targetspec.gpu_cuda import CODE_FORMS, CudaArch, arch_names
from targetspec.parsing import Parsed, parse_full
from targetspec.testing import targets

_DIALECTS = ("cuda", "amdgpu", "oci", "go", "wheel")
_TEXTS = (
    "sm_90a",
    "compute_90",
    "9.0+PTX",
    "90a-real",
    "(9, 0)",
    "gfx90a:sramecc+:xnack-",
    "amdgcn-amd-amdhsa--gfx942:xnack+",
    "linux/arm/v7",
    "windows(10.0.17763+win32k)/amd64",
    "linux/amd64 GOAMD64=v3",
    "GOOS=linux GOARCH=arm GOARM=7,softfloat",
    "manylinux_2_17_x86_64",
    "macosx_11_0_universal2",
    "ios_13_0_arm64_iphonesimulator",
)


@pytest.mark.parametrize(
    ("text", "arch", "form"),
    [
        ("sm_90a", "sm_90a", None),
        ("90a", "sm_90a", None),
        ("9.0a", "sm_90a", None),
        ("(9, 0)", "sm_90", None),
        ("compute_90a", "sm_90a", "ptx"),
        ("90-virtual", "sm_90", "ptx"),
        ("90a-real", "sm_90a", "cubin"),
        ("sm_90-real", "sm_90", "cubin"),
        ("9.0+PTX", "sm_90", "fat"),
        ("lto_90", "sm_90", "lto"),
        ("10.0f", "sm_100f", None),
        ("(12, 1)", "sm_121", None),
    ],
)
def test_every_spelling_of_a_cuda_architecture(text, arch, form) -> None:
    """Each spelling says an architecture, and the form of the code where it states one."""
    assert CudaTarget(arch=arch, code_form=form) == targetspec.parse(text, "cuda")


@pytest.mark.parametrize(
    "text",
    ["sm_banana", "sm_999", "80a", "sm_80a", "compute_80f", "90 a", "9.0;9.0a", "90x", "9", "(9)", "SM_90"],
)
def test_unknown_cuda_architectures_are_refused(text) -> None:
    """What does not exist is refused."""
    with pytest.raises(TargetSyntaxError):
        targetspec.parse(text, "cuda")


def test_a_missing_architecture_has_near_ones() -> None:
    """The error for an architecture that does not exist names the nearest."""
    with pytest.raises(TargetSyntaxError, match="sm_80") as caught:
        targetspec.parse("80a", "cuda")
    assert (0, 3) == caught.value.span


def test_cuda_architectures_sort_as_numbers() -> None:
    """9.0a comes before 10.0, and plain before f before a."""
    texts = ["sm_121", "10.0a", "100", "9.0a", "sm_89", "sm_100f"]
    expected = ["sm_89", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_121"]
    assert expected == [str(arch) for arch in sorted(map(CudaArch.parse, texts))]


@given(st.sampled_from(arch_names()), st.sampled_from((None, *CODE_FORMS)))
def test_cuda_architectures_round_trip(arch, form) -> None:
    """Every architecture with every form of code is written so that it reads back."""
    target = CudaTarget(arch=arch, code_form=form)
    assert target == targetspec.parse(target.format("cuda"), "cuda")


def test_cuda_names_what_does_not_fit() -> None:
    """Every other stated field is named."""
    target = CudaTarget(arch="sm_90a", l2_cache_bytes=1, host=CpuTarget(cpu="cortex-a53"))
    with pytest.raises(NotRepresentableError) as caught:
        target.format("cuda")
    assert ["l2_cache_bytes", "host"] == [name for name, _ in caught.value.fields]
    assert target.format("cuda", lossy=True) == "sm_90a"


@pytest.mark.parametrize(
    ("text", "target", "leftovers"),
    [
        ("fiji", RocmTarget(target_id="gfx803"), ()),
        ("gfx90a:xnack-:sramecc+", RocmTarget(target_id="gfx90a:sramecc+:xnack-"), ()),
        ("amdgcn-amd-amdhsa--gfx90a:xnack+", RocmTarget(target_id="gfx90a:xnack+", os="amdhsa"), ()),
        ("hipv4-amdgcn-amd-amdhsa--gfx906", RocmTarget(target_id="gfx906", os="amdhsa"), ("hipv4",)),
        ("amdgcn-amd-amdhsa-unknown-gfx9-generic", RocmTarget(target_id="gfx9-generic", os="amdhsa"), ()),
        ("amdgcn-mesa-mesa3d--gfx803", RocmTarget(target_id="gfx803", os="mesa3d"), ()),
    ],
)
def test_target_ids_alone_and_whole(text, target, leftovers) -> None:
    """A target id is read alone, with its triple, and as bundles name it."""
    assert Parsed(target, leftovers, "amdgpu") == parse_full(text, "amdgpu")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("gfx1030:xnack+", (8, 14)),
        ("gfx90a:xnack+:xnack-", (14, 20)),
        ("gfx90a:foo+", (7, 11)),
        ("gfx90b", (0, 6)),
        ("gfx90a:", (7, 7)),
        (" gfx90a", (0, 7)),
    ],
)
def test_bad_target_ids_are_refused_where_they_are_bad(text, span) -> None:
    """The span is that of the part at fault."""
    with pytest.raises(TargetSyntaxError) as caught:
        targetspec.parse(text, "amdgpu")
    assert span == caught.value.span


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("linux/arm64", "linux/arm64/v8"),
        ("linux/arm64", "Linux/AARCH64/8"),
        ("linux/arm64/v9", "linux/arm64/v9.0"),
        ("linux/arm64/v9", "linux/arm64/9"),
        ("linux/arm", "linux/arm/7"),
        ("linux/arm", "linux/armhf"),
        ("linux/arm/v6", "linux/armel"),
        ("linux/amd64", "linux/x86_64/v1"),
        ("linux/386", "linux/i386"),
        ("darwin/arm64", "macOS/arm64"),
        ("windows/amd64", "windows()/amd64"),
    ],
)
def test_platforms_with_one_meaning(text, same) -> None:
    """Aliases and defaults of containerd are one platform."""
    assert targetspec.parse(text, "oci") == targetspec.parse(same, "oci")


def test_a_platform_is_a_target() -> None:
    """A level, a version of ARM and the version of Windows are in the target; features of the system are left over."""
    assert CpuTarget(triple="x86_64-linux", cpu="x86-64-v3") == targetspec.parse("linux/amd64/v3", "oci")
    assert CpuTarget(triple="armv6-linux") == targetspec.parse("linux/arm/v6", "oci")
    parsed = parse_full("windows(10.0.17763+win32k)/amd64", "oci")
    assert CpuTarget(triple="x86_64-unknown-windows10.0.17763-msvc") == parsed.target
    assert ("+win32k",) == parsed.leftovers


@pytest.mark.parametrize(
    "text",
    [
        "linux",
        "windows(10)",
        "linux/arm/v9",
        "linux/amd64/v5",
        "linxu/amd64",
        "linux/amd65",
        "*/arm64",
        "linux//v8",
        "linux/s390x/z15",
    ],
)
def test_what_is_no_platform_is_refused(text) -> None:
    """A platform without an architecture is refused: the text does not say whose."""
    with pytest.raises(TargetSyntaxError):
        targetspec.parse(text, "oci")


def test_a_system_alone_is_told_what_it_lacks() -> None:
    """The error for a system without an architecture says so, and one for a broken escape where it is."""
    with pytest.raises(TargetSyntaxError, match="states no architecture"):
        targetspec.parse("macOS", "oci")
    with pytest.raises(TargetSyntaxError) as caught:
        targetspec.parse("windows(10%2)/amd64", "oci")
    assert caught.value.span[0] == len("windows(10")


def test_32_bit_arm_runs_in_the_userland_of_64_bit_arm() -> None:
    """Code for arm/v8 needs nothing that arm64 leaves open."""
    code, machine = targetspec.parse("linux/arm/v8", "oci"), targetspec.parse("linux/arm64", "oci")
    assert code.compatible(machine, bridges=("compat32",))
    assert not code.compatible(machine)


def _set_of(text: str) -> frozenset[str]:
    target = targetspec.parse(text, "go")
    assert isinstance(target, CpuTarget)
    return frozenset(target.features or ())


def test_floating_point_of_go_on_arm() -> None:
    """GOARM=7 is VFPv3 with 16 registers, 6 is VFPv2, and softfloat none."""
    assert "vfp3d16" in _set_of("linux/arm")
    assert not {"d32", "neon"} & _set_of("linux/arm")
    assert "vfp2" in _set_of("linux/arm GOARM=6")
    assert "vfp2" in _set_of("linux/arm GOARM=5,hardfloat")
    soft = [_set_of(f"linux/arm GOARM={version},softfloat") for version in (5, 6, 7)]
    assert not any(name.startswith("vfp") for names in soft for name in names)


@pytest.mark.parametrize("pair", sorted(go.pairs()))
def test_every_pair_of_go_round_trips(pair) -> None:
    """Each pair that Go has a port for is read and written."""
    text = "/".join(pair)
    assert text == targetspec.parse(text, "go").format("go")


@pytest.mark.parametrize(
    ("variable", "arch"), [(name, arch) for name, archs in VARIABLES.items() for arch in archs]
)
def test_every_level_of_go_round_trips(variable, arch) -> None:
    """Each level reads back, and levels differ but where one option says what another brings."""
    read = [targetspec.parse(f"GOARCH={arch} {variable}={level}", "go") for level in levels_of(arch)]
    assert len(set(read)) > 1
    assert read == [targetspec.parse(target.format("go"), "go") for target in read]


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("linux/amd64 GOAMD64=v1", "linux/amd64"),
        ("linux/386 GO386=sse2", "linux/386"),
        ("linux/arm GOARM=7,hardfloat", "linux/arm"),
        ("linux/arm64 GOARM64=v8.0", "linux/arm64"),
        ("linux/mipsle GOMIPS=hardfloat", "linux/mipsle"),
        ("linux/ppc64le GOPPC64=power8", "linux/ppc64le"),
        ("linux/riscv64 GORISCV64=rva20u64", "linux/riscv64"),
        ("GOARCH=wasm GOOS=js GOWASM=", "js/wasm"),
        ("GOAMD64= GOARCH=amd64 GOOS=linux", "linux/amd64"),
    ],
)
def test_defaults_of_go(text, default) -> None:
    """A level that is Go's default says nothing new, and neither does an empty variable."""
    assert default == targetspec.parse(text, "go").format("go")


def test_go_leaves_over_what_is_not_about_the_target() -> None:
    """Other variables, and levels of other architectures, are leftovers."""
    parsed = parse_full("CGO_ENABLED=0 linux/amd64 GOARM=7", "go")
    assert CpuTarget(triple="x86_64-linux") == parsed.target
    assert {"CGO_ENABLED=0", "GOARM=7"} == set(parsed.leftovers)


@pytest.mark.parametrize(
    "text",
    [
        "linux/amd65",
        "windows/s390x",
        "linux/amd64 GOAMD64=v5",
        "linux/amd64 GOAMD46=v3",
        "linux/amd64 GOOS=linux",
        "GOOS=linux",
        "GOMIPS=softfloat",
        "linux",
        "linux/arm GOARM=7,soft",
    ],
)
def test_what_go_has_not_is_refused(text) -> None:
    """Unknown pairs, levels and misspelt variables are refused."""
    with pytest.raises(TargetSyntaxError):
        targetspec.parse(text, "go")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("manylinux_2_17_x86_64", {"triple": "x86_64-linux-gnu", "libc_version": "2.17"}),
        ("musllinux_1_2_aarch64", {"triple": "aarch64-linux-musl", "libc_version": "1.2"}),
        ("manylinux_2_31_armv7l", {"triple": "armv7-linux-gnueabihf", "libc_version": "2.31"}),
        ("linux_ppc64le", {"triple": "powerpc64le-linux"}),
        ("macosx_11_0_arm64", {"triple": "arm64-apple-macosx11.0"}),
        ("win32", {"triple": "i686-unknown-windows-msvc"}),
        ("win_amd64", {"triple": "x86_64-unknown-windows-msvc"}),
        ("ios_13_0_arm64_iphonesimulator", {"triple": "arm64-apple-ios13.0-simulator"}),
        ("android_24_arm64_v8a", {"triple": "aarch64-linux-android24"}),
        ("emscripten_4_0_9_wasm32", {"triple": "wasm32-unknown-emscripten4.0.9"}),
    ],
)
def test_platform_tags_of_wheels(text, fields) -> None:
    """A tag says a target, which says the tag."""
    target = targetspec.parse(text, "wheel")
    assert CpuTarget(**fields) == target
    assert text == target.format("wheel")


def test_old_names_of_manylinux_are_versions_of_glibc() -> None:
    """manylinux1, 2010 and 2014 are glibc 2.5, 2.12 and 2.17."""
    read = [targetspec.parse(f"manylinux{year}_i686", "wheel").format("wheel") for year in (1, 2010, 2014)]
    assert ["manylinux_2_5_i686", "manylinux_2_12_i686", "manylinux_2_17_i686"] == read


def test_universal_binaries_are_several_targets() -> None:
    """Code for several machines, of which one runs it, is no one target."""
    with pytest.raises(TargetSyntaxError, match="macosx_11_0_x86_64"):
        targetspec.parse("macosx_11_0_universal2", "wheel")
    expected = ["aarch64-apple-macosx11.0", "x86_64-apple-macosx10.9"]
    assert expected == [str(target.triple) for target in targets_of("macosx_10_9_universal2")]


@pytest.mark.parametrize(
    "text",
    [
        "any",
        "manylinux_2_17",
        "manylinux_2_17_x86_65",
        "macosx_10_15_arm64",
        "win_amd65",
        "manylinux2011_x86_64",
        "manylinux_2_17_x86_64.manylinux_2_17_i686",
    ],
)
def test_what_is_no_platform_tag_is_refused(text) -> None:
    """Unknown tags, sets of tags for several targets and `any` are refused."""
    with pytest.raises(TargetSyntaxError):
        targetspec.parse(text, "wheel")


def test_accepted_tags_of_other_systems() -> None:
    """musl, 32-bit code on 64-bit ARM, Windows, and machines that state no version."""
    musl = CpuTarget(triple="aarch64-linux-musl", libc_version="1.2")
    assert ("linux_aarch64", *(f"musllinux_1_{n}_aarch64" for n in (2, 1, 0))) == accepted_tags(musl)
    narrow = CpuTarget(triple="armv8-linux-gnueabihf", libc_version="2.17")
    tags = ("linux_armv8l", "linux_armv7l", "manylinux_2_17_armv8l", "manylinux2014_armv8l")
    assert (*tags, "manylinux_2_17_armv7l", "manylinux2014_armv7l") == accepted_tags(narrow)
    assert ("win_arm64",) == accepted_tags(targetspec.parse("win_arm64", "wheel"))
    assert () == accepted_tags(CpuTarget(triple="arm64-apple-macosx"))
    assert ("linux_x86_64",) == accepted_tags(CpuTarget(triple="x86_64-linux-gnu"))


@pytest.mark.parametrize(
    ("device", "tag"),
    [
        ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64"),
        ("macosx_14_0_arm64", "macosx_11_0_arm64"),
        ("ios_17_2_arm64_iphoneos", "ios_13_0_arm64_iphoneos"),
        ("android_30_x86_64", "android_24_x86_64"),
        ("win_amd64", "win_amd64"),
    ],
)
def test_what_is_accepted_runs(device, tag) -> None:
    """A tag that a machine accepts is compatible with it, and one of a newer machine is neither."""
    machine, code = targetspec.parse(device, "wheel"), targetspec.parse(tag, "wheel")
    assert tag in accepted_tags(machine)
    assert code.compatible(machine)
    assert device == tag or (device not in accepted_tags(code) and not machine.compatible(code))


@pytest.mark.parametrize("dialect", _DIALECTS)
@given(target=targets())
def test_what_is_written_without_loss_reads_back(dialect, target) -> None:
    """Where a dialect names no loss, its text is the target."""
    try:
        text = target.format(dialect)
    except NotRepresentableError:
        return
    assert target == targetspec.parse(text, dialect)


@pytest.mark.parametrize("dialect", _DIALECTS)
@given(
    text=st.sampled_from(_TEXTS).flatmap(
        lambda text: st.builds(
            lambda at, more, count: text[:at] + more * count + text[at:],
            st.integers(0, len(text)),
            st.text(max_size=3),
            st.sampled_from((1, 1, 2000)),
        )
    )
)
def test_any_text_is_a_target_or_a_syntax_error(dialect, text) -> None:
    """No text ends in any other error."""
    parse = targetspec.registry.dialect(dialect).parse
    try:
        parsed = parse(text)
    except TargetSyntaxError as error:
        parsed = error
    spans = [parsed.span] if isinstance(parsed, TargetSyntaxError) else []
    assert all(0 <= start <= end for start, end in spans)
