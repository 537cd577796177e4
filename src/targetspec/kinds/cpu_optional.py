"""Features that a CPU's name implies and that some machines of that name hide, each with who hides it.

LLVM's set for a name is what the design has. A hypervisor, a maker of phones or a cheaper edition may leave a part of it
out, and the machine still goes by the name. A detected machine states what it has; a bare name cannot, so a yes that
rests on one of these features deserves a word of caution.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from targetspec import cpu as facts
from targetspec.rules import Answer, Rule


class Hidden(NamedTuple):
    """Features that some machines of these CPUs hide, and who does so; what depends on them goes along."""

    family: str
    cpus: str
    features: str
    by: str


_MODELS = "QEMU's CPU models as libvirt's CPU map lists them (x86_EPYC*.xml and so on), which leave it out"
_TCG = "QEMU's emulator, which has AMD's names without its own extensions (TCG_EXT3_FEATURES), and its model Opteron_G5"
_CLOUD = "QEMU's CPU models as libvirt's CPU map lists them, and clouds (archspec: a Zen 3 guest without pku)"
_SPR = "kernels, and QEMU's model of it (archspec's sapphirerapids lists none of ptwrite, shstk and uintr)"
_ZEN5 = "the processors themselves, whose CPUID lists it on none of the Zen 5 that InstLatx64 has"
_KEYS = "systems, which leave Key Locker off (InstLatx64: no Alder, Raptor or Meteor Lake lists it), and cheaper editions"
_KVM = "Linux KVM: offered to a guest only where the monitor asks for it (virt/kvm/api.rst), and spe never"
_PHONES = "makers of phones, whose kernels list none on cores that have it (arm-socs-table: Snapdragon 8 Gen 1 to 3)"
_CRYPTO = "makers of chips without the cryptographic option (/proc/cpuinfo of Odroid C2, Moto G4 and Raspberry Pi 4)"
_Z = "QEMU's emulator, which has a subset of z13 (its documentation of s390x)"
_PHONE_CORES = "cortex-a510 cortex-a520 cortex-a710 cortex-a715 cortex-a720 cortex-x2 cortex-x3 cortex-x4"
_SERVER_CORES = "neoverse-512tvb neoverse-n1 neoverse-n2 neoverse-n3 neoverse-v1 neoverse-v2 neoverse-v3 neoverse-v3ae grace"
HIDDEN = (
    Hidden("x86", "bdver1 bdver2 bdver3 bdver4", "fma4 lwp mwaitx tbm xop", _TCG),
    Hidden("x86", "znver1", "clzero mwaitx xsaves", _MODELS),
    Hidden("x86", "znver2", "mwaitx rdpru xsaves", _MODELS),
    Hidden("x86", "znver3", "mwaitx pku rdpru vaes vpclmulqdq", _CLOUD),
    Hidden("x86", "znver4 znver5", "mwaitx rdpru shstk", _MODELS),
    Hidden("x86", "znver5", "prefetchi", _ZEN5),
    Hidden("x86", "skylake-avx512 cascadelake", "pku xsaves", _MODELS),
    Hidden("x86", "cooperlake", "xsaves", _MODELS),
    Hidden("x86", "icelake-server", "avx512ifma pconfig rdpid sha xsaves", _MODELS),
    Hidden("x86", "sapphirerapids", "cldemote enqcmd movdir64b movdiri pconfig waitpkg", _MODELS),
    Hidden("x86", "sapphirerapids", "ptwrite shstk uintr", _SPR),
    Hidden("x86", "diamondrapids", "enqcmd pconfig ptwrite sha512 sm3 sm4 uintr waitpkg", _MODELS),
    Hidden("x86", "alderlake raptorlake meteorlake gracemont", "hreset kl pconfig widekl", _KEYS),
    Hidden("aarch64", _PHONE_CORES, "bf16 mte sve sve-bitperm", _PHONES),
    Hidden("aarch64", _SERVER_CORES, "mte pauth spe sve sve-bitperm", _KVM),
    Hidden("aarch64", "cortex-a53 cortex-a72", "aes sha2", _CRYPTO),
    Hidden("arm", "cortex-a53 cortex-a72", "aes sha2", _CRYPTO),
    Hidden("systemz", "zEC12 arch10 z13 arch11", "transactional-execution", _Z),
)
"""The reviewed list. What LLVM leaves out of a name's set already (AVX-512 of Alder Lake) needs no row."""


@functools.lru_cache(maxsize=256)
def known_optional(family: str, cpu: str) -> frozenset[str]:
    """Return the features of a CPU's set that some machines of this name hide, with those that depend on them.

    Raises:
        UnknownNameError: no such family or CPU.

    >>> sorted(known_optional("x86", "znver2"))
    ['mwaitx', 'rdpru', 'xsaves']
    """
    name = facts.canonical_cpu(family, cpu)
    roots = {
        one
        for row in HIDDEN
        if row.family == family and name in row.cpus.split()
        for one in row.features.split()
    }
    gone = {one for root in roots for one in facts.dependents(family, root)}
    return frozenset(gone & facts.resolve(family, name).names)


def hidden_by(family: str, cpu: str, feature: str) -> str:
    """Return who hides a feature of `known_optional`; empty where nobody is known to."""
    name = facts.canonical_cpu(family, cpu)
    return next(
        (
            row.by
            for row in HIDDEN
            if row.family == family
            and name in row.cpus.split()
            and any(feature in facts.dependents(family, root) for root in row.features.split())
        ),
        "",
    )


def _needed(target: Any) -> frozenset[str]:
    return frozenset() if target.features is None else target.features.names


def _doubtful(target: Any) -> frozenset[str]:
    """Return what the machine may hide: nothing where its features are stated and are not just its name's."""
    if target.cpu is None or target.features is None or target.features != target.table_features():
        return frozenset()
    return known_optional(target.family, target.cpu)


def _decide(need: frozenset[str], have: frozenset[str]) -> Answer:
    return "unknown" if need & have else "yes"


def _say(need: frozenset[str], have: frozenset[str]) -> tuple[str, str]:
    return ", ".join(sorted(need & have)), "a CPU name whose machines do not all have them"


OPTIONAL_FEATURES = Rule(
    label="features",
    statement="the name of a CPU stands for features that hypervisors or makers may hide; detect the machine to know",
    source="; ".join(dict.fromkeys(row.by for row in HIDDEN)),
    decide=_decide,
    demand=_needed,
    promise=_doubtful,
    say=_say,
)
"""A caution beside a yes, never an answer: where it decides anything but yes, the code rests on such a feature."""
