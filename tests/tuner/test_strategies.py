"""The parts that strategies are made of: chance, breeding, and the model of costs."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner import Space
from tuner.strategies.breeding import Breeder
from tuner.strategies.genetic import Genetic
from tuner.strategies.guided import Guided
from tuner.strategies.model import CostModel
from tuner.strategies.trials import Trials

SPACE = Space(
    {"a": list(range(12)), "b": list(range(12)), "c": ["x", "y", "z"], "d": [4], "e": [1, 2, 4]},
    [lambda a, b: a * b % 3 == 0, lambda c, e: c != "x" or e > 1],
)


def trials(space: Space, seed: int = 0) -> Trials:
    return Trials(space, random.Random(seed))


def test_draws_are_equally_likely():
    """Each order of a small space is drawn about as often as any other."""
    space = Space({"a": [1, 2, 3]})
    orders = Counter(
        tuple(chance.draw() for _ in range(3)) for chance in (trials(space, s) for s in range(3000))
    )
    assert 6 == len(orders)
    assert all(400 < count < 600 for count in orders.values())
    assert trials(space).sample(0) == []


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 8))
def test_children_are_valid_new_and_different(seed, count, parents):
    """Whatever the parents, children are in the space, are not taken, and none comes twice."""
    chance = trials(SPACE, seed)
    chance.taken.update(SPACE.points() if seed % 7 == 0 else (chance.draw() or () for _ in range(100)))
    chosen = np.array([SPACE.point(random.Random(seed + at).randrange(SPACE.size)) for at in range(parents)])
    children = Breeder(chance).children(chosen, count)
    assert len(children) == len(set(children)) <= count
    assert all(SPACE.is_valid(child) and child not in chance.taken for child in children)
    assert children or len(chance.taken) == SPACE.size


def test_children_where_chance_rarely_leads():
    """Where mutations are nearly always not valid, children are moves of the best parent that has any left."""
    space = Space({"a": list(range(100_000)), "b": [1]}, [lambda a: a in {0, 5_000, 99_999}])
    chance = trials(space)
    parents = np.array([(0, 0), (5_000, 0)])
    chance.taken.update({(0, 0), (5_000, 0)})
    assert [(99_999, 0)] == Breeder(chance).children(parents, 4)
    chance.taken.add((99_999, 0))
    assert [] == Breeder(chance).children(parents, 4)


@pytest.mark.parametrize("strategy", [Genetic, Guided])
def test_failures_are_no_parents(strategy):
    """While all has failed the choice is left to chance; then children come from what worked."""
    chance = trials(SPACE)
    search = strategy(chance)
    for _ in range(30):
        point = search.ask() or chance.draw()
        chance.taken.add(point)
        search.tell(point, math.inf)
    if strategy is Genetic:
        assert search.ask() is None
    best = SPACE.point(3)
    for point in [best, *(point for point in SPACE.points() if point not in chance.taken)][:13]:
        chance.taken.add(point)
        search.tell(point, 1.0 + SPACE.rank(point))
    child = search.ask()
    assert child is not None
    assert SPACE.is_valid(child)
    assert child not in chance.taken


def direct_prediction(
    model: CostModel, points: list[tuple[int, ...]], costs: list[float], at: np.ndarray
) -> np.ndarray:
    """Predict by the textbook: solve the system of covariances, with no inverse kept."""
    known = np.array(points)
    logs = np.log(np.minimum(costs, np.median(costs)))
    covariances = model.covariance(known, known) + 2e-3 * np.eye(len(known))
    return model.covariance(at, known) @ np.linalg.solve(covariances, (logs - logs.mean()) / logs.std())


@given(st.integers(0, 10**6), st.integers(3, 30))
def test_model_equals_gaussian_process_regression(seed, count):
    """Learning point by point and forgetting the worst gives what solving for the best points gives."""
    rng = random.Random(seed)
    points = rng.sample(list(SPACE.points()), count)
    costs = [0.5 + rng.random() for _ in points]
    model = CostModel(SPACE, 12)
    for point, cost in zip(points, costs, strict=True):
        model.learn(point, cost)
    best = sorted(range(count), key=costs.__getitem__)[:12]
    every = np.array(list(SPACE.points()))
    expected = direct_prediction(model, [points[at] for at in best], [costs[at] for at in best], every)
    assert np.allclose(expected, model.predict(every), atol=1e-6)


def test_model_takes_failures_and_ties():
    """A failure counts as the worst that worked, and equal costs predict nothing."""
    points = list(SPACE.points())[:6]
    failing, slow, equal = (CostModel(SPACE, 9) for _ in range(3))
    for at, point in enumerate(points):
        failing.learn(point, math.inf if at == 4 else 1.0 + at)
        slow.learn(point, 6.0 if at == 4 else 1.0 + at)
        equal.learn(point, 2.0)
    assert np.array_equal(failing.predict(np.array(points)), slow.predict(np.array(points)))
    assert not equal.predict(np.array(points)).any()


@given(st.data())
def test_covariance_is_one_of_a_point_with_itself(data):
    """Covariance is 1 for equal points, symmetric, less for others, and least is known of what differs most."""
    left, right = data.draw(st.integers(0, SPACE.size - 1)), data.draw(st.integers(0, SPACE.size - 1))
    points = np.array([SPACE.point(left), SPACE.point(right)])
    covariances = CostModel(SPACE, 9).covariance(points, points)
    assert np.allclose(np.diag(covariances), 1)
    assert covariances[0, 1] == covariances[1, 0]
    assert (left == right) == (covariances[0, 1] > 1 - 1e-9)


def test_names_have_no_order():
    """Of numbers, near ones are more alike; all names are equally unlike, and so are values of a space of one point."""
    numbers, names = Space({"a": list(range(9))}), Space({"a": list("abcdefghi")})
    row = np.arange(9)[:, None]
    ordered = CostModel(numbers, 9).covariance(row[:1], row)[0]
    assert all(near > far for near, far in itertools.pairwise(ordered))
    assert 1 == len(set(CostModel(names, 9).covariance(row[:1], row)[0][1:]))
    assert [[1.0]] == CostModel(Space({"a": [1]}), 9).covariance(row[:1], row[:1]).tolist()
