"""What an x86 Linux machine can use: the kernel's list of flags and CPUID, each correcting the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from targetspec.host import cpuid
from targetspec.host.auxv import HWCAP2
from targetspec.host.cpuinfo import Block, common_words, first_value, read_number, words
from targetspec.host.facts import Capture, Identity, Leaves, Processor
from targetspec.host.x86_models import x86_cpu_name

# Linux's name of a flag where it is not LLVM's (arch/x86/include/asm/cpufeatures.h). The kernel clears what it or
# the firmware has turned off. `shstk` is in CPUID wherever the CPU has it, but a program can use it only where the
# kernel says `user_shstk`.
_LINUX: Mapping[str, tuple[str, ...]] = {
    "fpu": ("x87",),
    "pni": ("sse3",),
    "pclmulqdq": ("pclmul",),
    "sse4_1": ("sse4.1",),
    "sse4_2": ("sse4.2", "crc32"),
    "rdrand": ("rdrnd",),
    "lahf_lm": ("sahf",),
    "abm": ("lzcnt",),
    "3dnowprefetch": ("prfchw",),
    "lm": ("64bit",),
    "bmi1": ("bmi",),
    "sha_ni": ("sha",),
    "user_shstk": ("shstk",),
    "ospke": ("pku",),
    "avx_vnni": ("avxvnni",),
    "avx512_bf16": ("avx512bf16",),
    "avx512_bitalg": ("avx512bitalg",),
    "avx512_fp16": ("avx512fp16",),
    "avx512_vbmi2": ("avx512vbmi2",),
    "avx512_vnni": ("avx512vnni",),
    "avx512_vp2intersect": ("avx512vp2intersect",),
    "avx512_vpopcntdq": ("avx512vpopcntdq",),
    "amx_bf16": ("amx-bf16",),
    "amx_int8": ("amx-int8",),
    "amx_tile": ("amx-tile",),
    "apx": ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu"),
}
_SAME = frozenset(
    words(
        "cx8 cmov mmx fxsr sse sse2 ssse3 fma cx16 movbe popcnt aes xsave avx f16c sse4a xop lwp fma4 tbm mwaitx fsgsbase"
        " sgx avx2 bmi2 invpcid rtm avx512f avx512dq rdseed adx avx512ifma clflushopt clwb avx512cd avx512bw avx512vl"
        " avx512vbmi waitpkg gfni vaes vpclmulqdq rdpid cldemote movdiri movdir64b enqcmd serialize tsxldtrk pconfig"
        " xsaveopt xsavec xsaves clzero rdpru wbnoinvd"
    )
)
_LISTED = _SAME.union(*_LINUX.values())
"""The features that Linux lists wherever a program can use them."""
_NOT_ASKED = frozenset({"shstk"})
"""Of these, what CPUID would not answer truly."""

_HWCAP2_FSGSBASE = 1 << 1
_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    ("x86-64", frozenset(words("cmov cx8 x87 fxsr mmx sse sse2"))),
    ("x86-64-v2", frozenset(words("sahf popcnt crc32 sse3 sse4.1 sse4.2 ssse3 cx16"))),
    ("x86-64-v3", frozenset(words("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"))),
    ("x86-64-v4", frozenset(words("avx512f avx512bw avx512cd avx512dq avx512vl"))),
)


def flags_to_features(flags: frozenset[str]) -> frozenset[str]:
    """Return LLVM's names for the flags of /proc/cpuinfo; flags that are no compiler's business fall away."""
    renamed = (names for flag, names in _LINUX.items() if flag in flags)
    return (flags & _SAME).union(*renamed)


def x86_level(features: frozenset[str]) -> str | None:
    """Return the highest psABI level whose features are all there, None below the first.

    >>> x86_level(frozenset(words("cmov cx8 x87 fxsr mmx sse sse2 avx")))
    'x86-64'
    """
    highest = None
    for level, needed in _LEVELS:
        if not needed <= features:
            break
        highest = level
    return highest


UNLISTED = frozenset({"nopl", "evex512"})
"""What CPUID has no bit for."""


def read_x86(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return what /proc/cpuinfo and CPUID say together."""
    flags = common_words(blocks, "flags")
    listed, answered = _listed_identity(blocks), answered_identity(capture.leaves)
    emulated = bool(flags and answered and not _same_processor(listed, answered))
    if emulated:
        # user-mode emulation shows the real machine's /proc/cpuinfo, and the emulated CPU only to CPUID
        flags, blocks = frozenset(), ()
    features = _combine(capture, flags)
    identity = named(answered or listed, features)
    notes = tuple(_notes(capture, flags, identity, features, emulated=emulated))
    return Processor(identity=identity, features=features, unlisted=UNLISTED, notes=notes)


def _combine(capture: Capture, flags: frozenset[str]) -> frozenset[str]:
    answered = cpuid.usable_features(capture.leaves, capture.xcr0)
    features = flags_to_features(flags)
    if not flags:
        features = answered
    elif capture.leaves and capture.xcr0 is not None:
        # each may know less: the kernel clears what is unusable, an emulator has less than the real machine
        features = features & (answered | _NOT_ASKED) | answered - _LISTED
    if flags and capture.auxv and not capture.auxv.get(HWCAP2, 0) & _HWCAP2_FSGSBASE:
        # kernels before 5.9 list the flag, but leave the instructions off
        features -= {"fsgsbase"}
    return features - {"64bit"} if capture.pointer_bits == 32 else features  # noqa: PLR2004


def _listed_identity(blocks: tuple[Block, ...]) -> Identity:
    def number(key: str) -> int | None:
        return read_number(first_value(blocks, key))

    return Identity(
        vendor=first_value(blocks, "vendor_id"),
        family=number("cpu family"),
        model=number("model"),
        stepping=number("stepping"),
        brand=first_value(blocks, "model name"),
    )


def answered_identity(leaves: Leaves) -> Identity | None:
    """Return CPUID's identity, None where it does not even name a maker."""
    vendor = cpuid.vendor(leaves)
    if vendor is None:
        return None
    family, model, stepping = cpuid.signature(leaves)
    brand = cpuid.brand(leaves)
    return Identity(vendor=vendor, family=family, model=model, stepping=stepping, brand=brand)


def _same_processor(listed: Identity, answered: Identity) -> bool:
    pairs = zip(
        (listed.vendor, listed.family, listed.model),
        (answered.vendor, answered.family, answered.model),
        strict=True,
    )
    return all(left is None or left == right for left, right in pairs)


def named(identity: Identity, features: frozenset[str]) -> Identity:
    """Return the identity with LLVM's name, where the numbers of a model have one."""
    vendor, family, model = identity.vendor, identity.family, identity.model
    if vendor is None or family is None or model is None:
        return identity
    return attrs.evolve(identity, cpu=x86_cpu_name(vendor, family, model, features))


def _notes(
    capture: Capture, flags: frozenset[str], identity: Identity, features: frozenset[str], *, emulated: bool
) -> Iterator[str]:
    if emulated:
        yield "emulated: /proc/cpuinfo describes another processor than CPUID does, so CPUID alone was used"
    elif not flags:
        yield "no flags in /proc/cpuinfo: the features are CPUID's own"
    if not capture.leaves:
        yield "CPUID was not run: features that Linux does not list are not stated"
    elif not flags and capture.xcr0 is None:
        yield "XCR0 was not read: features that need saved vector state are not stated"
    if "hypervisor" in flags or cpuid.is_virtual(capture.leaves):
        yield "virtualised: the hypervisor may hide features that this model has elsewhere"
    if "amx-tile" in features:
        yield "AMX needs the process to ask for it (arch_prctl ARCH_REQ_XCOMP_PERM)"
    if identity.cpu is None:
        level = x86_level(features) or "no psABI level"
        yield f"LLVM has no name for {_describe(identity)}; the features reach {level}"


def _describe(identity: Identity) -> str:
    if identity.vendor is None or identity.family is None or identity.model is None:
        return "a processor that does not say its model"
    return f"{identity.vendor} family {identity.family} model {identity.model}"
