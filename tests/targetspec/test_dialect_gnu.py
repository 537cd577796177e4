"""GNU configuration names: text to text, and the targets that they stand for."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import CpuTarget, CudaTarget, NotRepresentableError, TargetSyntaxError, parse, testing
from targetspec.dialects import gnu
from targetspec.dialects.gnu import canonical_gnu

CANONICAL = {
    "i686-linux": "i686-pc-linux-gnu",
    "amd64-linux": "x86_64-pc-linux-gnu",
    "x86_64-linux-musl": "x86_64-pc-linux-musl",
    "x86_64-gnu/linux": "x86_64-pc-linux-gnu",
    "aarch64": "aarch64-unknown-none",
    "arm-none-eabi": "arm-none-eabi",
    "armh": "armv7l-alt-linux-gnueabihf",
    "arm-pikeos": "arm-unknown-eabi",
    "powerpc-pikeos": "powerpc-unknown-elf",
    "e500v2-linux": "powerpc-unknown-linux-gnuspe",
    "sun4": "sparc-sun-sunos4.1.1",
    "sun4sol2": "sparc-sun-solaris2",
    "sparc-sun": "sparc-sun-sunos4.1.1",
    "decstation": "mips-dec-ultrix4.2",
    "decstation-3100": "mips-dec-ultrix4.2",
    "hp9k802": "hppa1.1-hp-hpux",
    "hp9k805": "hppa1.0-hp-hpux",
    "hp9k315": "m68000-hp-hpux",
    "i386v32": "i386-pc-sysv32",
    "i486-foo86v4.2-sco": "i486-pc-sysv4",
    "iris4d-irix5": "mips-sgi-irix5",
    "iris4d-linux": "mips-sgi-irix4",
    "next-ns2": "m68k-next-nextstep2",
    "leon3-elf": "sparc-leon3-elf",
    "sh5el-linux": "sh5le-unknown-linux-gnu",
    "xscaleeb-elf": "armeb-unknown-elf",
    "x86_64-nto-qnx7.1": "x86_64-pc-nto-qnx",
    "i386-sco3.2.5": "i386-pc-sco3.2v5",
    "i386-solaris1.1": "i386-pc-sunos4.1",
    "mips-sinix5.43": "mips-unknown-sysv5.43",
    "alpha-digital-osf4": "alpha-dec-osf4",
    "x86_64-windows-msvc": "x86_64-pc-windows-msvc",
    "aarch64-android-linux": "aarch64-unknown-linux-android",
    "riscv64-zephyr": "riscv64-unknown-zephyr",
    "s390x-tpf": "s390x-ibm-tpf",
    "vax": "vax-dec-ultrix4.2",
    "c90": "c90-cray-unicos",
    "my-localhost": "my-localhost",
}
REFUSED = {
    "a-b-c-d-e": ("more than four components", (7, 9)),
    "foo": ("machine 'foo-unknown' not recognized", (0, 3)),
    "x86-64-linux-foo": ("OS 'foo' not recognized", (4, 16)),
    "x86_64-newlib": ("libc 'newlib' needs explicit kernel", (7, 13)),
    "x86_64-linux-elf": ("kernel 'linux' not known to work with OS 'elf'", (7, 16)),
    "x86_64-pc-msvc": ("'msvc' needs 'windows'", (7, 14)),
    "x86_64-kernel": ("'kernel' needs explicit kernel", (7, 13)),
    "x86_64-linux-kernel": ("kernel 'linux' does not support 'kernel'", (7, 19)),
    "-linux": ("begins with a machine", (0, 1)),
    "i686 linux": ("one word", (4, 5)),
    "i686\\linux": ("one word", (4, 5)),
    "": ("begins with a machine", (0, 0)),
}
TARGETS = testing.targets() | OPTION_TARGETS | CPU_TARGETS


def read(text):
    return gnu.parse(text).target


@pytest.mark.parametrize("text", CANONICAL)
def test_canonical_names(text):
    """An alias reaches its canonical name, which stays as it is."""
    assert CANONICAL[text] == canonical_gnu(text)
    assert CANONICAL[text] == canonical_gnu(CANONICAL[text])


@pytest.mark.parametrize("text", REFUSED)
def test_refused_names(text):
    """What config.sub refuses is refused for the same reason, at the part that is wrong."""
    with pytest.raises(TargetSyntaxError) as caught:
        canonical_gnu(text)
    words, span = REFUSED[text]
    assert words in caught.value.message
    assert (span, "gnu") == (caught.value.span, caught.value.dialect)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("amd64-linux", {"triple": "x86_64-pc-linux-gnu"}),
        ("i686-gnu", {"triple": "i686-pc-hurd-gnu"}),
        ("i686-gnu0.9", {"triple": "i686-pc-hurd0.9-gnu"}),
        ("x86_64-linux-gnu2.17", {"triple": "x86_64-pc-linux-gnu", "libc_version": "2.17"}),
        ("armel-linux-gnueabi", {"triple": "arm-unknown-linux-gnueabi"}),
        ("armv7b-linux-gnueabihf", {"triple": "armebv7-unknown-linux-gnueabihf"}),
        ("sh4-linux", {"triple": "sh4-unknown-linux-gnu"}),
        ("sh4-elf", {"triple": "sh4eb-unknown-unknown-elf"}),
        ("sh4le-elf", {"triple": "sh4-unknown-unknown-elf"}),
        ("mipsisa32r2el-linux", {"triple": "mipsel-unknown-linux-gnu", "cpu": "mips32r2"}),
        ("arm-buildroot-linux-uclibcgnueabihf", {"triple": "arm-buildroot-linux-uclibceabihf"}),
        ("xbox", {"triple": "i686-pc-windows-gnu"}),
        ("  sparc64-netbsd\n", {"triple": "sparcv9-unknown-netbsd"}),
    ],
)
def test_targets_of_names(text, fields):
    """A name whose machine and system a triple has is a target, with the CPU that it says."""
    assert CpuTarget(**fields) == read(text)


@pytest.mark.parametrize(
    ("text", "words", "span"),
    [
        ("vax-netbsd", "no architecture of LLVM's: 'vax'", (0, 3)),
        (" pdp11", "no architecture of LLVM's: 'pdp11'", (1, 6)),
        ("riscv-elf", "no architecture of LLVM's: 'riscv'", (0, 5)),
        ("sun4", "sunos4.1.1", (0, 4)),
        ("i686-foo-bar", "OS 'bar'", (5, 12)),
        ("localhost", "local name", (0, 9)),
        ("i686-linux -O2", "one word", (0, 14)),
    ],
)
def test_names_that_are_no_target(text, words, span):
    """A machine or a system that no triple has is a fault that says so; the text function still answers."""
    with pytest.raises(TargetSyntaxError) as caught:
        gnu.parse(text)
    assert words in str(caught.value)
    assert (text, span) == (caught.value.text, caught.value.span)


@pytest.mark.parametrize(
    "text",
    [
        "x86_64-pc-linux-gnu",
        "x86_64-pc-linux-gnu2.17",
        "i686-pc-gnu",
        "i686-w64-mingw32",
        "x86_64-pc-cygwin",
        "x86_64-pc-windows-msvc",
        "arm-none-eabi",
        "arm-none-elf",
        "arm-unknown-linux-androideabi",
        "aarch64-unknown-linux-android21",
        "armv7-unknown-netbsdelf-eabihf",
        "armv6m-unknown-none",
        "armv7eb-unknown-linux-gnueabi",
        "aarch64-apple-macos14.0",
        "x86_64-unknown-freebsd13.2",
        "aarch64-freebsd-none",
        "sparc64-unknown-linux-gnu",
        "bpf-unknown-none",
        "hexagon-unknown-elf",
        "mipsisa64r2el-unknown-linux-gnuabi64",
        "alphaev56-unknown-linux-gnu",
        "m68020-unknown-linux-gnu",
        "sh4-unknown-linux-gnu",
        "sh4-unknown-elf",
        "sh4le-unknown-elf",
        "x86_64-pc-nto-qnx",
    ],
)
def test_canonical_names_stay_as_they_are(text):
    """Through a target and back."""
    assert text == canonical_gnu(text)
    assert text == read(text).format("gnu")


@given(TARGETS)
@example(CpuTarget(triple="arm-unknown-none-eabi"))
def test_what_is_written_without_loss_is_read_back(target):
    """And it is a canonical name; with losses allowed, what is written is one as well."""
    try:
        text = gnu.format(target)
    except NotRepresentableError:
        try:
            text = gnu.format(target, lossy=True)
        except NotRepresentableError:
            return
        assert text == canonical_gnu(text)
        assert read(text).triple.arch == target.triple.arch
        return
    assert (text, target) == (canonical_gnu(text), read(text))


@pytest.mark.parametrize(
    ("target", "field"),
    [
        (CudaTarget(arch="sm_80"), "kind"),
        (CpuTarget(cpu="haswell"), "triple"),
        (CpuTarget(triple="thumbv8m.main-none-eabi"), "triple"),
        (CpuTarget(triple="x86_64-pc-linux-gnu", cpu="haswell", num_cores=4), "cpu num_cores"),
    ],
)
def test_what_no_name_says(target, field):
    """Every field that does not fit is named."""
    with pytest.raises(NotRepresentableError) as caught:
        gnu.format(target)
    assert field.split() == [name for name, _ in caught.value.fields]


def test_the_dialect_is_registered():
    """It is read by its name."""
    assert parse("x86_64-pc-linux-gnu") == parse("amd64-linux", "gnu")


PARTS = st.sampled_from(
    [*CANONICAL, *REFUSED, "linux", "gnu", "-", "--", "86v", "mint", "*", "\\", "é", "x" * 5000]
)


@given(
    st.text(max_size=80)
    | st.lists(PARTS, max_size=5).map("-".join)
    | st.lists(PARTS, max_size=4).map("".join)
)
def test_any_text_ends_in_a_target_or_a_fault(text):
    """The fault is of this text, and its span is within it."""
    found = outcome(text)
    if isinstance(found, TargetSyntaxError):
        assert (text, "gnu") == (found.text, found.dialect)
        assert 0 <= found.span[0] <= found.span[1] <= len(text)
    else:
        assert "gnu" == found.dialect


def outcome(text):
    """Return what reading a text gives: a Parsed, or the fault."""
    try:
        return gnu.parse(text)
    except TargetSyntaxError as fault:
        return fault
