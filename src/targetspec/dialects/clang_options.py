"""clang's options of a machine, `-mNAME` and `-mno-NAME`, as the signed features that they stand for.

Most are named as LLVM names the feature, or as GCC does; the others are listed here. Source: clang 22 (`--help-hidden`,
and what its front end lists).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from targetspec import cpu as facts
from targetspec.dialects.words import Source, Word

_MOST_DIGITS = 5
_APX = ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "zu")
_UNALIGNED = {"-unaligned-access": "+strict-align", "+unaligned-access": ""}
_MEANT: Mapping[str, Mapping[str, str]] = {
    "x86": {
        "+apxf": " ".join(f"+{name}" for name in _APX),
        "-apxf": " ".join(f"-{name}" for name in _APX),
        "+apx-inline-asm-use-gpr32": "+inline-asm-use-gpr32",
        "-gather": "+prefer-no-gather",
        "-scatter": "+prefer-no-scatter",
        "+general-regs-only": "-x87 -mmx -sse",
        "+lvi-hardening": "+lvi-cfi +lvi-load-hardening",
        "+sse4": "+sse4.2",
        "-sse4": "-sse4.1",
    },
    "aarch64": {
        **_UNALIGNED,
        "+general-regs-only": "-fp-armv8",
        "+lr-for-calls-only": "+reserve-lr-for-ra",
        "+nocrc": "-crc",
    },
    "arm": {**_UNALIGNED, "+fix-cortex-a72-aes-1655431": "+fix-cortex-a57-aes-1742098", "+nocrc": "-crc"},
    "riscv": {
        "-strict-align": "+unaligned-scalar-mem +unaligned-vector-mem",
        "+strict-align": "-unaligned-scalar-mem -unaligned-vector-mem",
        "-scalar-strict-align": "+unaligned-scalar-mem",
        "+scalar-strict-align": "-unaligned-scalar-mem",
        "-vector-strict-align": "+unaligned-vector-mem",
        "+vector-strict-align": "-unaligned-vector-mem",
        "+enable-experimental-extensions": "+experimental",
    },
    "loongarch": {"+strict-align": "-ual", "-strict-align": "+ual"},
    "powerpc": {"+soft-float": "-hard-float"},
    "mips": {
        **_UNALIGNED,
        "+fp32": "-fp64 -fpxx -nooddspreg",
        "+fp64": "+fp64 -fpxx -nooddspreg",
        "-odd-spreg": "+nooddspreg",
        "+odd-spreg": "-nooddspreg",
        "+abicalls": "-noabicalls",
        "+madd4": "-nomadd4",
    },
    "amdgpu": {"+amdgpu-precise-memory-op": "+precise-memory"},
}


# Options of the code generator that begin like those about the machine, without -m and -mno-.
_OF_CODE = frozenset(
    [
        "align-branch",
        "align-branch-boundary",
        "align-double",
        "amdgpu-expand-waitcnt-profiling",
        "amdgpu-ieee",
        "annotate-tablejump",
        "branch-protection",
        "branches-within-32B-boundaries",
        "cf-branch-label-scheme",
        "cmodel",
        "code-model",
        "code-object-version",
        "constructor-aliases",
        "default-visibility-export-mapping",
        "embedded-data",
        "exec-model",
        "extern-sdata",
        "fentry",
        "fpmath",
        "frame-chain",
        "function-return",
        "global-merge",
        "gpopt",
        "guard",
        "harden-sls",
        "ignore-xcoff-visibility",
        "implicit-float",
        "implicit-it",
        "incremental-linker-compatible",
        "indirect-branch-cs-prefix",
        "indirect-jump",
        "link-builtin-bitcode",
        "link-builtin-bitcode-postopt",
        "llvm",
        "local-sdata",
        "mark-bti-property",
        "mlir",
        "ms-bitfields",
        "nop-mcount",
        "odule-dependency-dir",
        "odule-file-info",
        "omit-leaf-frame-pointer",
        "outline",
        "packed-stack",
        "pad-max-prefix-size",
        "pic-data-is-text-relative",
        "prefer-vector-width",
        "printf-kind",
        "recip",
        "record-mcount",
        "red-zone",
        "regnames",
        "relax",
        "relax-all",
        "relax-pic-calls",
        "relocation-model",
        "reserve-frame-pointer-reg",
        "restrict-it",
        "rtd",
        "save-reg-params",
        "sign-return-address",
        "skip-rax-setup",
        "small-data-limit",
        "sse2avx",
        "stack-alignment",
        "stack-arg-probe",
        "stack-probe-size",
        "stack-protector-guard",
        "stack-protector-guard-offset",
        "stack-protector-guard-reg",
        "stack-protector-guard-symbol",
        "stackrealign",
        "thread-model",
        "tls-dialect",
        "tls-direct-seg-refs",
        "tls-size",
        "tocdata",
        "ulti-lib-config",
        "xcoff-build-id",
        "xcoff-roptr",
    ]
)


def is_of_code(name: str) -> bool:
    """Whether an option -mNAME says nothing of the machine, `name` with its m."""
    return name[1:].removeprefix("no-") in _OF_CODE


def items_of(family: str, option: Word) -> Iterator[Word] | None:
    """Return the signed features that an option stands for, itself as a signed name; None where clang has none such."""
    meant = _meant(family, option.text)
    return None if meant is None else (Word(item, option.start) for item in meant.split())


def vector_bits(source: Source, value: Word) -> int | None:
    """Return the length of SVE's vectors of `-msve-vector-bits=`, as clang and GCC have it; None where it is any."""
    if value.text == "scalable":
        return None
    if not (value.text.isascii() and value.text.isdigit() and len(value.text) <= _MOST_DIGITS):
        raise source.fault(value, "the length of a vector is a number of bits, or scalable")
    return int(value.text)


def _meant(family: str, signed: str) -> str | None:
    listed = _MEANT.get(family, {}).get(signed)
    if listed is not None:
        return listed
    sign, name = signed[0], signed[1:]
    known = facts.feature_alias(family, name, "gcc")
    if known is None and family == "mips":
        # -mips16 is the feature mips16.
        known = facts.feature_alias(family, f"m{name}", "gcc")
    if known is not None:
        return f"{sign}{known}"
    # What an option takes away may be a feature of its own: -mno-movt is no-movt, -mno-madd4 nomadd4.
    negative = next((one for one in (f"no-{name}", f"no{name}") if facts.has_feature(family, one)), None)
    return f"+{negative}" if negative is not None and sign == "-" else None
