"""Read what rocminfo prints: the agents of the HSA runtime that are GPUs.

An agent that rocminfo shows begins at "Agent N"; where the text was filtered (`rocminfo | grep gfx`), at its own name.
Source: ROCm, rocminfo.cc (lines); LLVM, AMDGPUUsage (names of ISAs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

COMMAND = ("rocminfo",)
NAMES_ONLY = (("amdgpu-arch",), ("rocm_agent_enumerator",))
"""What comes with compilers and prints one target id a line."""

_AGENT = re.compile(r"Agent \d{1,4} *", re.ASCII)
_ISA = re.compile(r"amdgcn-amd-amdhsa-[a-z0-9_]*-(gfx[0-9a-z-]{1,20}(?::[a-z]{1,12}[+-]){0,4})", re.ASCII)
_PROCESSOR = re.compile(r"gfx[0-9a-f]{3,5}", re.ASCII)
_NAME = re.compile(r"gfx[0-9a-f]{3,5}(?::[a-z]{1,12}[+-]){0,4}", re.ASCII)
_COUNT = re.compile(r"(\d{1,12})(?:\(0x[0-9a-f]{1,12}\))?(?: KB)?", re.ASCII)
_KIB = 1 << 10


@attrs.frozen(kw_only=True)
class RocmAgent:
    """A GPU of the HSA runtime; None where rocminfo does not say.

    `target_id` is its own ISA with the settings in force, `also_runs` the generic ISAs that it lists besides.
    """

    target_id: str | None = None
    also_runs: tuple[str, ...] = ()
    model: str | None = None
    num_cores: int | None = None
    wavefront_size: int | None = None
    max_threads_per_block: int | None = None
    lds_bytes: int | None = None
    memory_bytes: int | None = None
    l2_cache_bytes: int | None = None


def read_rocminfo(text: str) -> tuple[RocmAgent, ...]:
    r"""Return the GPUs, in order.

    >>> read_rocminfo("Name: gfx90a\nName: amdgcn-amd-amdhsa--gfx90a:xnack-")[0].target_id
    'gfx90a:xnack-'
    """
    agents = (_agent(lines) for lines in _blocks(text))
    # an agent of the processor has no ISA
    return tuple(agent for agent in agents if agent.target_id)


def read_names(text: str) -> tuple[RocmAgent, ...]:
    """Return the GPUs that amdgpu-arch or rocm_agent_enumerator names; gfx000 is a processor agent.

    >>> [agent.target_id for agent in read_names("gfx000 gfx90a:xnack-")]
    ['gfx90a:xnack-']
    """
    found = (word for word in text.split() if _NAME.fullmatch(word) and word != "gfx000")
    return tuple(RocmAgent(target_id=word) for word in found)


def _blocks(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the keys and values of each agent."""
    block: list[tuple[str, str]] = []
    named = False
    for line in text.splitlines():
        key, colon, value = (part.strip() for part in line.partition(":"))
        starts = not colon and _AGENT.fullmatch(key) is not None
        starts = starts or (key == "Name" and named and _begins(value, block))
        if starts:
            yield block
            block, named = [], False
        if colon:
            block.append((key, value))
            named = named or key == "Name"
    yield block


def _begins(name: str, block: list[tuple[str, str]]) -> bool:
    """Say whether a name is a further agent's: a processor, or an ISA of its own beside one that there is."""
    if _PROCESSOR.fullmatch(name):
        return True
    isa = _ISA.fullmatch(name)
    return isa is not None and not _is_generic(isa[1]) and bool(_own_isas(block))


def _own_isas(block: list[tuple[str, str]]) -> list[str]:
    isas = (_ISA.fullmatch(value) for key, value in block if key == "Name")
    return [isa[1] for isa in isas if isa and not _is_generic(isa[1])]


def _is_generic(isa: str) -> bool:
    return isa.partition(":")[0].endswith("-generic")


def _agent(block: list[tuple[str, str]]) -> RocmAgent:
    values: dict[str, str] = {}
    for key, value in block:
        values.setdefault(key, value)
    isas = [isa[1] for key, value in block if key == "Name" and (isa := _ISA.fullmatch(value))]
    own = _own_isas(block)
    processor = _PROCESSOR.fullmatch(values.get("Name", ""))
    pools = dict(_pools(block))
    return RocmAgent(
        target_id=own[0] if own else processor[0] if processor else None,
        also_runs=tuple(isa for isa in isas if _is_generic(isa)),
        model=values.get("Marketing Name") or None,
        num_cores=_count(values.get("Compute Unit")),
        wavefront_size=_count(values.get("Wavefront Size")),
        max_threads_per_block=_count(values.get("Workgroup Max Size")),
        lds_bytes=_bytes(pools.get("GROUP")),
        memory_bytes=_bytes(pools.get("GLOBAL")),
        l2_cache_bytes=_bytes(values.get("L2")),
    )


def _pools(block: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each memory pool's segment ("GROUP" is what a block shares) and size, the first of a segment last."""
    found: list[tuple[str, str]] = []
    segment = ""
    for key, value in block:
        if key == "Segment":
            segment = value.partition(";")[0].strip()
        elif key == "Size" and segment:
            found.append((segment, value))
            segment = ""
    return reversed(found)


def _count(text: str | None) -> int | None:
    """Return the number of "104(0x68)", None where there is none, or zero."""
    found = _COUNT.fullmatch((text or "").strip())
    return int(found[1]) or None if found else None


def _bytes(text: str | None) -> int | None:
    """Return the bytes of "64(0x40) KB"."""
    count = _count(text)
    return count * _KIB if count is not None and (text or "").rstrip().endswith("KB") else None
