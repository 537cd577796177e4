"""Generate the CPU and feature tables of `src/targetspec/data` from clang, zig's tables and LLVM's help.

    python tools/generate_tables.py [--check] [FAMILY...]

needs ziglang and llvmlite of the same LLVM. clang says what sets the CPUs have and how features are closed; zig's copy
of LLVM's subtarget definitions says which tuning comes with a CPU and what clang leaves unsaid; `table_patches.toml`
holds what was reviewed by hand: roles, aliases, and each departure from clang with its reason. With `--check` nothing
is written, and the exit status is 1 where a file differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import llvm_oracle
from baselines import baselines, family_of
from table_families import BUILDERS
from table_patches import Patches

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "src" / "targetspec" / "data"


def rows(mapping: dict[str, Any]) -> str:
    """Write a JSON object with one entry a line, so that a change shows as one line."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in mapping.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def documents(family: str, patches: dict[str, Any]) -> dict[str, str]:
    """Return the files of a family by name."""
    reviewed = Patches(family, patches[family])
    table, texts = BUILDERS[family](reviewed)
    texts = reviewed.describe(texts)
    version = llvm_oracle.version()
    parts = {
        key: rows(value) if isinstance(value, dict) else json.dumps(value) for key, value in table.items()
    }
    body = ",\n".join(f"{json.dumps(key)}: {text}" for key, text in parts.items())
    head = f'{{\n"family": {json.dumps(family)},\n"llvm": {json.dumps(version)},\n'
    return {f"{family}.json": head + body + "\n}\n", f"{family}.doc.json": rows(texts) + "\n"}


def index() -> str:
    """Return the index of CPU names by family, from the tables as they stand."""
    names = {}
    for family in sorted(BUILDERS):
        path = DATA / f"{family}.json"
        if path.exists():
            table = json.loads(path.read_text(encoding="utf-8"))
            names[family] = " ".join(sorted([*table["cpus"], *table["aliases"]]))
    return rows(names) + "\n"


def settle(name: str, text: str, *, check: bool) -> bool:
    """Write a file, or say whether it differs."""
    path = DATA / name
    same = path.exists() and path.read_text(encoding="utf-8") == text
    if not same and not check:
        path.write_text(text, encoding="utf-8")
    if not same:
        print(f"{name}: {'differs' if check else 'written'}")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate the CPU and feature tables.")
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="the families to make; all by default")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file differs")
    arguments = parser.parse_args()
    families = arguments.families or sorted(BUILDERS)
    unknown = sorted({*families} - BUILDERS.keys())
    if unknown:
        parser.error(f"no such family: {', '.join(unknown)}; there are {', '.join(sorted(BUILDERS))}")
    patches = tomllib.loads((HERE / "table_patches.toml").read_text(encoding="utf-8"))
    same = True
    for family in families:
        for name, text in documents(family, patches).items():
            same &= settle(name, text, check=arguments.check)
    same &= settle("index.json", index(), check=arguments.check)
    known = json.loads((DATA / "baselines.json").read_text(encoding="utf-8"))
    kept = {key: entry for key, entry in known.items() if family_of(key) not in families}
    entries = dict(sorted((kept | baselines(DATA, families)).items()))
    same &= settle("baselines.json", rows(entries) + "\n", check=arguments.check)
    return 1 if arguments.check and not same else 0


if __name__ == "__main__":
    sys.exit(main())
