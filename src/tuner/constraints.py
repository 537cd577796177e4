"""Constraints of a search space: callables that name the parameters they are about.

    lambda tile, unroll: tile % unroll == 0

A constraint sees one value of each parameter that it names, and its result is taken as a truth value. An argument of the
callable that has a default, and is no parameter of the space, keeps its default.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath

import attrs
import numpy as np
from numpy.typing import NDArray

from tuner.errors import SpaceError

Value = str | int | float | bool

REFUSES, HOLDS, RAISES = 0, 1, 2


@attrs.frozen(eq=False)
class Constraint:
    """A callable with the positions, in the space, of the parameters it takes; `label` names it in messages."""

    call: Callable[..., object]
    names: tuple[str, ...]
    parameters: tuple[int, ...]
    label: str

    def states(self, columns: Sequence[Sequence[Value]]) -> NDArray[np.int8]:
        """REFUSES, HOLDS or RAISES for each combination, given one sequence of values for each parameter."""
        count = len(columns[0])
        try:
            return np.fromiter(map(bool, map(self.call, *columns)), np.int8, count)
        except Exception:  # noqa: BLE001 - a user's callable may raise anything; which combination did is found next
            return np.fromiter(map(self._state, *columns), np.int8, count)

    def error(self, columns: Sequence[Sequence[Value]]) -> SpaceError | None:
        """Give the error, with its cause, of the first combination for which the callable raises."""
        for row in zip(*columns, strict=True):
            try:
                bool(self.call(*row))
            except Exception as error:  # noqa: BLE001 - as above
                return self._failure(row, error)
        return None

    def _failure(self, row: Sequence[Value], error: Exception) -> SpaceError:
        where = dict(zip(self.names, row, strict=True))
        failure = SpaceError(f"{self.label} raised {type(error).__name__} for {where}: {error}")
        failure.__cause__ = error
        return failure

    def _state(self, *row: Value) -> int:
        try:
            return HOLDS if self.call(*row) else REFUSES
        except Exception:  # noqa: BLE001 - as above
            return RAISES


def read_constraints(constraints: object, names: Sequence[str]) -> list[Constraint]:
    """Read the signatures of `constraints` against the parameters' names; SpaceError where one does not fit."""
    if isinstance(constraints, str) or callable(constraints) or not isinstance(constraints, Iterable):
        raise SpaceError(f"constraints must be a list of callables, not {constraints!r}")
    return [_read(function, number, names) for number, function in enumerate(constraints, 1)]


def nearest(name: object, known: Iterable[str]) -> str:
    """Give ' (did you mean ...?)' with the nearest of the known names, or nothing."""
    close = difflib.get_close_matches(str(name), list(known), 3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def _read(function: Callable[..., object], number: int, names: Sequence[str]) -> Constraint:
    label = f"constraint {number}"
    if not callable(function):
        raise SpaceError(f"{label} must be callable, not {function!r}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise SpaceError(f"{label}, {function!r}, has no signature to read parameters from") from None
    label = f"{label}, {_describe(function, signature)}"
    taken = [given for given in signature.parameters.values() if _is_taken(given, names, label)]
    if not taken:
        raise SpaceError(f"{label}, names no parameter of the space; there are {', '.join(map(repr, names))}")
    parameters = tuple(names.index(given.name) for given in taken)
    return Constraint(
        _positional(function, signature, taken), tuple(given.name for given in taken), parameters, label
    )


def _is_taken(given: inspect.Parameter, names: Sequence[str], label: str) -> bool:
    if given.kind in {given.VAR_POSITIONAL, given.VAR_KEYWORD}:
        raise SpaceError(f"{label}, takes {given}: it must name each parameter that it is about")
    keeps_default = given.default is not given.empty and given.kind is not given.POSITIONAL_ONLY
    if given.name not in names and not keeps_default:
        raise SpaceError(
            f"{label}, takes {given.name!r}, no parameter of the space{nearest(given.name, names)}"
        )
    return given.name in names


def _positional(
    function: Callable[..., object], signature: inspect.Signature, taken: Sequence[inspect.Parameter]
) -> Callable[..., object]:
    """Call by position, the faster way, where that reaches the same arguments."""
    leading = list(signature.parameters.values())[: len(taken)]
    if leading == list(taken) and all(given.kind is not given.KEYWORD_ONLY for given in taken):
        return function
    before = sum(given.kind is given.POSITIONAL_ONLY for given in taken)
    names = [given.name for given in taken[before:]]

    def call(*row: Value) -> object:
        return function(*row[:before], **dict(zip(names, row[before:], strict=True)))

    return call


def _describe(function: Callable[..., object], signature: inspect.Signature) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    place = f" at {PurePath(code.co_filename).name}:{code.co_firstlineno}" if code else ""
    return f"{name}({', '.join(signature.parameters)}){place}"
