"""Equality, hash, pickle and JSON of targets beside those of plain attrs classes, archspec and TVM.

    python benchmarks/values.py

TVM (apache-tvm 0.27.0.post1 with apache-tvm-ffi 0.1.14.post1) is compared where it is installed.
"""

# ruff: noqa: S301 - what is loaded was dumped here

from __future__ import annotations

import json
import pickle
from typing import Any

import attrs
from _side_by_side import medians, peer, show
from cattrs.preconf.json import make_converter

import targetspec

TRIPLE = "x86_64-unknown-linux-gnu"


@attrs.frozen(slots=True)
class Seven:
    """What a project writes that has no library: seven fields, one of them a set of names."""

    triple: str
    cpu: str
    tune: str | None
    features: frozenset[str]
    abi: str | None
    cores: int
    vector_bits: int


@attrs.frozen(slots=True, cache_hash=True)
class SevenHashed(Seven):
    """The same, with its hash kept."""


def _seven(cls: type[Seven], names: frozenset[str]) -> Seven:
    return cls(TRIPLE, "haswell", None, frozenset(sorted(names)), "sysv", 8, 256)


def equality(names: frozenset[str]) -> None:
    """Two equal targets that are two objects, as they come from another process."""
    target = targetspec.CpuTarget(triple=TRIPLE, cpu="haswell", num_cores=8)
    other = pickle.loads(pickle.dumps(target))
    left, right = _seven(Seven, names), _seven(Seven, names)
    kept = _seven(SevenHashed, names)
    equal = {"targetspec ==": lambda: target == other, "attrs, 7 fields ==": lambda: left == right}
    hashes = {
        "targetspec hash": lambda: hash(target),
        "attrs, hash kept": lambda: hash(kept),
        "attrs, 7 fields hash": lambda: hash(left),
    }
    archspec = peer("archspec.cpu")
    if archspec is not None:
        cpu = archspec.TARGETS["haswell"]
        twin = archspec.Microarchitecture(
            cpu.name, cpu.parents, cpu.vendor, set(cpu.features), cpu.compilers, cpu.generation
        )
        equal["archspec =="] = lambda: cpu == twin
        hashes["archspec hash"] = lambda: hash(cpu)
    show("equality", medians(equal), (1.2, "attrs, 7 fields =="), (1.0, "archspec =="))
    show("hash", medians(hashes), (1.2, "attrs, hash kept"))


def pickling(names: frozenset[str]) -> None:
    """There and back, and the size."""
    host = targetspec.CpuTarget(triple=TRIPLE, cpu="haswell")
    device = targetspec.tag("nvidia/nvidia-a100").with_host(host)
    seven = _seven(Seven, names)
    alone = {
        "targetspec cpu": lambda: pickle.loads(pickle.dumps(host)),
        "attrs, 7 fields": lambda: pickle.loads(pickle.dumps(seven)),
    }
    hosted = {"targetspec cuda with host": lambda: pickle.loads(pickle.dumps(device))}
    sizes = {"targetspec cpu": host, "targetspec cuda with host": device}
    tvm = peer("tvm")
    if tvm is not None:
        one = tvm.target.Target({"kind": "llvm", "mcpu": "haswell", "mtriple": TRIPLE})
        two = tvm.target.Target("nvidia/nvidia-a100").with_host(one)
        alone["TVM llvm"] = lambda: pickle.loads(pickle.dumps(one))
        hosted["TVM cuda with host"] = lambda: pickle.loads(pickle.dumps(two))
        sizes |= {"TVM llvm": one, "TVM cuda with host": two}
    show("pickle, there and back", medians(alone), (1.0, "TVM llvm"))
    show("pickle with a host", medians(hosted), (1.0, "TVM cuda with host"))
    print("\nsize of the pickle")
    for name, target in sizes.items():
        print(f"  {name:44s} {len(pickle.dumps(target)):10d} bytes")


def documents() -> None:
    """JSON text out and in, beside cattrs with the same names and no check beyond types.

    Each value is the one that was read before, so that no text is written that a target had kept.
    """
    target = targetspec.CpuTarget(triple=TRIPLE, cpu="haswell", features=_thirty_two())
    seven = _seven(Seven, frozenset(target.features))
    converter = make_converter()

    last: dict[str, Any] = {"ours": target, "floor": seven}

    def ours() -> None:
        last["ours"] = targetspec.loads(targetspec.dumps(last["ours"]))

    def floor() -> None:
        plain = json.loads(json.dumps(converter.unstructure(last["floor"])))
        last["floor"] = converter.structure(plain, Seven)

    print(f"\n{len(target.features)} features")
    show(
        "JSON, out and in",
        medians(
            {
                "targetspec": ours,
                "cattrs, 7 fields": floor,
                "targetspec, one value again": lambda: targetspec.loads(targetspec.dumps(target)),
            }
        ),
        (1.5, "cattrs, 7 fields"),
    )


def _thirty_two() -> tuple[str, ...]:
    haswell = tuple(targetspec.CpuTarget(triple=TRIPLE, cpu="haswell").features)
    return (*haswell, "adx", "prfchw", "rdseed")


if __name__ == "__main__":
    NAMES = frozenset(targetspec.CpuTarget(triple=TRIPLE, cpu="haswell").features)
    equality(NAMES)
    pickling(NAMES)
    documents()
