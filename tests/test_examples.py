"""What the README and the docstrings show is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.document import Document
from sybil.parsers.markdown import PythonCodeBlockParser

import targetspec
import tuner

README = Path(__file__).resolve().parents[1] / "README.md"
TUNING = "\n## Tuning\n"
FLAGS = doctest.ELLIPSIS


def modules() -> Iterator[str]:
    for package in (targetspec, tuner):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                yield module.name


def read_readme() -> tuple[Document, int]:
    """Return the README and the place where its slow part starts."""
    sybil = Sybil(parsers=[PythonCodeBlockParser(doctest_optionflags=FLAGS)], path=str(README.parent))
    document = sybil.parse(README)
    return document, document.text.index(TUNING)


def test_the_readme_tells_the_truth_of_targets() -> None:
    """Every example before the part on tuning gives what it shows."""
    document, end = read_readme()
    examples = [example for example in document.examples() if example.start < end]
    assert examples
    for example in examples:
        example.evaluate()


@pytest.mark.slow
def test_the_readme_tells_the_truth_of_tuning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernel of the README is tuned and its record found again."""
    monkeypatch.chdir(tmp_path)
    document, start = read_readme()
    document.namespace["targetspec"] = targetspec
    examples = [example for example in document.examples() if example.start > start]
    assert examples
    for example in examples:
        example.evaluate()
    assert "'width'" in capsys.readouterr().out
    assert (tmp_path / "records.sqlite").is_file()


@pytest.mark.parametrize("name", sorted(modules()))
def test_docstrings_tell_the_truth(name: str) -> None:
    """The examples of a module's docstrings, if any, give what they show."""
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0
