"""Search by ask and tell: the laws that hold for every strategy, and that learning pays."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from record_examples import EXAMPLE
from tuner import Search, Space, SpaceError
from tuner.errors import SearchError
from tuner.strategies import STRATEGIES, Trials
from tuner.strategies.guided import Guided

NAMES = ["default", "genetic", "uniform"]
SPACE = Space(
    {
        "tile": [1, 2, 4, 8, 16, 32],
        "unroll": [1, 2, 3, 4],
        "order": ["ijk", "kij", "jki"],
        "pack": [False, True],
    },
    [lambda tile, unroll: tile % unroll == 0, lambda order, pack: pack or order != "jki"],
)
LARGE = Space(
    {
        "a": list(range(16)),
        "b": list(range(16)),
        "c": list(range(8)),
        "d": list(range(8)),
        "e": ["x", "y", "z"],
    },
    [lambda a, b: a + b <= 20, lambda c, d: c * d <= 40],
)


def cost_of(config: dict[str, Any]) -> float | None:
    """Give a cost that depends on the configuration alone; one in eight fails."""
    value = random.Random(repr(sorted(config.items()))).random()
    return None if value < 1 / 8 else value


def bowl(config: dict[str, Any]) -> float:
    """Give a cost with one minimum and with parameters that interact."""
    near = abs(config["a"] - 11) + abs(config["b"] - 3) + 2 * abs(config["c"] - config["d"])
    return 1 + near + (config["e"] != "y") * 4 + config["d"]


def run(search: Search, trials: int, ahead: int = 0) -> list[dict[str, Any]]:
    """Drive a search as a pipeline does, with some suggestions under way."""
    suggested: list[dict[str, Any]] = []
    for _ in range(trials):
        suggested += search.suggest(1)
        if len(suggested) > ahead:
            config = suggested[len(suggested) - 1 - ahead]
            search.report(config, cost_of(config))
    return suggested


@pytest.mark.parametrize("strategy", NAMES)
@given(batches=st.lists(st.integers(0, 9), min_size=1, max_size=20), seed=st.integers())
def test_every_configuration_once(strategy, batches, seed):
    """Suggestions are valid, none comes twice, and all come before there are fewer than asked for."""
    search = Search(SPACE, strategy, seed)
    suggested: list[dict[str, Any]] = []
    for size in [*batches, len(SPACE)]:
        batch = search.suggest(size)
        assert min(size, len(SPACE) - len(suggested)) == len(batch)
        suggested += batch
        for config in batch:
            search.report(config, cost_of(config))
    assert sorted(SPACE.index(config) for config in suggested) == list(range(len(SPACE)))
    assert [] == search.suggest(1)


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("cost", [None, 1.0])
def test_exhaustive_whatever_is_reported(strategy, cost):
    """A space where all fails, or all costs the same, is gone through like any other."""
    search = Search(SPACE, strategy)
    suggested = []
    while batch := search.suggest(3):
        suggested += batch
        for config in batch:
            search.report(config, cost)
    assert len(SPACE) == len({SPACE.index(config) for config in suggested}) == len(suggested)


@pytest.mark.parametrize("strategy", NAMES)
def test_suggests_without_any_report(strategy):
    """Where nothing is ever reported the whole space comes all the same."""
    assert len(SPACE) == len({str(config) for config in Search(SPACE, strategy).suggest(10**6)})


@pytest.mark.parametrize("strategy", NAMES)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_order_of_reports_within_a_batch_means_nothing(strategy, seed, data):
    """The same costs, reported in another order between the same suggestions, lead to the same suggestions."""
    left, right = Search(LARGE, strategy, seed), Search(LARGE, strategy, seed)
    for size in (12, 5, 8, 3, 1, 1, 9, 4):
        batch = left.suggest(size)
        assert batch == right.suggest(size)
        for config in batch:
            left.report(config, cost_of(config))
        for config in data.draw(st.permutations(batch)):
            right.report(config, cost_of(config))


@pytest.mark.parametrize("strategy", NAMES)
def test_pipeline_depends_on_reports_alone(strategy):
    """With some under way, the same reports at the same places lead to the same suggestions."""
    assert run(Search(LARGE, strategy, 5), 60, ahead=4) == run(Search(LARGE, strategy, 5), 60, ahead=4)


@pytest.mark.parametrize("strategy", ["default", "genetic"])
def test_suggestions_depend_on_costs(strategy):
    """Other costs lead elsewhere: a search that learns listens."""
    left, right = Search(LARGE, strategy, 5), Search(LARGE, strategy, 5)
    for search, sign in ((left, 1), (right, -1)):
        for config in search.suggest(40):
            search.report(config, 2.0 + sign * config["a"] / 16)
    assert left.suggest(10) != right.suggest(10)


@pytest.mark.parametrize("strategy", NAMES)
def test_other_seed_other_order(strategy):
    """Seeds matter, of any size and sign."""
    orders = [str(run(Search(LARGE, strategy, seed), 20)) for seed in (0, 1, 2, 2**80)]
    assert 4 == len(set(orders))


_REPLAY = """
import json, sys
from tuner import Search, Space
space = Space({"a": list(range(12)), "b": [1, 2, 4, 8], "c": ["x", "y", "z"]}, [lambda a, b: a % b == 0])
search, shown = Search(space, sys.argv[1], 3), []
for _ in range(30):
    batch = search.suggest(2)
    for config in batch:
        search.report(config, 1.0 + config["a"] + config["b"] / 4 + len(shown) % 3)
    shown += batch
print(json.dumps(shown))
"""


@pytest.mark.parametrize("strategy", NAMES)
def test_same_in_every_process(strategy):
    """Neither the hash seed nor the number of threads of numpy's BLAS changes what is suggested."""
    answers = set()
    for hash_seed, threads in (("0", "1"), ("1", "2"), ("4242", "1")):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "OPENBLAS_NUM_THREADS": threads}
        command = [sys.executable, "-c", _REPLAY, strategy]
        answers.add(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )
    assert 1 == len(answers)
    assert 60 == len(json.loads(answers.pop()))


@pytest.mark.parametrize("strategy", NAMES)
def test_seeds_come_first(strategy):
    """Configurations given beforehand are suggested first, once, those that the space does not hold left out."""
    good = [
        {"tile": 8, "unroll": 4, "order": "kij", "pack": True},
        {"tile": 1, "unroll": 1, "order": "ijk", "pack": False},
    ]
    bad = [{"tile": 8}, {**good[0], "tile": 3}, {**good[0], "unroll": 3}, {**good[0], "pack": 1}]
    search = Search(SPACE, strategy, seeds=[bad[0], good[0], *bad[1:], good[1], good[0]])
    assert good == search.suggest(2)
    rest = search.suggest(len(SPACE))
    assert len(SPACE) - 2 == len(rest)
    assert not any(config in good for config in rest)


@pytest.mark.parametrize("seed", [EXAMPLE, 3, ("tile", 8)], ids=["a record", "a number", "a tuple"])
def test_a_seed_is_a_configuration(seed):
    """A record is none; left out without a word, it would be missed."""
    with pytest.raises(SearchError, match="a seed is a configuration, such as the `config` of a record"):
        Search(SPACE, seeds=[seed])


@pytest.mark.parametrize("strategy", NAMES)
def test_known_from_elsewhere(strategy):
    """What was reported though never suggested counts, is not suggested, and may come in any order."""
    known = [LARGE[index] for index in range(0, 300, 7)]
    left, right = Search(LARGE, strategy, seeds=known[:2]), Search(LARGE, strategy)
    for config in known:
        left.report(config, bowl(config))
    for config in reversed(known):
        right.report(config, bowl(config))
    assert left.best == right.best
    suggested = left.suggest(50)
    assert suggested == right.suggest(50)
    assert not any(config in known for config in suggested)


def test_best_is_the_least_cost_and_of_equals_the_first_suggested():
    """The best is None at first, and where all failed."""
    search = Search(SPACE, "uniform")
    first, second, third = search.suggest(3)
    assert search.best is None
    search.report(third, None)
    assert search.best is None
    search.report(second, 2)
    assert (second, 2.0) == search.best
    search.report(first, 2.0)
    assert (first, 2.0) == search.best


def test_same_report_again():
    """The same cost again changes nothing; another is an error that names both."""
    search = Search(SPACE)
    good, failed = search.suggest(2)
    for _ in range(2):
        search.report(good, 0.5)
        search.report(failed, None)
    with pytest.raises(SearchError, match=r"was reported before, with 0.5 s, not 0.25"):
        search.report(good, 0.25)
    with pytest.raises(SearchError, match=r"was reported before, with a failure, not 0.25"):
        search.report(failed, 0.25)
    assert (good, 0.5) == search.best


@pytest.mark.parametrize("cost", [0, 0.0, -1.0, float("nan"), float("inf"), True, "1", [1.0]])
def test_cost_that_is_none(cost):
    """A cost is a positive, finite number; the wrong ones are refused and leave no trace."""
    search = Search(SPACE)
    (config,) = search.suggest(1)
    with pytest.raises(SearchError, match="a cost is"):
        search.report(config, cost)
    search.report(config, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "genetics"}, "'genetics' is no strategy.*did you mean 'genetic'"),
        ({"strategy": ""}, "there are 'default'"),
        ({"seed": True}, "seed must be an int"),
        ({"seed": 1.0}, "seed must be an int"),
        ({"space": {"a": [1]}}, "needs a Space"),
    ],
)
def test_bad_arguments(arguments, message):
    """Bad arguments are refused at once."""
    with pytest.raises(SearchError, match=message):
        Search(**{"space": SPACE, **arguments})


@pytest.mark.parametrize("count", [-1, True, 1.0, "1"])
def test_bad_number_of_suggestions(count):
    """The number of suggestions is an int of 0 or more."""
    with pytest.raises(SearchError, match="number of suggestions"):
        Search(SPACE).suggest(count)


def test_report_for_another_space():
    """A configuration that is not valid cannot be reported."""
    with pytest.raises(SpaceError, match="'tile' is missing"):
        Search(SPACE).report({"unroll": 1}, 1.0)


def test_strategies_by_name():
    """The names are these, and the default is the one that scores best on replayed tables."""
    assert {"default", "genetic", "guided", "uniform"} == set(STRATEGIES)
    assert STRATEGIES["default"] is Guided


def test_own_strategy_cannot_break_the_laws():
    """A strategy of one's own may propose what is taken or not valid: the search does without."""

    class Stubborn:
        def __init__(self, trials: Trials) -> None:
            self.valid = trials.space.point(5)
            self.asked = 0

        def ask(self) -> tuple[int, ...]:
            self.asked += 1
            return self.valid if self.asked % 3 else (1, 2, 2, 0)  # tile 2, unroll 3: not valid

        def tell(self, point: tuple[int, ...], cost: float) -> None:
            pass

    search = Search(SPACE, Stubborn)
    assert list(range(len(SPACE))) == sorted(SPACE.index(config) for config in search.suggest(len(SPACE) + 1))


@pytest.mark.parametrize("strategy", NAMES)
def test_large_and_narrow_spaces(strategy):
    """A space too large to go through, and one where no two configurations are neighbours, are searched alike."""
    huge = Space({f"p{at}": list(range(12)) for at in range(30)}, [lambda p0, p1: p0 < p1])
    narrow = Space({"a": list(range(200)), "b": list(range(200))}, [lambda a, b: (a * 37 + 11) % 200 == b])
    long = Space({"a": list(range(5000)), "b": [1.5]})
    for space in (huge, narrow, long):
        search = Search(space, strategy)
        found = [search.suggest(1)[0] for _ in range(60) for _ in [search.best]]
        assert 60 == len({space.index(config) for config in found})
        for config in found:
            search.report(config, 1.0 + next(iter(config.values())))
        assert 60 == len(search.suggest(60))


@pytest.mark.parametrize("strategy", ["default", "genetic"])
@pytest.mark.parametrize("ahead", [0, 4])
def test_learning_beats_chance(strategy, ahead):
    """On a table with structure, learning finds in 80 trials what chance does not: a mean rank far nearer the best."""
    ranked = sorted(map(bowl, LARGE))

    def mean_rank(name: str) -> float:
        ranks = []
        for seed in range(12):
            search = Search(LARGE, name, seed)
            under_way: list[dict[str, Any]] = []
            for _ in range(80):
                under_way += search.suggest(1)
                if len(under_way) > ahead:
                    config = under_way.pop(0)
                    search.report(config, bowl(config))
            assert search.best is not None
            ranks.append(ranked.index(search.best[1]))
        return statistics.mean(ranks)

    assert 3 * mean_rank(strategy) < mean_rank("uniform")
