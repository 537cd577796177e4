"""Reading a target from text: which dialect it is, and what the dialect's own reader leaves to all."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import attrs

from targetspec import registry
from targetspec.errors import (
    DocumentError,
    FieldError,
    FieldTypeError,
    Problem,
    RegistrationError,
    TargetspecError,
    TargetSyntaxError,
    wrong_type,
)
from targetspec.fields import LONGEST_DOCUMENT
from targetspec.json_places import places_of
from targetspec.recognition import beside_llvm, candidates
from targetspec.target import Target, dumps

_LONGEST_KEPT = 1000
_LONGEST_WORDS = 100_000
_THIS_MACHINE = ("native", "host")
# A kind of TVM that is none of ours.
_FOREIGN_KIND = re.compile(
    r'"kind"\s*:\s*"(?:llvm|c|nvptx|ext_dev|hybrid|stackvm|ethos-[a-z]*|sdaccel|aocl\w*)"|"tag"\s*:'
)


@attrs.frozen
class Parsed:
    """A target, the dialect it was read in, and the words that say nothing about it (`-O3`), in their order.

    `text` is what was read, which is no part of `==`.
    """

    target: Target
    leftovers: tuple[str, ...] = ()
    dialect: str = "targetspec"
    text: str = attrs.field(default="", eq=False, repr=False)

    def format(self) -> str:
        """Return the text of the target in its dialect, and the leftovers."""
        if self.dialect == "json":
            return dumps(self.target)
        whole = getattr(registry.dialect(self.dialect), "format_parsed", None)
        if whole is not None:
            return str(whole(self))
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
    if type(dialect) is not str:
        raise wrong_type("parse", "the dialect", dialect, "the name of one, or 'auto'")
    # A text that asks for this machine is read anew each time; the others always mean the same.
    if len(text) > _LONGEST_KEPT or text.lstrip().startswith(_THIS_MACHINE):
        return _read(text, dialect)
    return _kept(text, dialect)


@functools.lru_cache(maxsize=4096)
def _kept(text: str, dialect: str) -> Parsed:
    return _read(text, dialect)


def _read(text: str, dialect: str) -> Parsed:
    if dialect == "auto":
        return _recognised(text)
    if dialect == "native":
        if text.strip() != "native":
            raise TargetSyntaxError(
                text, (0, len(text)), "only the text 'native' is this machine", "", dialect
            )
        return Parsed(registry.layer_above("host.detected").detect_host())
    if dialect == "json":
        return _parse_json(text)
    if len(text) > _LONGEST_WORDS and dialect != "targetspec":
        # Only our own form has targets of so many characters: those with the largest sets of names.
        message = f"a target of {dialect} has at most {_LONGEST_WORDS} characters, and this text {len(text)}"
        raise TargetSyntaxError(text, (0, 1), message, "", dialect)
    parsed: Any = registry.dialect(dialect).parse(text)
    if type(parsed) is not Parsed:
        raise RegistrationError(dialect, f"its parse returned a {type(parsed).__name__}, and not a Parsed")
    return Parsed(parsed.target, parsed.leftovers, parsed.dialect, text)


def _recognised(text: str) -> Parsed:
    if text.strip() == "native":
        return _read(text, "native")
    if text.lstrip().startswith("{"):
        return _recognised_json(text)
    first, *others = candidates(text)
    if others:
        return _agreed(text, (first, *others))
    try:
        return _read(text, first)
    except TargetspecError:
        if first != "llvm":
            raise
        found, _ = _readings(text, beside_llvm(text))
        if not found:
            raise
    return _one(text, found)


def _readings(text: str, dialects: Iterable[str]) -> tuple[list[Parsed], list[TargetspecError]]:
    """Return what the dialects read that can read a text, and the errors of the others."""
    found, errors = [], []
    for dialect in dialects:
        try:
            found.append(_read(text, dialect))
        except TargetspecError as error:
            errors.append(error)
    return found, errors


def _agreed(text: str, dialects: tuple[str, ...]) -> Parsed:
    """Return the reading that all dialects share which can read a text; the error is the likeliest one's."""
    found, errors = _readings(text, dialects)
    if not found:
        raise errors[0]
    return _one(text, found)


def _one(text: str, found: list[Parsed]) -> Parsed:
    first, *others = found
    for other in others:
        if other.target != first.target:
            message = f"means {first.target} in {first.dialect} and {other.target} in {other.dialect}"
            hint = f"state the dialect: {first.dialect} or {other.dialect}"
            raise TargetSyntaxError(text, (0, len(text)), message, hint)
    return first


def _recognised_json(text: str) -> Parsed:
    """Read a document of ours, of TVM, whose kinds have other fields, or of rustc."""
    foreign = "rust" if '"llvm-target"' in text else "tvm"
    try:
        return _parse_json(text)
    except TargetspecError:
        found, errors = _readings(text, (foreign,))
        if found:
            return found[0]
        if _FOREIGN_KIND.search(text) or foreign == "rust":
            raise errors[0] from None
        raise


def _checked(text: Any) -> str:
    if not isinstance(text, str):
        hint = "decode it first" if isinstance(text, bytes) else ""
        raise FieldTypeError("parsed", "text", repr(text)[:200], "must be a str", hint)
    if len(text) > LONGEST_DOCUMENT:
        message = f"a target has at most {LONGEST_DOCUMENT} characters, and this text {len(text)}"
        raise TargetSyntaxError(text[:LONGEST_DOCUMENT], (0, 1), message)
    if "\0" in text:
        at = text.index("\0")
        raise TargetSyntaxError(text, (at, at + 1), "a target holds no NUL character")
    if not text.strip():
        raise TargetSyntaxError(text, (0, len(text)), "the text is empty", "write 'native' for this machine")
    return str(text)


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


def _span_in_json(text: str, problem: Problem) -> tuple[int, int]:
    """Return where a problem's member is written."""
    return problem.span if problem.span is not None else places_of(text, [problem.path])[problem.path]


def _hosted(target: Target, host: Target | str) -> Target:
    if not isinstance(host, str):
        return target.with_host(host)
    beside = parse(host)
    try:
        return target.with_host(beside)
    except FieldError as error:
        raise TargetSyntaxError(host, (0, len(host)), error.message, error.hint) from None
