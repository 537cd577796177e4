"""What nvidia-smi and rocminfo print in public reports."""

from __future__ import annotations

from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec.host import devices, nvidia_smi, rocminfo


def _faults(row: Row) -> Iterator[str]:
    """Yield what is read otherwise than a row expects."""
    if row["tool"].startswith("rocminfo"):
        yield from _faults_of_agents(row)
    elif "--query-gpu" in row["tool"]:
        columns = row["tool"].partition("--query-gpu=")[2].split()[0].replace("gpu_name", "name").split(",")
        (gpu,) = nvidia_smi.read_query(row["output"], tuple(columns))
        if (gpu.name, gpu.memory_bytes) != (row["expected"]["name"], None):
            yield f"{gpu}"
    else:
        yield from _faults_of_table(row)


def _faults_of_agents(row: Row) -> Iterator[str]:
    agents, expected = rocminfo.read_rocminfo(row["output"]), row["expected"]
    gpus = [agent.target_id for agent in agents]
    also = [isa for agent in agents for isa in agent.also_runs]
    if (gpus, also) != (expected["gpus"], expected.get("also_runs", [])):
        yield f"{gpus} {also}"


def _faults_of_table(row: Row) -> Iterator[str]:
    text, expected = row["output"], row["expected"]
    rows = nvidia_smi.read_table(text)
    names = [expected["name"]] if "name" in expected else expected["names"]
    whole = [None if name.endswith("...") else name for name in names]
    if [gpu.name for gpu in rows] != whole or rows[0].mig != expected.get("mig", False):
        yield f"{rows}"
    archs = [str(target.arch).rstrip("a") for target in devices.cuda_devices("", text.replace("Enabled", ""))]
    if "arch" in expected and archs != [expected["arch"]]:
        yield f"{archs}"


FILES = {"gpu_tool_outputs": Judge(_faults)}
