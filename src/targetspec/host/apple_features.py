"""LLVM features and CPUs of Apple's processors, from sysctl's hw.optional and hw.cpufamily.

Sources: Apple, "Determining instruction set characteristics"; xnu, osfmk/mach/machine.h.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from targetspec.host.arm_features import aarch64_features
from targetspec.host.cpuinfo import read_number

# A capability by Linux's name, and the name under hw.optional that says the same; "|" stands before an older name
_CAPABILITIES: Mapping[str, str] = {
    "fp": "floatingpoint",
    "asimd": "neon|AdvSIMD",
    "crc32": "FEAT_CRC32|armv8_crc32",
    "atomics": "FEAT_LSE|armv8_1_atomics",
    "asimdrdm": "FEAT_RDM",
    "fphp": "FEAT_FP16|neon_fp16",
    "asimdhp": "FEAT_FP16|neon_fp16",
    "asimdfhm": "FEAT_FHM|armv8_2_fhm",
    "asimddp": "FEAT_DotProd",
    "sha1": "FEAT_SHA1",
    "sha2": "FEAT_SHA256",
    "aes": "FEAT_AES",
    "pmull": "FEAT_PMULL",
    "sha512": "FEAT_SHA512|armv8_2_sha512",
    "sha3": "FEAT_SHA3|armv8_2_sha3",
    "jscvt": "FEAT_JSCVT",
    "fcma": "FEAT_FCMA|armv8_3_compnum",
    "lrcpc": "FEAT_LRCPC",
    "ilrcpc": "FEAT_LRCPC2",
    "uscat": "FEAT_LSE2",
    "flagm": "FEAT_FlagM",
    "flagm2": "FEAT_FlagM2",
    "frint": "FEAT_FRINTTS",
    "dcpop": "FEAT_DPB",
    "dcpodp": "FEAT_DPB2",
    "paca": "FEAT_PAuth",
    "pacg": "FEAT_PAuth",
    "sb": "FEAT_SB",
    "ssbs": "FEAT_SSBS",
    "bti": "FEAT_BTI",
    "dit": "FEAT_DIT",
    "bf16": "FEAT_BF16",
    "i8mm": "FEAT_I8MM",
    "ecv": "FEAT_ECV",
    "wfxt": "FEAT_WFxT",
    "cssc": "FEAT_CSSC",
    "hbc": "FEAT_HBC",
    "mte": "FEAT_MTE2",
    "sme": "FEAT_SME",
    "sme2": "FEAT_SME2",
    "sme2p1": "FEAT_SME2p1",
    "smef64f64": "FEAT_SME_F64F64",
    "smei16i64": "FEAT_SME_I16I64",
    "smef16f16": "FEAT_SME_F16F16",
    "smeb16b16": "FEAT_SME_B16B16",
    "sveb16b16": "FEAT_SVE_B16B16",
}
_SPECULATION = {"predres": "FEAT_SPECRES", "specres2": "FEAT_SPECRES2"}
SYSCTL_NAMES = tuple(
    f"hw.optional.{'arm.' if name.startswith('FEAT_') else ''}{name}"
    for said in (*_CAPABILITIES.values(), *_SPECULATION.values(), "arm64")
    for name in said.split("|")
)
"""What to ask sysctl for."""
# What every Mac of the kind has had since macOS 11, which named fewer things than later systems
_FIRST_MACS = (
    *(
        "FEAT_RDM",
        "FEAT_DotProd",
        "FEAT_SHA1",
        "FEAT_SHA256",
        "FEAT_AES",
        "FEAT_PMULL",
        "FEAT_JSCVT",
        "FEAT_FCMA",
    ),
    *(
        "FEAT_LRCPC",
        "FEAT_LRCPC2",
        "FEAT_LSE2",
        "FEAT_FlagM",
        "FEAT_FlagM2",
        "FEAT_FRINTTS",
        "FEAT_DPB",
        "FEAT_DPB2",
    ),
    *("FEAT_PAuth", "FEAT_SB", "FEAT_SSBS", "FEAT_DIT"),
)
_FAMILIES: Mapping[int, str] = {
    0x37A09642: "apple-a7",
    0x2C91A47E: "apple-a8",
    0x92FB37C8: "apple-a9",
    0x67CEEE93: "apple-a10",
    0xE81E7EF6: "apple-a11",
    0x07D34B9F: "apple-a12",
    0x462504D2: "apple-a13",
    0x1B588BB3: "apple-m1",
    0xDA33D83D: "apple-m2",
    **dict.fromkeys((0x8765EDEA, 0xFA33415E, 0x5F4DEA93, 0x72015832), "apple-m3"),
    0x2876F5B5: "apple-a17",
    **dict.fromkeys((0x6F5129AC, 0x17D5B93A, 0x75D4ACB9, 0x204526D0), "apple-m4"),
    **dict.fromkeys((0x1D5A87E8, 0xF76C5B1A, 0xAB345F09, 0x01D7A72B), "apple-m5"),
}
_BRAND = re.compile(r"Apple (M[1-5])\b")


def names_present(values: Mapping[str, str]) -> frozenset[str]:
    """Return the names under hw.optional, with or without its `arm.`, that are not 0."""
    found = {
        name.removeprefix("hw.optional.").removeprefix("arm.")
        for name, value in values.items()
        if name.startswith("hw.optional.") and read_number(value)
    }
    return frozenset(found.union(_FIRST_MACS) if is_first(values) else found)


def is_first(values: Mapping[str, str]) -> bool:
    """Return whether macOS 11 speaks, which has none of the FEAT_ names; all its Arm Macs have an M1."""
    return "hw.optional.arm64" in values and not any("FEAT_" in name for name in values)


def mac_features(values: Mapping[str, str]) -> frozenset[str]:
    """Return LLVM's features for the values of sysctl, with the architecture versions that they add up to."""
    present = names_present(values)
    if not present:
        return frozenset()
    held = {name for name, said in _CAPABILITIES.items() if present.intersection(said.split("|"))}
    if "FEAT_LSE2" in present and "hw.optional.arm.FEAT_DIT" not in values:
        held.add("dit")  # the first systems have no name for it, and it came with the others
    beyond = {feature for feature, said in _SPECULATION.items() if said in present}
    return aarch64_features(frozenset(held)) | beyond


def apple_cpu_name(values: Mapping[str, str]) -> str | None:
    """Return LLVM's name by hw.cpufamily or the brand, None where neither is known.

    >>> apple_cpu_name({"hw.cpufamily": "458787763"})
    'apple-m1'
    """
    family = read_number(values.get("hw.cpufamily"))
    brand = _BRAND.match(values.get("machdep.cpu.brand_string", ""))
    if family is not None and family & 0xFFFF_FFFF in _FAMILIES:
        return _FAMILIES[family & 0xFFFF_FFFF]
    if brand:
        return f"apple-{brand[1].lower()}"
    return "apple-m1" if is_first(values) else None
