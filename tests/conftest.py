"""Profiles and fixtures that every test may use."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", max_examples=5000, deadline=None)
settings.register_profile("mutation", max_examples=10, deadline=None, derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real inputs that may lie beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the corpora are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Read one corpus by its name without the suffix: a list of its rows."""

    def read(name: str) -> list[dict[str, Any]]:
        with (shared / "corpora" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]

    return read
