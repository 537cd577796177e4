"""Replay search strategies on tables of measured costs and print how well each does.

    python benchmarks/search_replay.py [--tables FOLDER] [--budget 200] [--seeds 20] [--ahead 0] [STRATEGY ...]

A table is a Kernel Tuner cache file (`*.json.gz`). The score (Willemsen et al., 2024) is the mean, over evaluations 20 to the
budget, of (baseline - best so far) / (baseline - optimum), where the baseline is the calculated expectation of random search
without replacement: 0 is random, 1 the optimum at once. Failures count as evaluations. `--ahead` candidates are
under way before the first is reported, as in a pipeline. CPU time is that of the search alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from tuner.search import Search
from tuner.space import Configuration, Point, Space
from tuner.strategies import STRATEGIES

TABLES = Path(__file__).resolve().parents[2] / "shared" / "spaces"
NAMES = ("convolution_A4000", "convolution_A100", "dedispersion_A4000", "dedispersion_A100")
FIRST = 20


class Table(NamedTuple):
    """A space with the cost of each of its points, None where it failed."""

    space: Space
    costs: dict[Point, float | None]


class Run(NamedTuple):
    """The best cost after each trial (None: all failed so far) and the CPU seconds of the search."""

    best: list[float | None]
    seconds: float


def read_table(path: Path) -> Table:
    text = gzip.decompress(path.read_bytes()).decode().rstrip()
    # Some files were left open, as after a run that was cut.
    document = json.loads(f"{text.rstrip(',')}}}}}" if text.endswith(",") else text)
    parameters = document["tune_params"]
    costs = {
        tuple(entry[name] for name in parameters): entry["time"] if isinstance(entry["time"], float) else None
        for entry in document["cache"].values()
    }
    space = Space(parameters).restrict(lambda config: tuple(config.values()) in costs)
    return Table(
        space, {space.locate(dict(zip(parameters, key, strict=True))): cost for key, cost in costs.items()}
    )


def random_expectation(table: Table, budget: int) -> list[float]:
    """Calculate the expected best cost after 1 .. budget draws; before any has worked it is the worst."""
    known = sorted(cost for cost in table.costs.values() if cost is not None)
    ranked = known + known[-1:] * (len(table.costs) - len(known))
    return [_expected_least(ranked, draws) for draws in range(1, budget + 1)]


def _expected_least(ranked: list[float], draws: int) -> float:
    chance, expected = draws / len(ranked), 0.0
    for rank, cost in enumerate(ranked, 1):
        expected += chance * cost
        left = len(ranked) - rank
        if left < draws:
            break
        chance *= (left - draws + 1) / left
    return expected


def replay(table: Table, strategy: str, seed: int, budget: int, ahead: int) -> Run:
    started = time.process_time()
    search = Search(table.space, strategy, seed)
    seconds = time.process_time() - started
    under_way: list[Configuration] = []
    costs: list[float | None] = []
    for _ in range(budget):
        started = time.process_time()
        under_way += search.suggest(1)
        seconds += time.process_time() - started
        costs.append(table.costs[table.space.locate(under_way[-1])])
        if len(under_way) > ahead:
            started = time.process_time()
            search.report(under_way.pop(0), costs[len(costs) - 1 - ahead])
            seconds += time.process_time() - started
    return Run(_running_least(costs), seconds)


def _running_least(costs: list[float | None]) -> list[float | None]:
    best: list[float | None] = []
    for cost in costs:
        known = [value for value in (cost, *best[-1:]) if value is not None]
        best.append(min(known, default=None))
    return best


def score(run: Run, baseline: list[float], table: Table) -> float:
    known = [cost for cost in table.costs.values() if cost is not None]
    gains = [
        (expected - (max(known) if best is None else best)) / (expected - min(known))
        for expected, best in zip(baseline, run.best, strict=True)
    ]
    return statistics.mean(gains[FIRST - 1 :])


def main() -> None:
    parser = argparse.ArgumentParser(description="Replay search strategies on tables of measured costs.")
    parser.add_argument(
        "strategies", nargs="*", default=["uniform", "genetic", "default"], metavar="STRATEGY"
    )
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the tables")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ahead", type=int, default=0)
    options = parser.parse_args()
    if not set(options.strategies) <= STRATEGIES.keys() or options.budget < FIRST:
        parser.error(f"strategies are {', '.join(STRATEGIES)}; the budget is at least {FIRST}")
    tables = {name: read_table(options.tables / f"{name}.json.gz") for name in NAMES}
    baselines = {name: random_expectation(table, options.budget) for name, table in tables.items()}
    print(
        f"budget {options.budget}, {options.seeds} seeds, {options.ahead} ahead; score +- its standard error"
    )
    for strategy in options.strategies:
        means, variances, seconds = [], [], 0.0
        for name, table in tables.items():
            runs = [
                replay(table, strategy, seed, options.budget, options.ahead) for seed in range(options.seeds)
            ]
            scores = [score(run, baselines[name], table) for run in runs]
            means.append(statistics.mean(scores))
            variances.append(statistics.variance(scores) / len(scores))
            seconds += sum(run.seconds for run in runs)
            print(f"  {strategy:10} {name:20} {means[-1]:6.3f} +- {variances[-1] ** 0.5:.3f}")
        error = sum(variances) ** 0.5 / len(variances)
        cost = seconds / (len(tables) * options.seeds * options.budget)
        print(
            f"{strategy:12} {'mean':20} {statistics.mean(means):6.3f} +- {error:.3f}  {cost * 1e6:.0f} us/trial"
        )


if __name__ == "__main__":
    main()
