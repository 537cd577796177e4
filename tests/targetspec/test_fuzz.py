"""Any string ends in a target or a TargetSyntaxError, in every dialect; the long run is `make fuzz`."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from conftest import SHARED
from fuzzing import dialects, fault_of, faults
from mutations import LONGEST, PIECES, SEEDS, corpus_lines, strings
from targetspec import TargetSyntaxError, parse
from targetspec.target_strings import ANY_TEXT, definitions

FOLDER: Path | None = SHARED / "corpora" if SHARED.is_dir() else None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_string_ends_in_a_target_or_a_syntax_error(seed: int) -> None:
    """A thousand strings made from real lines with a fixed seed, in auto and in each dialect in turn."""
    assert [] == list(faults(strings(corpus_lines(FOLDER), seed), 1000, None))


@pytest.mark.parametrize("dialect", dialects())
def test_one_piece_ten_thousand_times_over(dialect: str) -> None:
    """No reader recurses, or takes the square of a length: alone, behind a good text, and with a good end."""
    for piece in PIECES:
        many = (piece * LONGEST)[: LONGEST - 200]
        assert fault_of(many, dialect, None) is None
        assert fault_of(f"x86_64-linux-gnu {many}", dialect, None) is None


@pytest.mark.parametrize("dialect", dialects())
def test_the_beginnings_of_good_texts(dialect: str) -> None:
    """A text that is cut anywhere is another target, or none."""
    cut = itertools.chain.from_iterable((text[:end] for end in range(0, len(text), 7)) for text in SEEDS)
    assert [] == [fault for text in cut if (fault := fault_of(text, dialect, None))]


def test_patterns_take_whatever_is_read() -> None:
    """The schema's pattern of a dialect is a superset: real lines and mutated ones, with any white space around them."""
    patterns = {name: re.compile(one["pattern"]) for name, one in definitions().items() if name != "json"}
    assert all(pattern.pattern != ANY_TEXT for pattern in patterns.values())
    lines = corpus_lines(FOLDER)
    texts = itertools.chain(lines[::4], itertools.islice(strings(lines, 9), 1000))
    padded = (text for line in texts for text in (line, f" \x1c{line}\x85 "))
    wrong = [
        (name, text)
        for text in padded
        for name, pattern in patterns.items()
        if pattern.search(text) is None and not _is_refused(text, name)
    ]
    assert [] == wrong


def _is_refused(text: str, dialect: str) -> bool:
    try:
        parse(text, dialect)
    except TargetSyntaxError:
        return True
    return False


def test_a_fault_is_found() -> None:
    """A name that is no dialect ends otherwise, and so is a fault."""
    fault = fault_of("cpu", "nosuch", None)
    assert fault is not None
    assert fault.said.startswith("UnknownNameError")
