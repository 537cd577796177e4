"""Every file of the corpora, with its judge."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from judges import (
    archs,
    archspec,
    arm,
    bugs,
    cpus,
    devices,
    gnu,
    halide,
    host_systems,
    riscv,
    rust,
    triples,
    tvm,
    zig,
)
from judges.judge import Judge, Row

_ALL = (
    archs,
    archspec,
    arm,
    bugs,
    cpus,
    devices,
    gnu,
    halide,
    host_systems,
    riscv,
    rust,
    triples,
    tvm,
    zig,
)
FILES: Mapping[str, Judge] = {name: judge for module in _ALL for name, judge in module.FILES.items()}


def rows_of(path: Path) -> list[Row]:
    """Return the rows of a file: an object a line, or a table with tabs."""
    with path.open(encoding="utf-8") as lines:
        if path.suffix == ".tsv":
            return list(csv.DictReader(lines, delimiter="\t"))
        return [json.loads(line) for line in lines if line.strip()]


def paths_in(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their names without the suffix."""
    return {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in (".jsonl", ".tsv")}
