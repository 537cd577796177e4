"""Values on their way to a worker and back: pickled by reference where a worker can import them, else by value."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import io
import itertools
import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import cloudpickle

from tuner.errors import TravelError

_PROTOCOL = 5
_DEEPEST = 40
_PLAIN = {type(None), bool, int, float, str, bytes}

_numbers = itertools.count(1)
_arrived: dict[int, bytes] = {}
_opened: dict[int, Any] = {}


@attrs.frozen
class Shared:
    """Stands in the arguments of jobs for a value that each worker gets once; made by `share`.

    What a job changes in it, later jobs of the same worker see.
    """

    number: int
    name: str
    payload: bytes = attrs.field(repr=False, eq=False)
    inner: tuple[Shared, ...] = attrs.field(repr=False, eq=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Arrive as the value itself."""
        return _open, (self.number,)


@attrs.frozen
class Parcel:
    """Pickled bytes, and the shared values that they refer to."""

    payload: bytes
    shared: tuple[Shared, ...]


def share(value: Any, name: str = "shared") -> Shared:
    """Pickle a value once for many jobs, of any pool; `name` begins the path in a TravelError."""
    parcel = pack(value, name)
    return Shared(next(_numbers), name, parcel.payload, parcel.shared)


def pack(value: Any, name: str) -> Parcel:
    """Pickle a value that the caller knows as `name`; TravelError with the attribute path of what cannot travel."""
    if type(value) in _PLAIN:  # cloudpickle's own pickler takes longer to make than such a value to pickle
        return Parcel(pickle.dumps(value, _PROTOCOL), ())
    try:
        return _pickle(value)
    except MemoryError:
        raise
    except Exception as error:
        path, message = _culprit(name, value, error)
        raise TravelError(path, message) from error


def pack_call(function: Any, arguments: tuple[Any, ...]) -> Parcel:
    """Pickle a call; the path in a TravelError begins with the name of the parameter, or of the function."""
    values = (function, *arguments)
    if all(type(value) is Shared or type(value) in _PLAIN for value in values):
        # As in `pack`: plain pickle does for these, in a fifth of the time.
        shared = {value.number: value for value in values if type(value) is Shared}
        return Parcel(pickle.dumps((function, arguments), _PROTOCOL), tuple(shared.values()))
    try:
        return _pickle((function, arguments))
    except Exception:
        for name, value in zip(_call_names(function, arguments), values, strict=True):
            pack(value, name)
        raise


def call_name(function: Any) -> str:
    """Return what to call a function in messages."""
    return (
        function.name
        if type(function) is Shared
        else getattr(function, "__qualname__", type(function).__name__)
    )


def _call_names(function: Any, arguments: tuple[Any, ...]) -> list[str]:
    names = [f"argument {number}" for number in range(1, len(arguments) + 1)]
    with contextlib.suppress(TypeError, ValueError):
        given = list(inspect.signature(function).parameters.values())[1:]
        for number, parameter in enumerate(given[: len(names)]):
            if parameter.kind is parameter.VAR_POSITIONAL:
                break
            names[number] = parameter.name
    return [call_name(function), *names]


def unpack(payload: bytes) -> Any:
    """Return the value that was packed."""
    return cloudpickle.loads(payload)


def receive(number: int, payload: bytes) -> None:
    """Keep, in a worker, a shared value until a job asks for it."""
    _arrived[number] = payload


def _open(number: int) -> Any:
    if number in _arrived:
        _opened[number] = unpack(_arrived.pop(number))
    return _opened[number]


def _pickle(value: Any) -> Parcel:
    stream = io.BytesIO()
    pickler = _Pickler(stream)
    try:
        pickler.dump(value)
    finally:
        pickler.release()
    return Parcel(stream.getvalue(), tuple(pickler.shared.values()))


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    """Takes what a worker cannot import by value, and notes the shared values it meets."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=_PROTOCOL)
        self.shared: dict[int, Shared] = {}
        self._by_value: list[types.ModuleType] = []

    def reducer_override(self, value: Any) -> Any:
        """Look at each value on its way."""
        if type(value) is Shared:
            self.shared[value.number] = value
        elif isinstance(value, (types.FunctionType, type)):
            self._look_at(sys.modules.get(getattr(value, "__module__", None) or ""))
        elif isinstance(value, types.ModuleType):
            self._look_at(value)
        return super().reducer_override(value)

    def release(self) -> None:
        """Give cloudpickle its settings back, which are the host program's too."""
        for module in self._by_value:
            cloudpickle.unregister_pickle_by_value(module)

    def _look_at(self, module: types.ModuleType | None) -> None:
        if module is None or _importable(module):
            return
        if (
            module.__name__ in sys.modules
            and module.__name__ not in cloudpickle.list_registry_pickle_by_value()
        ):
            cloudpickle.register_pickle_by_value(module)
            self._by_value.append(module)


_verdicts: dict[str, tuple[types.ModuleType, bool]] = {}


def _importable(module: types.ModuleType) -> bool:
    """Say whether a fresh interpreter with our sys.path imports this very module by its name."""
    known = _verdicts.get(module.__name__)
    if known is None or known[0] is not module:
        known = _verdicts[module.__name__] = (module, module.__name__ == "__main__" or _found(module))
    return known[1]


def _found(module: types.ModuleType) -> bool:
    name, file = module.__name__, getattr(module, "__file__", None)
    if name in sys.builtin_module_names:
        return True
    parent = sys.modules.get(name.rpartition(".")[0])
    if parent is not None and not _importable(parent):
        return False
    # importlib.util.find_spec would answer from sys.modules: the question is what the finders find.
    for finder in sys.meta_path:
        spec = finder.find_spec(name, getattr(parent, "__path__", None))
        if spec is not None:
            return (
                file is None
                or spec.origin in {file, "frozen", "built-in"}
                or _source(spec.origin) == _source(file)
            )
    return False


def _source(file: str | None) -> str | None:
    if file is None or not file.endswith(".pyc"):
        return file
    try:
        return importlib.util.source_from_cache(file)
    except ValueError:
        return file


def _culprit(path: str, value: Any, error: Exception, depth: int = 0) -> tuple[str, str]:
    """Descend to the innermost part that cannot be pickled by itself."""
    for part, inner in _parts(value) if depth < _DEEPEST else ():
        try:
            _pickle(inner)
        except Exception as cause:  # noqa: BLE001 -- whatever a reducer raises
            return _culprit(path + part, inner, cause, depth + 1)
    return path, f"{type(error).__name__}: {error}"


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, types.FunctionType):
        yield from _function_parts(value)
    elif isinstance(value, types.MethodType):
        yield from ((".__self__", value.__self__), (".__func__", value.__func__))
    elif isinstance(value, functools.partial):
        yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
    elif isinstance(value, Mapping):
        yield from ((f"[{key!r}]", inner) for key, inner in value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{number}]", inner) for number, inner in enumerate(value))
    elif isinstance(value, type):
        yield from ((f".{name}", inner) for name, inner in vars(value).items() if not name.startswith("__"))
    yield from _attributes(value)


def _function_parts(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for number, cell in enumerate(function.__closure__ or ()):
        try:
            yield f".__closure__[{number}]", cell.cell_contents
        except ValueError:  # a cell that is not filled yet
            continue
    yield from (
        (f".__defaults__[{number}]", inner) for number, inner in enumerate(function.__defaults__ or ())
    )
    yield from (
        (f".__kwdefaults__[{key!r}]", inner) for key, inner in (function.__kwdefaults__ or {}).items()
    )
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        yield f".__globals__[{name!r}]", function.__globals__[name]


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (type, types.ModuleType, types.MethodType)):
        return
    slots = [vars(base).get("__slots__", ()) for base in type(value).__mro__]
    names = [name for group in slots for name in ((group,) if isinstance(group, str) else group)]
    for name in (*getattr(value, "__dict__", ()), *names):
        inner = getattr(value, name, None)
        if inner is not None and name != "__weakref__":
            yield f".{name}", inner
