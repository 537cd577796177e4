"""A kernel is checked when it is made, does not change, and travels small."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import cloudpickle
import pytest

from tuner.errors import KernelError
from tuner.kernel import Kernel, Work
from tuner.kernels import KERNELS, sgemm
from tuner.space import Space

SPACE = Space({"unroll": [1, 2]})


def emit(config: Any, target: Any, problem: Any) -> str:
    return f"; {config} {target} {problem}"


def give(*_: Any) -> tuple[Any, ...]:
    return ()


def make(**changes: Any) -> Kernel:
    given: dict[str, Any] = {
        "name": "k",
        "space": SPACE,
        "emit": emit,
        "entry": "f",
        "arguments": give,
    } | changes
    return Kernel(**given)


@pytest.mark.parametrize("name", ["", " k", "a b", "-k", "k\n", "é", 3, None, b"k", True])
def test_a_name_is_plain_ascii(name: Any) -> None:
    """A name that would not do as a word in a file, a table or a command line is refused."""
    with pytest.raises(KernelError, match="name"):
        make(name=name)


@pytest.mark.parametrize("entry", ["", "1f", "f g", "f\n", '"', "@f", None, 1])
def test_an_entry_is_a_symbol(entry: Any) -> None:
    """Only a name that a C compiler could have written is taken."""
    with pytest.raises(KernelError, match="entry"):
        make(entry=entry)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("space", {"unroll": [1]}),
        ("space", None),
        ("emit", "ir"),
        ("emit", None),
        ("arguments", ()),
        ("arguments", None),
        ("reference", 1),
        ("work", (1, 2)),
        ("needs", {"vector_bits": 512}),
        ("plain", "ir"),
        ("passes", "O4"),
        ("passes", 3),
        ("passes", None),
        ("tolerance", -1.0),
        ("tolerance", float("nan")),
        ("tolerance", float("inf")),
        ("tolerance", True),
        ("tolerance", "1e-3"),
        ("peers", [len]),
        ("peers", {"numpy": 1}),
        ("peers", {1: len}),
        ("peers", ("abc",)),
    ],
)
def test_a_field_has_its_type(field: str, value: Any) -> None:
    """A field of another type is refused, and the message names it."""
    with pytest.raises(KernelError, match=field):
        make(**{field: value})


def test_optional_fields_may_be_none() -> None:
    """What a kernel need not state may be left out or be None."""
    assert make() == make(reference=None, work=None, needs=None, plain=None, tolerance=None, peers={})


def test_passes_may_depend_on_the_configuration() -> None:
    """The pipeline is a constant, or the answer of a function that is checked when it is asked."""
    assert make(passes="O1").passes_of({}) == "O1"
    chosen = make(passes=lambda config: config["passes"])
    assert chosen.passes_of({"passes": "none"}) == "none"
    with pytest.raises(KernelError, match="'O9'"):
        chosen.passes_of({"passes": "O9"})


def test_work_is_read_from_a_plain_pair() -> None:
    """A tuple of two numbers is as good as a Work; anything else is the kernel's fault."""
    assert make(work=lambda _: (2, 3.5)).work_of({}) == Work(2, 3.5)
    assert make().work_of({}) is None
    for wrong in ((1, -1), (float("nan"), 1), ("1", 1), (True, 1), (1,), (1, 2, 3), 5):
        with pytest.raises(KernelError, match="work is two"):
            make(work=lambda _, wrong=wrong: wrong).work_of({})


def test_peers_are_found_by_name() -> None:
    """A peer that the kernel has is given, another name is refused with the names that there are."""
    kernel = make(peers={"builtin": len})
    assert kernel.peer("builtin") is len
    with pytest.raises(KernelError, match="it has builtin"):
        kernel.peer("numpy")


def test_a_kernel_of_a_module_is_pickled_by_reference() -> None:
    """A bundled kernel travels as its name, and arrives as the very object."""
    data = pickle.dumps(sgemm)
    assert len(data) < 120
    assert pickle.loads(data) is sgemm
    assert copy.deepcopy(sgemm) is sgemm


def test_a_kernel_that_no_module_holds_is_pickled_by_value() -> None:
    """A kernel made on the fly travels whole, also one of a lambda and a closure, and is equal where functions are."""
    kernel = make()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    factor = 3
    closure = make(work=lambda _: (factor, 1))
    assert cloudpickle.loads(cloudpickle.dumps(closure)).work_of({}) == (3, 1)


def test_a_variant_of_a_bundled_kernel_is_not_taken_for_it() -> None:
    """A kernel that shares functions with one of a module is another kernel after its travel too."""
    variant = Kernel("variant", SPACE, sgemm.emit, entry="sgemm", arguments=sgemm.arguments)
    assert pickle.loads(pickle.dumps(variant)) == variant


def test_kernels_are_registered_by_their_names() -> None:
    """Each bundled kernel has a reference and states its work."""
    assert KERNELS["sgemm"] is sgemm
    assert all(name == kernel.name and kernel.reference and kernel.work for name, kernel in KERNELS.items())


def test_a_kernel_does_not_change() -> None:
    """Fields cannot be set, and the peers given are not the ones kept."""
    peers = {"builtin": len}
    kernel = make(peers=peers)
    peers.clear()
    assert kernel.peer("builtin") is len
    with pytest.raises(AttributeError):
        kernel.name = "other"  # type: ignore[misc]
