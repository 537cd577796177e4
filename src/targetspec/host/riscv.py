"""What a RISC-V Linux machine can use: the `isa` lines of /proc/cpuinfo, riscv_hwprobe and HWCAP.

Sources: Linux, Documentation/arch/riscv/hwprobe.rst and uabi.rst; the RISC-V ISA manual, "ISA extension naming
conventions".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from targetspec.cpu import implied
from targetspec.cpu_tables import table
from targetspec.host.auxv import HWCAP, names_of_bits
from targetspec.host.cpuinfo import Block, first_value, read_number, words
from targetspec.host.facts import Capture, Identity, Processor

VENDOR, ARCH, IMPLEMENTATION, BASE, EXTENSIONS = range(5)
"""Keys of hwprobe."""
MISALIGNED_OLD, MISALIGNED_SCALAR, MISALIGNED_VECTOR = 5, 9, 10
KEYS = (VENDOR, ARCH, IMPLEMENTATION, BASE, EXTENSIONS, MISALIGNED_OLD, MISALIGNED_SCALAR, MISALIGNED_VECTOR)

_IMA = 1
_FAST, _MISALIGNED_MASK = 3, 7
_EXTENSION_BITS: tuple[str, ...] = (
    "f d",
    *words(
        "c v zba zbb zbs zicboz zbc zbkb zbkc zbkx zknd zkne zknh zksed zksh zkt zvbb zvbc zvkb zvkg zvkned zvknha"
        " zvknhb zvksed zvksh zvkt zfh zfhmin zihintntl zvfh zvfhmin zfa ztso zacas zicond zihintpause zve32x zve32f"
        " zve64x zve64f zve64d zimop zca zcb zcd zcf zcmop zawrs supm zicntr zihpm zfbfmin zvfbfmin zvfbfwma zicbom"
        " zaamo zalrsc zabha zalasr zicbop zilsd zclsd"
    ),
)
_VENDORS = {
    0x31E: "Andes",
    0x489: "SiFive",
    0x5B7: "T-Head",
    0x61F: "Ventana",
    0x710: "SpacemiT",
    0x722: "MIPS",
}
_VENDOR_WORDS = {
    "andestech": "Andes",
    "eswin": "SiFive",  # its cores are SiFive's
    "sifive": "SiFive",
    "spacemit": "SpacemiT",
    "thead": "T-Head",
    "ventana": "Ventana",
}
_MODELS: Mapping[tuple[int, int], str] = {
    (0x61F, 0x8000_0000_0001_0000): "veyron-v1",
    (0x710, 0x8000_0000_5800_0001): "spacemit-x60",
    (0x722, 0x8000_0000_0000_0201): "mips-p8700",
}
_UARCHS = {
    "eswin,eic770x": "sifive-p550",
    "sifive,bullet0": "sifive-u74",
    "sifive,p550": "sifive-p550",
    "sifive,u54": "sifive-u54",
    "sifive,u54-mc": "sifive-u54",
    "sifive,u74": "sifive-u74",
    "sifive,u74-mc": "sifive-u74",
    "spacemit,x60": "spacemit-x60",
    "ventana,veyron-v1": "veyron-v1",
}

_ALWAYS_PROBED = frozenset(words("f d c zve32x"))
_ISA = re.compile(r"rv(?:32|64|128)")
_SINGLE = re.compile(r"([a-z])(?:\d+(?:p\d+)?)?")
_VERSION = re.compile(r"\d+p\d+$")
_PRIVILEGED = re.compile(r"su?(?:_|$)|u(?:_|$)")


def read_riscv(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return the processor; hwprobe, where the kernel has it, says what every hart that may run this process has."""
    isa_lists = {line for line in (block.get("isa") for block in blocks) if line}
    listed = frozenset.intersection(*map(isa_extensions, isa_lists)) if isa_lists else frozenset()
    probed = hwprobe_extensions(capture.hwprobe)
    held = frozenset(names_of_bits(capture.auxv.get(HWCAP, 0), tuple("abcdefghijklmnopqrstuvwxyz")))
    if probed:
        # from its first version on it has known these, so that it denies what the text has beyond them
        listed = frozenset(
            name for name in listed if name in probed or not implied("riscv", name) & _ALWAYS_PROBED
        )
    found = _closed(probed | listed or held.intersection(table("riscv").bit))
    if capture.auxv and "v" in found and "v" not in held:
        # a kernel may leave the vector unit off, whatever the hart has
        found = frozenset(name for name in found if "zve32x" not in implied("riscv", name))
    if found:
        found |= {f"{capture.pointer_bits}bit"}
    identity = _identity(capture, blocks)
    return Processor(
        identity=identity, features=found, notes=tuple(_notes(identity, found, isa_lists, probed))
    )


def isa_extensions(isa: str) -> frozenset[str]:
    """Return the extensions of an ISA string that LLVM knows, without their versions; the rest falls away.

    >>> sorted(isa_extensions("rv64i2p0m2p0xv5-0p0_zba"))
    ['i', 'm', 'zba']
    """
    text = isa.strip().lower()
    base = _ISA.match(text)
    if base is None:
        return frozenset()
    first, *rest = text[base.end() :].split("_")
    known = table("riscv").bit
    names = {*_letters(first), *(_VERSION.sub("", name) for name in rest)}
    return frozenset(name for name in names if name in known)


def _letters(text: str) -> Iterator[str]:
    """Yield single letters and, from the first of z, s and x on, one name; "su" are no extensions but modes."""
    place = 0
    while place < len(text) and (letter := _SINGLE.match(text, place)):
        if letter[1] in "zsx":
            if not _PRIVILEGED.match(text, place):
                yield _VERSION.sub("", text[place:])
            return
        yield from ("i", "m", "a", "f", "d", "zicsr", "zifencei") if letter[1] == "g" else letter[1]
        place = letter.end()


def hwprobe_extensions(answers: Mapping[int, int]) -> frozenset[str]:
    """Return the extensions that hwprobe's answers state, and that misaligned access is fast where it is."""
    found = {"i", "m", "a"} if answers.get(BASE, 0) & _IMA else set()
    for names in names_of_bits(answers.get(EXTENSIONS, 0), _EXTENSION_BITS):
        found.update(words(names))
    old = answers.get(MISALIGNED_OLD, 0) & _MISALIGNED_MASK
    if _FAST in {answers.get(MISALIGNED_SCALAR), old}:
        found.add("unaligned-scalar-mem")
    if answers.get(MISALIGNED_VECTOR) == _FAST:
        found.add("unaligned-vector-mem")
    return frozenset(found.intersection(table("riscv").bit))


def _closed(names: Iterable[str]) -> frozenset[str]:
    # an extension stands for what it implies, whether or not a kernel lists that as well
    return frozenset[str]().union(*(implied("riscv", name) for name in names))


def _identity(capture: Capture, blocks: tuple[Block, ...]) -> Identity:
    uarch = first_value(blocks, "uarch") or ""
    numbers = (_stated(capture, blocks, VENDOR, "mvendorid"), _stated(capture, blocks, ARCH, "marchid"))
    vendor = _VENDORS.get(numbers[0] or 0) or _VENDOR_WORDS.get(uarch.partition(",")[0].lower())
    return Identity(
        vendor=vendor,
        brand=first_value(blocks, "model name") or uarch or None,
        cpu=_UARCHS.get(uarch) or _MODELS.get((numbers[0] or 0, numbers[1] or 0)),
    )


def _stated(capture: Capture, blocks: tuple[Block, ...], key: int, field: str) -> int | None:
    value = capture.hwprobe.get(key) or read_number(first_value(blocks, field))
    return value or None


def _notes(
    identity: Identity, found: frozenset[str], isa_lists: Iterable[str], probed: frozenset[str]
) -> Iterator[str]:
    if len(tuple(isa_lists)) > 1 and not probed:
        yield "harts with different extensions: the features are those common to all"
    if not found:
        yield "no isa line, hwprobe or HWCAP: no features are stated"
    if identity.cpu is None:
        yield f"LLVM has no name for the cores {identity.brand or 'that /proc/cpuinfo does not name'}"
