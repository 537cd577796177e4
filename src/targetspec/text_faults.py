"""The faults of a text, each with its place: what `parse` refuses, told all at once where that is cheap."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from targetspec import registry
from targetspec.codec import validate
from targetspec.errors import FieldError, Problem, TargetspecError, TargetSyntaxError, UnknownNameError
from targetspec.json_places import places_of
from targetspec.parsing import parse_full

# A name that the table of a settled family lacks: the other words mean the same without it.
_APART = re.compile(r"unknown (?:CPU|feature) .* for [a-z0-9_]+(?: \(it is one of .*\))?")
_MOST = 20
# What may be read again to find further faults, in characters: a small part of a second.
_BUDGET = 100_000


def validate_text(text: str, dialect: str = "auto") -> list[Problem]:
    """Return the faults of a text, each with its span and an empty path; none iff `parse` reads it.

    The fault that `parse` raises is among them. Raises UnknownNameError for a dialect that is not there.

    >>> for problem in validate_text("x86_64-linux-gnu -mcpu=haswel -mattr=+avx9"):
    ...     print(problem.span, problem.message)
    (23, 29) unknown CPU 'haswel' for x86
    (37, 42) unknown feature 'avx9' for x86
    """
    try:
        parse_full(text, dialect)
    except TargetSyntaxError as error:
        return sorted(set(_problems(text, dialect, error)), key=lambda problem: problem.span or (0, 0))
    except UnknownNameError as error:
        if error.what == "dialect":
            raise
        return [Problem("", str(error), "", (0, len(text)))]
    except FieldError as error:
        return [Problem("", error.message, error.hint)]
    except TargetspecError as error:
        return [Problem("", str(error), "", (0, len(text)))]
    return []


def _problems(text: str, dialect: str, first: TargetSyntaxError) -> Iterator[Problem]:
    if first.dialect == "json":
        yield from _of_json(text)
        return
    yield _problem(text, first)
    if first.text == text:
        for error in _more(text, dialect, first):
            yield _problem(text, error)


def _problem(text: str, error: TargetSyntaxError) -> Problem:
    span = error.span if error.text == text[: len(error.text)] else (0, len(text))
    return Problem("", error.message, error.hint, span)


def _of_json(text: str) -> Iterator[Problem]:
    problems = validate(text)
    places = places_of(text, [problem.path for problem in problems])
    for path, message, hint, span in problems:
        where = span or (_break(text) if path == "$" else None) or places[path]
        yield Problem("", f"{path}: {message}", hint, where)


def _break(text: str) -> tuple[int, int] | None:
    """Return where a text stops being JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos, min(error.pos + 1, len(text))
    except (ValueError, RecursionError):
        return None
    return None


def _more(text: str, dialect: str, first: TargetSyntaxError) -> Iterator[TargetSyntaxError]:
    """Give further faults: as the dialect tells them apart, and names that are unknown like the first."""
    name = first.dialect or dialect
    if name in registry.DIALECTS and hasattr(registry.dialect(name), "faults"):
        yield from registry.dialect(name).faults(text)
    if first.dialect:
        yield from _unknown_names(text, first.dialect, first)


def _unknown_names(text: str, dialect: str, first: TargetSyntaxError) -> Iterator[TargetSyntaxError]:
    """Read the text again without each unknown name in turn, for as long as unknown names are what is wrong."""
    kept = list(range(len(text)))
    error, rounds = first, min(_MOST, _BUDGET // len(text))
    while rounds > 0 and _APART.fullmatch(error.message):
        rounds -= 1
        start, end = _whole_item(error.text, error.span)
        del kept[start:end]
        try:
            parse_full("".join(text[at] for at in kept), dialect)
        except TargetSyntaxError as further:
            if not _APART.fullmatch(further.message) or len(further.text) != len(kept):
                return
            start, end = further.span
            span = (kept[start], kept[end - 1] + 1)
            yield TargetSyntaxError(text, span, further.message, further.hint, dialect)
            error = further
        except TargetspecError:
            return
        else:
            return


def _whole_item(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return the span of the item of a list joined by commas, with one comma, or of the word that holds a name alone."""
    start, end = span
    while start > 0 and not (text[start - 1].isspace() or text[start - 1] in ",="):
        start -= 1
    while end < len(text) and not (text[end].isspace() or text[end] == ","):
        end += 1
    if text[end : end + 1] == ",":
        return start, end + 1
    if text[max(0, start - 1) : start] == ",":
        return start - 1, end
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    return start, end
