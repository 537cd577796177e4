"""LLVM's name of an x86 processor, by vendor, family and model.

Source: the tables of LLVM 22 (llvm/lib/TargetParser/Host.cpp) and the vendors' own lists of models. Where LLVM
would guess from the features of a model it does not know, there is no name here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

INTEL, AMD, HYGON = "GenuineIntel", "AuthenticAMD", "HygonGenuine"

_INTEL_FAMILY_6: Mapping[str, tuple[int, ...]] = {
    "pentiumpro": (0x01,),
    "pentium2": (0x03, 0x05, 0x06),
    "pentium3": (0x07, 0x08, 0x0A, 0x0B),
    "pentium-m": (0x09, 0x0D, 0x15),
    "yonah": (0x0E,),
    "core2": (0x0F, 0x16),
    "penryn": (0x17, 0x1D),
    "nehalem": (0x1A, 0x1E, 0x1F, 0x2E),
    "westmere": (0x25, 0x2C, 0x2F),
    "sandybridge": (0x2A, 0x2D),
    "ivybridge": (0x3A, 0x3E),
    "haswell": (0x3C, 0x3F, 0x45, 0x46),
    "broadwell": (0x3D, 0x47, 0x4F, 0x56),
    "skylake": (0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6),
    "rocketlake": (0xA7,),
    "cannonlake": (0x66,),
    "icelake-client": (0x7D, 0x7E),
    "tigerlake": (0x8C, 0x8D),
    "alderlake": (0x97, 0x9A),
    "gracemont": (0xBE,),
    "raptorlake": (0xB7, 0xBA, 0xBF),
    "meteorlake": (0xAA, 0xAC),
    "arrowlake": (0xB5, 0xC5),
    "arrowlake-s": (0xC6,),
    "lunarlake": (0xBD,),
    "pantherlake": (0xCC,),
    "wildcatlake": (0xD5,),
    "icelake-server": (0x6A, 0x6C),
    "sapphirerapids": (0x8F,),
    "emeraldrapids": (0xCF,),
    "graniterapids": (0xAD,),
    "graniterapids-d": (0xAE,),
    "bonnell": (0x1C, 0x26, 0x27, 0x35, 0x36),
    "silvermont": (0x37, 0x4A, 0x4C, 0x4D, 0x5A, 0x5D, 0x75),  # 0x4C and 0x75 are Airmont
    "goldmont": (0x5C, 0x5F),
    "goldmont-plus": (0x7A,),
    "tremont": (0x86, 0x8A, 0x96, 0x9C),
    "sierraforest": (0xAF,),
    "grandridge": (0xB6,),
    "clearwaterforest": (0xDD,),
    "knl": (0x57,),
    "knm": (0x85,),
}
_INTEL: Mapping[tuple[int, int], str] = {
    **{(6, model): name for name, models in _INTEL_FAMILY_6.items() for model in models},
    (5, 0x09): "lakemont",
    (18, 0x01): "novalake",
    (18, 0x03): "novalake",
    (19, 0x01): "diamondrapids",
}
_SKYLAKE_SERVER = (6, 0x55)

_AMD: Mapping[int, tuple[tuple[int, int, str], ...]] = {
    4: ((0x00, 0x0F, "i486"),),
    5: ((0, 5, "pentium"), (6, 7, "k6"), (8, 8, "k6-2"), (9, 9, "k6-3"), (10, 10, "geode"), (13, 13, "k6-3")),
    16: ((0x00, 0xFF, "amdfam10"),),
    17: ((0x00, 0xFF, "k8-sse3"),),  # Griffin has K8 cores
    18: ((0x00, 0xFF, "amdfam10"),),
    20: ((0x00, 0xFF, "btver1"),),
    21: (
        (0x02, 0x02, "bdver2"),
        (0x00, 0x0F, "bdver1"),
        (0x10, 0x1F, "bdver2"),
        (0x30, 0x3F, "bdver3"),
        (0x60, 0x7F, "bdver4"),
    ),
    22: ((0x00, 0xFF, "btver2"),),
    23: (
        (0x00, 0x2F, "znver1"),
        (0x30, 0x3F, "znver2"),
        (0x47, 0x47, "znver2"),
        (0x60, 0x7F, "znver2"),
        (0x84, 0x87, "znver2"),
        (0x90, 0xAF, "znver2"),
    ),
    25: (
        (0x10, 0x1F, "znver4"),
        (0x00, 0x5F, "znver3"),
        (0x60, 0x7F, "znver4"),
        (0xA0, 0xAF, "znver4"),
    ),
    26: ((0x00, 0x77, "znver5"),),
}
# Dhyana is the first Zen under another vendor's name; later Hygon designs are their own
_HYGON: Mapping[int, tuple[tuple[int, int, str], ...]] = {24: ((0x00, 0x03, "znver1"),)}


def x86_cpu_name(vendor: str, family: int, model: int, features: Collection[str]) -> str | None:
    """Return LLVM's name, None where the tables do not know the model.

    `features` (LLVM's names) tell apart what shares a model number; they never stand in for it.

    >>> x86_cpu_name("AuthenticAMD", 25, 0x11, ())
    'znver4'
    """
    if vendor == INTEL:
        return _intel(family, model, features)
    if vendor == AMD:
        return _by_feature(_AMD_BY_FEATURE.get(family, ()), features) or _by_range(_AMD, family, model)
    return _by_range(_HYGON, family, model) if vendor == HYGON else None


_AMD_BY_FEATURE = {6: (("sse", "athlon-xp"), ("", "athlon")), 15: (("sse3", "k8-sse3"), ("", "k8"))}
_INTEL_BY_FEATURE = {
    3: (("", "i386"),),
    4: (("", "i486"),),
    5: (("mmx", "pentium-mmx"), ("", "pentium")),
    15: (("64bit", "nocona"), ("sse3", "prescott"), ("", "pentium4")),
}
_SKYLAKE_SERVER_BY_FEATURE = (
    ("avx512bf16", "cooperlake"),
    ("avx512vnni", "cascadelake"),
    ("", "skylake-avx512"),
)


def _intel(family: int, model: int, features: Collection[str]) -> str | None:
    if (family, model) == _SKYLAKE_SERVER:
        return _by_feature(_SKYLAKE_SERVER_BY_FEATURE, features)
    return _INTEL.get((family, model)) or _by_feature(_INTEL_BY_FEATURE.get(family, ()), features)


def _by_feature(choices: tuple[tuple[str, str], ...], features: Collection[str]) -> str | None:
    return next((name for feature, name in choices if not feature or feature in features), None)


def _by_range(table: Mapping[int, tuple[tuple[int, int, str], ...]], family: int, model: int) -> str | None:
    return next((name for low, high, name in table.get(family, ()) if low <= model <= high), None)
