"""Search spaces: named parameters with lists of values, and constraints between them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from tuner.constraints import Value, nearest, read_constraints
from tuner.errors import SpaceError
from tuner.groups import Group, factor, single

Configuration = dict[str, Value]
Point = tuple[int, ...]
"""A configuration as the positions of its values: what strategies work on."""

_SHOWN = 12


@attrs.frozen(init=False, eq=False, repr=False)
class Space:
    """The valid configurations over some parameters, in lexicographic order of declaration.

    `parameters` maps names to lists of str, int, float or bool; a constraint is a callable whose arguments have names
    of parameters. The valid configurations are found once, here; constraints are not kept, so that a space pickles.
    SpaceError where the parameters or constraints are not well-formed or no configuration is valid.

    >>> space = Space({"tile": [8, 16], "unroll": [1, 2, 16]}, [lambda tile, unroll: unroll < tile])
    >>> len(space), space.raw_size
    (4, 6)
    >>> space[3]
    {'tile': 16, 'unroll': 2}
    """

    size: int
    _names: tuple[str, ...]
    _values: tuple[tuple[Value, ...], ...]
    _positions: tuple[dict[object, int], ...]
    _groups: tuple[Group, ...]
    _homes: tuple[tuple[int, Group, int], ...]

    def __init__(
        self, parameters: Mapping[str, Sequence[Value]], constraints: Iterable[Callable[..., object]] = ()
    ) -> None:
        names, values = _read_parameters(parameters)
        self._fill(names, values, factor(values, read_constraints(constraints, names)))

    def _fill(
        self, names: tuple[str, ...], values: tuple[tuple[Value, ...], ...], groups: tuple[Group, ...]
    ) -> None:
        homes = {
            member: (number, group, column)
            for number, group in enumerate(groups)
            for column, member in enumerate(group.members)
        }
        self.__attrs_init__(
            math.prod(map(len, groups)),
            names,
            values,
            tuple({_key(value): position for position, value in enumerate(listed)} for listed in values),
            groups,
            tuple(homes[parameter] for parameter in range(len(names))),
        )

    @property
    def parameters(self) -> Mapping[str, tuple[Value, ...]]:
        """The parameters' values by name, in the order of declaration."""
        return MappingProxyType(dict(zip(self._names, self._values, strict=True)))

    @property
    def raw_size(self) -> int:
        """The number of configurations, valid or not."""
        return math.prod(map(len, self._values))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The independent groups of parameters that the space is the product of."""
        return self._groups

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Configuration:
        return self.configuration(self.point(index))

    def __iter__(self) -> Iterator[Configuration]:
        return map(self.configuration, self.points())

    def __contains__(self, config: object) -> bool:
        point = self._locate(config)
        return point is not None and self.is_valid(point)

    def __eq__(self, other: object) -> bool:
        """Tell whether the parameters, with the types of their values, and the valid configurations are the same."""
        if not isinstance(other, Space):
            return NotImplemented
        if (self._names, self._positions, self.size) != (other._names, other._positions, other.size):
            return False
        return self._groups == other._groups or all(map(operator.eq, self.points(), other.points()))

    def __hash__(self) -> int:
        return hash((self._names, self._values, self.size))

    def __repr__(self) -> str:
        return f"<Space of {len(self._names)} parameters: {self.size} of {self.raw_size} configurations are valid>"

    def index(self, config: Mapping[str, Value]) -> int:
        """Give the place of a configuration in the order of iteration; SpaceError where it is not valid."""
        return self.rank(self.locate(config))

    def neighbours(self, config: Mapping[str, Value], *, adjacent: bool = False) -> list[Configuration]:
        """List the valid configurations that differ in one parameter, by parameter, then by value.

        `adjacent`: of each parameter only the nearest valid values before and after its own in its list.
        """
        point = self.locate(config)
        found = (
            moved
            for parameter in range(len(point))
            for moved in self.moves(point, parameter, adjacent=adjacent)
        )
        return [self.configuration(moved) for moved in found]

    def restrict(self, predicate: Callable[[Configuration], object]) -> Space:
        """Give the space of those valid configurations for which the predicate holds, each tried once, now."""
        kept = [point for point in self.points() if self._keeps(predicate, point)]
        if not kept:
            raise SpaceError(f"no configuration is left: the predicate holds for none of {self.size}")
        space = Space.__new__(Space)
        space._fill(self._names, self._values, (single(kept, tuple(map(len, self._values))),))  # noqa: SLF001
        return space

    def configuration(self, point: Point) -> Configuration:
        """Give a point's values by name."""
        return {name: listed[at] for name, listed, at in zip(self._names, self._values, point, strict=True)}

    def locate(self, config: Mapping[str, Value]) -> Point:
        """Give the point of a configuration; SpaceError that says what is wrong with it where it is not valid."""
        point = self._locate(config)
        if point is None:
            raise SpaceError(self._complaint(config))
        if not self.is_valid(point):
            raise SpaceError(f"{config!r} is not valid: refused by {self._refusal(point)}")
        return point

    def is_valid(self, point: Point) -> bool:
        """Tell whether the positions, each within its list, are those of a valid configuration."""
        return all(group.has(group.code(point)) for group in self._groups)

    def point(self, index: int) -> Point:
        """Give the point with this place in the order of iteration; negative places count from the end."""
        index = operator.index(index)
        if not -self.size <= index < self.size:
            raise IndexError(f"{index} is out of range: the space has {self.size} configurations")
        index %= self.size
        ranges = [(0, len(group)) for group in self._groups]
        behind = self.size
        positions = []
        for number, group, column in self._homes:
            low, high = ranges[number]
            behind //= high - low
            code = group.codes[low + index // behind]
            start, stop = ranges[number] = group.run(column, code, low, high)
            index -= (start - low) * behind
            behind *= stop - start
            positions.append(code // group.strides[column] % group.sizes[column])
        return tuple(positions)

    def rank(self, point: Point) -> int:
        """Give the place of a valid point in the order of iteration."""
        codes = [group.code(point) for group in self._groups]
        ranges = [(0, len(group)) for group in self._groups]
        behind = self.size
        index = 0
        for number, group, column in self._homes:
            low, high = ranges[number]
            start, stop = ranges[number] = group.run(column, codes[number], low, high)
            behind //= high - low
            index += (start - low) * behind
            behind *= stop - start
        return index

    def points(self) -> Iterator[Point]:
        """Go through the valid points in order."""
        return self._walk(0, [(0, len(group)) for group in self._groups], ())

    def moves(self, point: Point, parameter: int, *, adjacent: bool = False) -> list[Point]:
        """List the valid points that differ from a valid one in this parameter, by value."""
        _, group, column = self._homes[parameter]
        at, stride = point[parameter], group.strides[column]
        code = group.code(point) - at * stride
        before = [value for value in range(at) if group.has(code + value * stride)]
        after = [
            value for value in range(at + 1, len(self._values[parameter])) if group.has(code + value * stride)
        ]
        chosen = before[-1:] + after[:1] if adjacent else before + after
        return [(*point[:parameter], value, *point[parameter + 1 :]) for value in chosen]

    def _walk(self, parameter: int, ranges: list[tuple[int, int]], beginning: Point) -> Iterator[Point]:
        if parameter == len(self._homes):
            yield beginning
            return
        number, group, column = self._homes[parameter]
        row, high = ranges[number]
        while row < high:
            code = group.codes[row]
            start, stop = group.run(column, code, row, high)
            within = [*ranges[:number], (start, stop), *ranges[number + 1 :]]
            yield from self._walk(
                parameter + 1, within, (*beginning, code // group.strides[column] % group.sizes[column])
            )
            row = stop

    def _keeps(self, predicate: Callable[[Configuration], object], point: Point) -> bool:
        config = self.configuration(point)
        try:
            return bool(predicate(config))
        except Exception as error:
            raise SpaceError(
                f"the predicate raised {type(error).__name__} for {self.configuration(point)}: {error}"
            ) from error

    def _locate(self, config: object) -> Point | None:
        if not isinstance(config, Mapping) or len(config) != len(self._names):
            return None
        found = [
            known.get(_key(config.get(name)))
            for name, known in zip(self._names, self._positions, strict=True)
        ]
        return None if None in found else tuple(at for at in found if at is not None)

    def _refusal(self, point: Point) -> str:
        broken = [
            label for group in self._groups if not group.has(group.code(point)) for label in group.constraints
        ]
        return " or ".join(broken) or "a restriction of the space"

    def _complaint(self, config: Any) -> str:
        if not isinstance(config, Mapping):
            return f"a configuration is a mapping of names to values, not {config!r}"
        unknown = [
            f"{name!r} is no parameter{nearest(name, self._names)}"
            for name in config
            if name not in self._names
        ]
        missing = [f"{name!r} is missing" for name in self._names if name not in config]
        wrong = [
            f"{name!r} is {_show(config[name])}, not one of {_listing(listed)}"
            for name, listed, known in zip(self._names, self._values, self._positions, strict=True)
            if name in config and _key(config[name]) not in known
        ]
        return f"not a configuration of this space: {'; '.join(unknown + missing + wrong)}"


def _read_parameters(
    parameters: Mapping[str, Sequence[Value]],
) -> tuple[tuple[str, ...], tuple[tuple[Value, ...], ...]]:
    if not isinstance(parameters, Mapping):
        raise SpaceError(f"parameters are a mapping of names to lists of values, not {parameters!r}")
    if not parameters:
        raise SpaceError("a space needs at least one parameter")
    values = tuple(_read_values(name, listed) for name, listed in parameters.items())
    return tuple(parameters), values


def _read_values(name: object, listed: object) -> tuple[Value, ...]:
    if type(name) is not str or not name:
        raise SpaceError(f"a parameter's name is a non-empty text, not {name!r}")
    if isinstance(listed, str | bytes | bytearray) or not isinstance(listed, Sequence):
        raise SpaceError(f"{name!r}: the values must be a list, not {_show(listed)}")
    if not listed:
        raise SpaceError(f"{name!r}: the list of values is empty")
    seen: set[object] = set()
    for value in listed:
        _check_value(name, value)
        if _key(value) in seen:
            raise SpaceError(f"{name!r}: {_show(value)} is listed twice")
        seen.add(_key(value))
    return tuple(listed)


def _check_value(name: str, value: object) -> None:
    if type(value) not in {str, int, float, bool}:
        raise SpaceError(f"{name!r}: a value is a str, int, float or bool, not {_show(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise SpaceError(f"{name!r}: {value!r} is not a finite number")


def _key(value: object) -> object:
    # True, 1 and 1.0 are equal and hash alike, as are 0.0 and -0.0; as values of a parameter they are four.
    kind = type(value)
    if kind is int or kind is str:
        return kind, value
    return (kind, repr(value)) if kind is float or kind is bool else None


def _show(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"


def _listing(values: Sequence[Value]) -> str:
    rest = f", ... ({len(values)} values)" if len(values) > _SHOWN else ""
    return ", ".join(map(repr, values[:_SHOWN])) + rest
