"""Reading a target from text: which dialect it is, and what the dialect's own reader leaves to all."""

from __future__ import annotations

import json
import re
from typing import Any

import attrs

from targetspec import registry
from targetspec.errors import (
    DocumentError,
    FieldError,
    FieldTypeError,
    RegistrationError,
    TargetspecError,
    TargetSyntaxError,
)
from targetspec.target import Target
from targetspec.triple_archs import known_arch

LONGEST = 100_000
"""The most characters that a text may have."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@attrs.frozen
class Parsed:
    """A target, the dialect it was read in, and the words that say nothing about it (`-O3`), in their order."""

    target: Target
    leftovers: tuple[str, ...] = ()
    dialect: str = "targetspec"

    def format(self) -> str:
        """Return the text of the target in its dialect, and the leftovers."""
        if self.dialect == "json":
            return str(registry.layer_above("codec").dumps(self.target))
        return " ".join(filter(None, (self.target.format(self.dialect), *self.leftovers)))


def parse(text: str, dialect: str = "auto", host: Target | str | None = None) -> Target:
    """Return the target that a text means; "native" is this machine.

    `dialect` is "targetspec", "llvm", "json", another installed one, or "auto": the text tells. `host` is given to
    the target.

    Raises:
        TargetSyntaxError: the text is no target.
        UnknownNameError: no such dialect.
        HostConflictError: the text has another host.
        FieldError: the host cannot be one; its subclass FieldTypeError for a text that is no str.

    >>> str(parse("x86_64-linux-gnu -mcpu=haswell"))
    'cpu triple=x86_64-unknown-linux-gnu cpu=haswell'
    """
    target = parse_full(text, dialect).target
    return target if host is None else _hosted(target, host)


def parse_full(text: str, dialect: str = "auto") -> Parsed:
    """Return the target that a text means, with what the text holds beside it; errors are those of `parse`."""
    text = _checked(text)
    if dialect == "auto":
        dialect = _dialect_of(text)
    if dialect == "native":
        return Parsed(registry.layer_above("host.detected").detect_host())
    if dialect == "json":
        return _parse_json(text)
    parsed: Any = registry.dialect(dialect).parse(text)
    if type(parsed) is not Parsed:
        raise RegistrationError(dialect, f"its parse returned a {type(parsed).__name__}, and not a Parsed")
    return parsed


def _checked(text: Any) -> str:
    if not isinstance(text, str):
        hint = "decode it first" if isinstance(text, bytes) else ""
        raise FieldTypeError("parsed", "text", repr(text)[:200], "must be a str", hint)
    if len(text) > LONGEST:
        message = f"a target has at most {LONGEST} characters, and this text {len(text)}"
        raise TargetSyntaxError(text[:LONGEST], (0, 1), message)
    if "\0" in text:
        at = text.index("\0")
        raise TargetSyntaxError(text, (at, at + 1), "a target holds no NUL character")
    if not text.strip():
        raise TargetSyntaxError(text, (0, len(text)), "the text is empty", "write 'native' for this machine")
    return str(text)


def _dialect_of(text: str) -> str:
    if text.strip() == "native":
        return "native"
    if text.lstrip().startswith("{"):
        return "json"
    word = text.split(None, 1)[0]
    if word in registry.KINDS:
        return "targetspec"
    # Looking up installed kinds takes milliseconds, so only where a word may be one; an architecture comes first.
    if not _WORD.fullmatch(word) or known_arch(word.lower()) is not None:
        return "llvm"
    return "targetspec" if word in registry.kind_names() else "llvm"


def _parse_json(text: str) -> Parsed:
    try:
        return Parsed(registry.layer_above("codec").loads(text), dialect="json")
    except RecursionError:
        raise TargetSyntaxError(text, (0, 1), "the document is nested too deeply", dialect="json") from None
    except DocumentError as error:
        first, *more = error.problems
        tail = f", and {len(more)} more faults" if more else ""
        message = f"{first.path}: {first.message}{tail}" if first.path else f"{first.message}{tail}"
        raise TargetSyntaxError(text, _span_in_json(text, first), message, first.hint, "json") from None
    except TargetspecError as error:
        raise TargetSyntaxError(text, (0, len(text)), str(error), dialect="json") from None


def _span_in_json(text: str, problem: object) -> tuple[int, int]:
    """Return where a problem's member is written, or the whole text where that is not plain to see."""
    span: tuple[int, int] | None = getattr(problem, "span", None)
    if span is not None:
        return span
    key = re.search(r"\.([A-Za-z0-9_]+)[^.]*$", getattr(problem, "path", ""))
    quoted = json.dumps(key[1]) if key else ""
    if not quoted or text.count(quoted) != 1:
        return 0, len(text)
    start = text.index(quoted)
    return start, start + len(quoted)


def _hosted(target: Target, host: Target | str) -> Target:
    if not isinstance(host, str):
        return target.with_host(host)
    beside = parse(host)
    try:
        return target.with_host(beside)
    except FieldError as error:
        raise TargetSyntaxError(host, (0, len(host)), error.message, error.hint) from None
