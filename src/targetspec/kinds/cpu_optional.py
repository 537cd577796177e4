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


_GUESTS = "QEMU's CPU models and guests of public clouds, which leave it out by default"
_KVM = "Linux KVM, API documentation: offered to a guest only where the monitor asks for it"
_PHONES = "makers of phones, whose kernels report no SVE on cores that have it (Snapdragon 8 Gen 1 to 3)"
_TRM = "Arm's technical reference manual: the cryptographic extension is an option of the design (Raspberry Pi 3 and 4)"
_PHONE_CORES = "cortex-a510 cortex-a520 cortex-a710 cortex-a715 cortex-a720 cortex-x2 cortex-x3 cortex-x4 cortex-x925 cortex-a725"
_SERVER_CORES = "neoverse-512tvb neoverse-n1 neoverse-n2 neoverse-n3 neoverse-v1 neoverse-v2 neoverse-v3 neoverse-v3ae grace"
_PLAIN_CORES = (
    "cortex-a35 cortex-a53 cortex-a55 cortex-a57 cortex-a72 cortex-a73 cortex-a75 cortex-a76 "
    "cortex-a77 cortex-a78"
)
HIDDEN = (
    Hidden("x86", "bdver1 bdver2 bdver3 bdver4", "fma4 lwp mwaitx tbm xop", "emulators, which have AMD's names without its own extensions"),
    Hidden("x86", "znver1", "clzero mwaitx", _GUESTS),
    Hidden("x86", "znver2", "clzero mwaitx rdpru wbnoinvd", _GUESTS),
    Hidden("x86", "znver3 znver4 znver5", "clzero mwaitx pku rdpru shstk wbnoinvd", _GUESTS),
    Hidden("x86", "skylake-avx512 cascadelake cooperlake rocketlake tigerlake", "pku shstk", _GUESTS),
    Hidden("x86", "icelake-client icelake-server", "pconfig pku", _GUESTS),
    Hidden("x86", "sapphirerapids emeraldrapids graniterapids graniterapids-d diamondrapids", "amx-tile cldemote enqcmd pconfig pku ptwrite shstk tsxldtrk uintr waitpkg", _GUESTS),
    Hidden("x86", "alderlake raptorlake meteorlake arrowlake arrowlake-s lunarlake", "pconfig pku ptwrite shstk waitpkg", _GUESTS),
    Hidden("aarch64", _PHONE_CORES, "mte sve sve-bitperm", _PHONES),
    Hidden("aarch64", _SERVER_CORES, "mte pauth spe sve sve-bitperm", _KVM),
    Hidden("aarch64", _PLAIN_CORES, "aes sha2", _TRM),
    Hidden("arm", _PLAIN_CORES, "aes sha2", _TRM),
    Hidden("powerpc", "pwr8 pwr9", "htm", "Linux on POWER: transactional memory is turned off by firmware, hypervisor or kernel"),
    Hidden("systemz", "zEC12 arch10 arch11 arch12 arch13 arch14 arch15 z13 z14 z15 z16 z17", "transactional-execution", "z/VM, and emulators of the machine"),
    Hidden("systemz", "arch14 arch15 z16 z17", "nnp-assist", "hypervisors that do not pass the accelerator on"),
)  # fmt: skip
"""The reviewed list. What LLVM leaves out of a name's set already (AVX-512 of Alder Lake) needs no row."""


@functools.lru_cache(maxsize=256)
def known_optional(family: str, cpu: str) -> frozenset[str]:
    """Return the features of a CPU's set that some machines of this name hide, with those that depend on them.

    Raises:
        UnknownNameError: no such family or CPU.

    >>> sorted(known_optional("x86", "znver2"))
    ['clzero', 'mwaitx', 'rdpru', 'wbnoinvd']
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
    source=f"{_GUESTS}; {_KVM}; {_PHONES}; {_TRM}",
    decide=_decide,
    demand=_needed,
    promise=_doubtful,
    say=_say,
    weight="caution",
)
"""A caution beside a yes, never an answer: where it decides anything but yes, the code rests on such a feature."""
