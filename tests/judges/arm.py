"""Arm's architectures, CPUs, extensions and FPUs, as clang and LLVM's own tests of its parser have them."""

from __future__ import annotations

from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec import CpuTarget, TargetspecError, Triple, cpu, parse
from targetspec.cpu_tables import table
from targetspec.dialects import arm_extensions as arm

MARCH_LISTED = {
    "a64:-march=armv8.5-a+noflagm+nosb+nossbs": "v8.5a covers altnzcv, which has no modifier; clang drops it with flagm",
    "a64:-mcpu=cortex-a320": "clang keeps from the list what the CPU's v9.2a has (rme, mec, spe-eef)",
    "a64:-mcpu=cortex-a520ae": "clang keeps from the list what the CPU's v9.2a has (rme, mec, spe-eef)",
}
# What clang calls the features that no extension of -march names; the first name of each.
FEATS = {
    "FEAT_AES": "aes",
    "FEAT_AMUv1": "am",
    "FEAT_AMUv1p1": "amvs",
    "FEAT_AdvSIMD": "neon",
    "FEAT_CCIDX": "ccidx",
    "FEAT_CHK": "chk",
    "FEAT_CLRBHB": "clrbhb",
    "FEAT_CRC32": "crc",
    "FEAT_CSV2_2": "specrestrict",
    "FEAT_DPB": "ccpp",
    "FEAT_DPB2": "ccdp",
    "FEAT_ECV": "ecv",
    "FEAT_ETE": "ete",
    "FEAT_FCMA": "complxnum",
    "FEAT_FGT": "fgt",
    "FEAT_FHM": "fp16fml",
    "FEAT_FP": "fp-armv8",
    "FEAT_FP16": "fullfp16",
    "FEAT_FPAC": "fpac",
    "FEAT_FRINTTS": "fptoint",
    "FEAT_FlagM2": "altnzcv",
    "FEAT_HCX": "hcx",
    "FEAT_JSCVT": "jsconv",
    "FEAT_LOR": "lor",
    "FEAT_LRCPC": "rcpc",
    "FEAT_LRCPC2": "rcpc-immo",
    "FEAT_LRCPC3": "rcpc3",
    "FEAT_LSE2": "lse2",
    "FEAT_MEC": "mec",
    "FEAT_MPAM": "mpam",
    "FEAT_MTE": "mte",
    "FEAT_NMI": "nmi",
    "FEAT_NV": "nv",
    "FEAT_PAN": "pan",
    "FEAT_PAN2": "pan-rwv",
    "FEAT_PAuth_LR": "pauth-lr",
    "FEAT_PMUv3": "perfmon",
    "FEAT_PRFMSLC": "prfm-slc-target",
    "FEAT_RME": "rme",
    "FEAT_RNG": "rand",
    "FEAT_S1POE2": "poe2",
    "FEAT_SEL2": "sel2",
    "FEAT_SHA1": "sha2",
    "FEAT_SPE": "spe",
    "FEAT_SPECRES": "predres",
    "FEAT_SPECRES2": "specres2",
    "FEAT_SPEv1p2": "spe-eef",
    "FEAT_TLBIOS": "tlb-rmi",
    "FEAT_TRBE": "trbe",
    "FEAT_TRF": "tracev8.4",
    "FEAT_UAO": "uaops",
    "FEAT_VHE": "vh",
    "FEAT_XS": "xs",
}
TRACE = {"ete", "trbe"}
SHORTHANDS = {"crypto", "sve2-aes", "sve2-bitperm", "sve2-sha3", "sve2-sm4"}
"""Names for several features, which clang lists only where they are asked for."""
FLAGS = {"hwdivarm": "hwdiv-arm", "hwdivthumb": "hwdiv", "sec": "trustzone", "fp16": "fullfp16"}
NO_FEATURE = {"none", "fp", "mp", "virt"}
"""Flags for which LLVM's parser states no feature."""
SCALAR = frozenset({"aes", "sha2", "fullfp16"})


def _feature(name: str) -> str:
    if name.startswith("Shorthand for +sve2+sve-"):
        return f"sve2-{name.removeprefix('Shorthand for +sve2+sve-')}"
    plain = name.removeprefix("FEAT_").lower()
    return FEATS.get(name) or plain.replace("_", "-")


def _known() -> set[str]:
    return {*FEATS.values(), *arm.extensions("aarch64").values()}


def _march_is_right(row: Row) -> bool:
    try:
        found = parse(f"{row['triple']} -{row['flag']}={row['value']}", "llvm").features
    except TargetspecError:
        return not row["valid"]
    if not row["valid"]:
        return False
    held = table("aarch64")
    have = set(held.unmask(held.widen(held.mask(found.names)))) & _known()
    have -= SHORTHANDS - found.names
    wanted = {_feature(name) for name in row["extensions"]}
    unknown = wanted - _known()
    # clang adds the trace extensions to what is generic; the tables leave them out, as plain Armv8 parts lack them.
    is_generic = row["flag"] == "march" and "+ite" not in row["value"]
    return not unknown and have == (wanted - TRACE if is_generic else wanted)


def _cpu_is_right(row: Row) -> bool:
    """Whether a CPU has its architecture, the FPU that LLVM has by default for it, and its extensions."""
    if row["arch"] == "invalid":
        return "generic" == row["cpu"]
    found = CpuTarget(triple="arm-none-eabi", cpu=row["cpu"]).features
    fpu = arm.fpu_features(row["fpu"])
    flags = {FLAGS.get(flag, flag) for flag in row["ext_flags"] if flag not in NO_FEATURE}
    # The list of the FPU comes last, and takes half precision away where it has none.
    refused = {"fullfp16", "fp16fml"} - fpu
    wanted = {arm.architecture("arm", row["arch"]), *(fpu - SCALAR), *(flags - refused)}
    held = {name for name in wanted if name in found}
    return wanted == held and fpu - SCALAR == arm.fpu_in(found) - SCALAR


def _default_is_right(row: Row) -> bool:
    if row.get("valid") is False:
        return arm.architecture("arm", row["arch"]) is None
    triple = Triple.parse(arm.sub_architecture(row["arch"]))
    return row["default_cpu"] == cpu.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)


def _triple_is_right(row: Row) -> bool:
    try:
        triple = Triple.parse(row["triple"])
    except TargetspecError:
        return not row["cpu"]
    return row["cpu"] == cpu.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)


def _alias_is_right(row: Row) -> bool:
    return cpu.canonical_cpu("aarch64", row["cpu"]) == cpu.canonical_cpu("aarch64", row["same_as"])


def _order_is_right(row: Row) -> bool:
    other = arm.architecture("aarch64", row["implies"])
    return row["result"] is (other in cpu.implied("aarch64", str(arm.architecture("aarch64", row["arch"]))))


_QUESTIONS = {
    "armcpu": _cpu_is_right,
    "armarch": _default_is_right,
    "armcpufor": _triple_is_right,
    "a64alias": _alias_is_right,
    "a64implies": _order_is_right,
}


def _faults_of_march(row: Row) -> Iterator[str]:
    """Each value gives what clang enables for it, or is refused as clang refuses it."""
    if not _march_is_right(row):
        yield "another set than clang's"


def _faults_of_parser(row: Row) -> Iterator[str]:
    """CPUs, architectures, aliases and orders are those of LLVM's own tests."""
    if not _QUESTIONS[row["id"].partition(":")[0]](row):
        yield "not as LLVM's parser"


FILES = {
    "aarch64_march": Judge(_faults_of_march, MARCH_LISTED, 2),
    "llvm_arm_parser": Judge(_faults_of_parser),
}
