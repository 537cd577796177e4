"""How many threads the numerical libraries of this process may use."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from pathlib import Path

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Read by a library when it is loaded; later changes have no effect."""

_LIBRARY = re.compile(r"/.*(?:openblas|mkl_rt|libblis|libgomp|libomp|libiomp)[^/]*$", re.MULTILINE)
_SETTERS = (
    "openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
    "MKL_Set_Num_Threads",
    "bli_thread_set_num_threads",
    "omp_set_num_threads",
)


def thread_variables(count: int) -> dict[str, str]:
    """Return the environment that gives a fresh process `count` threads."""
    return dict.fromkeys(VARIABLES, str(count))


def limit_threads(count: int) -> None:
    """Give this process `count` threads: those of its children, and (on Linux) of the libraries it has loaded."""
    os.environ.update(thread_variables(count))
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    for path in set(_LIBRARY.findall(maps.read_text(encoding="utf-8", errors="surrogateescape"))):
        _limit(path, count)


def _limit(path: str, count: int) -> None:
    with contextlib.suppress(OSError):
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if hasattr(library, name):
                getattr(library, name)(ctypes.c_int(count))
                return
