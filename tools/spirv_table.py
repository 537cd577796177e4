"""Generate `src/targetspec/data/spirv.json` from Khronos's machine-readable grammar of SPIR-V.

    python tools/spirv_table.py GRAMMAR

GRAMMAR is the file include/spirv/unified1/spirv.core.grammar.json of KhronosGroup/SPIRV-Headers. The table holds what
each capability declares implicitly, and the other names that capabilities go by; it was last made from SPIR-V 1.6
revision 7.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from generate_tables import DATA, rows

# Where the grammar lists either of two, and not both.
EITHER = {"RayTraversalPrimitiveCullingKHR"}


def table(grammar: str) -> str:
    """Return the table's text for a grammar's text."""
    kinds = json.loads(grammar)["operand_kinds"]
    listed = next(kind["enumerants"] for kind in kinds if kind["kind"] == "Capability")
    implies = {
        one["enumerant"]: "" if one["enumerant"] in EITHER else " ".join(sorted(one.get("capabilities", ())))
        for one in listed
    }
    aliases = {alias: one["enumerant"] for one in listed for alias in one.get("aliases", ())}
    parts = {"implies": dict(sorted(implies.items())), "aliases": dict(sorted(aliases.items()))}
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {rows(value)}" for key, value in parts.items()) + "\n}\n"


if __name__ == "__main__":
    grammar = Path(sys.argv[1]).read_text(encoding="utf-8")
    (DATA / "spirv.json").write_text(table(grammar), encoding="utf-8")
