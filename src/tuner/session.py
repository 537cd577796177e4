"""One tuning: checks, the loop of trials, the final, and what came of it."""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import attrs

import targetspec
from tuner import build, record_checks
from tuner.arguments import make_arguments
from tuner.caches import CACHES
from tuner.cpucount import usable_cpus
from tuner.database import Database
from tuner.errors import DatabaseError, KernelError, ProblemError, RecordError, TargetMismatchError
from tuner.executors import Executor, Local, Run, Task, Trial
from tuner.identity import confirmed
from tuner.kernel import Kernel, Work
from tuner.loading import load
from tuner.progress import Progress
from tuner.racing import Race
from tuner.record import Record, utc_now
from tuner.runlog import RunLog, settings_of, task_of
from tuner.search import Search
from tuner.signtest import EQUAL
from tuner.space import Configuration
from tuner.spawning import START_METHODS
from tuner.travel import pack

_FINALISTS = 4
_HOPEFUL = 1.15
_NO_CONFIG: dict[str, Any] = {}


@attrs.frozen(repr=False)
class Result:
    """What came of a tuning.

    `best` is the fastest configuration's Record, None where every trial failed; `records` has one a trial, in
    order. `separated`: the best is faster than the runner-up beyond what noise explains. `baseline` is the
    Record of the kernel's plain version or, where it has none, of its first configuration, with its cost in the final
    race where it was in that; None where costs were replayed.
    """

    target: targetspec.Target
    best: Record | None
    records: tuple[Record, ...]
    separated: bool
    baseline: Record | None
    _kernel: Kernel = attrs.field(repr=False)
    _object_code: bytes = attrs.field(repr=False)

    def __repr__(self) -> str:
        speedup = "" if self.speedup is None else f", {self.speedup:.2f} times as fast as the baseline"
        return f"<Result of {len(self.records)} trials for {self.target}: best {self.best!r}{speedup}>"

    @property
    def speedup(self) -> float | None:
        """The baseline's cost over the best's, None where one of them failed."""
        if self.best is None or self.baseline is None or not (self.best.cost and self.baseline.cost):
            return None
        return self.baseline.cost / self.best.cost

    def function(self) -> Callable[..., None]:
        """Load the best into this process: a callable that takes arguments of the types of the kernel's own.

        KernelError where there is no best; arrays are used in place, and nothing checks their shapes.
        """
        if self.best is None:
            raise KernelError(f"{self._kernel.name}: no trial succeeded, so there is no best function")
        arguments = make_arguments(self._kernel, dict(self.best.problem), 0)
        function = load(self._object_code, self._kernel.entry, arguments)

        def call(*arguments: Any) -> None:
            function.bind(arguments)()

        return call


def tune(
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target | str | None = None,
    budget: int = 200,
    workers: int | None = None,
    start_method: str = "spawn",
    database: Database | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    strategy: str = "default",
    seed: int = 0,
    time_limit: float | None = None,
    compile_timeout: float = 30.0,
    run_timeout: float = 10.0,
    progress: str | bool | Progress = "auto",
    cache: str = "warm",
    fresh: bool = False,
    keep_going: bool = False,
) -> Result:
    """Search the kernel's space for the fastest configuration on a problem.

    `target`: a Target, its text, or None for this machine. `budget`: how many trials at most; `time_limit`: how many
    seconds for them. `workers`: how many compile at a time, None for one less than there are processors.
    `database`: where records are kept, each as soon as it is reported; None keeps nothing. Its records of compatible
    targets and near problems are tried first, and a run of the same task, strategy and seed that was interrupted goes
    on where it stood, unless `fresh`; where the file fails, `keep_going` warns and goes on without. A candidate that fails,
    or kills its process, is an outcome in its record. KeyboardInterrupt ends every process at once. `cache`: "warm" to
    measure calls that follow each other, "flushed" to have none of the data in a cache when a call begins.

    Bad input, and a kernel whose own functions fail or hang, raises before the first trial: TypeError, ValueError, KernelError, ProblemError, SpaceError, TravelError,
    DatabaseError, TargetMismatchError, or an error of targetspec.
    """
    _check_kernel(kernel)
    bar = Progress.of(progress)
    _check_count("budget", budget, 1)
    _check_count("workers", 1 if workers is None else workers, 1)
    _check_count("seed", seed, 0)
    _check_seconds("time_limit", 1 if time_limit is None else time_limit)
    _check_seconds("compile_timeout", compile_timeout)
    _check_seconds("run_timeout", run_timeout)
    _check_choice("start_method", start_method, START_METHODS)
    _check_choice("cache", cache, CACHES)
    _check_means(database, executor)
    known = _read_values(kernel, problem)
    target = runnable(target)
    search = Search(kernel.space, strategy=strategy, seed=seed)
    payload = pack(kernel, "kernel").payload
    task = Task(
        kernel,
        known,
        target,
        seed,
        workers or max(usable_cpus() - 1, 1),
        start_method,
        compile_timeout,
        run_timeout,
        cache,
    )
    with ExitStack() as stack:
        store = stack.enter_context(_opened(database, keep_going=keep_going))
        run = stack.enter_context(closing((executor or Local()).start(task)))
        stack.callback(bar.end)
        survey = run.survey()
        if survey.error is not None:
            raise survey.error
        if survey.space is not None:
            search = Search(survey.space, strategy=strategy, seed=seed)
        if store is None:
            fingerprint = run.fingerprint() or hashlib.sha256(kernel.name.encode() + payload).hexdigest()
        else:
            fingerprint = confirmed(kernel, target, known)
        key = task_of(kernel, fingerprint, known, target)
        log = RunLog(store, key, settings_of(strategy, seed), keep_going=keep_going)
        with log.left_unless_ended():
            trials = log.begin(search.space, fresh=fresh)
            seeds = [
                *(dict(record.config) for record in trials),
                *log.seeds(kernel, search.space, known, target),
            ]
            search = Search(search.space, strategy=strategy, seed=seed, seeds=seeds)
            session = _Session(task, run, log, search, fingerprint, bar)
            return session.go(min(budget, len(search.space)), survey.work, time_limit, trials)


def runnable(target: targetspec.Target | str | None) -> targetspec.Target:
    """Read a target and check that this machine runs its code; None is this machine itself."""
    here = targetspec.detect_host()
    if target is None:
        return here
    read = targetspec.parse(target) if isinstance(target, str) else target
    if not isinstance(read, targetspec.Target):
        raise TypeError(f"target is a Target, its text, or None for this machine, not {target!r}")
    # The program around the kernel is this one: a host, where one is stated, is held against this machine too.
    verdict = read.compatible(here if read.host is None else here.with_host(here))
    if not verdict:
        raise TargetMismatchError(str(read), str(here), str(verdict))
    return read


@attrs.define
class _Session:
    """The loop: trial `i` is suggested when all before `i - ahead` are reported, whatever order they end in."""

    _task: Task
    _run: Run
    _log: RunLog
    _search: Search
    _fingerprint: str
    _bar: Progress
    _records: list[Record] = attrs.field(factory=list)
    _leaders: list[tuple[Record, Trial]] = attrs.field(factory=list)
    _finals: list[Record] = attrs.field(factory=list)

    def go(
        self, total: int, work: Work | None, time_limit: float | None, known: Sequence[Record] = ()
    ) -> Result:
        """Spend the budget, of which the trials that are known are a part, and decide."""
        ends = None if time_limit is None else time.monotonic() + time_limit
        # All of them, of a smaller budget too: the best may be among the last.
        total = max(total, len(known))
        self._bar.begin(total, work)
        self._recall(known)
        self._trials(len(self._records), total, ends)
        baseline = self._log.baseline() or self._baseline()
        if baseline is not None:
            self._admit(baseline)
        best, separated, code = self._final()
        self._log.end()
        baseline = baseline and self._beside(baseline)
        return Result(
            self._task.target, best, tuple(self._records), separated, baseline, self._task.kernel, code
        )

    def _beside(self, baseline: Record) -> Record:
        """Return the baseline as it was timed beside the best, where it was: of two moments that is the one to compare."""
        raced = (one for one in self._finals if one.config == baseline.config)
        return next((attrs.evolve(one, role="baseline", number=0) for one in raced), baseline)

    def _admit(self, baseline: Record) -> None:
        """Let a baseline that is a configuration race: the search may have passed it by, and it may be the fastest."""
        config = dict(baseline.config)
        known = any(record.config == baseline.config for record, _ in self._leaders)
        if not self._leaders or known or baseline.cost is None or config not in self._search.space:
            return
        code = self._run.compile(config)
        if code:
            trial = Trial(baseline.outcome, baseline.cost, baseline.times, baseline.clock, code)
            self._lead(baseline, trial)

    def _baseline(self) -> Record | None:
        # After the trials: it may be a hundred times slower, and next to a good cost that shows at once.
        trial = self._run.baseline(self._incumbent)
        if trial is None:
            return None
        plain = self._task.kernel.plain is not None
        return self._keep(_NO_CONFIG if plain else self._task.kernel.space[0], trial, 0, "baseline")

    def _recall(self, known: Sequence[Record]) -> None:
        """Take note of trials of this run that were made before it was interrupted."""
        for record in known:
            self._search.suggest(1)
            self._note(record, Trial(record.outcome, record.cost, record.times, record.clock))
        compiled = [
            (record, attrs.evolve(trial, object_code=self._run.compile(dict(record.config))))
            for record, trial in self._leaders
        ]
        self._leaders = [leader for leader in compiled if leader[1].object_code]

    def _trials(self, first: int, total: int, ends: float | None) -> None:
        """Make the trials from number `first` on; the run counts its own from 0."""
        under_way: list[Configuration] = []
        asked = first
        for number in range(first, total):
            while asked < min(total, number + self._run.ahead + 1):
                under_way += self._search.suggest(1)
                self._run.submit(asked - first, under_way[-1])
                asked += 1
            left = None if ends is None else ends - time.monotonic()
            trial = self._run.result(number - first, self._incumbent, left)
            if trial is None:
                return
            self._report(under_way.pop(0), trial, number)

    @property
    def _incumbent(self) -> Trial | None:
        return self._leaders[0][1] if self._leaders else None

    def _report(self, config: Configuration, trial: Trial, number: int) -> None:
        self._note(self._keep(config, trial, number, "trial"), trial)

    def _note(self, record: Record, trial: Trial) -> None:
        self._search.report(record.config, record.cost)
        self._records.append(record)
        self._bar.report(record)
        if record.cost is not None:
            self._lead(record, trial)

    def _lead(self, record: Record, trial: Trial) -> None:
        self._leaders = sorted([*self._leaders, (record, trial)], key=_cost)[:_FINALISTS]

    def _final(self) -> tuple[Record | None, bool, bytes]:
        if not self._leaders:
            return None, False, b""
        finalists = [
            leader for leader in self._leaders if _cost(leader) <= _HOPEFUL * _cost(self._leaders[0])
        ]
        race = self._run.race([trial for _, trial in finalists])
        if race is None:
            costs = [_cost(leader) for leader in self._leaders]
            record, trial = self._leaders[0]
            return record, len(costs) > 1 and costs[1] > EQUAL * costs[0], trial.object_code
        finals = self._finals = [
            self._raced(finalist, race, place) for place, finalist in enumerate(finalists)
        ]
        # All at once, so that none of them is without its rivals after a crash.
        self._log.add_all(finals)
        first = race.order[0]
        return (
            finals[first],
            race.separated or len(finals) == 1 < len(self._records),
            finalists[first][1].object_code,
        )

    def _raced(self, finalist: tuple[Record, Trial], race: Race, place: int) -> Record:
        record, trial = finalist
        # What was known of the trial's reading is not known of this one.
        quality = {name: value for name, value in trial.quality.items() if not name.startswith(_OF_A_READING)}
        quality |= {"canary": race.canary, "noisy": race.noisy}
        raced = attrs.evolve(trial, cost=race.costs[place], times=race.times[place], quality=quality)
        return self._record(dict(record.config), raced, record.number, "final")

    def _keep(self, config: Mapping[str, Any], trial: Trial, number: int, role: str) -> Record:
        record = self._record(config, trial, number, role)
        self._log.add(record)
        return record

    def _record(self, config: Mapping[str, Any], trial: Trial, number: int, role: str) -> Record:
        return Record(
            kernel=self._task.kernel.name,
            fingerprint=self._fingerprint,
            target=self._task.target,
            problem=self._task.problem,
            config=config,
            cost=trial.cost,
            outcome=trial.outcome if role != "final" else attrs.evolve(trial.outcome, stopped_early=False),
            times=trial.times,
            toolchain=build.toolchain(),
            clock=trial.clock,
            run=self._log.name,
            quality=_quality(self._task) | dict(trial.quality),
            number=number,
            created=utc_now(),
            role=role,
        )


_OF_A_READING = ("drift", "over_incumbent", "confirmed")


def _cost(leader: tuple[Record, Trial]) -> float:
    return leader[0].cost or 0.0


def _quality(task: Task) -> dict[str, Any]:
    load_average = {"load": os.getloadavg()[0]} if hasattr(os, "getloadavg") else {}
    return load_average | {
        "cpus": _cpus(),
        "compile_workers": task.workers,
        "start_method": task.start_method,
    }


@functools.cache
def _cpus() -> int:
    return usable_cpus()


@contextmanager
def _opened(
    database: Database | str | os.PathLike[str] | None, *, keep_going: bool
) -> Iterator[Database | None]:
    if database is None or isinstance(database, Database):
        yield database
        return
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(Database(database))
        except DatabaseError as error:
            if not keep_going:
                raise
            warnings.warn(
                f"{error}; the run goes on, and nothing of it is kept", RuntimeWarning, stacklevel=2
            )
            opened = None
        yield opened


def _check_kernel(kernel: object) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel is a tuner.Kernel, not {kernel!r}")


def _read_values(kernel: Kernel, problem: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(problem, Mapping):
        raise ProblemError(f"{kernel.name}: a problem is a mapping of names to values, not {problem!r}")
    try:
        return dict(record_checks.problem(problem))
    except RecordError as error:
        raise ProblemError(f"{kernel.name}: {error}") from error


def _check_means(database: object, executor: object) -> None:
    if not isinstance(database, Database | str | os.PathLike | None):
        raise TypeError(f"database is a Database, a path, or None, not {database!r}")
    if executor is not None and not callable(getattr(executor, "start", None)):
        raise TypeError(f"executor is an Executor, which has a method start, or None, not {executor!r}")


def _check_count(name: str, value: Any, least: int) -> None:
    if type(value) is not int:
        raise TypeError(f"{name} is an int, not {value!r}")
    if value < least:
        raise ValueError(f"{name} is an int from {least}, not {value}")


def _check_seconds(name: str, value: Any) -> None:
    if type(value) not in {int, float}:
        raise TypeError(f"{name} is a number of seconds, not {value!r}")
    if not 0 < value <= sys.float_info.max:
        raise ValueError(f"{name} is a finite number of seconds above 0, not {value}")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value in choices:
        return
    near = difflib.get_close_matches(str(value), choices, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} is one of {', '.join(choices)}, not {value!r}{hint}")
