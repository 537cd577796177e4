"""Host detection: readers that never raise, facts of real machines, and this machine against independent tools."""

from __future__ import annotations

import json
import pickle
import platform
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_machines import TEXTS, leaf_tables, x86
from targetspec.host import arm_features, arm_parts, cpuid, x86_models
from targetspec.host import x86 as x86_linux
from targetspec.host.auxv import read_auxv
from targetspec.host.cpuinfo import read_cpuinfo, read_number
from targetspec.host.detection import detect_facts, read_facts, target_fields
from targetspec.host.facts import Caches, Capture
from targetspec.host.libc import musl_loader, read_libc
from targetspec.host.linux import capture
from targetspec.host.machine_code import run_cpuid
from targetspec.host.process_triples import process_arch, process_triple
from targetspec.host.sysfs import CPU_ROOT, count_cores, read_caches, read_cpu_list, read_size
from targetspec.host.x86 import x86_level

on_x86_linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="asks an x86-64 Linux machine"
)


# --- readers take anything ---


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a real text with pieces cut, doubled, swapped or replaced by anything."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 4))):
        first, second = sorted(draw(st.tuples(*(st.integers(0, len(text)),) * 2)))
        piece = draw(
            st.sampled_from(("", text[first:second] * 2, "\n\n", ":", "\0", "0x", "-1"))
            | st.text(max_size=20)
        )
        text = text[:first] + piece + text[second:]
    return text


paths = st.sampled_from(
    [f"{CPU_ROOT}/{name}" for name in ("present", "possible", "cpu0/topology/thread_siblings_list")]
    + [
        f"{CPU_ROOT}/cpu{cpu}/cache/index{i}/{name}"
        for cpu in (0, 4)
        for i in (0, 1)
        for name in ("level", "type", "size", "coherency_line_size")
    ]
    + [f"{CPU_ROOT}/cpu0/regs/identification/midr_el1"]
)
sys_texts = st.text(max_size=20) | st.sampled_from(
    ("0-7", "32K", "1", "Data", "64", "0x410fd034", "0-999999999999", "-1K")
)


@given(
    machine=st.sampled_from(("x86_64", "i686", "aarch64", "armv7l", "armv8l", "riscv64", ""))
    | st.text(max_size=8),
    bits=st.sampled_from((32, 64)),
    cpuinfo=mutated() | st.text(),
    files=st.dictionaries(paths, sys_texts, max_size=8),
    auxv=st.dictionaries(st.sampled_from((16, 26, 29)), st.integers(0, 2**64 - 1)),
    leaves=leaf_tables,
    xcr0=st.none() | st.integers(0, 2**64 - 1),
    libc=st.text(max_size=40),
    multiarch=st.text(max_size=20),
)
def test_no_machine_is_too_strange(*, machine, bits, cpuinfo, files, auxv, leaves, xcr0, libc, multiarch):
    """Whatever is captured, the readers give facts, and facts are values that travel."""
    strange = Capture(
        machine=machine,
        pointer_bits=bits,
        files={**files, "/proc/cpuinfo": cpuinfo},
        auxv=auxv,
        leaves=leaves,
        xcr0=xcr0,
        libc_text=libc,
        multiarch=multiarch,
    )
    facts = read_facts(strange)
    assert facts == pickle.loads(pickle.dumps(facts))
    assert facts == read_facts(pickle.loads(pickle.dumps(strange)))
    assert hash(facts) == hash(attrs.evolve(facts))


@given(st.binary(max_size=200), st.sampled_from((32, 64)))
def test_any_bytes_are_an_auxiliary_vector(data, bits):
    """A cut or foreign vector reads as what whole entries it has."""
    assert all(number for number in read_auxv(data, pointer_bits=bits))


# --- topology, caches, libc, triple ---


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_read_back(numbers):
    """A list of single numbers and a list of ranges are the same set."""
    singles = ",".join(map(str, sorted(numbers)))
    ranges = ",".join(f"{number}-{number}" for number in sorted(numbers))
    assert tuple(sorted(numbers)) == read_cpu_list(singles) == read_cpu_list(ranges)


@pytest.mark.parametrize(
    ("text", "size"),
    [("32K\n", 32 << 10), ("8M", 8 << 20), ("512", 512), ("0K", None), ("", None), ("K", None)],
)
def test_sizes(text, size):
    """Sizes come in units of 1024; none and zero are not stated."""
    assert size == read_size(text)


@pytest.mark.parametrize(
    ("text", "number"), [("0x1f", 31), ("7 x", 7), ("1_0", None), ("\u0663", None), ("", None), (None, None)]
)
def test_numbers_are_the_kernels(text, number):
    """Decimal and 0x, ASCII only."""
    assert number == read_number(text)


def test_cores_are_sibling_sets():
    """Two threads of one core are one core."""
    files = {
        f"{CPU_ROOT}/cpu{cpu}/topology/thread_siblings_list": siblings
        for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3"))
    }
    assert count_cores(files) == 2
    assert count_cores({}) is None


def test_the_smallest_cache_is_stated_where_cores_differ():
    """A hybrid machine states what every core has, and a note says what it found."""

    def level(cpu: int, index: int, number: str, kind: str, size: str) -> dict[str, str]:
        folder = f"{CPU_ROOT}/cpu{cpu}/cache/index{index}"
        line = f"{folder}/coherency_line_size"
        return {f"{folder}/level": number, f"{folder}/type": kind, f"{folder}/size": size, line: "64\n"}

    files = (
        level(0, 0, "1", "Data", "48K")
        | level(0, 1, "1", "Instruction", "32K")
        | level(0, 2, "2", "Unified", "1280K")
        | level(8, 0, "1", "Data", "32K")
        | level(8, 2, "2", "Unified", "2048K")
    )
    caches, notes = read_caches(files)
    assert Caches(l1d=32 << 10, l2=1280 << 10, line=64) == caches
    assert notes[0].startswith("L1 caches differ between cores (32768, 49152 bytes)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("glibc 2.36", ("glibc", "2.36")),
        ("ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\nCopyright", ("glibc", "2.36")),
        ("musl libc (aarch64)\nVersion 1.2.5_git20240512\nDynamic Program Loader", ("musl", "1.2.5")),
        ("", (None, None)),
        ("uClibc 1.0", (None, None)),
    ],
)
def test_libc_from_its_own_words(text, found):
    """glibc by confstr or ldd, musl by its loader, others not at all."""
    assert found == read_libc(text)


def test_a_vector_ends_at_its_mark():
    """What stands after the null entry is other memory."""
    entries = struct.pack("=6Q", 16, 7, 0, 0, 26, 2)
    assert read_auxv(entries, pointer_bits=64) == {16: 7}
    assert read_auxv(struct.pack("=2I", 16, 7), pointer_bits=32) == {16: 7}


def test_musl_is_found_among_the_mapped_files():
    """The loader that the process runs on is mapped."""
    maps = "7f00-7f10 r-xp 00000000 08:01 12   /usr/lib/libz.so.1\n7f20-7f30 r-xp 0 08:01 13   /lib/ld-musl-x86_64.so.1\n7f40-7f50 rw-p 0 00:00 0\n"
    assert musl_loader(maps) == "/lib/ld-musl-x86_64.so.1"
    assert musl_loader("7f20-7f30 r-xp 0 08:01 13 /lib/ld-linux-x86-64.so.2\n") is None


@pytest.mark.parametrize(
    ("machine", "bits", "order", "multiarch", "triple"),
    [
        ("x86_64", 64, "little", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu"),
        ("i686", 64, "little", "", "x86_64-unknown-linux-gnu"),
        ("x86_64", 32, "little", "i386-linux-gnu", "i686-unknown-linux-gnu"),
        ("x86_64", 32, "little", "x86_64-linux-gnux32", "x86_64-unknown-linux-gnux32"),
        ("aarch64", 64, "little", "aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
        ("aarch64", 64, "big", "", "aarch64_be-unknown-linux-gnu"),
        ("aarch64", 32, "little", "arm-linux-gnueabihf", "armv7-unknown-linux-gnueabihf"),
        ("armv8l", 64, "little", "", "aarch64-unknown-linux-gnu"),
        ("armv6l", 32, "little", "arm-linux-gnueabihf", "armv6-unknown-linux-gnueabihf"),
        ("armv5tel", 32, "little", "arm-linux-gnueabi", "armv5te-unknown-linux-gnueabi"),
        ("riscv64", 64, "little", "riscv64-linux-gnu", "riscv64-unknown-linux-gnu"),
    ],
)
def test_the_process_decides_the_triple(machine, bits, order, multiarch, triple):
    """The kernel names the machine, the process's width and byte order decide what it runs."""
    arch = process_arch(Capture(machine=machine, pointer_bits=bits, byte_order=order, multiarch=multiarch))
    assert triple == process_triple(arch, "glibc", multiarch)


def test_a_triple_without_libc_names_no_environment():
    """What is not known is left out, and a note says so."""
    facts = x86()
    assert facts.triple == "x86_64-unknown-linux"
    assert "the C library does not say what it is" in facts.notes
    assert process_triple("aarch64", "musl") == "aarch64-unknown-linux-musl"


def test_a_32_bit_process_says_so():
    """The target is the process's; 64-bit mode is no feature of it."""
    facts = x86(pointer_bits=32, libc_text="glibc 2.36")
    assert facts.triple == "i686-unknown-linux-gnu"
    assert "64bit" not in facts.features
    assert any(note.startswith("a 32-bit process on a 64-bit kernel") for note in facts.notes)


def test_what_is_missing_is_noted():
    """An empty capture states no number, no feature and no cache, and says what it did not find."""
    facts = read_facts(Capture(machine="aarch64", pointer_bits=64))
    assert (facts.num_cores, facts.num_threads, facts.caches) == (None, None, Caches())
    assert {
        "neither HWCAP nor a Features line: no features are stated",
        "no cache sizes were stated",
    } <= {*facts.notes}


def test_blocks_begin_where_processors_do():
    """Processors without blank lines between them, and text after the last, are blocks of their own."""
    blocks = read_cpuinfo("processor: 0\nprocessor: 1\nFeatures: fp\nno colon\n\nHardware: x : y\n")
    assert blocks == ({"processor": "0"}, {"processor": "1", "Features": "fp"}, {"Hardware": "x : y"})


def test_a_target_states_what_was_found():
    """The fields are the target's, and what was not found is not among them."""
    fields = target_fields(x86(libc_text="glibc 2.36"))
    assert set(fields) == {
        "triple",
        "cpu",
        "features",
        "num_cores",
        "cache_line_bytes",
        "libc",
        "libc_version",
    }
    assert (fields["cpu"], fields["num_cores"], fields["libc_version"]) == ("znver4", 2, "2.36")


def llvm_names(triple: str) -> tuple[set[str], set[str]]:
    """Return the CPUs and the features that LLVM lists for a triple, asked in a process of its own."""
    script = (
        "import llvmlite.binding as llvm; llvm.initialize_all_targets(); llvm.initialize_all_asmprinters();"
        f"llvm.Target.from_triple({triple!r}).create_target_machine(cpu='help')"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    cpus, features = said.split("Available features")
    listed = re.compile(r"^\s+(\S+)\s+- ", re.MULTILINE)
    return set(listed.findall(cpus)), set(listed.findall(features))


def test_every_name_is_llvms():
    """LLVM knows each feature and CPU that detection can state, and none of those said to have no name in it."""
    pytest.importorskip("llvmlite")
    cpus, features = llvm_names("x86_64-linux-gnu")
    bits = {name for register in cpuid._BITS.values() for names in register.values() for name in names}
    assert bits | x86_linux._LISTED <= features
    assert {*x86_models._INTEL.values()} <= cpus
    assert {name for rows in x86_models._AMD.values() for _, _, name in rows} <= cpus
    cpus, features = llvm_names("aarch64-linux-gnu")
    assert {*arm_features.AARCH64_FEATURES} | {
        version for version, _ in arm_features._V8_STEPS + arm_features._V9_STEPS
    } <= features
    cpus_32, features_32 = llvm_names("armv7-linux-gnueabihf")
    assert {*arm_features._ARM} <= features_32
    designs = {name for parts in arm_parts._PARTS.values() for name in parts.values()} | {
        *arm_parts._SAMSUNG.values()
    }
    assert designs - (cpus | cpus_32) == arm_parts._NOT_IN_LLVM


# --- this machine ---


@on_x86_linux
def test_this_machine_agrees_with_llvm():
    """The features are LLVM's but for two: it does not list x87, and takes shstk and key locker from CPUID alone."""
    binding = pytest.importorskip("llvmlite.binding")
    theirs = {name for name, usable in binding.get_host_cpu_features().items() if usable}
    facts = detect_facts()
    assert facts.features - theirs == {"x87"}
    assert theirs - facts.features <= {"shstk", "kl", "widekl", "uintr"}
    assert facts.identity.cpu in {binding.get_host_cpu_name(), None}
    assert facts.triple == binding.get_process_triple()


@on_x86_linux
def test_this_machine_agrees_with_its_loader():
    """ld.so names the same x86-64 level."""
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    if not loader.exists():
        pytest.skip("no glibc loader here")
    text = subprocess.run([loader, "--help"], capture_output=True, text=True, check=False).stdout
    levels = re.findall(r"(x86-64-v\d) \(supported", text)
    if not levels:
        pytest.skip("this loader does not print levels")
    assert max(levels) == x86_level(detect_facts().features)


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_this_machine_agrees_with_lscpu():
    """Cores, processors and the caches of one instance are lscpu's."""
    if shutil.which("lscpu") is None:
        pytest.skip("lscpu is not installed")

    def lscpu(*options: str) -> list[dict[str, str]]:
        return next(iter(json.loads(subprocess.check_output(["lscpu", "-J", *options], text=True)).values()))

    facts = detect_facts()
    cpus = lscpu("-e=cpu,core,socket")
    assert len(cpus) == facts.num_threads
    assert len({(cpu["core"], cpu["socket"]) for cpu in cpus}) == facts.num_cores
    sizes = {row["name"]: int(row["one-size"]) for row in lscpu("-B", "-C")}
    assert sizes.get("L1d") == facts.caches.l1d
    assert sizes.get("L2") == facts.caches.l2
    assert sizes.get("L3") == facts.caches.l3


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_this_machine_agrees_with_ldd():
    """The C library and its version are ldd's."""
    if shutil.which("ldd") is None:
        pytest.skip("ldd is not installed")
    said = subprocess.run(["ldd", "--version"], capture_output=True, text=True, check=False)
    facts = detect_facts()
    assert read_libc(said.stdout or said.stderr) == (facts.libc, facts.libc_version)


@on_x86_linux
def test_cpuid_runs_twice_and_says_the_same():
    """The page is made and given back each time; the identity does not change."""
    first, second = run_cpuid(), run_cpuid()
    assert cpuid.signature(first[0]) == cpuid.signature(second[0]) != (0, 0, 0)
    assert first[1] == second[1]


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_capture_survives_a_closed_system(monkeypatch):
    """Where nothing can be read, little is captured, and nothing raises."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr("os.open", refuse)
    monkeypatch.setattr("os.confstr", refuse)
    captured = capture()
    monkeypatch.undo()
    assert (captured.files, captured.auxv, captured.libc_text) == ({}, {}, "")
    assert read_facts(captured).libc is None
