"""What an Arm Linux machine can use, and which cores it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from targetspec.host.arm_features import (
    AARCH64_BITS,
    ARM_BITS,
    aarch64_features,
    arm_features,
    arm_version,
    capabilities,
    unlisted,
    unlisted_on_arm,
)
from targetspec.host.arm_parts import IMPLEMENTERS, chip_parts, machine_name, midr_of, part_name
from targetspec.host.arm_quirks import corrected
from targetspec.host.cpuinfo import Block, common_words, count_processors, first_value, read_number
from targetspec.host.facts import Capture, Identity, Processor

_FIELDS = ("CPU implementer", "CPU variant", "CPU part", "CPU revision")
_MIDR_FILE = "/regs/identification/midr_el1"


def read_arm(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return what HWCAP, /proc/cpuinfo and /sys say, for the width of the process."""
    wide = capture.pointer_bits == 64  # noqa: PLR2004
    held = capabilities(capture.auxv, AARCH64_BITS if wide else ARM_BITS)
    listed = common_words(blocks, "Features")
    midrs = tuple(_midrs(capture, blocks))
    hardware = first_value(blocks, "Hardware") or ""
    designs = frozenset(part_name(midr) or f"{midr:#010x}" for midr in midrs).union(chip_parts(hardware))
    names = corrected(held or listed, designs, hardware, midrs)
    features = aarch64_features(names) if wide else arm_features(names) | arm_version(capture.machine)
    identity = Identity(
        vendor=IMPLEMENTERS.get(midrs[-1] >> 24) if midrs else None,
        brand=first_value(blocks, "model name", "Processor"),
        midrs=tuple(sorted(set(midrs))),
        parts=tuple(sorted(designs)),
        architecture=_architecture(blocks),
        cpu=machine_name(midrs, hardware),
    )
    return Processor(
        identity=identity,
        features=features,
        unlisted=unlisted() if wide else unlisted_on_arm(),
        notes=tuple(_notes(capture, blocks, identity, held, listed)),
    )


def _midrs(capture: Capture, blocks: Iterable[Block]) -> Iterator[int]:
    """Yield the register of each core in order; /proc/cpuinfo has it in fields, newer kernels whole in /sys."""
    listed = tuple(_listed_midrs(blocks))
    if listed:
        yield from listed
        return
    for path, text in capture.files.items():
        midr = read_number(text) if path.endswith(_MIDR_FILE) else None
        if midr is not None and 0 <= midr < 1 << 64:
            yield midr & 0xFFFF_FFFF


def _listed_midrs(blocks: Iterable[Block]) -> Iterator[int]:
    implementer = None
    for block in blocks:
        named, variants, parts, revisions = (_alternatives(block.get(field)) for field in _FIELDS)
        implementer = named[0] if named else implementer
        if implementer is None:
            continue
        for part, variant, revision in zip_longest(parts, variants[: len(parts)], revisions[: len(parts)]):
            yield midr_of(implementer & 0xFF, (variant or 0) & 0xF, part & 0xFFF, (revision or 0) & 0xF)


def _alternatives(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a field; one block for two kinds of cores has two ("0xc07 & 0xc0f")."""
    numbers = (read_number(word) for word in (text or "").split("&"))
    return tuple(number for number in numbers if number is not None)


def _architecture(blocks: tuple[Block, ...]) -> int | None:
    """Return the version; kernels print "CPU architecture: 7" for some v6 parts, and (v6l) beside it."""
    named = re.search(r"\(v(\d)\w*\)", first_value(blocks, "model name", "Processor") or "")
    stated = first_value(blocks, "CPU architecture") or ""
    return read_number(named[1] if named else stated) or (8 if stated == "AArch64" else None)


def _notes(
    capture: Capture,
    blocks: tuple[Block, ...],
    identity: Identity,
    held: frozenset[str],
    listed: frozenset[str],
) -> Iterator[str]:
    if len(identity.parts) > 1:
        yield f"cores of several designs ({', '.join(identity.parts)}): the features are those common to all"
    if not identity.midrs:
        yield "no CPU implementer and part: the processor's model is not known"
    elif identity.cpu is None:
        yield f"LLVM has no name for the cores {', '.join(identity.parts)}"
    if not held and not listed:
        yield "neither HWCAP nor a Features line: no features are stated"
    if first_value(blocks, "vendor_id", "flags") is not None:
        yield "emulated: /proc/cpuinfo describes an x86 machine, so only HWCAP was used"
    if blocks and not count_processors(blocks) and capture.files:
        yield "/proc/cpuinfo lists no processors"
