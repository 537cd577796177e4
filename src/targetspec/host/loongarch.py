"""What a LoongArch Linux machine can use: the `Features` line of /proc/cpuinfo, and HWCAP.

Source: Linux, arch/loongarch/include/uapi/asm/hwcap.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from targetspec.cpu_tables import table
from targetspec.host.auxv import HWCAP, names_of_bits
from targetspec.host.cpuinfo import Block, common_words, first_value, words
from targetspec.host.facts import Capture, Identity, Processor

HWCAP_NAMES = words(
    "cpucfg lam ual fpu lsx lasx crc32 complex crypto lvz lbt_x86 lbt_arm lbt_mips ptw lspw scq"
)
_FEATURES: Mapping[str, str] = {
    "f": "fpu",
    "d": "fpu",  # the kernel's word for both widths
    "ual": "ual",
    "lsx": "lsx",
    "lasx": "lasx",
    "lvz": "lvz",
    "lbt": "lbt_x86 lbt_arm lbt_mips",
    "scq": "scq",
}
# The cores of Loongson's 3A/3B/3C/3D/3E chips by generation
_CORES = (("5", "la464"), ("6", "la664"))
_CHIP = re.compile(r"Loongson-3[A-E](\d)\d{3}")


def read_loongarch(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return the processor; of what the kernel does not list, the name of the core tells."""
    held = frozenset(names_of_bits(capture.auxv.get(HWCAP, 0), HWCAP_NAMES))
    names = held or common_words(blocks, "Features", "features")
    features = frozenset(name for name, needed in _FEATURES.items() if names.issuperset(words(needed)))
    if names and capture.pointer_bits == 64:  # noqa: PLR2004
        features |= {"64bit"}
    brand = first_value(blocks, "Model Name", "model name")
    identity = Identity(
        vendor="Loongson" if "Loongson" in (brand or "") else None,
        brand=brand,
        cpu=loongarch_cpu_name(brand or ""),
    )
    unlisted = frozenset(table("loongarch").names).difference(_FEATURES, ("32bit", "64bit"))
    return Processor(
        identity=identity, features=features, unlisted=unlisted, notes=tuple(_notes(identity, features))
    )


def loongarch_cpu_name(model: str) -> str | None:
    """Return LLVM's name of the cores of a chip, None where it has none.

    >>> loongarch_cpu_name("Loongson-3A5000-HV")
    'la464'
    """
    chip = _CHIP.match(model)
    return dict(_CORES).get(chip[1]) if chip else None


def _notes(identity: Identity, features: frozenset[str]) -> Iterator[str]:
    if not features:
        yield "neither HWCAP nor a Features line: no features are stated"
    if identity.cpu is None:
        yield f"LLVM has no name for the cores of {identity.brand or 'a chip that is not named'}"
