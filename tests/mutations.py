"""Strings for readers of target strings: random ones, and ones made from real lines by a seeded generator."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judges.files import paths_in, rows_of

LONGEST = 10_000
_FIELDS = (
    "alias", "arch", "code_for", "cpu", "formatted", "host", "image", "input", "isa", "llvm_target", "name",
    "runs_on", "tag", "target", "target_id", "triple", "value",
)  # fmt: skip
# What the grammars of all dialects are made of.
PIECES = (
    *"-+=,:;./()[]{}<>\\'\"@#%*?!&|~^$ \t\n_0123456789abzAZ", "\x1c", "\x85", "\u2028", "é", "\uff10", "\ud800", "\U0001f600",
    "--", "==", "[cpu ", "]", "host=[", "features=", "features=+", "-mcpu=", "-mattr=", "-march=", "-mattr=+", "+no",
    "native", "host", "cpu ", "cuda arch=", "sm_90", "gfx90a:xnack+", "rv64gc_", "zvl", "linux/amd64", "GOARCH=",
    "-C target-feature=+", "-keys=", "-libs=", '{"kind": "cpu"', "}", "null", "1e999", "9" * 40, "i2p1", "_zba1p0",
    "manylinux_2_17_", "x86_64", "aarch64", "-unknown-linux-gnu", "-device=", 'arch="', "triple=", "\\'", "-mabi=",
)  # fmt: skip
SEEDS = (
    "cpu triple=x86_64-unknown-linux-gnu cpu=znver3 features=+vaes,-pku num_cores=8",
    "cuda arch=sm_90a max_threads_per_block=1024 host=[cpu triple=aarch64-unknown-linux-gnu]",
    "composite members=[cuda arch=sm_80][cpu triple=x86_64-unknown-linux-gnu]",
    "x86_64-unknown-linux-gnu -mcpu=haswell -mattr=+avx512f,-fma",
    "aarch64-linux-gnu -march=armv8.2-a+sve+nocrypto -mtune=neoverse-v1",
    "rv64imafdc_zicsr_zifencei_zba1p0",
    "llvm -mtriple=aarch64-linux-gnu -mattr=+neon,+dotprod -keys=arm_cpu,cpu -num-cores=4",
    "arm-64-linux-sve2-vector_bits_256-cuda-cuda_capability_80",
    "x86_64-unknown-linux-gnu -C target-cpu=znver3 -C target-feature=+avx512f,-fma",
    "x86_64-linux.5.10...6.1-gnu.2.38 -mcpu=skylake+avx512f-bmi2",
    "gfx90a:sramecc+:xnack-",
    "linux(5.10+feature)/arm64/v8",
    "linux/amd64 GOAMD64=v3",
    "manylinux_2_17_x86_64.manylinux2014_x86_64",
    '{"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "features": ["avx2"]}',
    '{"llvm-target": "x86_64-unknown-linux-gnu", "target-pointer-width": "64", "data-layout": "e-m:e-p270:32:32"}',
    "mips64el-unknown-linux-gnuabi64 -mips64r2 -mabi=64 -mfpu=none",
)


def corpus_lines(folder: Path | None) -> list[str]:
    """Return the target strings in the files of a folder, each once; typed ones alone where there is none."""
    found = dict.fromkeys(SEEDS)
    for path in paths_in(folder).values() if folder is not None else ():
        for row in rows_of(path):
            found.update(dict.fromkeys(filter(None, map(_text, (row.get(name) for name in _FIELDS)))))
    return list(found)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    return value if isinstance(value, str) else ""


def strings(lines: Sequence[str], seed: int) -> Iterator[str]:
    """Give strings without end, at most 10 kB each."""
    rng = random.Random(seed)
    while True:
        text = rng.choice(lines) if rng.random() < 0.9 else ""
        for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
            text = _mutated(rng, text, lines)
        yield (
            text.encode("utf-8", "surrogatepass")[:LONGEST].decode("utf-8", "ignore")
            if len(text) > 999
            else text
        )


def _mutated(rng: random.Random, text: str, lines: Sequence[str]) -> str:
    at, end = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
    piece, line = rng.choice(PIECES), rng.choice(lines)
    times = rng.choice((2, 2, 3, 3000 // (end - at + 1) + 1))
    changed = {
        "put in": f"{text[:at]}{piece}{text[at:]}",
        "take out": text[:at] + text[end:],
        "in place of": f"{text[:at]}{piece}{text[at + 1 :]}",
        "repeat": text[:at] + text[at:end] * times + text[end:],
        "another end": text[:at] + line[rng.randint(0, len(line)) :],
        "another order": _reordered(rng, text),
        "another letter": f"{text[:at]}{chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x250))))}{text[at + 1 :]}",
        "one more": f"{text}{' ' * rng.choice((0, 1))}{line}",
    }
    return rng.choice(tuple(changed.values()))


def _reordered(rng: random.Random, text: str) -> str:
    words = text.split(" ")
    one, other = rng.randrange(len(words)), rng.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)
