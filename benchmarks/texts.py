"""Reading of target strings beside Halide's and TVM's own readers: a text not seen before, and one seen before.

    python benchmarks/texts.py

Modules and tables are loaded before. The limits are 15 us for a new text of LLVM or TVM and 1 us for one seen before.
Halide and TVM (apache-tvm 0.27.0.post1 with apache-tvm-ffi 0.1.14.post1) are compared where they are installed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from _side_by_side import medians, peer, show

import targetspec

NEW_US, SEEN_US = 15.0, 1.0
TEXTS = {
    "llvm": "x86_64-unknown-linux-gnu -mcpu=haswell -O{n}",
    "llvm, changed features": "x86_64-unknown-linux-gnu -mcpu=haswell -mattr=+avx512f,-lzcnt -O{n}",
    "tvm": "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -num-cores={n}",
    "tvm, changed features": "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -mattr=+avx512f -num-cores={n}",
    "tvm, JSON": '{{"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "haswell", "num-cores": {n}}}',
    "tvm, a device": "cuda -arch=sm_80 -max_threads_per_block={n}",
    "halide": "x86-64-linux-avx2-vector_bits_{n}",
}


# More than are kept, so that each is forgotten when it comes again, and as many as Halide's vectors have lengths.
_NUMBERS = range(128, 1 << 16, 8)


def _fresh(pattern: str) -> Iterator[str]:
    return (pattern.format(n=n) for n in itertools.cycle(_NUMBERS))


def _new(dialect: str, pattern: str) -> Callable[[], object]:
    texts = _fresh(pattern)
    return lambda: targetspec.parse(next(texts), dialect)


def _seen(dialect: str, pattern: str) -> Callable[[], object]:
    text = pattern.format(n=64)
    return lambda: targetspec.parse(text, dialect)


def main() -> None:
    """Time the texts in turns, and the peers' readers of the same; no limit is set for Halide's."""
    for name, pattern in TEXTS.items():
        dialect = name.partition(",")[0]
        times = medians({"new": _new(dialect, pattern), "seen before": _seen(dialect, pattern)})
        show(f"{name}: {pattern}", times)
        if dialect == "halide":
            continue
        within = times["new"] <= NEW_US and times["seen before"] <= SEEN_US
        print(f"  {'within' if within else 'NOT within'} {NEW_US:g} us and {SEEN_US:g} us")
    _peers()


def _peers() -> None:
    halide, tvm = peer("halide"), peer("tvm")
    if halide is not None:
        texts = _fresh("x86-64-linux-avx2-vector_bits_{n}")
        ours = _new("halide", TEXTS["halide"])
        show("Halide's string", medians({"targetspec": ours, "Halide": lambda: halide.Target(next(texts))}))
    if tvm is not None:
        theirs = ({"kind": "llvm", "mcpu": "haswell", "num-cores": n} for n in itertools.cycle(_NUMBERS))
        ours = _new("tvm", TEXTS["tvm"])
        show("TVM's target", medians({"targetspec": ours, "TVM": lambda: tvm.target.Target(next(theirs))}))


if __name__ == "__main__":
    main()
