"""Search spaces: equal to filtering the product of all values, in its order, without going through it."""

from __future__ import annotations

import functools
import inspect
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner import Space, SpaceError

Constraint = Callable[..., object]


def linear(names: tuple[str, ...], factors: tuple[int, ...], limit: int) -> Constraint:
    """Make a constraint on exactly these parameters, with a signature of its own."""
    source = f"lambda {', '.join(names)}: {' + '.join(f'{f}*{n}' for f, n in zip(factors, names, strict=True))} <= {limit}"
    return eval(source)  # noqa: S307 - the test's own text


@st.composite
def definitions(draw: st.DrawFn) -> tuple[dict[str, list[Any]], list[Constraint]]:
    """Up to six parameters of a few numbers, single values among them, and up to four linear constraints."""
    names = list("abcdef")[: draw(st.integers(1, 6))]
    number = st.integers(-3, 9) | st.booleans() | st.sampled_from([0.5, -0.0, 0.0, 1.0, 2.5])
    listed = st.lists(number, min_size=1, max_size=4, unique_by=repr)
    parameters = {name: draw(listed) for name in names}
    scopes = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True), max_size=4))
    return parameters, [
        linear(tuple(scope), tuple(draw(st.integers(-2, 2)) for _ in scope), draw(st.integers(-2, 8)))
        for scope in scopes
    ]


def brute_force(parameters: dict[str, list[Any]], constraints: list[Constraint]) -> list[dict[str, Any]]:
    every = (dict(zip(parameters, row, strict=True)) for row in itertools.product(*parameters.values()))
    takes = [(constraint, list(inspect.signature(constraint).parameters)) for constraint in constraints]
    return [config for config in every if all(rule(*(config[n] for n in names)) for rule, names in takes)]


def exact(configs: Any) -> list[list[tuple[str, str]]]:
    """Tell True, 1, 1.0 and -0.0 apart, which `==` does not."""
    return [[(name, repr(value)) for name, value in config.items()] for config in configs]


@given(definitions())
def test_space_equals_brute_force(definition):
    """A space holds what the filtered product of its values holds, in its order, with exact values."""
    expected = brute_force(*definition)
    if not expected:
        with pytest.raises(SpaceError, match="no configuration is valid"):
            Space(*definition)
        return
    space = Space(*definition)
    assert len(expected) == len(space)
    assert exact(expected) == exact(space)
    assert exact(expected) == exact(space[index] for index in range(len(space)))
    assert list(range(len(expected))) == [space.index(config) for config in expected]


@given(definitions())
def test_membership_is_validity(definition):
    """Of all combinations of values, exactly the valid ones are in the space."""
    expected = brute_force(*definition)
    if expected:
        space, valid = Space(*definition), {str(config) for config in expected}
        every = [
            dict(zip(definition[0], row, strict=True)) for row in itertools.product(*definition[0].values())
        ]
        assert len(every) == space.raw_size
        assert [str(config) in valid for config in every] == [config in space for config in every]


@given(definitions())
def test_neighbours_are_all_that_differ_in_one_parameter(definition):
    """Neighbours are the valid configurations at a distance of one parameter, and being so goes both ways."""
    expected = brute_force(*definition)
    if not expected:
        return
    space, config = Space(*definition), expected[len(expected) // 2]
    near = [
        other for other in expected if sum(repr(config[name]) != repr(other[name]) for name in config) == 1
    ]
    assert sorted(exact(near)) == sorted(exact(space.neighbours(config)))
    assert all(config in space.neighbours(other) for other in near)
    adjacent = space.neighbours(config, adjacent=True)
    assert [other for other in exact(space.neighbours(config)) if other in exact(adjacent)] == exact(adjacent)
    for name, listed in definition[0].items():
        order = [repr(value) for value in listed]
        at = [order.index(repr(other[name])) for other in near if repr(other[name]) != repr(config[name])]
        below = [place for place in at if place < order.index(repr(config[name]))]
        above = [place for place in at if place > order.index(repr(config[name]))]
        chosen = [order.index(repr(o[name])) for o in adjacent if repr(o[name]) != repr(config[name])]
        assert sorted(below)[-1:] + sorted(above)[:1] == chosen


@given(definitions(), st.integers(-5, 20))
def test_restrict_keeps_what_the_predicate_holds_for(definition, limit):
    """Restricting is filtering, and the restricted space is a space like any other."""
    expected = brute_force(*definition)
    if not expected:
        return
    space = Space(*definition)
    kept = [config for config in expected if sum(config.values()) <= limit]
    if not kept:
        with pytest.raises(SpaceError, match="no configuration is left"):
            space.restrict(lambda config: sum(config.values()) <= limit)
        return
    restricted = space.restrict(lambda config: sum(config.values()) <= limit)
    assert exact(kept) == exact(restricted)
    assert list(range(len(kept))) == [restricted.index(config) for config in kept]
    assert (len(kept) == len(expected)) == (restricted == space)


@given(definitions())
def test_equal_iff_same_parameters_and_valid_configurations(definition):
    """Spaces with other constraints that allow the same are equal, and have one hash."""
    expected = brute_force(*definition)
    if expected:
        space = Space(*definition)
        valid = {str(list(config.values())) for config in expected}
        names = tuple(definition[0])
        whole = eval(f"lambda {', '.join(names)}: str([{', '.join(names)}]) in valid", {"valid": valid})  # noqa: S307
        same = Space(definition[0], [whole])
        assert space == same
        assert hash(space) == hash(same)


@given(definitions())
def test_pickles_without_its_constraints(definition):
    """A space goes through pickle though its constraints are lambdas, and is equal on the other side."""
    if brute_force(*definition):
        space = Space(*definition)
        for pickler in (pickle, cloudpickle):
            copy = pickle.loads(pickler.dumps(space))
            assert space == copy
            assert hash(space) == hash(copy)
            assert exact(space) == exact(copy)


def test_other_type_is_another_space():
    """True, 1 and 1.0 are different values, so that spaces of them differ."""
    spaces = [Space({"a": [value]}) for value in (True, 1, 1.0, "1")]
    assert 4 == len({id(space) for space in spaces})
    assert all(left != right for left, right in itertools.combinations(spaces, 2))
    assert Space({"a": [1], "b": [2]}) != Space({"b": [2], "a": [1]})
    assert Space({"a": [1]}) != 1


def test_groups_are_never_multiplied_out():
    """Independent groups make a space larger than memory, with all its places at hand."""
    space = Space(
        {f"p{at}": list(range(10)) for at in range(30)}, [lambda p0, p29: p0 == p29, lambda p1: p1 > 4]
    )
    assert 5 * 10**28 == space.size
    assert 10**30 == space.raw_size
    for index in (0, 1, 123456789 * 10**18, 5 * 10**28 - 1):
        assert index == space.index(space[index])
    assert space[-1] == space[space.size - 1]


def test_linked_combinations_beyond_a_machine_word():
    """One group with more raw combinations than 64 bits number is as exact as a small one."""
    names = [f"p{at}" for at in range(22)]
    rules = [eval(f"lambda {a}, {b}: {a} <= {b}") for a, b in itertools.pairwise(names)]  # noqa: S307
    space = Space({name: list(range(-1, 8)) if name in {"p0", "p21"} else list(range(8)) for name in names}, [
        *rules, lambda p0: p0 >= 6,
    ])  # fmt: skip
    assert 9**2 * 8**20 == space.raw_size > 2**63
    assert 23 == len(space)
    assert list(range(23)) == [space.index(config) for config in space]
    assert {"p0": 6, "p21": 7}.items() <= space[5].items()
    assert dict.fromkeys(names, 5) not in space
    assert space == pickle.loads(pickle.dumps(space))
    assert 22 == len(space.restrict(lambda config: config["p21"] == 7))


def test_gemm_has_its_known_size():
    """The number of valid configurations of a known problem, counted by nested loops."""
    gemm = Space(
        {
            "mwg": [16, 32, 64, 128], "nwg": [16, 32, 64, 128], "kwg": [16, 32], "mdimc": [8, 16, 32],
            "ndimc": [8, 16, 32], "mdima": [8, 16, 32], "ndimb": [8, 16, 32], "kwi": [2], "vwm": [1, 2, 4, 8],
            "vwn": [1, 2, 4, 8], "strm": [0, 1], "strn": [0, 1], "sa": [0, 1], "sb": [0, 1],
        },
        [
            lambda kwg, kwi: kwg % kwi == 0,
            lambda mwg, mdimc, vwm: mwg % (mdimc * vwm) == 0,
            lambda nwg, ndimc, vwn: nwg % (ndimc * vwn) == 0,
            lambda mwg, mdima, vwm: mwg % (mdima * vwm) == 0,
            lambda nwg, ndimb, vwn: nwg % (ndimb * vwn) == 0,
            lambda kwg, mdimc, ndimc, mdima: kwg % ((mdimc * ndimc) / mdima) == 0,
            lambda kwg, mdimc, ndimc, ndimb: kwg % ((mdimc * ndimc) / ndimb) == 0,
            lambda mwg, nwg, mdimc, ndimc: not (mwg == nwg == 128 and mdimc == ndimc == 8),
        ],
    )  # fmt: skip
    assert (663_552, 116_928) == (gemm.raw_size, len(gemm))


def test_constraint_is_asked_once_for_each_of_its_combinations():
    """A constraint sees each combination of its own parameters at most once, and none that others rule out before."""
    seen: list[tuple[int, int]] = []

    def fits(tile: int, unroll: int) -> bool:
        seen.append((tile, unroll))
        return tile * unroll <= 64

    parameters = {"other": [0, 8, 9], "tile": [1, 2, 4, 8], "unroll": [1, 2, 4, 8, 16]}
    Space(parameters, [fits, lambda tile: tile > 1, lambda other, tile: other != tile])
    assert [(tile, unroll) for tile in (2, 4, 8) for unroll in (1, 2, 4, 8, 16)] == sorted(seen)


def test_constraint_may_raise_for_what_another_refuses():
    """The order of constraints means nothing, also where one guards another."""
    parameters = {"a": [6, 8], "b": [0, 1, 4]}
    expected = [{"a": 6, "b": 1}, {"a": 8, "b": 1}, {"a": 8, "b": 4}]
    rules = [lambda a, b: a % b == 0, lambda b: b != 0, lambda a, b: b > 0 or a > 100]
    for order in itertools.permutations(rules):
        assert expected == list(Space(parameters, order))


def test_raising_constraint_is_an_error_with_its_cause():
    """The error says which constraint raised what, for which values, and has the exception as its cause."""
    with pytest.raises(
        SpaceError, match=r"constraint 2, .*a, b.* raised ZeroDivisionError for {'a': 1, 'b': 0}: "
    ) as got:
        Space({"a": [1, 2], "b": [0, 1]}, [lambda a: a > 0, lambda a, b: a / b])
    assert isinstance(got.value.__cause__, ZeroDivisionError)


def test_truth_values_and_ways_to_take_arguments():
    """Results are truth values, and arguments may be keyword-only, bound beforehand, or have defaults."""

    def keyword(*, tile: int) -> np.bool_:
        return np.bool_(tile > 8)

    def positional(unroll: int, /, tile: int, factor: int = 2) -> int:
        return max(0, tile - factor * unroll)

    def at_least(limit: int, tile: int) -> bool:
        return tile >= limit

    class Even:
        def __call__(self, tile: int) -> bool:
            return tile % 2 == 0

    space = Space(
        {"tile": [8, 16, 32, 33], "unroll": [1, 8, 16]},
        [keyword, positional, functools.partial(at_least, 16), functools.partial(at_least, limit=9), Even()],
    )
    assert [(16, 1), (32, 1), (32, 8)] == [tuple(config.values()) for config in space]


@pytest.mark.parametrize(
    ("parameters", "constraints", "message"),
    [
        ({}, [], "at least one parameter"),
        ([("a", [1])], [], "mapping of names"),
        ({"a": []}, [], "'a'.*empty"),
        ({"": [1]}, [], "non-empty text"),
        ({1: [1]}, [], "non-empty text, not 1"),
        ({"a": "abc"}, [], "'a'.*must be a list"),
        ({"a": {1, 2}}, [], "'a'.*must be a list"),
        ({"a": 3}, [], "'a'.*must be a list"),
        ({"a": [1, None]}, [], r"'a'.*None \(NoneType\)"),
        ({"a": [np.int64(1)]}, [], r"'a'.*int64"),
        ({"a": [[1]]}, [], r"'a'.*\[1\] \(list\)"),
        ({"a": [float("nan")]}, [], "'a': nan is not a finite"),
        ({"a": [float("inf")]}, [], "'a': inf is not a finite"),
        ({"a": [1, 2, 1]}, [], r"'a': 1 \(int\) is listed twice"),
        ({"a": ["x", "x"]}, [], r"'a': 'x' \(str\) is listed twice"),
        ({"a": [1]}, "a > 0", "list of callables"),
        ({"a": [1]}, lambda a: a, "list of callables"),
        ({"a": [1]}, None, "list of callables"),
        ({"a": [1]}, [lambda a: a, "a > 0"], "constraint 2 must be callable"),
        ({"tile": [1]}, [lambda tiel: tiel], "constraint 1.*'tiel'.*did you mean 'tile'"),
        ({"a": [1]}, [lambda *a: a], r"constraint 1.*takes \*a"),
        ({"a": [1]}, [lambda a, **b: a or b], r"constraint 1.*takes \*\*b"),
        ({"a": [1]}, [lambda: True], "constraint 1.*names no parameter"),
        ({"a": [1]}, [lambda z=1: z], "constraint 1.*names no parameter"),
        ({"a": [1, 2], "b": [1]}, [lambda a: a > 0, lambda b: b > 1], "constraint 2.*allows none$"),
        ({"a": [1, 2]}, [lambda a: a > 1, lambda a: a < 2], "constraint 2.*none of those.*constraint 1"),
        ({"a": [1]}, [lambda a: None], "constraint 1.*allows none$"),
    ],
)
def test_malformed_space(parameters, constraints, message):
    """What is wrong with a definition is said in one line, with the parameter or constraint at fault."""
    with pytest.raises(SpaceError, match=message):
        Space(parameters, constraints)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tile": 8}, "'unroll' is missing"),
        ({"tile": 8, "unroll": 1, "extra": 1}, "'extra' is no parameter"),
        ({"tiel": 8, "unroll": 1}, "'tiel' is no parameter.*did you mean 'tile'.*'tile' is missing"),
        ({"tile": 9, "unroll": 1}, r"'tile' is 9 \(int\), not one of 8, 16"),
        ({"tile": 8.0, "unroll": 1}, r"'tile' is 8.0 \(float\)"),
        ({"tile": 8, "unroll": True}, r"'unroll' is True \(bool\)"),
        ({"tile": [8], "unroll": 1}, r"'tile' is \[8\] \(list\)"),
        ({"tile": 8, "unroll": 16}, r"not valid: refused by constraint 1, <lambda>\(tile, unroll\)"),
        ([8, 1], "mapping of names to values"),
        (None, "mapping of names to values"),
    ],
)
def test_configuration_of_another_space(config, message):
    """A configuration that is none of the space's is not in it, and has no place and no neighbours."""
    space = Space({"tile": [8, 16], "unroll": [1, 16]}, [lambda tile, unroll: unroll <= tile])
    assert config not in space
    with pytest.raises(SpaceError, match=message):
        space.index(config)
    with pytest.raises(SpaceError, match=message):
        space.neighbours(config)


def test_restricted_space_names_its_restriction():
    """A configuration that a restriction took out is refused by it."""
    space = Space({"tile": [8, 16]}).restrict(lambda config: config["tile"] > 8)
    with pytest.raises(SpaceError, match="refused by a restriction"):
        space.index({"tile": 8})


def test_predicate_that_raises():
    """The error of a predicate names the configuration, even where the predicate spoilt its own copy."""
    with pytest.raises(SpaceError, match=r"the predicate raised KeyError for {'tile': 8}: 'tiel'") as got:
        Space({"tile": [8]}).restrict(lambda config: config.pop("tile") and config["tiel"])
    assert isinstance(got.value.__cause__, KeyError)


def test_configurations_are_fresh():
    """What a caller does to a configuration or to the parameters it gave, the space does not see."""
    listed = [1, 2]
    space = Space({"a": listed})
    listed.append(3)
    space[0]["a"] = 7
    assert [{"a": 1}, {"a": 2}] == list(space)
    with pytest.raises(TypeError):
        space.parameters["a"] = (1,)  # type: ignore[index]
    with pytest.raises(AttributeError):
        space.size = 3


@pytest.mark.parametrize("index", [2, -3, 10**30])
def test_place_out_of_range(index):
    """There is nothing beyond either end."""
    with pytest.raises(IndexError, match="out of range"):
        Space({"a": [1, 2]})[index]
