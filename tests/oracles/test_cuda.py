"""NVIDIA's own assembler and linker, without a device: which PTX and which machine code they take for which part."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from oracle_review import Accepted, review
from targetspec import CudaTarget
from targetspec.gpu_cuda import CudaArch, arch_names, isa_key

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(600)]
Question = TypeVar("Question")
Cell = tuple[str, str]

_GUIDE = "CUDA C++ Programming Guide, Binary Compatibility: not between Tegra and other parts; nvlink looks at numbers only"
TEGRA = {
    ("sm_80", "sm_87"): Accepted("8.7 is Orin, a Tegra part", _GUIDE),
    ("sm_86", "sm_87"): Accepted("8.7 is Orin, a Tegra part", _GUIDE),
    ("sm_87", "sm_88"): Accepted("8.7 is Orin, a Tegra part", _GUIDE),
    ("sm_87", "sm_89"): Accepted("8.7 is Orin, a Tegra part", _GUIDE),
}
"""The machine code that nvlink takes and the relation does not."""
_SIZED = Accepted(
    "the sized addresses that the test writes came with 2.3; the part is older", "PTX ISA, .address_size"
)
FIRST_ISA = {"sm_20": _SIZED, "sm_21": _SIZED}
"""Where the first ISA that ptxas takes is another one."""
_ISAS = [
    "1.4",
    "2.0",
    "2.1",
    "2.2",
    "2.3",
    "3.0",
    "3.1",
    "3.2",
    "4.0",
    "4.1",
    "4.2",
    "4.3",
    "5.0",
    "6.0",
    "6.1",
    "6.2",
    "6.3",
    "6.4",
    "6.5",
    "7.0",
    "7.1",
    "7.2",
    "7.3",
    "7.4",
    "7.5",
    "7.6",
    "7.7",
    "7.8",
    "8.0",
    "8.1",
    "8.2",
    "8.3",
    "8.4",
    "8.5",
    "8.6",
    "8.7",
    "8.8",
    "9.0",
    "9.1",
    "9.2",
    "9.3",
    "9.4",
]
_NEWEST = _ISAS[-1]


@functools.cache
def _folder() -> Path:
    try:
        found = importlib.util.find_spec("nvidia.cu13")
    except ImportError:
        found = None
    places = [Path(place) / "bin" for place in (found.submodule_search_locations or () if found else ())]
    place = next((place for place in places if (place / "ptxas").exists()), None)
    if place is None:
        pytest.skip("nvidia-cuda-nvcc, which brings ptxas and nvlink, is not installed")
    return place


def _tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(_folder() / name), *arguments], capture_output=True, text=True, check=False)


@functools.cache
def _devices() -> tuple[str, ...]:
    """Return the parts that this ptxas makes code for; skips where it is another version than the tables' source."""
    if "release 13.5" not in _tool("ptxas", "--version").stdout:
        pytest.skip("the facts are those of ptxas 13.5, and this is another one")
    names = set(re.findall(r"'(sm_\w+)'", _tool("ptxas", "--help").stdout))
    return tuple(sorted(names, key=CudaArch.parse))


def _ask_all(ask: Callable[[Question], bool], questions: Iterable[Question]) -> dict[Question, bool]:
    listed = list(questions)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(listed, pool.map(ask, listed), strict=True))


def _source(folder: Path, arch: str, isa: str = _NEWEST) -> str:
    path = folder / f"{arch}-{isa}.ptx"
    path.write_text(
        f".version {isa}\n.target {arch}\n.address_size 64\n.visible .entry k()\n{{\nret;\n}}\n",
        encoding="utf-8",
    )
    return str(path)


def _runs(form: str, cell: Cell) -> bool:
    return bool(CudaTarget(arch=cell[0], code_form=form).compatible(CudaTarget(arch=cell[1])))


def test_ptx_matrix(tmp_path):
    """ptxas takes PTX for one architecture and makes code of it for a part iff the verdict is yes: every cell."""
    sources = {arch: _source(tmp_path, arch) for arch in arch_names()}

    def takes(cell: Cell) -> bool:
        return _tool("ptxas", f"-arch={cell[1]}", sources[cell[0]], "-o", "/dev/null").returncode == 0

    found = _ask_all(takes, ((arch, device) for arch in arch_names() for device in _devices()))
    assert len(found) >= 962
    assert {} == {cell: took for cell, took in found.items() if took != _runs("ptx", cell)}


def test_machine_code_matrix(tmp_path):
    """nvlink takes machine code of one part for another iff the verdict is yes, Tegra aside."""

    def assembles(device: str) -> bool:
        options = ("-c", f"-arch={device}", _source(tmp_path, device), "-o", str(tmp_path / f"{device}.o"))
        return _tool("ptxas", *options).returncode == 0

    def takes(cell: Cell) -> bool:
        options = (f"-arch={cell[1]}", str(tmp_path / f"{cell[0]}.o"), "-o", "/dev/null")
        return _tool("nvlink", *options).returncode == 0

    assert all(_ask_all(assembles, _devices()).values())
    found = _ask_all(takes, ((code, device) for code in _devices() for device in _devices()))
    review({cell: took for cell, took in found.items() if took != _runs("cubin", cell)}, TEGRA)


def test_first_isa_of_each_architecture(tmp_path):
    """The first version of the PTX ISA with which ptxas takes an architecture is the one in the table."""

    def device_of(arch: str) -> str:
        return next((device for device in reversed(_devices()) if _runs("ptx", (arch, device))), arch)

    def takes(question: Cell) -> bool:
        arch, isa = question
        options = (f"-arch={device_of(arch)}", _source(tmp_path, arch, isa), "-o", "/dev/null")
        return _tool("ptxas", *options).returncode == 0

    found = _ask_all(takes, ((arch, isa) for arch in arch_names() for isa in _near(arch)))
    first = {
        arch: min((isa for one, isa in found if one == arch and found[one, isa]), key=isa_key)
        for arch in arch_names()
    }
    review({arch: isa for arch, isa in first.items() if isa != CudaArch.parse(arch).first_ptx_isa}, FIRST_ISA)


def _near(arch: str) -> list[str]:
    """Return the stated first ISA with the one before, and the newest."""
    at = _ISAS.index(CudaArch.parse(arch).first_ptx_isa)
    return sorted({*_ISAS[max(0, at - 1) : at + 1], "2.3", _NEWEST}, key=isa_key)
