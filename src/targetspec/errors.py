"""Every error that targetspec raises.

Each is also the builtin that a caller would catch, carries its data as attributes, equals another with the
same data, and survives pickle: the data are the positional arguments, and the message is made from them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple

# Python refuses to write numbers of more than some 4300 digits.
_LONG = 128
# What an error carries of a value is for people; the whole of a hostile one would travel and be kept with it.
_SHOWN = 200
_ASKED_NEAR = 64
_FEW = 3


class TargetspecError(Exception):
    """Base of all errors of this package."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        # By repr: True is no 1.0 here, and a NaN is the same NaN.
        return self.args is other.args or repr(self.args) == repr(other.args)

    def __hash__(self) -> int:
        return hash((type(self), repr(self.args)))


def portable(value: Any) -> Any:
    """Return what an error may carry of a value, across processes: plain data as it is, else its repr, cut."""
    if type(value) is int and value.bit_length() > _LONG:
        return f"a number of {value.bit_length()} bits"
    if type(value) is str:
        return cut(value)
    if type(value) in (int, float, bool, type(None)):
        return value
    try:
        if isinstance(value, set | frozenset):
            # In one order, whatever the hash seed of the process.
            return cut(f"{{{', '.join(sorted(_shown(one) for one in value))}}}")
        shown = repr(value)
        # An address says nothing, and makes errors about equal values differ.
        return cut(shown) if " at 0x" not in shown else f"a {type(value).__name__}"
    except Exception:  # noqa: BLE001 - a foreign object's repr may raise anything, and so may deep nesting
        return f"a {type(value).__name__}"


def _shown(value: Any) -> str:
    return repr(value) if type(value) is str else str(portable(value))


def cut(text: str) -> str:
    """Return a text, the middle and end of a long one left out."""
    return text if len(text) <= _SHOWN + _ASKED_NEAR else f"{text[:_SHOWN]}... ({len(text)} characters)"


def nearest(name: str, legal: Iterable[str]) -> tuple[str, ...]:
    """Return up to three legal names close to one that is not, best first."""
    return tuple(difflib.get_close_matches(name[:_ASKED_NEAR], list(legal), _FEW, 0.6))


def wrong_type(function: str, argument: str, value: Any, allowed: str, hint: str = "") -> TypeError:
    """Return the error for an argument of the wrong type: where, what is allowed, what to do."""
    return TypeError(
        f"{function}: {argument} must be {allowed}, not {type(value).__name__}{f'; {hint}' if hint else ''}"
    )


def did_you_mean(near: tuple[str, ...]) -> str:
    """Return a clause that offers the nearest legal names, or, where none is near, all of them; empty where there are none."""
    if not near:
        return ""
    if len(near) > _FEW:
        return f"; there are {', '.join(near)}"
    *head, last = (repr(name) for name in near)
    return f"; did you mean {', '.join(head) + ' or ' if head else ''}{last}?"


class UnknownNameError(TargetspecError, ValueError):
    """A name that no table has.

    Attributes: `what` kind of name it is ("CPU", "feature" ...), the `name`, the nearest legal names in
    `near`, best first, and in `scope` where it was looked up ("x86", "" where there is only one table).
    """

    def __init__(self, what: str, name: str, near: tuple[str, ...] = (), scope: str = "") -> None:
        name = cut(name)
        super().__init__(what, name, near, scope)
        self.what, self.name, self.near, self.scope = what, name, near, scope

    def __str__(self) -> str:
        scope = f" for {self.scope}" if self.scope else ""
        return f"unknown {self.what} {self.name!r}{scope}{did_you_mean(self.near)}"


class FeatureConflictError(TargetspecError, ValueError):
    """Features that cannot hold together: asked for and refused at once, or excluded by each other.

    Attributes: `arch` (the table), `first` and `second` as they were written, `reason`.
    """

    def __init__(self, arch: str, first: str, second: str, reason: str) -> None:
        super().__init__(arch, first, second, reason)
        self.arch, self.first, self.second, self.reason = arch, first, second, reason

    def __str__(self) -> str:
        return f"{self.first} and {self.second} cannot both hold on {self.arch}: {self.reason}"


class FeatureRoleError(TargetspecError, ValueError):
    """A feature that no feature set holds. Attributes: `arch` (the table), `feature`, its `role`."""

    def __init__(self, arch: str, feature: str, role: str) -> None:
        super().__init__(arch, feature, role)
        self.arch, self.feature, self.role = arch, feature, role

    def __str__(self) -> str:
        return (
            f"{self.feature!r} of {self.arch} is a feature of role {self.role}, "
            "which is stated apart from the instruction set"
        )


class FieldError(TargetspecError, ValueError):
    """A field's value is not allowed.

    Attributes: `kind` and `field` name the place, `value` is what was given (its repr when it cannot
    travel, cut where it is long), `message` says what is allowed, `hint` what to do.
    """

    def __init__(self, kind: str, field: str, value: Any, message: str, hint: str = "") -> None:
        value = portable(value)
        super().__init__(kind, field, value, message, hint)
        self.kind, self.field, self.value, self.message, self.hint = kind, field, value, message, hint

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.kind} target, field {self.field!r}: {self.message}, got {self.value!r}{hint}"


class FieldTypeError(FieldError, TypeError):
    """A field's value has the wrong type; `True` is no 1 here, and neither is `1.0`."""


class HostConflictError(TargetspecError, ValueError):
    """A target that has a host was given a different one. Attributes: `existing`, `offered`."""

    def __init__(self, existing: Any, offered: Any) -> None:
        super().__init__(existing, offered)
        self.existing, self.offered = existing, offered

    def __str__(self) -> str:
        return (
            f"the target already has the host [{self.existing}], which differs from [{self.offered}]; "
            "pass replace=True to with_host, or drop one of the two"
        )


class TargetSyntaxError(TargetspecError, ValueError):
    """A text that is no target.

    Attributes: the whole `text`, the half-open `span` of offsets at fault, `message`, `hint` and `dialect`.
    """

    def __init__(
        self, text: str, span: tuple[int, int], message: str, hint: str = "", dialect: str = ""
    ) -> None:
        super().__init__(text, span, message, hint, dialect)
        self.text, self.span, self.message, self.hint, self.dialect = text, span, message, hint, dialect

    def __str__(self) -> str:
        start, end = self.span
        hint = f" ({self.hint})" if self.hint else ""
        # A window, so that a 10 kB text with one bad letter still gives a readable error.
        low = max(0, start - 60)
        window = "".join(
            c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.text[low : low + 120]
        )
        width = max(1, min(end, low + 120) - start)
        caret = " " * (start - low) + "^" * width
        return f"{self.message}{hint}\n  {window}\n  {caret}"


class NotRepresentableError(TargetspecError, ValueError):
    """A dialect cannot say all that a target states.

    Attributes: `dialect`, `fields`, a tuple of (field, why it does not fit), and `lossy`: whether nothing can be
    written even where the rest is left out.
    """

    def __init__(self, dialect: str, fields: tuple[tuple[str, str], ...], lossy: bool = False) -> None:
        super().__init__(dialect, fields, lossy)
        self.dialect, self.fields, self.lossy = dialect, fields, lossy

    def __str__(self) -> str:
        what = "; ".join(f"{name}: {why}" for name, why in self.fields)
        if self.lossy:
            return f"the {self.dialect} form cannot be written for this target, not even in part ({what})"
        return f"the {self.dialect} form cannot hold this target ({what}); pass lossy=True to leave these out"


class NoCommonTargetError(TargetspecError, ValueError):
    """No target's code runs on all of some targets. Attributes: the `field` that stands in the way, their `values` there."""

    def __init__(self, field: str, values: tuple[str, ...]) -> None:
        super().__init__(field, values)
        self.field, self.values = field, values

    def __str__(self) -> str:
        return f"no code runs on all of them, for they differ in {self.field}: {' | '.join(self.values)}"


class DocumentError(TargetspecError, ValueError):
    """A JSON document that is no target. Attribute: `problems`, every fault found, each a Problem."""

    def __init__(self, problems: tuple[Any, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class RegistrationError(TargetspecError, ValueError):
    """A kind or dialect of another package cannot be used. Attributes: `name`, `message`."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name, message)
        self.name, self.message = name, message

    def __str__(self) -> str:
        return f"{self.name!r}: {self.message}"


class Problem(NamedTuple):
    """One fault of a document or text: where it is, what is allowed there, and what to do.

    `path` is a JSON path (`$.host.cpu`) or empty for a text; `span` holds the offsets in a text, else None.
    """

    path: str
    message: str
    hint: str = ""
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        place = self.path or (f"at {self.span[0]}" if self.span else "")
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}: {self.message}{hint}" if place else f"{self.message}{hint}"
