"""Is what a candidate computes right: guarded arrays, poisoned outputs, two calls, one reference."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from tuner.arguments import make_arguments
from tuner.caches import flush
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.loading import Function

GUARD = 4096
_ALIGNMENT = 64
_MARGIN = 8.0

Array = np.ndarray[Any, Any]


@attrs.frozen(eq=False)
class Guarded:
    """A copy of an array, 64-byte aligned, between two guard zones of 4 KiB that hold a pattern."""

    array: Array
    _before: Array
    _after: Array

    @classmethod
    def like(cls, array: Array) -> Guarded:
        """Copy an array to between guards; the guard behind begins with the very next byte."""
        block = np.empty(2 * GUARD + array.nbytes + _ALIGNMENT, np.uint8)
        start = GUARD + -(block.ctypes.data + GUARD) % _ALIGNMENT
        stop = start + array.nbytes
        # Not by a slice, which begins where the block does when it is empty.
        inner: Array = np.ndarray(array.shape, array.dtype, block, start)
        guarded = cls(inner, block[start - GUARD : start], block[stop : stop + GUARD])
        guarded._before[:] = guarded._after[:] = _pattern()
        inner[...] = array
        return guarded

    def damage(self) -> str | None:
        """Say which byte of a guard was written to, None where all are whole."""
        before, after = (np.flatnonzero(zone != _pattern()) for zone in (self._before, self._after))
        if before.size:
            return f"a write {GUARD - int(before[-1])} bytes before its start"
        return f"a write {int(after[0])} bytes behind its end" if after.size else None


@attrs.frozen(eq=False)
class Trial:
    """Arguments for a check, the truth about them, and guarded copies for the candidate to work on.

    `expected` and `bounds` have an item for each array: None for one that must not change, or where nothing is known.
    `pure` tells which arrays are outputs whose content before the call makes no difference.
    """

    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    guarded: tuple[Guarded, ...]
    expected: tuple[Array | None, ...]
    bounds: tuple[Any, ...]
    pure: tuple[bool, ...]
    known: bool

    def prepare(self) -> None:
        """Give the guarded copies their content before a call, pure outputs poison."""
        for copy, array, pure in zip(self.guarded, arrays_of(self.arguments), self.pure, strict=True):
            copy.array[...] = _poison(array) if pure else array

    @property
    def damaged(self) -> bool:
        """Whether something was written where no array is: then nothing in this process is to be trusted."""
        return any(copy.damage() for copy in self.guarded)

    def restore(self) -> None:
        """Give the arrays that a call reads and may change their content again."""
        for copy, array, pure, expected in zip(
            self.guarded, arrays_of(self.arguments), self.pure, self.expected, strict=True
        ):
            if not pure and (expected is not None or not self.known):
                copy.array[...] = array

    def between(self, cache: str) -> Callable[[], None]:
        """Give what is to be done before each reading: restore the data, and where caches are "flushed", flush them."""
        if cache != "flushed":
            return self.restore

        def restore_and_flush() -> None:
            self.restore()
            flush()

        return restore_and_flush

    def passed(self) -> tuple[Any, ...]:
        """Give the arguments with the guarded copies in the arrays' places."""
        copies = iter(self.guarded)
        return tuple(
            next(copies).array if isinstance(value, np.ndarray) else value for value in self.arguments
        )


def _go_on() -> None:
    """Do nothing."""


def prepare_trial(kernel: Kernel, problem: Any, seed: int, *, made: Callable[[], object] = _go_on) -> Trial:
    """Make arguments from the seed and work out what they must become; KernelError where the kernel's own code fails.

    `made` is called between the two.
    """
    arguments = make_arguments(kernel, problem, seed)
    made()
    arrays = arrays_of(arguments)
    expected = _expect(kernel, arguments)
    return Trial(
        arguments,
        _names(kernel, arguments),
        tuple(map(Guarded.like, arrays)),
        expected,
        _bounds(kernel, problem, arguments, expected),
        _find_pure(kernel, arguments, expected),
        kernel.reference is not None,
    )


def find_fault(trial: Trial, function: Function) -> str | None:
    """Call a candidate twice on equal inputs and say what is wrong with what it does, None where all is right."""
    call = function.bind(trial.passed())
    results: list[list[Array]] = []
    for _ in range(2):
        trial.prepare()
        call()
        fault = _first_fault(trial)
        if fault and results:
            return f"{fault}, in the second of two calls on equal inputs; the first was right"
        if fault:
            return fault
        results.append([copy.array.copy() for copy in trial.guarded])
    return None if trial.known else _difference(trial, *results)


def arrays_of(arguments: tuple[Any, ...]) -> tuple[Array, ...]:
    """Give those arguments that are arrays."""
    return tuple(value for value in arguments if isinstance(value, np.ndarray))


def _pattern() -> Array:
    return (np.arange(GUARD) * 37 + 11).astype(np.uint8)


def _poison(array: Array) -> Array:
    if array.dtype.kind in "fc":
        return np.full_like(array, np.nan)
    return np.full(array.nbytes, 0x5A, np.uint8).view(array.dtype).reshape(array.shape)


def _names(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """Name the arrays as the reference's parameters are named, or by their place."""
    names = [f"argument {position}" for position in range(len(arguments))]
    if kernel.reference is not None:
        parameters = inspect.signature(kernel.reference).parameters.values()
        if len(parameters) == len(arguments) and all(p.kind == p.POSITIONAL_OR_KEYWORD for p in parameters):
            names = [parameter.name for parameter in parameters]
    return tuple(name for name, value in zip(names, arguments, strict=True) if isinstance(value, np.ndarray))


def _expect(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Array | None, ...]:
    arrays = arrays_of(arguments)
    if kernel.reference is None:
        return (None,) * len(arrays)
    before = [array.copy() for array in arrays]
    given = _run_reference(kernel, arguments)
    if not all(map(_same, before, arrays)):
        raise KernelError(f"{kernel.name}: reference changed its arguments; it must give new arrays")
    if not isinstance(given, tuple) or len(given) != len(arrays):
        raise KernelError(
            f"{kernel.name}: reference must give a tuple of {len(arrays)}, an item for each array"
        )
    expected = tuple(None if item is None else np.asarray(item) for item in given)
    for item, array in zip(expected, arrays, strict=True):
        if item is not None and item.shape != array.shape:
            raise KernelError(
                f"{kernel.name}: reference gave shape {item.shape} for an array of {array.shape}"
            )
    return expected


def _run_reference(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    try:
        return kernel.reference(*arguments)  # type: ignore[misc]
    except Exception as error:
        raise KernelError(f"{kernel.name}: reference raised {type(error).__name__}: {error}") from error


def _bounds(
    kernel: Kernel, problem: Any, arguments: tuple[Any, ...], expected: tuple[Array | None, ...]
) -> tuple[Any, ...]:
    """Give the largest absolute error of each array, None where it must be equal or is not known."""
    arrays = arrays_of(arguments)
    if callable(kernel.tolerance):
        bounds = tuple(kernel.tolerance(*arguments))
        if len(bounds) != len(arrays):
            raise KernelError(f"{kernel.name}: tolerance must give {len(arrays)} items, one for each array")
        return bounds
    work = kernel.work_of(problem)
    outputs = sum(item.size for item in expected if item is not None)
    # A sum of n products takes 2 n operations; of random signs, its rounding errors grow with the root of n.
    length = max(1.0, work.flop / (2 * outputs)) if work and outputs else 1.0
    return tuple(
        _bound(kernel.tolerance, item, array, length) for item, array in zip(expected, arrays, strict=True)
    )


def _bound(relative: float | None, expected: Array | None, array: Array, length: float) -> float | None:
    if expected is None or array.dtype.kind not in "fc":
        return None
    if relative is None:
        relative = _MARGIN * float(np.finfo(array.dtype).eps) * length**0.5
    magnitudes = np.abs(expected[np.isfinite(expected)])
    return relative * float(magnitudes.max(initial=0.0))


def _find_pure(
    kernel: Kernel, arguments: tuple[Any, ...], expected: tuple[Array | None, ...]
) -> tuple[bool, ...]:
    return tuple(
        item is not None and _is_pure(kernel, arguments, expected, position)
        for position, item in enumerate(expected)
    )


def _is_pure(
    kernel: Kernel, arguments: tuple[Any, ...], expected: tuple[Array | None, ...], position: int
) -> bool:
    """Tell whether the reference gives the same with poison in this array."""
    own = arrays_of(arguments)[position]
    poisoned = tuple(_poison(value) if value is own else value for value in arguments)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            given = kernel.reference(*poisoned)  # type: ignore[misc]
    except Exception:  # noqa: BLE001 - a reference that chokes on poison reads the array
        return False
    return all(
        item is None or _same(item, np.asarray(other)) for item, other in zip(expected, given, strict=True)
    )


def _same(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


def _first_fault(trial: Trial) -> str | None:
    for name, copy in zip(trial.names, trial.guarded, strict=True):
        damage = copy.damage()
        if damage:
            return f"{name}: {damage}"
    if not trial.known:
        return None
    originals = arrays_of(trial.arguments)
    for position, (name, copy) in enumerate(zip(trial.names, trial.guarded, strict=True)):
        fault = _compare(copy.array, originals[position], trial.expected[position], trial.bounds[position])
        if fault:
            return f"{name}: {fault}"
    return None


def _compare(got: Array, before: Array, expected: Array | None, bound: Any) -> str | None:
    if expected is not None:
        return describe_errors(got, expected, bound)
    return None if _same(got, before) else "an input was changed"


def describe_errors(got: Array, expected: Array, bound: Any) -> str | None:
    """Say how many elements are further from the expected than the bound, and where it is worst.

    A bound of None asks for equal values. NaN equals NaN, an infinity equals itself.
    """
    equal = (got == expected) | ((got != got) & (expected != expected))  # noqa: PLR0124 - true for NaN only
    if bound is None:
        errors = np.where(equal, 0.0, 1.0)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            errors = np.where(equal, 0.0, np.abs(got - expected))
    limit = np.broadcast_to(0.0 if bound is None else bound, got.shape)
    wrong = ~(equal | (errors <= limit))
    if not wrong.any():
        return None
    # NaN where a number belongs is worse than any number.
    ranked = np.where(wrong, np.where(np.isnan(errors), np.inf, errors), -1.0)
    worst = np.unravel_index(int(np.argmax(ranked)), ranked.shape)
    allowed = "" if bound is None else f" within {limit[worst]:.3g}"
    return (
        f"{int(wrong.sum())} of {got.size} elements wrong, the worst at {[int(at) for at in worst]}: "
        f"got {got[worst]}, expected {expected[worst]}{allowed}"
    )


def _difference(trial: Trial, first: list[Array], second: list[Array]) -> str | None:
    for name, one, two in zip(trial.names, first, second, strict=True):
        if not _same(one, two):
            return f"{name}: two calls on equal inputs gave different results"
    return None
