"""How values travel to workers: by reference where those can import them, else by value."""

from __future__ import annotations

import functools
import importlib.util
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from tuner import protocol, travel
from tuner.errors import TravelError

KERNEL = """
FACTOR = 6

class Scale:
    def __call__(self, value):
        return FACTOR * value

def scaled(value):
    return Scale()(value)
"""


@pytest.fixture
def stray(tmp_path: Path) -> Iterator[types.ModuleType]:
    """A module that is loaded from a file that no search path leads to."""
    file = tmp_path / "stray_kernel.py"
    file.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location("stray_kernel", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["stray_kernel"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["stray_kernel"]


def elsewhere(payload: bytes, folder: Path) -> str:
    """Return what a fresh interpreter with our search path says of a travelled function's answer to 7."""
    (folder / "payload").write_bytes(payload)
    code = f"import sys; sys.path[:] = {sys.path!r}; from tuner.travel import unpack; print(unpack(open('payload', 'rb').read())(7))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )
    return done.stdout.strip() or done.stderr


def test_functions_of_a_module_that_nobody_finds_go_by_value(stray: Any, tmp_path: Path) -> None:
    """A module loaded from a file takes its functions, classes and what they use along."""
    assert "42" == elsewhere(travel.pack(stray.scaled, "f").payload, tmp_path)
    assert "42" == elsewhere(
        travel.pack(functools.partial(lambda m, x: m.scaled(x), stray), "f").payload, tmp_path
    )


def test_another_module_of_the_same_name_is_not_taken_for_it(
    stray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the search path leads to another file of that name, ours still goes by value."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "stray_kernel.py").write_text("def scaled(value): return 'the wrong one'")
    monkeypatch.syspath_prepend(str(folder))
    assert "42" == elsewhere(travel.pack(stray.scaled, "f").payload, tmp_path)


def test_functions_of_importable_modules_go_by_reference() -> None:
    """What a worker can import is not copied, and keeps its identity."""
    payload = travel.pack(protocol.encode, "f").payload
    assert len(payload) < 100
    assert protocol.encode is travel.unpack(payload)


def test_the_settings_of_cloudpickle_stay_the_hosts(stray: Any) -> None:
    """What we register for the time of a pickle is taken back, what the host registered is not."""
    assert not cloudpickle.list_registry_pickle_by_value()
    travel.pack(stray.scaled, "f")
    assert not cloudpickle.list_registry_pickle_by_value()
    cloudpickle.register_pickle_by_value(stray)
    travel.pack(stray.scaled, "f")
    assert {"stray_kernel"} == cloudpickle.list_registry_pickle_by_value()
    cloudpickle.unregister_pickle_by_value(stray)


class Slotted:
    """Holds one thing."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def method(self) -> Any:
        return self.held


def default(value: Any = None) -> Callable[..., Any]:
    return lambda given=value: given


def keyword(value: Any = None) -> Callable[..., Any]:
    def function(*, given: Any = value) -> Any:
        return given

    return function


def closure(value: Any) -> Callable[..., Any]:
    return lambda: value


LOCK = threading.Lock()
iter_of_nothing = (number for number in range(0))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (LOCK, "k"),
        ([1, (2, LOCK)], "k[1][1]"),
        ({"a": {3: LOCK}}, "k['a'][3]"),
        (Slotted(LOCK), "k.held"),
        (Slotted(LOCK).method, "k.__self__.held"),
        (default(LOCK), "k.__defaults__[0]"),
        (keyword(LOCK), "k.__kwdefaults__['given']"),
        (functools.partial(max, key=LOCK), "k.keywords['key']"),
        (types.SimpleNamespace(emit=closure(LOCK)), "k.emit.__closure__[0]"),
        (eval("lambda: lambda: lock", {"lock": LOCK}), "k.__globals__['lock']"),  # noqa: S307 -- globals of its own
        (type("Local", (), {"lock": LOCK}), "k.lock"),
        (iter_of_nothing, "k"),
    ],
)
def test_what_cannot_travel_is_named_by_its_path(value: Any, path: str) -> None:
    """The path leads to the innermost part that cannot be pickled by itself."""
    with pytest.raises(TravelError) as caught:
        travel.pack(value, "k")
    assert path == caught.value.path
    assert "cannot pickle" in caught.value.message


def test_a_structure_that_holds_itself_still_gets_a_path() -> None:
    """A cycle on the way to the culprit does not hang the search."""
    loop: list[Any] = []
    loop += [loop, LOCK]
    with pytest.raises(TravelError) as caught:
        travel.pack(loop, "k")
    assert caught.value.path.startswith("k[")


def test_a_call_of_shared_and_plain_values_names_each_shared_one_once():
    """It travels as any other call does: the values arrive, and the parcel lists what a worker must have first."""
    shared = travel.share([1, 2])
    parcel = travel.pack_call(shared, (b"x" * 8192, shared, 2.5, None))
    assert (shared,) == parcel.shared
    travel.receive(shared.number, shared.payload)
    assert ([1, 2], (b"x" * 8192, [1, 2], 2.5, None)) == travel.unpack(parcel.payload)


def test_shared_values_name_what_they_need() -> None:
    """A parcel lists the shared values among its parts, and those the ones in them."""
    inner = travel.share([1], "inner")
    outer = travel.share({"inner": inner}, "outer")
    assert (inner,) == outer.inner
    assert (outer,) == travel.pack_call(len, ([outer], outer)).shared
