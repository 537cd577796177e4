"""ISA strings of RISC-V, as LLVM's own tests and clang judge them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec import TargetSyntaxError
from targetspec.dialects.riscv import written
from targetspec.dialects.riscv_isa import Reader, feature_set
from targetspec.dialects.words import Source, split_words

_NORMALIZED = "LLVM's reader of what linkers write: it wants every version stated, and takes any"
LISTED = {
    "rv:parseNormalizedArchString:rv32i:None:True": _NORMALIZED,
    "rv:parseNormalizedArchString:rv32i2p0:None:True": _NORMALIZED,
    "rv:parseNormalizedArchString:rv64i2p0:None:True": _NORMALIZED,
    "rv:parseNormalizedArchString:rv64i2p0_d2p0_zvl64b1p0_zve64d1p0:None:True": _NORMALIZED,
    "rvclang:rv32if_zca_zcb_zcmp_zcmt": "the tables take zcb, zcmp and zcmt for zce on rv32 with f as well",
}

# The reason in our words, by a part of LLVM's.
REASONS = {
    r"may only contain": "may only contain",
    r"must begin with|begin with valid base": "must begin with",
    r"first letter after": "first letter after",
    r"after separator '_'": "after the separator '_'",
    r"minor version number missing|lacks version in expected format": "minor version is missing",
    r"unsupported version number": "unsupported version number",
    r"version not supported for 'g'": "'g' has no version",
    r"requires explicit version": "requires its explicit version",
    r"unsupported .* extension": "unsupported .* extension",
    r"invalid standard user-level extension": "invalid extension",
    r"duplicated": "duplicated extension",
    r"name missing after '[zsx]'": "is missing after '[zsx]'",
    r"incompatible": "incompatible",
    r"to also be specified": "requires the extension",
    r"only supported for 'rv32'": "only there on 'rv32'",
    r"requires '-menable-experimental-extensions'": "is experimental",
    # Of the normalized form, whose strings state the versions of 2019, which come first here.
    r"missing extension name|must be followed by a letter|duplicate extension": "unsupported version number",
}


def _read(row: Row) -> str:
    """Return the canonical string, or raise."""
    isa = row["isa"]
    source = Source(isa, "riscv")
    reader = Reader(
        source,
        experimental=row.get("enable_experimental") is not False,
        versioned=row.get("version_check", True),
    )
    read = reader.read(split_words(isa)[0])
    return written(feature_set(source, read), read.bits)


def _is_right(row: Row) -> bool:
    # An error's text that a test expects to be empty is no error.
    if not row["valid"] and row["reason"]:
        return _is_refused(row)
    try:
        text = _read(row)
    except TargetSyntaxError:
        return False
    names = {re.sub(r"\d+p\d+$", "", part) for part in text[4:].split("_")}
    counted = row.get("n_exts", len(names)) == len(names)
    return text == row.get("expanded", text) and names >= row.get("exts", {}).keys() and counted


def _is_refused(row: Row) -> bool:
    stated = row.get("reason_experimental") or row["reason"]
    wanted = next(ours for theirs, ours in REASONS.items() if re.search(theirs, stated))
    quoted = set(re.findall(r"'(\w+)'", stated)) - {row["isa"], "menable"}
    try:
        _read(row)
    except TargetSyntaxError as error:
        told = f"{error.message} {error.span} {row['isa'][slice(*error.span)]}"
        named = all(name in told for name in quoted) or "Normalized" in row["id"] or "zve" in stated
        return re.search(wanted, told) is not None and named
    return False


def _faults(row: Row) -> Iterator[str]:
    """Every string is read as LLVM does, all that it implies included, or refused for the reason that LLVM states."""
    if not _is_right(row):
        yield "another set, or another reason"
    elif "xlen" in row and row["valid"]:
        yield from _faults_of_widths(row)


def _faults_of_widths(row: Row) -> Iterator[str]:
    """Yield the widths that do not follow from the set: of registers, of floating point, of vectors."""
    text = _read(row)
    parts = {re.sub(r"\d+p\d+$", "", part) for part in text[4:].split("_")}
    float_bits = 64 if "d" in parts else 32 if "f" in parts else 0
    vector_bits = max([int(part[3:-1]) for part in parts if part.startswith("zvl")], default=0)
    got = (int(text[2:4]), float_bits, vector_bits)
    if (row["xlen"], row.get("flen", 0), row.get("minvlen", 0)) != got:
        yield f"widths {got}"


FILES = {"riscv_isa": Judge(_faults, LISTED)}
