"""Kernels: what is tuned, as plain functions beside its search space."""

from __future__ import annotations

import functools
import importlib
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import attrs

from tuner.errors import KernelError, ProblemError
from tuner.space import Space

PASSES = ("none", "O1", "O2", "O3")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)
_SYMBOL = re.compile(r"[A-Za-z_$.][A-Za-z0-9_$.]*", re.ASCII)


class Work(NamedTuple):
    """What one call does: floating-point operations, and bytes that must be moved."""

    flop: float
    bytes: float


def _check(*, holds: bool, message: str) -> None:
    if not holds:
        raise KernelError(message)


def _check_name(_: object, __: object, value: Any) -> None:
    _check(
        holds=type(value) is str and _NAME.fullmatch(value) is not None,
        message=f"a kernel's name starts with a letter or digit and holds letters, digits and ._+- only, not {value!r}",
    )


def _check_entry(_: object, __: object, value: Any) -> None:
    _check(
        holds=type(value) is str and _SYMBOL.fullmatch(value) is not None,
        message=f"entry is the name of a function, of letters, digits and ._$ not starting with a digit, not {value!r}",
    )


def _check_space(_: object, __: object, value: Any) -> None:
    _check(holds=isinstance(value, Space), message=f"space is a Space, not {value!r}")


def _check_function(_: object, field: attrs.Attribute[Any], value: Any) -> None:
    optional = " or None" if field.default is None else ""
    _check(
        holds=callable(value) or (value is None and bool(optional)),
        message=f"{field.name} is a function{optional}, not {value!r}",
    )


def _check_passes(_: object, __: object, value: Any) -> None:
    _check(
        holds=callable(value) or (type(value) is str and value in PASSES),
        message=f"passes is one of {', '.join(PASSES)} or a function of the configuration, not {value!r}",
    )


def _check_tolerance(_: object, __: object, value: Any) -> None:
    number = type(value) in {int, float} and 0 <= value < math.inf
    _check(
        holds=value is None or number or callable(value),
        message=f"tolerance is a finite number >= 0, a function of the arguments or None, not {value!r}",
    )


def _read_peers(value: Any) -> tuple[tuple[str, Callable[..., object]], ...]:
    if isinstance(value, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):  # noqa: PLR2004 - a name and its function
        value = dict(value)
    _check(
        holds=isinstance(value, Mapping) and all(type(k) is str and callable(v) for k, v in value.items()),
        message=f"peers maps names to functions of the arguments, not {value!r}",
    )
    return tuple(value.items())


@attrs.frozen
class Kernel:
    """A function to tune: how its candidates are emitted, called, checked and counted.

    name: what its records are filed under, beside a fingerprint of its IR.
    space: the configurations. A configuration is a dict of parameter name to value.
    emit(config, target, problem): IR text or an llvmlite module that defines `entry`; the same text each time.
    entry: the name of a void function that takes the arguments in order: arrays as pointers to their data, int as
      i64, float as double, numpy scalars by their dtype.
    arguments(problem, rng): a tuple of C-contiguous numpy arrays and numbers, outputs last. ProblemError where the
      problem is none of its own.
    reference(*arguments): a tuple of what the arrays must hold after a call, in order; None for one that must not
      change. It leaves its arguments alone. Without a reference only crashes and stray writes are found.
    work(problem): flop and bytes of a call.
    needs(config, problem): what a configuration needs of a target, such as {"vector_bits": 256}: whole numbers by the
      names that the target's `need_rules` has, limits that it must reach (docs/records.md).
    tolerance: the largest error, relative to the largest magnitude in the array; or a function of the arguments that
      gives the largest absolute error for each array in order; None: by dtype and, where work is stated, length of
      reduction.
    passes: the pass pipeline, "none", "O1", "O2" or "O3", or a function of the configuration that gives one.
    plain(target, problem): IR of the obvious version, the baseline; None: the first configuration is.
    peers: other implementations by name, called in place as `peer(*arguments)`, to be timed beside the candidates.

    KernelError where one of them is not of its type.
    """

    name: str = attrs.field(validator=_check_name)
    space: Space = attrs.field(validator=_check_space)
    emit: Callable[..., Any] = attrs.field(validator=_check_function)
    entry: str = attrs.field(validator=_check_entry, kw_only=True)
    arguments: Callable[..., tuple[Any, ...]] = attrs.field(validator=_check_function, kw_only=True)
    reference: Callable[..., tuple[Any, ...]] | None = attrs.field(
        default=None, validator=_check_function, kw_only=True
    )
    work: Callable[..., tuple[float, float]] | None = attrs.field(
        default=None, validator=_check_function, kw_only=True
    )
    needs: Callable[..., Mapping[str, Any]] | None = attrs.field(
        default=None, validator=_check_function, kw_only=True
    )
    tolerance: float | Callable[..., tuple[Any, ...]] | None = attrs.field(
        default=None, validator=_check_tolerance, kw_only=True
    )
    passes: str | Callable[..., str] = attrs.field(default="O3", validator=_check_passes, kw_only=True)
    plain: Callable[..., Any] | None = attrs.field(default=None, validator=_check_function, kw_only=True)
    peers: tuple[tuple[str, Callable[..., object]], ...] = attrs.field(
        factory=dict, converter=_read_peers, kw_only=True
    )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by reference where the module that defines `emit` holds this kernel and a fresh process finds it."""
        module = getattr(self.emit, "__module__", None)
        # The space alone may be hundreds of kilobytes, and a kernel goes with every job.
        if isinstance(module, str) and _is_importable(module):
            for name, value in vars(sys.modules[module]).items():
                if value is self:
                    return _import_kernel, (module, name)
        return _make_empty, (type(self),), self.__getstate__()

    def passes_of(self, config: Mapping[str, Any]) -> str:
        """Give the pass pipeline of a configuration; KernelError where the kernel's own function gives none."""
        passes = self.passes(config) if callable(self.passes) else self.passes
        if passes not in PASSES:
            raise KernelError(f"{self.name}: passes gave {passes!r}, not one of {', '.join(PASSES)}")
        return passes

    def work_of(self, problem: Any) -> Work | None:
        """Give the work of one call, None where the kernel does not state it."""
        if self.work is None:
            return None
        try:
            stated: Any = self.work(problem)
        except ProblemError:
            raise
        except Exception as error:
            raise KernelError(f"{self.name}: work raised {type(error).__name__}: {error}") from error
        pair = isinstance(stated, tuple) and len(stated) == len(Work._fields)
        if not (pair and all(type(part) in {int, float} and 0 <= part < math.inf for part in stated)):
            raise KernelError(f"{self.name}: work is two finite numbers >= 0, flop and bytes, not {stated!r}")
        return Work(*stated)

    def needs_of(self, config: Mapping[str, Any], problem: Any) -> Mapping[str, Any]:
        """Give what a configuration needs of a target, nothing where the kernel does not state it."""
        if self.needs is None:
            return {}
        try:
            stated: Any = self.needs(dict(config), problem)
        except ProblemError:
            raise
        except Exception as error:
            raise KernelError(f"{self.name}: needs raised {type(error).__name__}: {error}") from error
        if not isinstance(stated, Mapping):
            raise KernelError(f"{self.name}: needs gave {stated!r}, not a mapping")
        return stated

    def peer(self, name: str) -> Callable[..., object]:
        """Give the peer of this name; KernelError where there is none."""
        for known, function in self.peers:
            if known == name:
                return function
        raise KernelError(f"{self.name} has no peer {name!r}; it has {', '.join(dict(self.peers)) or 'none'}")


def _make_empty(kind: type[Kernel]) -> Kernel:
    return kind.__new__(kind)


def _import_kernel(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


@functools.cache
def _is_importable(module: str) -> bool:
    """Tell whether an import with today's sys.path, in a process that has not loaded it, finds the module's file."""
    loaded = sys.modules.get(module)
    path, spec = None, None
    for end in (at for at, letter in enumerate(module + ".") if letter == "."):
        found = (finder.find_spec(module[:end], path) for finder in sys.meta_path)
        spec = next(filter(None, found), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return spec is not None and spec.origin is not None and spec.origin == getattr(loaded, "__file__", None)
