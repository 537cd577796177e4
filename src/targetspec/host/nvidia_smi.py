"""Read what nvidia-smi prints: the answers to a query, the table, and the list of MIG instances in it.

The query `--query-gpu=name,compute_cap,memory.total --format=csv` is the safe source. Drivers before 470 do not know
`compute_cap`; then the name tells the capability, where it is whole: the table cuts long names with "...". Sources:
`nvidia-smi --help-query-gpu`; NVIDIA's list "CUDA GPU compute capability"; PTX ISA, "Release history".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import attrs

QUERY = ("nvidia-smi", "--query-gpu=name,compute_cap,memory.total", "--format=csv")
OLD_QUERY = ("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv")
TABLE = ("nvidia-smi",)
LIST = ("nvidia-smi", "-L")

_MIB = 1 << 20
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": _MIB, "GiB": 1 << 30}
_SIZE = re.compile(r"(\d{1,15}) ?(B|KiB|MiB|GiB)", re.ASCII)
_CAPABILITY = re.compile(r"(\d{1,2})\.(\d)", re.ASCII)
_NONE = re.compile(
    r"\[?(?:N/A|Not Supported|Not Available|Unknown Error|Insufficient Permissions|GPU is lost|)\]?"
)
_COLUMNS = {
    "name": "name",
    "gpu_name": "name",
    "compute_cap": "compute_cap",
    "memory.total": "memory.total",
    "mig.mode.current": "mig",
}
_GPU_ROW = re.compile(
    r"\| +(\d{1,4}) +(\S.{0,60}?) {1,40}(?:On|Off|N/A|WDDM|TCC|MCDM) *"
    r"\| *[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d\b"
)
_MEMORY = re.compile(r"\d+MiB */ *(\d{1,9})MiB", re.ASCII)
_MIG_ROW = re.compile(
    r"\| +(\d{1,4}) +(\d{1,3}|N/A) +(\d{1,3}|N/A) +(\d{1,3}) *\| *\d+MiB */ *(\d{1,9})MiB *\| *(\d{1,4})\b",
    re.ASCII,
)
_LISTED = re.compile(r"GPU (\d{1,4}): (\S.{0,120}?)(?: \(UUID: [^)]{0,80}\))?", re.ASCII)
_LISTED_INSTANCE = re.compile(r"MIG (\S{1,40}) +Device +(\d{1,3}):.{0,80}", re.ASCII)
_VERSION = re.compile(r"\bCUDA Version: (\d{1,2})\.(\d{1,2})\b", re.ASCII)
# The PTX ISA that each version of CUDA brought
_ISA = {
    (10, 0): "6.3",
    (10, 1): "6.4",
    (10, 2): "6.5",
    **{(11, minor): f"7.{minor}" for minor in range(9)},
    **{(12, minor): f"8.{minor}" for minor in range(6)},
    (12, 6): "8.5",
    (12, 7): "8.6",
    (12, 8): "8.7",
    (12, 9): "8.8",
    (13, 0): "9.0",
    (13, 1): "9.1",
}
# Names and the capability of the chips that go by them; the first that fits decides
_CAPABILITIES = tuple(
    (re.compile(rf"\b(?:{pattern})(?!\w)"), capability)
    for pattern, capability in (
        (r"GB300|B300", (10, 3)),
        (r"GB200|B200|B100", (10, 0)),
        (r"GB10", (12, 1)),
        (r"Thor", (11, 0)),
        (r"Orin", (8, 7)),
        (r"Xavier", (7, 2)),
        (r"RTX PRO \d+ Blackwell|RTX 50[0-9]0(?: Ti| SUPER| D)*", (12, 0)),
        (r"GH200|H100|H200|H800|H20", (9, 0)),
        (r"L4|L40|L40S|L20|L2|RTX 40[0-9]0(?: Ti| SUPER| D)*|RTX \d{4} Ada|RTX \d{4} SFF Ada", (8, 9)),
        (r"A100|A800|A30", (8, 0)),
        (r"A40|A16|A10|A10G|A10M|A2|RTX A\d{3,4}|RTX 30[0-9]0(?: Ti| SUPER)*", (8, 6)),
        (
            r"T4|T4G|RTX 20[0-9]0(?: Ti| SUPER)*|GTX 16[0-9]0(?: Ti| SUPER)*|TITAN RTX|Quadro RTX \d{4}|T1000|T600",
            (7, 5),
        ),
        (r"V100|V100S|TITAN V|GV100", (7, 0)),
        (r"P100|GP100", (6, 0)),
        (r"P40|P4|P6|GTX 10[1-8]0(?: Ti)?|TITAN X \(Pascal\)|TITAN Xp|Quadro P\d{3,4}", (6, 1)),
        (r"M40|M60|M4|M6|GTX 9[5-8]0(?: Ti)?|GTX TITAN X|Quadro M6000", (5, 2)),
        (r"GTX 750(?: Ti)?|M10|M30", (5, 0)),
        (r"K80", (3, 7)),
        (r"K40|K40m|K40c|K20|K20X|K20Xm|K20m|K20c|GTX TITAN(?: Black| Z)?|GTX 780(?: Ti)?", (3, 5)),
        (r"K10|GRID K[12]|GTX 6[5-9]0(?: Ti)?|GTX 7[67]0(?: Ti)?", (3, 0)),
    )
)


@attrs.frozen(kw_only=True)
class NvidiaGpu:
    """A GPU, or an instance that MIG made of one, as nvidia-smi shows it; None where it does not say.

    `name` is whole: a cut one is None. `mig` says whether the GPU is split (then its instances are what programs
    get), and `instance` what number an instance has.
    """

    name: str | None = None
    capability: tuple[int, int] | None = None
    memory_bytes: int | None = None
    num_cores: int | None = None
    mig: bool = False
    instance: int | None = None


def stated(text: str) -> str | None:
    """Return a value, None where nvidia-smi writes that there is none.

    >>> stated("[Not Supported]") is None, stated(" 8.6 ")
    (True, '8.6')
    """
    return None if _NONE.fullmatch(text.strip()) else text.strip()


def read_query(text: str, columns: tuple[str, ...] = ()) -> tuple[NvidiaGpu, ...]:
    r"""Return the GPUs of a query's CSV, in order; `columns` are needed where it was printed without its header.

    >>> read_query("name, compute_cap\nNVIDIA A40, 8.6\n")[0].capability
    (8, 6)
    """
    found: list[NvidiaGpu] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        heads = tuple(_COLUMNS.get(cell.partition(" [")[0], "") for cell in cells)
        if "name" in heads:
            columns = heads
        elif columns and len(cells) == len(columns):
            found.append(_gpu(dict(zip(columns, cells, strict=True))))
    return tuple(found)


def _gpu(cells: Mapping[str, str]) -> NvidiaGpu:
    name = stated(cells.get("name", ""))
    return NvidiaGpu(
        name=None if name is None or name.endswith("...") else name,
        capability=read_capability(cells.get("compute_cap", "")) or capability_of(name or ""),
        memory_bytes=read_memory(cells.get("memory.total", "")),
        mig=cells.get("mig") == "Enabled",
    )


def read_capability(text: str) -> tuple[int, int] | None:
    """Return major and minor of "9.0", None where it is no such number."""
    found = _CAPABILITY.fullmatch(text.strip())
    return (int(found[1]), int(found[2])) if found else None


def read_memory(text: str) -> int | None:
    """Return the bytes of "81920 MiB", None where it is no size, or none at all."""
    found = _SIZE.fullmatch(text.strip())
    return int(found[1]) * _UNITS[found[2]] or None if found else None


def capability_of(name: str) -> tuple[int, int] | None:
    """Return the capability of the chips that go by a name; None for a cut or another name.

    >>> capability_of("NVIDIA A800-SXM4-80GB"), capability_of("GeForce GTX TIT...")
    ((8, 0), None)
    """
    if name.endswith("..."):
        return None
    return next((capability for pattern, capability in _CAPABILITIES if pattern.search(name)), None)


def read_table(text: str) -> tuple[NvidiaGpu, ...]:
    """Return the GPUs of the table that nvidia-smi prints by itself; cut names are none."""
    rows: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        found = _GPU_ROW.match(line)
        if found:
            rows.append((found, []))
        elif "MIG devices:" in line or "Processes:" in line:
            break
        elif rows:
            rows[-1][1].append(line)
    return tuple(_row(found, lines) for found, lines in rows)


def _row(found: re.Match[str], below: list[str]) -> NvidiaGpu:
    memory = next((size for line in below if (size := _MEMORY.search(line))), None)
    name = found[2].strip()
    return NvidiaGpu(
        name=None if name.endswith("...") else name,
        capability=capability_of(name),
        memory_bytes=int(memory[1]) * _MIB or None if memory else None,
        mig=any(line.rstrip(" |\r").endswith("Enabled") for line in below[:2]),
    )


def read_instances(text: str) -> Mapping[int, tuple[NvidiaGpu, ...]]:
    """Return the MIG instances that the table lists, by the number of their GPU: their memory and multiprocessors."""
    found: dict[int, tuple[NvidiaGpu, ...]] = {}
    for line in text.splitlines():
        row = _MIG_ROW.match(line)
        if row:
            one = NvidiaGpu(
                memory_bytes=int(row[5]) * _MIB or None, num_cores=int(row[6]) or None, instance=int(row[4])
            )
            found[int(row[1])] = (*found.get(int(row[1]), ()), one)
    return found


def read_list(text: str) -> tuple[tuple[NvidiaGpu, ...], Mapping[int, tuple[NvidiaGpu, ...]]]:
    r"""Return the GPUs that `nvidia-smi -L` lists, whole names all, and the MIG instances of each by its place.

    >>> read_list("GPU 0: NVIDIA A30 (UUID: GPU-0)\n  MIG 1g.6gb     Device  0: (UUID: MIG-0)")[1][0][0].name
    'NVIDIA A30 MIG 1g.6gb'
    """
    gpus: list[NvidiaGpu] = []
    instances: dict[int, tuple[NvidiaGpu, ...]] = {}
    for line in map(str.strip, text.splitlines()):
        gpu, part = _LISTED.fullmatch(line), _LISTED_INSTANCE.fullmatch(line)
        if gpu:
            gpus.append(NvidiaGpu(name=gpu[2], capability=capability_of(gpu[2])))
        elif part and gpus:
            one = attrs.evolve(
                gpus[-1], name=f"{gpus[-1].name} MIG {part[1]}", instance=int(part[2]), mig=False
            )
            gpus[-1] = attrs.evolve(gpus[-1], mig=True)
            instances[len(gpus) - 1] = (*instances.get(len(gpus) - 1, ()), one)
    return tuple(gpus), instances


def read_gpus(query: str, table: str, listing: str = "") -> tuple[NvidiaGpu, ...]:
    """Return what programs can use: the GPUs, and in place of each that MIG has split its instances."""
    shown, instances = read_table(table), read_instances(table)
    listed, named = read_list(listing)
    asked = read_query(query) or listed or shown
    usable: list[NvidiaGpu] = []
    for place, gpu in enumerate(asked):
        alike = (seen[place] for seen in (shown, listed) if len(seen) == len(asked))
        if gpu.mig or any(other.mig for other in alike):
            usable += _parts(gpu, instances.get(place, ()), named.get(place, ()))
        else:
            size = gpu.memory_bytes or (shown[place].memory_bytes if len(shown) == len(asked) else None)
            usable.append(attrs.evolve(gpu, memory_bytes=size))
    return tuple(usable)


def _parts(
    gpu: NvidiaGpu, shown: tuple[NvidiaGpu, ...], listed: tuple[NvidiaGpu, ...]
) -> Iterator[NvidiaGpu]:
    """Yield a GPU's instances, with what the table says of their size and the list of their names."""
    if not shown:
        yield from (attrs.evolve(one, capability=gpu.capability) for one in listed)
        return
    names = {one.instance: one.name for one in listed}
    for one in shown:
        yield attrs.evolve(one, name=names.get(one.instance, gpu.name), capability=gpu.capability)


def read_ptx_isa(table: str) -> str | None:
    """Return the newest PTX ISA that the driver takes, by the version of CUDA in the table's head."""
    found = _VERSION.search(table)
    return _ISA.get((int(found[1]), int(found[2]))) if found else None
