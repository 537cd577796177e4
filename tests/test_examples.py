"""What the README and the docstrings show is what happens."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.document import Document
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import targetspec
import tuner
from tuner.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
RECORDS = README.with_name("docs") / "records.md"
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


def run_commands(example: Example) -> str | None:
    """Run what stands behind each `$`; give what differs from the lines below it."""
    for command, expected in re.findall(r"^\$ tuner (.*)\n((?:(?!\$ ).*\n)*)", example.parsed, re.MULTILINE):
        with io.StringIO() as text, contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            main(shlex.split(command))
            got = text.getvalue()
        if not doctest.OutputChecker().check_output(expected, got, FLAGS):
            return f"{command!r} printed\n{got}"
    return None


def test_the_page_of_records_tells_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of the page, in Python or as a command, gives what it shows."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    parsers = [PythonCodeBlockParser(doctest_optionflags=FLAGS), CodeBlockParser("console", run_commands)]
    examples = list(Sybil(parsers=parsers, path=str(RECORDS.parent)).parse(RECORDS).examples())
    assert examples
    for example in examples:
        example.evaluate()


@pytest.mark.parametrize("name", sorted(modules()))
def test_docstrings_tell_the_truth(name: str) -> None:
    """The examples of a module's docstrings, if any, give what they show."""
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0
