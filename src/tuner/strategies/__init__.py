"""Search strategies by name. One of your own is a callable that takes Trials and gives a Strategy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tuner.strategies.genetic import Genetic
from tuner.strategies.guided import Guided
from tuner.strategies.trials import Factory, Strategy, Trials
from tuner.strategies.uniform import Uniform

__all__ = ["STRATEGIES", "Factory", "Strategy", "Trials"]

STRATEGIES: Mapping[str, Factory] = MappingProxyType(
    {"default": Guided, "genetic": Genetic, "guided": Guided, "uniform": Uniform}
)
