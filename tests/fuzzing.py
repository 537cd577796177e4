"""What reading any string must come to: a target or a TargetSyntaxError, in every dialect, and soon."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import attrs

from targetspec import TargetSyntaxError, registry
from targetspec.parsing import Parsed, _read, parse_full
from targetspec.target import Target

SECONDS = 0.05
"""The most that a string may take, as time of the processor."""


@attrs.frozen
class Fault:
    """A string that ended in another way, or took too long, and in which dialect."""

    dialect: str
    text: str
    said: str


def dialects() -> tuple[str, ...]:
    """Return every dialect that a text can be read in, the machine's own name left out."""
    return ("auto", "json", *registry.DIALECTS)


def fault_of(text: str, dialect: str, seconds: float | None = SECONDS) -> Fault | None:
    """Read a string; None where it ends as it must, within so much time of the processor where that counts."""
    start = time.process_time()
    said = _ended(text, dialect, parse_full)
    taken = time.process_time() - start
    if not said and seconds is not None and taken > seconds and text.strip():
        again = time.process_time()
        _ended(text, dialect, _read)  # what was only loaded once, or collected, is not the string's
        taken = time.process_time() - again
        said = f"took {1000 * taken:.0f} ms" if taken > seconds else ""
    return Fault(dialect, text, said) if said else None


def _ended(text: str, dialect: str, reader: Callable[[str, str], Parsed]) -> str:
    try:
        found = reader(text, dialect)
    except TargetSyntaxError as error:
        return _faulty_span(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return f"{type(error).__name__}: {str(error)[:200]}"
    if not isinstance(found.target, Target):
        return f"a {type(found.target).__name__}"
    return "" if all(isinstance(word, str) for word in found.leftovers) else "leftovers that are no words"


def _faulty_span(error: TargetSyntaxError) -> str:
    """The span lies within the text, and the error can be printed."""
    start, end = error.span
    whole = 0 <= start <= end <= max(len(error.text), 1)
    return "" if whole and str(error) else f"a span {error.span} in a text of {len(error.text)}"


def faults(texts: Iterator[str], count: int, seconds: float | None = SECONDS) -> Iterator[Fault]:
    """Read so many strings, each in auto and in one more dialect in turn, and give the faults."""
    names = dialects()
    for number in range(count):
        text = next(texts)
        for dialect in ("auto", names[number % len(names)]):
            found = fault_of(text, dialect, seconds)
            if found is not None:
                yield found
