"""Laws of every kind: round trips, the schema, and what devices share; those of the relation stand in test_laws."""

from __future__ import annotations

import json
import pickle
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import targetspec
from targetspec import registry
from targetspec.testing import compatible_pairs, kind_targets

KINDS = sorted(registry.KINDS)
DEVICES = [kind for kind in KINDS if kind not in ("cpu", "composite")]
ALL_BUT_CPU = [*DEVICES, "composite"]
SCHEMA = jsonschema.Draft202012Validator(targetspec.json_schema())
# Each law is tried on every kind, so a share of the profile's examples for each will do.
few = settings(max_examples=max(10, settings().max_examples // 4))
kinds = pytest.mark.parametrize("kind", KINDS)
devices = pytest.mark.parametrize("kind", DEVICES)
others = pytest.mark.parametrize("kind", ALL_BUT_CPU)


@others
@few
@given(data=st.data())
def test_every_form_gives_back_the_target(kind: str, data: st.DataObject) -> None:
    """Pickle, JSON, the text and the document give an equal target, with host, libraries and digest."""
    target = data.draw(kind_targets(kind))
    document = json.loads(targetspec.dumps(target))
    assert [] == list(SCHEMA.iter_errors(document))
    assert [] == targetspec.validate(document)
    for again in (
        pickle.loads(pickle.dumps(target)),
        targetspec.loads(targetspec.dumps(target)),
        targetspec.parse(str(target)),
        target.evolve(),
    ):
        assert target == again
        assert (target.digest, str(target)) == (again.digest, str(again))
        assert target.tuning_key == again.tuning_key


@kinds
def test_every_field_is_documented(kind: str) -> None:
    """A field has a doc, and a size in bytes says its unit."""
    specs = registry.kind(kind).specs()
    assert [] == [name for name, one in specs.items() if not one.doc]
    assert [] == [name for name, one in specs.items() if name.endswith("_bytes") and one.unit != "byte"]


@given(compatible_pairs())
def test_compatible_pairs_are(pair: Any) -> None:
    """The strategy gives what it says."""
    first, second = pair
    assert first.compatible(second)


@devices
@few
@given(data=st.data())
def test_link_is_code_both_ways(kind: str, data: st.DataObject) -> None:
    """Objects for devices go together where each runs in the other's place."""
    first, second = data.draw(kind_targets(kind)), data.draw(kind_targets(kind))
    answers = {first.compatible(second).answer, second.compatible(first).answer}
    expected = "no" if "no" in answers else "unknown" if "unknown" in answers else "yes"
    assert expected == first.compatible(second, purpose="link").answer


@devices
@few
@given(data=st.data())
def test_schedules_travel_within_a_kind(kind: str, data: st.DataObject) -> None:
    """Without stated needs no difference stands in the way of trying a configuration."""
    first, second = data.draw(kind_targets(kind)), data.draw(kind_targets(kind))
    verdict = first.compatible(second, purpose="schedule")
    assert verdict
    assert {reason.weight for reason in verdict.reasons} <= {"re-measure"}


@devices
@few
@given(data=st.data())
def test_limits_decide_only_where_needed(kind: str, data: st.DataObject) -> None:
    """A stated need is met, not met, or undecided, as the runner's limit is at least it, smaller, or not stated."""
    cls = registry.kind(kind)
    counts = [name for name in cls.need_rules() if name != "warp_size"]
    name = data.draw(st.sampled_from(sorted(counts)))
    for limit, answer in ((9, "yes"), (8, "yes"), (7, "no"), (None, "unknown")):
        target = cls(**{name: limit})
        assert "yes" == target.compatible(target).answer
        assert answer == target.compatible(target, purpose="schedule", needs={name: 8}).answer
