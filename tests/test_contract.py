"""What others rely on: the public names, a light import, documented modules, and files fit for any machine."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import targetspec
import tuner

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "tools", "schemas", "benchmarks", "docs", ".ci")
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Written in pieces, so that this file passes its own test.
FORBIDDEN = re.compile(
    "|".join(
        (
            r"(?<![\w.])/" + r"(?:root|work|home)/\w",
            "pypi" + r"\.org",
            "python" + r"hosted\.org",
            "registry" + r"\.npmjs",
            "deb" + r"\.debian\.org",
            "proxy" + r"\.golang\.org",
            "(?:index-url|find-links)" + "[ =]",
        )
    )
)


@pytest.mark.parametrize("package", [targetspec, tuner], ids=lambda package: package.__name__)
def test_the_public_names_are_sorted_and_resolve(package: ModuleType) -> None:
    """`__all__` is in order, without doubles, and each name is there."""
    assert sorted(set(package.__all__)) == list(package.__all__)
    assert [] == [name for name in package.__all__ if not hasattr(package, name)]


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    """A misspelt name fails as it does in any module."""
    with pytest.raises(AttributeError, match="parze"):
        _ = targetspec.parze


def test_importing_targetspec_loads_little() -> None:
    """The import pays for no parser, table, JSON reader, compiler or array library."""
    program = "import sys; old = set(sys.modules); import targetspec; print(*(set(sys.modules) - old))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(answer.stdout.split())
    heavy = {
        "attr",
        "attrs",
        "cattrs",
        "json",
        "llvmlite",
        "numpy",
        "importlib.metadata",
        "importlib.resources",
    }
    assert set() == loaded & heavy
    own = {name for name in loaded if name.split(".")[0] in {"targetspec", "tuner"}}
    assert {"targetspec", "targetspec.errors", "targetspec.registry"} == own


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_every_module_says_what_it_is(path: Path) -> None:
    """A module begins with a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_file_names_a_machine_or_a_registry() -> None:
    """What is checked in holds on any machine, with any package index."""
    files = [path for path in ROOT.iterdir() if path.is_file() and not path.name.startswith(".coverage")]
    files += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in files
        if path.suffix not in {".pyc", ".so"}
        for hit in FORBIDDEN.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert [] == found
