"""Machines that have less than their processor's name says: the detected set decides, and a no names what is missing."""

from __future__ import annotations

import pytest

from targetspec import CpuTarget, CudaTarget
from targetspec.host.detected import host_target
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture

MILAN_GUEST = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 1
model name\t: AMD EPYC 7763 64-Core Processor
stepping\t: 1
flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht \
syscall nx mmxext fxsr_opt pdpe1gb rdtscp lm constant_tsc rep_good nopl tsc_reliable nonstop_tsc cpuid extd_apicid pni \
pclmulqdq ssse3 fma cx16 pcid sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm cmp_legacy \
cr8_legacy abm sse4a misalignsse 3dnowprefetch osvw topoext invpcid_single vmmcall fsgsbase bmi1 avx2 smep bmi2 erms \
invpcid rdseed adx smap clflushopt clwb sha_ni xsaveopt xsavec xgetbv1 xsaves clzero xsaveerptr arat umip vaes \
vpclmulqdq rdpid fsrm
"""
_SNAPDRAGON = """\
processor\t: {number}
BogoMIPS\t: 38.40
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop sha3 \
sm3 sm4 asimddp sha512 asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg dcpodp flagm2 frint i8mm bf16 bti
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x2
CPU part\t: 0xd47
CPU revision\t: 0

"""
PHONE = "".join(_SNAPDRAGON.format(number=number) for number in range(4))
EMULATED_BULLDOZER = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 21
model\t\t: 1
model name\t: AMD Opteron 62xx class CPU
stepping\t: 2
flags\t\t: fpu de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx \
lm nopl cpuid extd_apicid pni pclmulqdq ssse3 cx16 sse4_1 sse4_2 popcnt aes xsave hypervisor lahf_lm svm abm sse4a \
misalignsse 3dnowprefetch vmmcall
"""
CASES = {
    "znver3": ("x86_64", MILAN_GUEST, {"pku", "mwaitx", "rdpru", "wbnoinvd"}),
    "cortex-a710": ("aarch64", PHONE, {"sve", "sve2", "sve-bitperm", "mte"}),
    "bdver1": ("x86_64", EMULATED_BULLDOZER, {"avx", "fma4", "xop", "lwp"}),
}


def _host(name: str) -> CpuTarget:
    machine, text, _ = CASES[name]
    files = {"/proc/cpuinfo": text}
    return host_target(read_facts(Capture(machine=machine, pointer_bits=64, files=files)))[0]


@pytest.mark.parametrize("name", CASES)
def test_the_name_is_kept_and_the_set_is_the_machines(name):
    """The machine goes by its model's name, with the features that it shows."""
    host, hidden = _host(name), CASES[name][2]
    assert name == host.cpu
    assert set() == hidden & host.features.names
    # LLVM leaves the cryptographic option out of the names of Arm's cores.
    assert set(host.features - CpuTarget(triple=host.triple, cpu=name).features) <= {
        "aes",
        "sha2",
        "sha3",
        "sm4",
    }


@pytest.mark.parametrize("name", CASES)
def test_code_for_the_name_is_refused_and_what_is_missing_named(name):
    """What was built for the bare name does not run; the one reason lists each hidden feature, and its repair helps."""
    host, hidden = _host(name), CASES[name][2]
    code = CpuTarget(triple=host.triple, cpu=name)
    verdict = code.compatible(host)
    (reason,) = (one for one in verdict.reasons if one.weight == "blocks")
    assert ("no", "features") == (verdict.answer, reason.field)
    assert hidden <= set(reason.needed.split(", "))
    assert all(one in str(verdict) for one in hidden)
    field, value = reason.repair
    assert "yes" == code.compatible(host.evolve(**{field: value})).answer


@pytest.mark.parametrize("name", CASES)
def test_code_for_what_is_there_runs_without_a_doubt(name):
    """What was built for the features that are there runs, by name or without, and no caution is given."""
    host = _host(name)
    for cpu in (name, None):
        code = CpuTarget(triple=host.triple, cpu=cpu, features=host.features)
        assert ("yes", ()) == (code.compatible(host).answer, code.compatible(host).reasons)


@pytest.mark.parametrize("name", CASES)
def test_a_bare_name_as_a_machine_is_doubted(name):
    """Where only the name is known, code that rests on what some hide is a yes with a caution that names it."""
    bare = CpuTarget(triple=_host(name).triple, cpu=name)
    verdict = bare.compatible(bare)
    assert ("yes", ["caution"]) == (verdict.answer, [one.weight for one in verdict.reasons])
    assert min(CASES[name][2] - {"avx"}) in verdict.reasons[0].needed


@pytest.mark.parametrize("name", CASES)
def test_a_device_behind_such_a_host_is_judged_by_it(name):
    """Host code for the name is refused where a device's host has less, by the same rule."""
    host = _host(name)
    device = CudaTarget(arch="sm_80", host=host)
    code = CudaTarget(arch="sm_80", host=CpuTarget(triple=host.triple, cpu=name))
    assert "no" == code.compatible(device).answer
    assert "yes" == device.compatible(device).answer
