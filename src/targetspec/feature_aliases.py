"""What other worlds call LLVM's features: Linux's capability names, rustc's, and the -m and -march names of GCC and clang.

A name that is the same in both is not listed. Where a world has several names for one feature, the first is the one
that is written. Sources: Linux's arch/x86/include/asm/cpufeatures.h and Documentation/arch/arm64/elf_hwcaps.rst,
`rustc --print target-features`, the options of GCC 14 and clang 22.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

WORLDS = ("linux", "rust", "gcc", "llvm")

_TEXTS = {
    (
        "linux",
        "x86",
    ): """
        rdrand=rdrnd pclmulqdq=pclmul bmi1=bmi abm=lzcnt pni=sse3 sse4_1=sse4.1 sse4_2=sse4.2 fpu=x87 lahf_lm=sahf
        sha_ni=sha 3dnowprefetch=prfchw misalignsse=sse-unaligned-mem user_shstk=shstk lm=64bit erms=ermsb
        avx512_vbmi2=avx512vbmi2 avx512_vnni=avx512vnni avx512_bitalg=avx512bitalg avx512_bf16=avx512bf16
        avx512_vpopcntdq=avx512vpopcntdq avx512_fp16=avx512fp16 avx512_vp2intersect=avx512vp2intersect
        avx_vnni=avxvnni avx_ifma=avxifma avx_vnni_int8=avxvnniint8 avx_vnni_int16=avxvnniint16
        avx_ne_convert=avxneconvert amx_tile=amx-tile amx_bf16=amx-bf16 amx_int8=amx-int8 amx_fp16=amx-fp16
        amx_complex=amx-complex
    """,
    (
        "linux",
        "aarch64",
    ): """
        fp=fp-armv8 asimd=neon pmull=aes sha1=sha2 crc32=crc atomics=lse fphp=fullfp16 asimdhp=fullfp16 asimdrdm=rdm
        jscvt=jsconv fcma=complxnum lrcpc=rcpc dcpop=ccpp sm3=sm4 asimddp=dotprod sha512=sha3 asimdfhm=fp16fml
        uscat=lse2 ilrcpc=rcpc-immo paca=pauth pacg=pauth dcpodp=ccdp sveaes=sve-aes svepmull=sve-aes
        svebitperm=sve-bitperm svesha3=sve-sha3 svesm4=sve-sm4 flagm2=altnzcv frint=fptoint svei8mm=i8mm svebf16=bf16
        svef32mm=f32mm svef64mm=f64mm rng=rand smei16i64=sme-i16i64 smef64f64=sme-f64f64 smefa64=sme-fa64
        smef16f16=sme-f16f16 smeb16b16=sme-b16b16 sveb16b16=sve-b16b16 lrcpc3=rcpc3 f8cvt=fp8 f8fma=fp8fma
        f8dp4=fp8dot4 f8dp2=fp8dot2 f8mm8=f8f16mm f8mm4=f8f32mm smelutv2=sme-lutv2 smef8f16=sme-f8f16
        smef8f32=sme-f8f32 smesf8fma=ssve-fp8fma smesf8dp4=ssve-fp8dot4 smesf8dp2=ssve-fp8dot2 sveaes2=sve-aes2
        svef16mm=sve-f16f32mm svebfscale=sve-bfscale smesbitperm=ssve-bitperm smeaes=ssve-aes smesfexpa=ssve-fexpa
        smestmop=sme-tmop smesmop4=sme-mop4
    """,
    (
        "rust",
        "x86",
    ): """
        rdrand=rdrnd pclmulqdq=pclmul bmi1=bmi cmpxchg16b=cx16 lahfsahf=sahf
    """,
    (
        "rust",
        "aarch64",
    ): """
        fp16=fullfp16 fhm=fp16fml paca=pauth pacg=pauth fcma=complxnum frintts=fptoint dpb=ccpp dpb2=ccdp
        rcpc2=rcpc-immo pmuv3=perfmon flagm2=altnzcv
    """,
    (
        "rust",
        "powerpc",
    ): """
        power8-crypto=crypto
    """,
    (
        "gcc",
        "x86",
    ): """
        sse4=sse4.2 80387=x87
    """,
    (
        "gcc",
        "aarch64",
    ): """
        fp=fp-armv8 simd=neon fp16=fullfp16 fcma=complxnum jscvt=jsconv memtag=mte pmuv3=perfmon rng=rand profile=spe
        predres2=specres2 frintts=fptoint flagm2=altnzcv rcpc2=rcpc-immo
    """,
    (
        "gcc",
        "powerpc",
    ): """
        mfcrf=mfocrf prefixed=prefix-instrs pcrel=pcrelative-memops quad-memory-atomic=quadword-atomics
    """,
    (
        "gcc",
        "systemz",
    ): """
        vx=vector htm=transactional-execution
    """,
    (
        "llvm",
        "x86",
    ): """
        avx10.1-512=avx10.1 avx10.2-512=avx10.2 evex512=avx512f
    """,
}


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((alias, name) for alias, _, name in (pair.partition("=") for pair in text.split()))


@functools.cache
def to_llvm(family: str, world: str) -> Mapping[str, str]:
    """Return a world's names for a family's features, each with LLVM's name, where the two differ."""
    return MappingProxyType(dict(_pairs(_TEXTS.get((world, family), ""))))


@functools.cache
def from_llvm(family: str, world: str) -> Mapping[str, str]:
    """Return LLVM's names, each with the one that a world writes, where the two differ."""
    return MappingProxyType(
        {name: alias for alias, name in reversed(_pairs(_TEXTS.get((world, family), "")))}
    )


@functools.cache
def aliases_of(family: str) -> Mapping[str, str]:
    """Return the names of all worlds, each with LLVM's; those on which two worlds disagree are left out."""
    found: dict[str, set[str]] = {}
    for world in WORLDS:
        for alias, name in to_llvm(family, world).items():
            found.setdefault(alias, set()).add(name)
    return MappingProxyType({alias: names.pop() for alias, names in found.items() if len(names) == 1})
