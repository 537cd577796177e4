"""What the commands print: texts and JSON documents of results, records and comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tuner.caches import largest_cache
from tuner.comparison import Comparison
from tuner.kernel import Work
from tuner.kernels import PROBLEMS
from tuner.overview import Overview, failure
from tuner.progress import speed
from tuner.record import Record
from tuner.session import Result
from tuner.store_runs import RunInfo

_WIDTH = 15
_FAILURES = 3  # of a task, the commonest
_GIGA = 1e9
# A trial is timed alone, and the finalists once more, in turn: `tuner records` has both times.
_AGAIN = ", timed again as a finalist"
_SEPARATED = {
    True: "yes: the runner-up is slower beyond the noise",
    False: "no: the runner-up is as fast within the noise, and either will do",
}
_LABELS = {"plain": "plain -O3 loop", "first": "first of all", "numpy": "numpy, 1 thread"}


def line(label: str, text: str) -> str:
    """Write a label and what it stands for, the latter in one column."""
    return f"{label + ':':{_WIDTH}} {text}"


def pairs(values: Mapping[str, Any]) -> str:
    """Write values by name as the options take them: `m=512,n=512`."""
    return ",".join(
        f"{name}={str(value).lower() if value is True or value is False else value}"
        for name, value in values.items()
    )


def problem(kernel: str, values: Mapping[str, Any]) -> str:
    """Write a kernel's name and its problem, in the kernel's own order where it is a bundled one.

    >>> problem("sgemm", {"k": 3, "m": 1, "n": 2})
    'sgemm m=1,n=2,k=3'
    """
    order = [name for name in PROBLEMS.get(kernel, ()) if name in values]
    ordered = {name: values[name] for name in (*order, *values)}
    return f"{kernel} {pairs(ordered)}"


def describe_best(record: Record, work: Work | None) -> list[str]:
    """Describe a record as what is to be used."""
    return [
        line("target", str(record.target)),
        line("problem", problem(record.kernel, record.problem)),
        line("configuration", pairs(record.config)),
        line("speed", _rate(record.cost, work) + (_AGAIN if record.role == "final" else "")),
        line("measured", f"{record.created} with {record.toolchain}, run {record.run}"),
    ]


def describe_comparison(comparison: Comparison, work: Work | None) -> list[str]:
    """Describe the configuration beside its opponents."""
    # Not the record's own time, though it is the record's configuration.
    told = f"{_rate(comparison.cost, work)}{_share(comparison, work)}, timed anew beside these"
    lines = [line("best", told)]
    for name, cost in comparison.costs.items():
        text = f"{_rate(cost, work)}; taken in turn, the best is {comparison.ratios[name]:.2f} times as fast"
        lines.append(line(_LABELS.get(name, name), text))
    return lines


def describe_failure(name: str, record: Record | None) -> list[str]:
    """Say that a baseline of this name failed, nothing where it did not."""
    if record is None or record.cost is not None:
        return []
    return [line(_LABELS.get(name, name), failure(record.outcome))]


def describe_trials(result: Result) -> list[str]:
    """Describe what was spent."""
    text = ", ".join(f"{count} {kind}" for kind, count in outcomes(result.records).items())
    early = sum(record.outcome.stopped_early for record in result.records)
    note = f" ({early} stopped early)" if early else ""
    rate = trials_per_second(result.records)
    return [
        line("trials", f"{len(result.records)}: {text}{note}" + (f"; {rate:.1f} trials/s" if rate else "")),
        line("separated", _SEPARATED[result.separated]),
    ]


def trials_per_second(records: Sequence[Record]) -> float | None:
    """Give the rate at which trials were reported, None where there are too few."""
    if not records:
        return None
    first, last = (datetime.fromisoformat(records[place].created) for place in (0, -1))
    seconds = (last - first).total_seconds()
    return (len(records) - 1) / seconds if seconds > 0 else None  # a clock may be set back


def outcomes(records: Iterable[Record]) -> dict[str, int]:
    """Count records by the kind of their outcome, "ok" first."""
    counted = Counter(record.outcome.kind for record in records)
    return dict(sorted(counted.items(), key=lambda item: (item[0] != "ok", item[0])))


def failures(records: Iterable[Record]) -> list[str]:
    """Give each distinct failure once, as `kind in stage: cause`."""
    return list(dict.fromkeys(failure(record.outcome) for record in records if record.outcome.kind != "ok"))


def document(
    record: Record, work: Work | None, *, found: bool, comparison: Comparison | None = None, **more: Any
) -> dict[str, Any]:
    """Give the JSON form of what `tune` and `best` print."""
    rate = {} if work is None or not record.cost else {"gflops": work.flop / record.cost / _GIGA}
    compared = {} if comparison is None else {"comparison": _compared(comparison, work)}
    # The raw times are in the file, for `tuner records --json`.
    shown = {name: value for name, value in record.to_dict().items() if name != "times"}
    return {"found": found, "record": shown} | rate | compared | more


def describe_overview(one: Overview) -> list[str]:
    """Describe what a store holds of a task."""
    best, kinds = one.best, [kind for kind in one.outcomes if kind != "ok"]
    counted = ", ".join(
        f"{one.outcomes[kind]} {kind}" for kind in ["ok", *sorted(kinds)] if one.outcomes[kind]
    )
    lines = [
        problem(one.kernel, one.problem),
        line("target", str(one.target)),
        line("toolchain", f"{one.toolchain}, kernel {one.fingerprint[:12]}"),
        line("trials", f"{one.outcomes.total()}{f': {counted}' if counted else ''}, in {_runs(one)}"),
    ]
    lines += [line("failed", f"{count} x {told}") for told, count in one.failures.most_common(_FAILURES)]
    if best is None:
        return [*lines, line("best", "none")]
    speedup = "" if one.speedup is None else f", {one.speedup:.2f} times as fast as the baseline"
    return [
        *lines,
        line("best", f"{_rate(best.cost, one.work)}{speedup}"),
        line("configuration", pairs(best.config) or "-"),
        line("measured", f"{best.created}, {best.role} {best.number} of run {best.run}"),
    ]


def _runs(one: Overview) -> str:
    names = list(one.runs)
    return f"run {names[0]}" if len(names) == 1 else f"{len(names)} runs, {one.first} to {one.last}"


def row(record: Record) -> str:
    """Write a record on one line: what, how it ended, and for which target."""
    outcome = record.outcome
    what = f"{outcome.kind} in {outcome.stage}" if record.cost is None else f"{record.cost:.6g} s"
    return f"{record.created}  {problem(record.kernel, record.problem)}  {record.role} {record.number}  {what}  {pairs(record.config) or '-'}"


def run_row(name: str, run: RunInfo | None) -> str:
    """Write a run on one line: its name, what it is about, and whether it is complete."""
    if run is None:
        return f"{name}  of another file or program"
    going_on = "going on" if run.alive else "interrupted"
    state = f"complete {run.ended}" if run.ended else going_on
    return f"{name}  {problem(run.kernel, run.problem)}  {run.trials} trials  {state}  {pairs(run.settings)}"


def _rate(cost: float | None, work: Work | None) -> str:
    if not cost:
        return "not measured"
    rate, seconds = speed(cost, work), speed(cost, None)
    return rate if rate == seconds else f"{rate} ({seconds})"


def _share(comparison: Comparison, work: Work | None) -> str:
    if work is None or not work.flop:
        return ""
    share = work.flop / comparison.cost / _GIGA / comparison.peak
    if work.bytes > largest_cache():
        moved = work.bytes / comparison.cost / _GIGA
        told = f"{100 * moved / comparison.bandwidth:.0f} % of the measured {comparison.bandwidth:.1f} GB/s of memory"
        return f", {moved:.1f} GB/s, {told}"
    return f", {100 * share:.0f} % of the measured FMA peak of {comparison.peak:.1f} GFLOP/s"


def _compared(comparison: Comparison, work: Work | None) -> dict[str, Any]:
    seconds = {"best": comparison.cost, **comparison.costs}
    rates = (
        {} if work is None else {"gflops": {name: work.flop / cost / _GIGA for name, cost in seconds.items()}}
    )
    return {
        "seconds": seconds,
        "ratios": dict(comparison.ratios),
        "fma_peak_gflops": comparison.peak,
        "memory_peak_gb_per_s": comparison.bandwidth,
    } | rates
