"""rustc's target specifications, as `--print target-spec-json` writes them and custom targets are given to it.

What is about the machine: `llvm-target` (which must be there), `arch`, `cpu`, `features`, `llvm-abiname`,
`llvm-floatabi`, `os`, `env`, `abi`, `vendor`, `crt-static-default`; `target-pointer-width`, `target-endian` and
`data-layout` must agree with the triple. Every other member is a leftover, written `key=value` with the value in JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

from targetspec.dialects.rust_cfg import RustCfg, triple_of
from targetspec.dialects.rust_features import made
from targetspec.dialects.rust_names import RustFacts
from targetspec.dialects.words import Source, Word
from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple

_ABI_NAMES = ("vec-extabi",)
_TEXTS = (
    *(
        "llvm-target",
        "arch",
        "cpu",
        "features",
        "llvm-abiname",
        "llvm-floatabi",
        "os",
        "env",
        "abi",
        "vendor",
    ),
    *("target-endian", "data-layout"),
)
_PARTS = {"os": "none", "env": "", "abi": "", "vendor": "unknown"}
_USED = frozenset((*_TEXTS, "crt-static-default", "target-pointer-width"))
_ARCHS = {
    "x86": ("i386",),
    "x86_64": ("x86_64",),
    "aarch64": ("aarch64", "aarch64_be", "aarch64_32"),
    "arm64ec": ("aarch64",),
    "arm": ("arm", "armeb", "thumb", "thumbeb"),
    "riscv32": ("riscv32", "riscv32be"),
    "riscv64": ("riscv64", "riscv64be"),
    "powerpc": ("powerpc", "powerpcle"),
    "powerpc64": ("powerpc64", "powerpc64le"),
    "mips": ("mips", "mipsel"),
    "mips32r6": ("mips", "mipsel"),
    "mips64": ("mips64", "mips64el"),
    "mips64r6": ("mips64", "mips64el"),
    "sparc": ("sparc", "sparcel"),
    "sparc64": ("sparcv9",),
    "bpf": ("bpfel", "bpfeb"),
    "amdgpu": ("amdgcn",),
}
_LAYOUT_POINTER = re.compile(r"(?:^|-)p(?::|0:)(\d+)(?=[:-]|$)")
_DEFAULT_POINTER = 64


def parse_specification(source: Source) -> tuple[CpuTarget, tuple[str, ...]]:
    """Return the target of a specification, and what it says beside; TargetSyntaxError says what is wrong where."""
    members = _members(source)
    _check_shapes(source, members)
    places = {_FIELD_OF.get(key, key): _place(source, key, members[key]) for key in _TEXTS if key in members}
    triple: Triple = source.reading(places, lambda: Triple.parse(members["llvm-target"]))
    _check_arch(source, members, triple)
    _check_layout(source, members, triple)
    float_abi = members.get("llvm-floatabi") if triple.family == "arm" else None
    abi = members.get("llvm-abiname") or next((n for n in _ABI_NAMES if n == members.get("abi")), None)
    features = members.get("features", "") if triple.family is not None else ""
    cfg = RustCfg(*(members.get(key, default) for key, default in _PARTS.items()))
    stated = RustFacts(
        source.reading(places, lambda: triple_of(triple, cfg, members.get("cpu"), features)),
        members.get("cpu"),
        features,
        abi,
        float_abi,
        members.get("crt-static-default", False),
    )
    place = places.get("features", Word("", 0)) if features else Word("", 0)
    items = {f"item {index}": item for index, item in enumerate(place.items())}
    target: CpuTarget = source.reading({**places, **items}, lambda: made(source, stated, place))
    unheld = _USED if triple.family is not None else _USED - {"features"}
    return target, tuple(f"{key}={_plain(members[key])}" for key in members if key not in unheld)


_FIELD_OF = {"llvm-target": "triple", "llvm-abiname": "abi", "llvm-floatabi": "float_abi", "abi": "cfg-abi"}


def _members(source: Source) -> dict[str, Any]:
    try:
        found = json.loads(source.text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError:
        raise source.fault(None, "the document is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise source.fault(Word("", min(error.pos, len(source.text) - 1)), f"no JSON: {error.msg}") from None
    except ValueError as error:
        raise source.fault(None, f"no JSON: {str(error)[:200]}") from None
    if type(found) is not dict:
        raise source.fault(None, "a target specification is an object")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the member {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _check_shapes(source: Source, members: dict[str, Any]) -> None:
    if "llvm-target" not in members:
        raise source.fault(
            None, "a target specification has llvm-target", "`rustc --print target-spec-json` writes one"
        )
    for key in _TEXTS:
        if key in members and type(members[key]) is not str:
            raise source.fault(_place(source, key, members[key]), f"{key} is a string")
    if type(members.get("crt-static-default", False)) is not bool:
        raise source.fault(_place(source, "crt-static-default", ""), "crt-static-default is true or false")
    for item in _place(source, "features", members["features"]).items() if members.get("features") else ():
        if len(item.text) < 2 or item.text[0] not in "+-":  # noqa: PLR2004 - a sign and a name
            raise source.fault(item, "a feature is +name or -name", f"write +{item.text}")


def _place(source: Source, key: str, value: Any) -> Word:
    """Return where the value of a member is written; its key where that is not plain to see."""
    text = value if type(value) is str else json.dumps(value)
    found = re.search(rf'"{re.escape(key)}"\s*:\s*"?', source.text)
    if found is None:
        return Word(text, 0)
    return Word(text, found.end() if source.text.startswith(text, found.end()) else found.start())


def _check_arch(source: Source, members: dict[str, Any], triple: Triple) -> None:
    stated = members.get("arch")
    if stated is None:
        return
    if triple.arch not in _ARCHS.get(stated, (stated,)):
        message = f"arch is {stated!r}, and llvm-target says {triple.arch_name}"
        raise source.fault(_place(source, "arch", stated), message, "change one of the two")


def _check_layout(source: Source, members: dict[str, Any], triple: Triple) -> None:
    """Check what repeats the triple: pointer width, byte order, data layout."""
    width = members.get("target-pointer-width", triple.pointer_bits)
    if type(width) not in (int, str) or str(width) != str(triple.pointer_bits):
        message = f"llvm-target {triple} has pointers of {triple.pointer_bits} bits"
        raise source.fault(_place(source, "target-pointer-width", width), message, "change one of the two")
    endian = members.get("target-endian", "little")
    if endian != triple.endianness:
        place = _place(source, "target-endian" if "target-endian" in members else "llvm-target", endian)
        raise source.fault(place, f"llvm-target {triple} is {triple.endianness}-endian, not {endian[:20]}")
    layout = members.get("data-layout")
    if layout is None:
        return
    pointer = _LAYOUT_POINTER.search(layout)
    bits = int(pointer[1][:6]) if pointer else _DEFAULT_POINTER
    if layout[:1] != ("E" if triple.endianness == "big" else "e") or bits != triple.pointer_bits:
        message = f"does not fit llvm-target {triple}: {triple.endianness}-endian, pointers of {triple.pointer_bits} bits"
        raise source.fault(_place(source, "data-layout", layout), f"data-layout {message}")


def _plain(value: Any) -> str:
    """Return a value as JSON without white space."""
    return json.dumps(value, separators=(",", ":")).replace(" ", "\\u0020")
