"""The environment of just-in-time compilers that are told their CPU by variables: Numba."""

from __future__ import annotations

from targetspec.errors import NotRepresentableError
from targetspec.interop.llvm_machine import to_llvmlite
from targetspec.target import Target


def numba_environment(target: Target) -> dict[str, str]:
    """Return the variables that make Numba compile for a CPU: its name, and the whole set of its features.

    They are read when Numba is imported. The triple is the process's own, and cannot be said.

    Raises:
        NotRepresentableError: an ABI or a CPU to schedule for, which Numba has no variables for.
        FieldError, UnknownNameError: as `to_llvmlite`.

    >>> from targetspec import CpuTarget
    >>> numba_environment(CpuTarget(triple="x86_64-linux-gnu", cpu="haswell"))["NUMBA_CPU_NAME"]
    'haswell'
    """
    machine = to_llvmlite(target)
    unfit = [(name, "Numba has no variable for it") for name in ("abi", "tune") if getattr(machine, name)]
    if unfit:
        raise NotRepresentableError("numba", tuple(unfit), lossy=True)
    return {"NUMBA_CPU_NAME": machine.cpu, "NUMBA_CPU_FEATURES": machine.features}
