"""What a MIPS Linux machine can use: the `isa` and `ASEs implemented` lines of /proc/cpuinfo, and HWCAP.

Source: Linux, arch/mips/kernel/proc.c and arch/mips/include/uapi/asm/hwcap.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from targetspec.cpu_tables import table
from targetspec.host.auxv import HWCAP, names_of_bits
from targetspec.host.cpuinfo import Block, common_words, first_value, words
from targetspec.host.facts import Capture, Identity, Processor

HWCAP_NAMES = words("r6 msa crc32 mips16 mdmx mips3d smartmips dsp dsp2 dsp3")
_EXTENSIONS: Mapping[str, str] = {
    "crc": "crc",
    "crc32": "crc",
    "dsp": "dsp",
    "dsp2": "dspr2",
    "dsp3": "dspr3",
    "eva": "eva",
    "ginv": "ginv",
    "micromips": "micromips",
    "mips16": "mips16",
    "mips3d": "mips3d",
    "msa": "msa",
    "mt": "mt",
    "vz": "virt",
}
_REVISIONS: Mapping[str, str] = {
    **{name: name for name in words("mips1 mips2 mips3 mips4 mips5")},
    **{f"mips{bits}r{revision}": f"mips{bits}r{revision}" for bits in (32, 64) for revision in (2, 3, 5, 6)},
    "mips32r1": "mips32",
    "mips64r1": "mips64",
}
_WIDE = frozenset(words("mips3 mips4 mips5 mips64 mips64r2 mips64r3 mips64r5 mips64r6"))
_CPUS = (
    (re.compile(r"MIPS P5600\b"), "p5600"),
    (re.compile(r"MIPS I6400\b"), "i6400"),
    (re.compile(r"MIPS I6500\b"), "i6500"),
    (re.compile(r"Cavium Octeon\+"), "octeon+"),
    (re.compile(r"Cavium Octeon\b"), "octeon"),
)


def read_mips(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return the processor, for the width of the process: a 32-bit one has no 64-bit instructions."""
    revisions = {_REVISIONS[name] for name in common_words(blocks, "isa") if name in _REVISIONS}
    if capture.pointer_bits != 64:  # noqa: PLR2004
        revisions -= _WIDE
    listed = common_words(blocks, "ASEs implemented")
    listed |= frozenset(names_of_bits(capture.auxv.get(HWCAP, 0), HWCAP_NAMES))
    features = frozenset(revisions) | {_EXTENSIONS[name] for name in listed if name in _EXTENSIONS}
    model = first_value(blocks, "cpu model") or ""
    identity = Identity(
        vendor=None, brand=first_value(blocks, "model name") or model or None, cpu=mips_cpu_name(model)
    )
    known = {*_REVISIONS.values(), *_EXTENSIONS.values()}
    return Processor(
        identity=identity,
        features=features,
        unlisted=frozenset(table("mips").names) - known,
        notes=tuple(_notes(identity, features)),
    )


def mips_cpu_name(model: str) -> str | None:
    """Return LLVM's name for a `cpu model` line, None where it has none.

    >>> mips_cpu_name("MIPS P5600 V3.0  FPU V2.0")
    'p5600'
    """
    return next((name for start, name in _CPUS if start.match(model)), None)


def _notes(identity: Identity, features: frozenset[str]) -> Iterator[str]:
    if not features:
        yield "neither an isa nor an ASEs line: no features are stated"
    if identity.cpu is None:
        yield f"LLVM has no name for the core {identity.brand or 'that /proc/cpuinfo does not name'}"
