"""Search strategies by name."""

from __future__ import annotations

import difflib

from tuner.errors import SpaceError
from tuner.strategies.genetic import Genetic
from tuner.strategies.trials import Factory, Strategy, Trials
from tuner.strategies.uniform import Uniform

STRATEGIES: dict[str, Factory] = {"default": Genetic, "genetic": Genetic, "uniform": Uniform}


def make_strategy(name: str, trials: Trials) -> Strategy:
    """Return a new strategy for a search; SpaceError with the nearest names where there is none."""
    factory = STRATEGIES.get(name) if isinstance(name, str) else None
    if factory is None:
        near = difflib.get_close_matches(str(name), STRATEGIES) or sorted(STRATEGIES)
        raise SpaceError(f"unknown strategy {name!r}; did you mean {' or '.join(near)}?")
    return factory(trials)
