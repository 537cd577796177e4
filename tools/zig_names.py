"""Generate `src/targetspec/data/zig.json` from zig's own tables: its names of CPUs and features, by architecture.

`needs` holds what each feature needs directly.

    python tools/zig_names.py [--check]

needs ziglang. Architectures that share their names share an entry. With `--check` nothing is written, and the exit
status is 1 where the file differs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ziglang
from generate_tables import DATA, rows

_FEATURE = re.compile(
    r'Feature\.(?:@"([^"]+)"|(\w+))\)\] = \.\{[^}]*?\.dependencies = featureSet\(&\[_\]Feature\{([^}]*)\}\)'
)
# The files of families by the first of their architectures, where that has another name.
_FILES = {
    "loongarch32": "loongarch",
    "riscv32": "riscv",
    "wasm32": "wasm",
    "x86_16": "x86",
}
# The sets of an AMD GPU hold what clang may switch, which is not what zig's do.
_OPEN = frozenset(("amdgcn",))

_ENTRY = re.compile(r'^( *)(?:\.(?:@"([^"]+)"|(\w+)) = \.\{(\},)?|"([^"]+)",|\.\{(\},)?)$')


def listed(text: str, section: str, depth: int) -> dict[str, list[str]]:
    """Return the names of a section of the answer by architecture, which stand a number of spaces deep."""
    start = text.index(f"\n    .{section} = .{{\n")
    body = text[start + 1 : text.index("\n    },", start)]
    found: dict[str, list[str]] = {}
    for entry in filter(None, map(_ENTRY.match, body.splitlines()[1:])):
        spaces, name = len(entry[1]), entry[2] or entry[3] or entry[5]
        if spaces == depth - 4:
            arch = found.setdefault(name, [])
        elif spaces == depth:
            arch.append(name)
    return found


def needs(zig: Path, name: str) -> dict[str, str]:
    """Return what each feature of one of zig's families needs directly."""
    path = zig / "lib" / "std" / "Target" / f"{name}.zig"
    found = _FEATURE.findall(path.read_text(encoding="utf-8")) if path.exists() else ()
    direct = {quoted or plain: " ".join(re.findall(r"\w+", body)) for quoted, plain, body in found}
    return {feature: names for feature, names in sorted(direct.items()) if names}


def document(text: str, zig: Path) -> str:
    """Return the file for an answer of `zig targets` and the folder of zig."""
    cpus, features = listed(text, "cpus", 12), listed(text, "cpu_features", 12)
    shared: dict[tuple[str, str], list[str]] = {}
    for arch, names in cpus.items():
        both = " ".join(sorted(names)), " ".join(sorted(features.get(arch, ())))
        shared.setdefault(both, []).append(arch)
    entries = {}
    for (cpu_names, feature_names), archs in shared.items():
        needed = needs(zig, _FILES.get(archs[0], archs[0])) if archs[0] not in _OPEN else {}
        entries[" ".join(archs)] = {"cpus": cpu_names, "features": feature_names, "needs": needed}
    return rows(entries)


def main() -> int:
    """Write or check the file."""
    command = [sys.executable, "-m", "ziglang", "targets"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made, path = document(text, Path(ziglang.__file__).parent) + "\n", DATA / "zig.json"
    same = path.exists() and path.read_text(encoding="utf-8") == made
    if not same and "--check" not in sys.argv:
        path.write_text(made, encoding="utf-8")
    return int(not same and "--check" in sys.argv)


if __name__ == "__main__":
    raise SystemExit(main())
