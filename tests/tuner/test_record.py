"""Records and outcomes: checked at construction, exact, immutable, the same after JSON and pickle."""

from __future__ import annotations

import contextlib
import copy
import pickle
from datetime import UTC, date, datetime
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from record_examples import EXAMPLE, FINGERPRINT, ZEN3, mappings, names, outcomes, records, values
from tuner import record, record_checks
from tuner.errors import RecordError
from tuner.record import Outcome, Record
from tuner.record_checks import instant
from tuner.values import Values, canonical

LINE = (
    '{"clock":"thread-cpu","config":{"mc":64,"pack_a":true,"passes":"O3","share":0.5},"cost":0.0025,'
    '"created":"2026-01-31T12:00:00.500000Z",'
    f'"fingerprint":"{FINGERPRINT}","kernel":"sgemm","number":0,'
    '"outcome":{"cause":null,"kind":"ok","stage":null,"stderr":"","stopped_early":false},'
    '"problem":{"k":512,"m":512,"n":512},"quality":{"load":0.25,"noisy":false},"role":"trial",'
    f'"run":"20260131-1","target":{canonical(ZEN3.to_dict())},'
    '"times":[0.0025,0.002625],"toolchain":"llvmlite 0.50.0, LLVM 22.1.0","version":1}'
)


def changed(**members: Any) -> dict[str, Any]:
    """The plain data of the example record with other members."""
    return EXAMPLE.to_dict() | members


# --- laws --------------------------------------------------------------------------------------------------


@given(records())
def test_json_gives_back_an_equal_record(original: Record):
    """Dumping and loading loses nothing: the record, its hash and its text are the same."""
    again = Record.loads(original.dumps())
    assert original == again
    assert hash(original) == hash(again)
    assert original.dumps() == again.dumps()


@given(records())
def test_pickle_and_copies_give_back_an_equal_record(original: Record):
    """A record survives every way that takes it to another process."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert original == pickle.loads(pickle.dumps(original, protocol))
    assert original == copy.deepcopy(original) == copy.copy(original)


@given(records())
def test_a_record_is_one_line(original: Record):
    """However a program counts lines, a record's JSON is one."""
    assert [original.dumps()] == original.dumps().splitlines()


close = records(
    **{
        name: st.just(getattr(EXAMPLE, name))
        for name in ("kernel", "times", "run", "number", "created", "config")
    },
    **{name: st.sampled_from([{"a": 1}, {"a": 1.0}, {"a": True}]) for name in ("problem", "quality")},
    **{name: st.just(getattr(EXAMPLE, name)) for name in ("outcome", "cost", "toolchain", "clock", "role")},
)


@given(close | records(), close)
def test_equal_iff_same_text(one: Record, other: Record):
    """Two records are equal exactly when their canonical texts are, and when their identities are."""
    assert (one == other) == (one.dumps() == other.dumps()) == (one.identity == other.identity)


@given(mappings)
def test_the_text_of_values_is_their_canonical_json(members: dict[str, Any]):
    """As the encoder of the standard library writes it, keys sorted, every type apart."""
    assert canonical(members) == Values(members).text


@given(st.datetimes(timezones=st.just(UTC)))
def test_moments_sort_as_their_texts(moment: datetime):
    """Each is 27 characters wide, of years before 1000 too, and reads back as the same moment."""
    text = instant(moment)
    assert (27, moment) == (len(text), datetime.fromisoformat(text))


@given(outcomes, outcomes)
def test_outcomes_are_equal_iff_their_plain_data_are(one: Outcome, other: Outcome):
    """The plain data of an outcome hold all of it."""
    assert (one == other) == (one.to_dict() == other.to_dict())
    assert one == Outcome.from_dict(one.to_dict())


@given(mappings, st.randoms())
def test_the_order_of_members_never_matters(members: dict[str, Any], random: Any):
    """Values made of the same members in another order are the same values."""
    shuffled = list(members.items())
    random.shuffle(shuffled)
    assert Values(members) == Values(dict(shuffled)) == members
    assert hash(Values(members)) == hash(Values(dict(shuffled)))
    assert list(Values(members)) == sorted(members)


alike = st.sampled_from([1, 1.0, True, "1", "true", 0, 0.0, -0.0, False, "", 2**53, float(2**53)])


@given(names, alike | values, alike | values)
def test_values_are_equal_only_type_by_type(name: str, one: Any, other: Any):
    """`1`, `1.0`, `True` and `"1"` are four values, `0.0` and `-0.0` two."""
    same = type(one) is type(other) and repr(one) == repr(other)
    assert same == (Values({name: one}) == Values({name: other}))
    assert same == (Values({name: one}) == {name: other})


@given(st.text(alphabet='{}[]":,0123456789truefalsn \\\n', max_size=40))
def test_no_text_gives_another_error(text: str):
    """Whatever the text, reading it ends with a record or a RecordError."""
    with pytest.raises(RecordError):
        Record.loads(text)


@given(st.data())
def test_no_plain_data_give_another_error(data: Any):
    """A member replaced by any other plain data gives a record that reads back, or a RecordError."""
    field = data.draw(st.sampled_from(sorted(EXAMPLE.to_dict())))
    junk = data.draw(st.none() | values | st.lists(values, max_size=2) | mappings)
    assume(field != "target")
    with contextlib.suppress(RecordError):
        read = Record.from_dict(changed(**{field: junk}))
        assert read == Record.loads(read.dumps())


# --- facts -------------------------------------------------------------------------------------------------


def test_the_form_of_version_1():
    """The JSON of the example stays as it is typed here."""
    assert LINE == EXAMPLE.dumps()
    assert EXAMPLE == Record.loads(LINE + "\n")


def test_what_has_a_default_may_be_left_out():
    """Times, quality and role, and all but the kind of a good outcome, may be missing from the JSON."""
    members = changed(outcome={"kind": "ok"})
    for field in ("times", "quality", "role"):
        del members[field]
    assert attrs.evolve(EXAMPLE, times=(), quality={}) == Record.from_dict(members)


@pytest.mark.parametrize(
    "moment", ["2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500000+00:00", "2026-01-31T12:00:00.50Z"]
)
def test_one_moment_is_one_text(moment: str):
    """The ways to write one moment in UTC give equal records."""
    assert EXAMPLE == attrs.evolve(EXAMPLE, created=moment)


def test_a_whole_number_of_seconds_is_a_float_in_json():
    """JSON has one kind of number; a configuration keeps integers and floats apart all the same."""
    whole = attrs.evolve(EXAMPLE, cost=1.0, times=(1.0, 2.0, 0.0))
    text = whole.dumps().replace('"cost":1.0', '"cost":1').replace("[1.0,2.0,0.0]", "[1,2.0,0]")
    assert '"times":[1,2.0,0]' in text
    assert (whole, whole.identity) == (Record.loads(text), Record.loads(text).identity)
    assert whole.dumps() == Record.loads(text).dumps()
    with pytest.raises(RecordError, match="must be a float, got True"):
        Record.from_dict(whole.to_dict() | {"cost": True})
    with pytest.raises(RecordError, match="must be a float, got 1 of type int"):
        attrs.evolve(EXAMPLE, cost=1)


def test_now_is_a_legal_moment():
    """`utc_now` gives what `created` takes, unchanged."""
    now = record.utc_now()
    assert now == attrs.evolve(EXAMPLE, created=now).created


@pytest.mark.parametrize(
    "wrong", [datetime(2026, 1, 31, 12, tzinfo=UTC), date(2026, 1, 31), 1769860800.0, None]
)
def test_a_time_that_is_no_text_is_told_its_form(wrong: Any):
    """With an example of what to write, for a record and for what is to be pruned."""
    allowed = r'must be the text of a %s in UTC.*, such as .*"2026-01-31T12:00:00Z", got '
    with pytest.raises(RecordError, match=r"^\$\.created: " + allowed % "time"):
        attrs.evolve(EXAMPLE, created=wrong)
    with pytest.raises(RecordError, match="^before: " + allowed % "day or a time"):
        record_checks.moment(wrong)


def test_values_cannot_be_changed():
    """Neither a record nor its members, nor the mapping it was made of, can change it."""
    config = {"mc": 64}
    kept = attrs.evolve(EXAMPLE, config=config)
    config["mc"] = 128
    assert {"mc": 64} == kept.config
    with pytest.raises(TypeError):
        kept.config["mc"] = 128  # type: ignore[index]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        kept.config.text = ""  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        kept.cost = 1.0  # type: ignore[misc]


def test_values_equal_no_other_type():
    """Values equal mappings only, and no mapping that could not be values."""
    assert Values({}) != ()
    assert Values({"a": 1}) != {"a": [1]}
    assert Values({"a": 1}) != {1: "a"}


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"cost": 1}, "$.cost"),
        ({"cost": True}, "$.cost"),
        ({"cost": 0.0}, "$.cost"),
        ({"cost": -1.0}, "$.cost"),
        ({"cost": float("nan")}, "$.cost"),
        ({"cost": float("inf")}, "$.cost"),
        ({"cost": np.float64(1.0)}, "$.cost"),
        ({"cost": None}, "$.cost"),
        ({"outcome": Outcome("timeout", "run")}, "$.cost"),
        ({"outcome": "ok"}, "$.outcome"),
        ({"kernel": ""}, "$.kernel"),
        ({"kernel": "two\nlines"}, "$.kernel"),
        ({"kernel": " sgemm"}, "$.kernel"),
        ({"kernel": b"sgemm"}, "$.kernel"),
        ({"fingerprint": FINGERPRINT.upper()}, "$.fingerprint"),
        ({"fingerprint": FINGERPRINT[:-1]}, "$.fingerprint"),
        ({"fingerprint": FINGERPRINT + "\n"}, "$.fingerprint"),
        ({"target": "native"}, "$.target"),
        ({"target": None}, "$.target"),
        ({"problem": [("m", 1)]}, "$.problem"),
        ({"problem": {"m": None}}, "$.problem.m"),
        ({"problem": {"m": np.int64(1)}}, "$.problem.m"),
        ({"problem": {"m": 2**63}}, "$.problem.m"),
        ({"problem": {1: 1}}, "$.problem"),
        ({"config": {"tile m": [8]}}, '$.config["tile m"]'),
        ({"config": {"mc": float("nan")}}, "$.config.mc"),
        ({"config": {"mc": "\ud800"}}, "$.config.mc"),
        ({"quality": {"load": (1.0,)}}, "$.quality.load"),
        ({"times": 1.0}, "$.times"),
        ({"times": "1.0"}, "$.times"),
        ({"times": [1.0, 1]}, "$.times[1]"),
        ({"times": [-0.0]}, "$.times[0]"),
        ({"clock": "cpu"}, "$.clock"),
        ({"role": "trials"}, "$.role"),
        ({"run": ""}, "$.run"),
        ({"number": -1}, "$.number"),
        ({"number": True}, "$.number"),
        ({"number": 1.0}, "$.number"),
        ({"created": "2026-01-31T12:00:00"}, "$.created"),
        ({"created": "2026-01-31T12:00:00+01:00"}, "$.created"),
        ({"created": "2026-02-31T12:00:00Z"}, "$.created"),
        ({"created": "2026-01-31"}, "$.created"),
        ({"created": 0}, "$.created"),
    ],
)
def test_construction_refuses(members: dict[str, Any], path: str):
    """A member of a wrong type or out of range is refused, and the error says which."""
    with pytest.raises(RecordError) as caught:
        attrs.evolve(EXAMPLE, **members)
    assert path == caught.value.path


@pytest.mark.parametrize(
    ("members", "path"),
    [
        (("fine",), "$.kind"),
        ((None,), "$.kind"),
        (("ok", "run"), "$.stage"),
        (("error",), "$.stage"),
        (("error", "link"), "$.stage"),
        (("ok", None, "because"), "$.cause"),
        (("exit", "run", 1), "$.cause"),
        (("exit", "run", "1", None), "$.stderr"),
        (("exit", "run", "1", b""), "$.stderr"),
        (("ok", None, None, "", 1), "$.stopped_early"),
        (("exit", "run", "1", "", True), "$.stopped_early"),
    ],
)
def test_no_such_outcome(members: tuple[Any, ...], path: str):
    """An outcome whose parts do not fit each other is refused, and the error says where."""
    with pytest.raises(RecordError) as caught:
        Outcome(*members)
    assert path == caught.value.path


def without(field: str) -> dict[str, Any]:
    """The plain data of the example record without one member."""
    return {name: value for name, value in EXAMPLE.to_dict().items() if name != field}


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ([], "$", "must be a JSON object"),
        (without("version"), "$", 'must have the key "version"'),
        (changed(version=True), "$.version", "must be an integer"),
        (changed(version=0), "$.version", "must be 1, got 0"),
        (changed(version=2), "$.version", "record version 2 is newer than 1"),
        (changed(version=2, cost="fast"), "$.version", "record version 2 is newer than 1"),
        (changed(host=None), "$", "has no key 'host'"),
        (without("clock"), "$", "must have the key 'clock'"),
        (changed(outcome={"kind": "fine"}), "$.outcome.kind", 'must be one of "ok", "error"'),
        (changed(outcome={"kind": "ok", "when": 0}), "$.outcome", "has no key 'when'"),
        (changed(outcome={}), "$.outcome", "must have the key 'kind'"),
        (changed(outcome=None), "$.outcome", "must be a JSON object"),
        (changed(target="native"), "$.target", 'must not be "native"'),
        (changed(target="llvm"), "$.target", "must be a JSON object"),
        (changed(target={"no": "target"}), "$.target", ""),
        (changed(cost=2**53 + 1), "$.cost", "must be a float, got 9007199254740993 of type int"),
        (changed(times=None), "$.times", "must be a sequence of floats, got None"),
    ],
)
def test_reading_refuses(document: Any, path: str, message: str):
    """A document that is no record is refused: the error says where, and what is allowed there."""
    with pytest.raises(RecordError) as caught:
        Record.from_dict(document)
    assert path == caught.value.path
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be JSON"),
        (LINE[:-1], "must be JSON"),
        (LINE + LINE, "must be JSON"),
        (LINE.replace("0.0025", "NaN"), "has no NaN"),
        (LINE.replace("0.0025", "-Infinity"), "has no -Infinity"),
        (LINE.replace('"number":0', '"number":0,"number":1'), "each key once"),
        ("[" * 100_000, "sane depth"),
        ("1" * 5000, "must be JSON"),
        ("\ufeff" + LINE, "must be JSON"),
        (b"{}", "must be a text"),
        ("\ud800", "lone surrogates"),
    ],
    ids=range(11),
)
def test_no_json(text: Any, message: str):
    """A text that is no JSON document is refused as one."""
    with pytest.raises(RecordError) as caught:
        Record.loads(text)
    assert "$" == caught.value.path
    assert message in caught.value.message


def test_errors_travel():
    """The error of a record pickles and equals its copy."""
    error = RecordError("$.cost", "must be a float")
    assert error == pickle.loads(pickle.dumps(error))
    assert "$.cost: must be a float" == str(error)
