"""Records as files: our JSON Lines and those of other tuners, in and out; what cannot be read is said line by line."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import targetspec
from record_examples import A72, EXAMPLE, numbered, records
from tuner.database import Database
from tuner.errors import DatabaseError, RecordError
from tuner.interchange import files, json_stream, kernel_tuner, line_by_line, t4_entries, tvm
from tuner.interchange.files import export_records, format_of, import_records
from tuner.record import Outcome, Record
from tuner.values import read_json

FOREIGN = Path(__file__).parent / "foreign"
GPU = targetspec.CudaTarget(arch="sm_86")
SHORTEST = attrs.evolve(
    EXAMPLE, kernel="k", target=targetspec.MetalTarget(), problem={}, config={}, cost=1.0, times=(), toolchain="t",
    clock="wall", quality={}, run="r",
)  # fmt: skip
T4 = {"target": GPU, "kernel": "saxpy", "problem": {"n": 1024}}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "tuner.sqlite") as opened:
        yield opened


@pytest.fixture
def read(db: Database, tmp_path: Path) -> Callable[..., files.Imported]:
    """Import a text as a file."""

    def importing(content: str | bytes, **more: Any) -> files.Imported:
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return import_records(db, path, **more)

    return importing


# --- our own -----------------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(drawn=st.lists(records(), max_size=4))
def test_what_is_exported_comes_back(tmp_path_factory: pytest.TempPathFactory, drawn: list[Record]):
    """Every record, equal and with the same text, in the same order; a second time changes nothing."""
    folder = tmp_path_factory.mktemp("there")
    with Database(folder / "a.sqlite") as one, Database(folder / "b.sqlite") as other:
        added = one.add_all(drawn)
        assert added == export_records(one.records(), folder / "a.jsonl")
        found = import_records(other, folder / "a.jsonl")
        assert (added, 0, 0, 0) == (found.added, found.known, found.blank, found.refused)
        assert [r.dumps() for r in one.records()] == [r.dumps() for r in other.records()]
        assert added == import_records(other, folder / "a.jsonl").known


HOSTILE = [
    "nonsense",
    "[" * 100_000,
    '{"a":' * 100_000,
    "{}",
    "[]",
    "null",
    "1" * 5000,
    '"\\ud800"',
    EXAMPLE.dumps()[:-9],
    EXAMPLE.dumps().replace('"version":1', '"version":1,"version":1'),
    EXAMPLE.dumps().replace("0.0025", "NaN"),
    EXAMPLE.dumps().replace('"number":0', '"number":1e400'),
    EXAMPLE.dumps().replace('"number":0', f'"number":{"9" * 4000}'),
    EXAMPLE.dumps().replace('"version":1', '"version":true'),
    EXAMPLE.dumps().replace('"kind":"cpu"', '"kind":"toaster"'),
    json.dumps(EXAMPLE.to_dict() | {"target": "native"}),
    json.dumps(EXAMPLE.to_dict() | {"problem": {"__reduce__": ["os.system", "touch owned"]}}),
]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:20])
def test_a_bad_line_is_told_and_the_good_ones_are_kept(read: Callable[..., Any], line: str, db: Database):
    """Its number and what is wrong with it; what stands around it comes in, and blank lines are counted."""
    found = read(f"\n{EXAMPLE.dumps()}\n \t\n{line}\n{numbered(1).dumps()}", format="records")
    assert (2, 2, 1) == (found.added, found.blank, found.refused)
    assert 4 == found.faults[0].line
    assert len(str(found.faults[0])) < 400
    assert {EXAMPLE, numbered(1)} == set(db.records())


def test_bytes_that_are_no_text(read: Callable[..., Any], db: Database):
    """A line that is no UTF-8 is one bad line; a mark at the beginning is none."""
    content = b"\xef\xbb\xbf" + EXAMPLE.dumps().encode() + b"\r\n\xff\xfe\n" + numbered(1).dumps().encode()
    found = read(content, format="records")
    assert (2, 1) == (found.added, found.refused)
    assert "is no UTF-8" in found.faults[0].message


def test_a_line_too_long_is_passed_over(read: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    """Without being held; the lines behind it are read."""
    monkeypatch.setattr(line_by_line, "LONGEST", 5000)
    huge = f'{{"a": "{"x" * 20_000}"}}'
    found = read(f"{huge}\n{EXAMPLE.dumps()}\n{huge}", format="records")
    assert (1, 2, [1, 3]) == (found.added, found.refused, [fault.line for fault in found.faults])


def test_every_fault_is_handed_on_and_a_hundred_are_kept(read: Callable[..., Any]):
    """So that a file of nothing else takes no memory."""
    told: list[Any] = []
    found = read("x\n" * 500, on_fault=told.append)
    assert (500, 100, 500) == (found.refused, len(found.faults), len(told))
    assert list(range(1, 501)) == [fault.line for fault in told]


def test_a_caller_may_hear_no_more(read: Callable[..., Any]):
    """The rest is counted all the same."""
    told: list[Any] = []

    def tell(fault: Any) -> bool:
        told.append(fault)
        return len(told) < 7

    found = read("x\n" * 5000, on_fault=tell)
    assert (5000, 7) == (found.refused, len(told))


@pytest.mark.parametrize(
    ("form", "line", "least"),
    [
        ("autotvm", '{"i":["c","a",0,0,0,{}],"r":[[],0,0,0],"v":0.1}', tvm._LEAST_OF_LOG),
        ("metaschedule", '[0,[0,[],"c"]]', tvm._LEAST_OF_DATABASE),
        ("records", SHORTEST.dumps(), files._LEAST),
    ],
)
@pytest.mark.parametrize("filler", ["x", "", " # x"])
def test_no_document_is_taken_for_too_short(
    read: Callable[..., Any], tmp_path: Path, form: str, line: str, least: int, filler: str
):
    """The shortest that there are come in behind any number of lines that are too short for one."""
    (tmp_path / "database_workload.json").write_text("[1,1]")
    assert len(line) >= least
    found = read(f"{filler}\n" * 3000 + f"{line}\n{filler}\n{line}", format=form)
    silent = not filler or (form == "autotvm" and "#" in filler)
    assert (2, 3001 * silent, 3001 * (not silent)) == (found.added + found.known, found.blank, found.refused)


PARTS = [b"", b" \t\r", b"x", b"#", b" # x", b"\xff", b"{}", b"\0", b"x" * 60, EXAMPLE.dumps().encode()]


@given(
    drawn=st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 9)), max_size=12),
    size=st.integers(1, 700),
    comment=st.sampled_from(["", "#"]),
)
def test_a_flood_counts_what_single_lines_do(drawn: list[tuple[bytes, int]], size: int, comment: str):
    """The same records, blank lines and faults by their numbers, whatever pieces the file comes in."""
    content = b"\n".join(part for part, times in drawn for _ in range(times))

    def found(many: int) -> list[Any]:
        told: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(line_by_line, "_MANY", many)
            file = io.BufferedReader(io.BytesIO(content), size)  # type: ignore[type-var]
            for one in line_by_line.by_line(file, lambda line: Record.loads(line.text), 50, comment):
                if isinstance(one, line_by_line.Flood):
                    faults = [fault.line for fault in one.faults()]
                    assert one.lines == one.blank + len(faults)
                    told += [*faults, *[None] * one.blank]
                else:
                    told.append(one.line if isinstance(one, line_by_line.Fault) else one)
        return sorted(told, key=str)

    assert found(10**9) == found(3)


def test_memory_stays_flat(tmp_path: Path):
    """Megabytes of bad lines, of one line, of good records, and of one document, in a process of its own.

    TUNER_MEGABYTES says how many; 100 were tried.
    """
    size = int(os.environ.get("TUNER_MEGABYTES", "8")) << 20
    kinds = {
        "lines": b"{'no': json, '%s'}\n" % (b"x" * 180),
        "line": b"[" * 1000,
        "records": (numbered(1).dumps() + "\n").encode(),
        "document": b'{"configuration": {"%s": 1}},\n' % (b"x" * 180),
    }
    code = """
import pathlib, re, resource, sys, targetspec
from tuner.database import Database
from tuner.interchange.files import import_records
form = sys.argv[3]
more = dict(target=targetspec.CudaTarget(), kernel="k", problem={}) if form == "t4" else {}
found = import_records(Database(sys.argv[1]), sys.argv[2], format=form, **more)
# The process's own peak: what getrusage says may be that of the process which started this one.
status = pathlib.Path("/proc/self/status")
own = re.search(r"VmHWM:\\s*(\\d+) kB", status.read_text()) if status.exists() else None
peak = int(own[1]) if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(found.refused + found.added + found.known, peak)
"""
    peaks = {}
    for name, piece in kinds.items():
        begin = b'{"schema_version": "1.0.0", "results": [' if name == "document" else b""
        path, count = tmp_path / name, size // len(piece)
        with path.open("wb") as file:
            file.write(begin)
            for _ in range(count):
                file.write(piece)
        form = "t4" if name == "document" else "records"
        command = [sys.executable, "-c", code, str(tmp_path / "a.sqlite"), str(path), form]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        read, peaks[name] = map(int, ran.stdout.split())
        assert read == (1 if name == "line" else count), name
        path.unlink()
    # KiB; the interpreter with NumPy and LLVM takes most of it, and a line that is passed over 4 MiB.
    assert max(peaks.values()) < 200_000, peaks


def test_what_is_not_asked_for_takes_no_memory(tmp_path: Path):
    """Neither the unknown members of a document, nor the workloads that no record names."""
    members = ",".join(f'"k{number}":[{number}]' for number in range(2000))
    document = f'{{{members},"metadata":{{}},{members}}}'
    assert {"metadata": {}} == kernel_tuner.head(io.StringIO(document), ("schema_version", "metadata"))
    count = 20_000
    path = tmp_path / "workloads"
    path.write_text("".join(f"[{number}, {number}]\n\n" for number in range(count)))
    with path.open("rb") as file:
        tracemalloc.start()
        try:
            known = tvm.Workloads(file)
            last, again = known.get(count - 1), known.get(count - 1)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        some = [known.get(place) for place in range(0, count, 997)]
    assert count == len(known)
    digest = hashlib.sha256(str(count - 1).encode()).hexdigest()
    assert (str(count - 1), digest) == last == again
    assert [str(place) for place in range(0, count, 997)] == [one and one[0] for one in some]
    assert [None] * 4 == [known.get(place) for place in (-1, count, True, 1.0)]
    assert peak < 500_000  # bytes; 20,000 digests alone would be four times as much


def test_a_pipe_or_a_device_is_refused(db: Database, tmp_path: Path):
    """The one gives its content once, the other may never end."""
    with pytest.raises(DatabaseError, match="is no regular file"):
        import_records(db, os.devnull)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DatabaseError, match="is no regular file"):
            import_records(db, tmp_path / "pipe", format="t4", **T4)


def test_no_depth_of_a_value_ends_an_import(read: Callable[..., Any]):
    """Each depth is a record or a fault of its entry, in lists and in objects."""
    depths = [*range(1, 1000, 40), *range(900, 1010), 5000]
    values = [piece * n + "1" + end * n for n in depths for piece, end in (("[", "]"), ('{"a":', "}"))]
    entries = ",".join(f'"{n}":{{"a":{value},"time":1.0}}' for n, value in enumerate(values))
    begin = '{"tune_params_keys":["a"],"device_name":"d","kernel_name":"k","problem_size":1,"cache":{'
    found = read(f"{begin}{entries}}}}}", target=GPU)
    assert len(values) == found.added + found.refused
    assert found.refused
    lines = [f'{{"config": {value}}}' for value in values]
    assert len(lines) == read("\n".join(lines), format="records").refused


def test_a_fault_does_not_repeat_a_long_key(read: Callable[..., Any]):
    """Its beginning is enough, whether the key is there twice or its value is bad."""
    key = json.dumps("k" * 100_000)
    line = EXAMPLE.dumps()
    bad = [
        line.replace('"version":1', f'"version":1,{key}:1,{key}:2'),
        line.replace('"config":{', f'"config":{{{key}:null,'),
    ]
    found = read("\n".join(bad), format="records")
    assert 2 == found.refused
    assert all("kkkk" in str(fault) and len(str(fault)) < 400 for fault in found.faults)


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("kernel-tuner", '{"device_name":"a","device_name":"b","tune_params_keys":["a"],"cache":{}}'),
        ("t4", '{"schema_version":"1.0.0","schema_version":"1.1.0","results":[]}'),
    ],
)
def test_a_header_says_each_thing_once(read: Callable[..., Any], form: str, content: str):
    """Of two names of a device neither is more right."""
    with pytest.raises(RecordError, match=r"must hold each key once, \S+ is there twice"):
        read(content, format=form, **T4)


def test_a_batch_weighs_all_its_texts():
    """So that records with huge names do not come together in hundreds."""
    huge = "x" * 1_000_000
    for name in ("kernel", "run", "toolchain"):
        assert files._weight(attrs.evolve(EXAMPLE, **{name: huge})) > 1_000_000, name


# --- TVM ---------------------------------------------------------------------------------------------------


def test_autotvm_logs(db: Database):
    """Both versions: targets by TVM's dialect, the schedule whole, failures by their numbers, faults by their lines."""
    found = import_records(db, FOREIGN / "autotvm.log")
    assert ("autotvm", 4, 1, 5) == (found.format, found.added, found.blank, found.refused)
    assert [6, 7, 8, 9, 10] == [fault.line for fault in found.faults]
    told = " ".join(map(str, found.faults))
    for part in (
        "$.input[0]",
        "auto_scheduler, which is not read",
        "$.result[1]",
        "$.cost",
        "must be JSON",
    ):
        assert part in told
    first, second, third, fourth = db.records()
    assert ("dense_pack.x86", "TVM 0.8.0", 0.000375, (0.0005, 0.00025)) == (
        first.kernel, first.toolchain, first.cost, first.times,
    )  # fmt: skip
    assert targetspec.CpuTarget(cpu="skylake-avx512") == first.target
    assert (
        '{"code_hash":null,"entity":[["tile_y","sp",[-1,2]],["tile_x","sp",[-1,8]]],"index":7}'
        == (first.config["schedule"])
    )
    assert "2020-09-13T12:26:40.500000Z" == first.created
    assert Outcome("timeout", "compile", "BUILD_TIMEOUT: TimeoutError()") == second.outcome
    assert {"args": '[["TENSOR",[1,3,8,8],"float32"]]', "kwargs": '{"layout":"NCHW"}'} == second.problem
    assert "aarch64" == third.target.triple.arch
    assert ("error", None) == (fourth.outcome.kind, fourth.cost)


def test_autotvm_logs_may_begin_with_comments(read: Callable[..., Any], db: Database):
    """As the published ones do: the format is told all the same, and a comment is no fault, wherever it stands."""
    log = (FOREIGN / "autotvm.log").read_text("utf-8").splitlines()
    found = read("\n".join(["# tuned on a board", "#", "", log[0], "  # more", log[3], log[-1]]))
    assert ("autotvm", 2, 4, 1) == (found.format, found.added, found.blank, found.refused)
    assert ["2020-09-13", "2019-02-12"] == [record.created[:10] for record in db.records()]
    assert [7] == [fault.line for fault in found.faults]


def test_a_comment_in_another_format_is_a_fault(read: Callable[..., Any]):
    """Only AutoTVM's logs have any."""
    found = read(f"# ours\n{EXAMPLE.dumps()}")
    assert ("records", 1, 1) == (found.format, found.added, found.refused)


def test_metaschedule_databases(db: Database, tmp_path: Path):
    """A folder, or its records beside its workloads; a workload that is not there is a fault of the line."""
    found = import_records(db, FOREIGN / "metaschedule")
    assert ("metaschedule", 3, 2) == (found.format, found.added, found.refused)
    assert [4, 5] == [fault.line for fault in found.faults]
    assert "$[0]: must be the place of a workload" in str(found.faults[0])
    first, second, third = db.records()
    assert ("metaschedule 1234567890123456789", (0.0005, 0.0007)) == (first.kernel, first.times)
    assert targetspec.CpuTarget(cpu="cascadelake", num_cores=16) == first.target
    assert json.loads(str(first.config["schedule"]))[0][0][0] == "GetBlock"
    assert "sm_80" == str(second.target.arch)
    assert second.target.host == targetspec.CpuTarget(cpu="skylake")
    assert (None, None) == (second.cost, third.cost)
    assert 3 == import_records(db, FOREIGN / "metaschedule" / "database_tuning_record.json").known
    (tmp_path / "alone.json").write_text('[0, [[], [0.1], "llvm", []]]\n')
    with pytest.raises(DatabaseError, match=r"database_workload\.json: cannot be read"):
        import_records(db, tmp_path / "alone.json")


# --- Kernel Tuner and T4 -----------------------------------------------------------------------------------


def test_what_a_cache_states_is_not_overridden(db: Database):
    """The kernel and the problem that are given are for files that name none."""
    given = {"target": GPU, "kernel": "another", "problem": {"n": 1}}
    import_records(db, FOREIGN / "kernel_tuner.json", **given)
    stated = {(record.kernel, record.problem) for record in db.records()}
    with Database(Path(db.path).with_name("b.sqlite")) as other:
        import_records(other, FOREIGN / "kernel_tuner.json", target=GPU)
        assert stated == {(record.kernel, record.problem) for record in other.records()}
    assert "another" not in {kernel for kernel, _ in stated}


def test_kernel_tuner_caches(db: Database):
    """One that is still open at its end; times become seconds, and a configuration keeps its types."""
    with pytest.raises(RecordError, match="names the device 'Some GPU' only; state its target"):
        import_records(db, FOREIGN / "kernel_tuner.json")
    found = import_records(db, FOREIGN / "kernel_tuner.json", target=GPU)
    assert ("kernel-tuner", 5, 3) == (found.format, found.added, found.refused)
    assert [14, 15, 16] == [fault.line for fault in found.faults]
    assert "entry 5: $: must have the parameter 'name'" in str(found.faults[0])
    first, second, third, fourth, last = db.records()
    assert ("saxpy", {"x": 1024, "y": 8}, GPU) == (first.kernel, first.problem, first.target)
    assert (0.002, (0.0015, 0.0025)) == (first.cost, first.times)
    assert "2026-01-31T12:00:00.500000Z" == first.created
    assert Outcome("error", "compile", "CompilationFailedConfig") == second.outcome
    assert "2026-01-31T12:00:01.000000Z" == second.created
    assert ({"block": 64, "unroll": 2.5, "name": "b"}, "run") == (third.config, third.outcome.stage)
    assert (0.001, (0.001,)) == (fourth.cost, fourth.times)
    assert 0.004 == last.cost


def test_an_old_cache_says_no_problem(read: Callable[..., Any], db: Database):
    """Then it must be stated, as the error says."""
    content = (FOREIGN / "kernel_tuner.json").read_text().replace('"problem_size"', '"sizes"')
    with pytest.raises(RecordError, match=r"problem_size: is not in the file.*state the problem"):
        read(content, target=GPU)
    assert 5 == read(content, target=GPU, problem={"n": 64}).added
    assert {"n": 64} == next(db.records()).problem


def test_a_cache_that_breaks_off_keeps_what_is_whole(read: Callable[..., Any]):
    """Wherever it ends, what came before is read and the break is told once."""
    content = (FOREIGN / "kernel_tuner.json").read_text()
    start, end = content.index('"64,1,a"'), content.index('"64,2.5,b"')
    for cut in (start + 30, end - 3):
        found = read(content[:cut], target=GPU)
        assert 1 == found.added + found.known
        assert (1, True) == (
            found.refused,
            "within a" in str(found.faults[0]) or "ends in" in str(found.faults[0]),
        )


def test_t4_results(db: Database, read: Callable[..., Any]):
    """The unit stands behind the results; kernel, problem and target are stated."""
    with pytest.raises(RecordError, match="state its target"):
        import_records(db, FOREIGN / "t4.json")
    with pytest.raises(RecordError, match="state both"):
        import_records(db, FOREIGN / "t4.json", target=GPU)
    found = import_records(db, FOREIGN / "t4.json", **T4)
    assert ("t4", 4, 3) == (found.format, found.added, found.refused)
    first, second, third, fourth = db.records()
    assert (2.5e-6, (2e-6, 4e-6)) == (first.cost, first.times)
    assert ("wrong", "timeout") == (second.outcome.kind, third.outcome.kind)
    assert '["c",1]' == fourth.config["mode"]
    with pytest.raises(RecordError, match=r"timeunit: must be one of"):
        read('{"results": [], "schema_version": "1.0.0", "metadata": {"timeunit": "fortnights"}}', **T4)
    with pytest.raises(RecordError, match=r"schema_version: is 2\.0\.0"):
        read('{"results": [], "schema_version": "2.0.0"}', **T4)


def test_t4_out_and_in_again(db: Database, tmp_path: Path):
    """Configurations, times, costs and verdicts come back; several tasks do not fit into one file, which then stays."""
    failures = [
        Outcome("error", "emit", "x"),
        Outcome("signal", "run", "SIGSEGV"),
        Outcome("wrong", "check", "y"),
    ]
    kept = [numbered(9, role="baseline"), numbered(0)]
    kept += [
        attrs.evolve(numbered(1 + n), cost=None, times=(), outcome=each) for n, each in enumerate(failures)
    ]
    db.add_all(kept)
    path = tmp_path / "out.json"
    assert 4 == export_records(db.records(), path, format="t4")
    document = json.loads(path.read_text())
    verdicts = [one["invalidity"] for one in document["results"]]
    assert ["correct", "compile", "runtime", "correctness"] == verdicts
    with Database(tmp_path / "b.sqlite") as other:
        assert 4 == import_records(other, path, **T4).added
        back = list(other.records())
    assert [record.config for record in kept[1:]] == [record.config for record in back]
    assert back[0].cost == pytest.approx(EXAMPLE.cost)
    before = path.read_text()
    db.add(numbered(5, target=A72))
    with pytest.raises(RecordError, match="must be records of one kernel"):
        export_records(db.records(), path, format="t4")
    assert before == path.read_text()
    assert {"out.json", "b.sqlite"} <= {one.name for one in tmp_path.iterdir()}
    assert not [one for one in tmp_path.iterdir() if one.name.startswith("out.json.")]


def test_what_t4_has_no_place_for_is_left_out_and_handed_on(db: Database, tmp_path: Path):
    """Baselines, and the trials that were timed again as finals, in whatever order the records come and however often."""
    other = {"mc": 32, "pack_a": True, "passes": "O3", "share": 0.5}
    kept = [
        numbered(1, role="final", cost=2.25e-3), numbered(0, role="baseline"), numbered(1), numbered(7),
        numbered(2, config=other), numbered(3, run="another"),
    ]  # fmt: skip
    for chosen in (kept, iter(kept), iter(kept[::-1])):
        told: list[t4_entries.LeftOut] = []
        written = export_records(chosen, tmp_path / "out", format="t4", on_left_out=told.append)
        costs = [
            one["measurements"][0]["value"] for one in json.loads((tmp_path / "out").read_text())["results"]
        ]
        assert (3, [2.25, 2.5, 2.5]) == (written, sorted(costs))
        assert {
            (0, "baseline", t4_entries.BASELINE),
            *((n, "trial", t4_entries.TIMED_AGAIN) for n in (1, 7)),
        } == {(one.number, one.role, one.message) for one in told}
        assert len(kept) == written + len(told)
    assert len(kept) == export_records(kept, tmp_path / "lines", on_left_out=pytest.fail)


@pytest.mark.parametrize("form", files.EXPORTS)
def test_to_write_nothing_may_keep_the_old_file(tmp_path: Path, form: str):
    """Else the file is one without records, which is read as such."""
    path = tmp_path / "out"
    path.write_text("old")
    chosen = [numbered(0, role="baseline")] if form == "t4" else []
    assert 0 == export_records(chosen, path, format=form, keep_old=True)
    assert "old" == path.read_text()
    assert 0 == export_records(chosen, path, format=form)
    with Database(tmp_path / "a.sqlite") as db:
        found = import_records(db, path, format=form, **T4)
    assert (0, 0) == (found.added, found.refused)


@pytest.mark.shared
def test_real_files(db: Database, shared: Path):
    """A cache and the same run in T4 agree: as many records and failures, the same best."""
    folder = shared / "spaces"
    if not folder.is_dir():
        pytest.skip("the pre-measured spaces are not beside this checkout")
    cache = import_records(db, folder / "convolution_A4000.json.gz", target=GPU)
    results = import_records(db, folder / "convolution_A4000_T4.json.gz", **T4)
    assert ("kernel-tuner", 4362, 0) == (cache.format, cache.added, cache.refused)
    assert ("t4", 4362, 0) == (results.format, results.added, results.refused)
    one, other = db.best("convolution_kernel"), db.best("saxpy")
    assert one is not None
    assert other is not None
    assert (one.config, pytest.approx(one.cost)) == (other.config, other.cost)
    assert 161 == sum(1 for record in db.records("saxpy") if record.cost is None)


# --- formats and files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (EXAMPLE.dumps(), "records"),
        ("", "records"),
        ("nonsense", "records"),
        ("{", "records"),
        ('{"cost": 1}', "records"),
        ('{"i": []}', "autotvm"),
        ('# said to people\n\n # more\n{"r": [], "i": []}', "autotvm"),
        ("# nothing else", "records"),
        (" [1, 2]", "metaschedule"),
        ('{"device_name": "x", "cache": {', "kernel-tuner"),
        ('{"schema_version": "1.0.0", "metadata": {}, "results": [', "t4"),
    ],
)
def test_the_format_is_told_by_the_first_document(tmp_path: Path, content: str, expected: str):
    """Compressed or not."""
    (tmp_path / "file").write_text(content)
    assert expected == format_of(tmp_path / "file")
    (tmp_path / "file.gz").write_bytes(gzip.compress(content.encode()))
    assert expected == format_of(tmp_path / "file.gz")


def test_a_document_without_records_is_named(read: Callable[..., Any]):
    """T1 describes what is tuned; one error says so, not one a line."""
    with pytest.raises(DatabaseError, match="holds no records: it is a description of a kernel"):
        read('{\n"General": {},\n"ConfigurationSpace": {"TuningParameters": []}\n}')
    with pytest.raises(DatabaseError, match="is output of the Kernel Tuning Toolkit, which is not read"):
        read('{"Metadata": {"KttVersion": "2.1.0"}, "Results": []}')


def test_a_store_is_neither_read_nor_written_as_a_file(db: Database):
    """To import one says what to do; to export over one, our own for instance, loses nothing."""
    db.add(EXAMPLE)
    with pytest.raises(DatabaseError, match="is a database, not a file to import; `tuner merge`"):
        import_records(db, db.path)
    with pytest.raises(DatabaseError, match="is a database, which would be lost"):
        export_records(db.records(), db.path)
    assert [EXAMPLE] == list(db.records())


def test_a_pipe_is_written_to(db: Database, tmp_path: Path):
    """It stays one: no file takes its place."""
    db.add(EXAMPLE)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert 1 == export_records(db.records(), pipe)
    assert f"{EXAMPLE.dumps()}\n".encode() == os.read(reader, 1 << 16)
    os.close(reader)
    assert pipe.is_fifo()


def test_an_empty_time_is_an_unknown_one(read: Callable[..., Any], db: Database):
    """As published T4 files have it; a text that is no time is a fault."""
    entry = '{"timestamp": "%s", "configuration": {}, "invalidity": "correct", "times": {"runtimes": [1]}}'
    content = f'{{"schema_version": "1.0.0", "results": [{entry % ""}, {entry % "noon"}]}}'
    found = read(content, **T4)
    assert (1, 1) == (found.added, found.refused)
    assert "1970-01-01T00:00:00.000000Z" == next(db.records()).created


def test_an_objective_that_is_no_time_is_a_fault(read: Callable[..., Any]):
    """A cache of scores holds nothing that a record could; the entry says so."""
    content = (FOREIGN / "kernel_tuner.json").read_text().replace('"time":', '"score":')
    found = read(content, target=GPU)
    assert "entry 1: $.time: is missing: what was measured is no time" in str(found.faults[0])


def test_files_that_cannot_be_read_or_written(db: Database, tmp_path: Path):
    """One clear error each."""
    for action in (
        lambda: import_records(db, tmp_path / "none"),
        lambda: import_records(db, tmp_path),
        lambda: export_records(db.records(), tmp_path / "none" / "file"),
    ):
        with pytest.raises(DatabaseError, match="cannot be"):
            action()
    (tmp_path / "broken.gz").write_bytes(gzip.compress(EXAMPLE.dumps().encode() * 9)[:-20])
    with pytest.raises(DatabaseError, match="cannot be read"):
        import_records(db, tmp_path / "broken.gz")
    with pytest.raises(ValueError, match="format must be"):
        import_records(db, FOREIGN / "t4.json", format="xml")
    with pytest.raises(ValueError, match="format must be"):
        export_records([], tmp_path / "x", format="autotvm")


@pytest.mark.parametrize("count", [2, 700])
def test_what_stands_before_the_end_of_a_broken_file_is_kept(db: Database, tmp_path: Path, count: int):
    """However little it is; then the file is refused."""
    packer = zlib.compressobj(wbits=31)
    lines = [numbered(number).dumps() for number in range(count + 1)]
    start = packer.compress("\n".join(lines).encode()) + packer.flush(zlib.Z_FULL_FLUSH)
    (tmp_path / "broken.gz").write_bytes(start)
    with pytest.raises(DatabaseError, match="cannot be read"):
        import_records(db, tmp_path / "broken.gz")
    assert lines[:count] == [record.dumps() for record in db.records()]


def test_a_packed_cache_that_breaks_off_keeps_what_is_whole(db: Database, tmp_path: Path):
    """As one that is not packed does, with the same fault."""
    content = (FOREIGN / "kernel_tuner.json").read_bytes().rstrip()[:-8]
    (tmp_path / "plain").write_bytes(content)
    packer = zlib.compressobj(wbits=31)
    (tmp_path / "packed").write_bytes(packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH))
    plain = import_records(db, tmp_path / "plain", target=GPU)
    packed = import_records(db, tmp_path / "packed", target=GPU)
    assert plain.added > 0 < plain.refused
    assert attrs.evolve(plain, added=0, known=plain.known + plain.added) == packed


@pytest.mark.parametrize(
    "first", ["[" * 9999, "[]", f"[{EXAMPLE.dumps()}]"], ids=["deep", "empty", "a record"]
)
def test_a_list_in_the_first_line_hides_no_record(read: Callable[..., Any], first: str):
    """It is a fault like others, as no record of MetaSchedule begins so."""
    found = read(f"{first}\n{EXAMPLE.dumps()}\n")
    assert ("records", 1, 1, 1) == (found.format, found.added, found.refused, found.faults[0].line)


def test_what_a_failing_store_did_not_keep_is_not_tried_again(db: Database, monkeypatch: pytest.MonkeyPatch):
    """A lock is waited for once."""
    tried: list[int] = []

    def locked(records: list[Record]) -> int:
        tried.append(len(records))
        raise DatabaseError(db.path, "is locked")

    monkeypatch.setattr(db, "add_all", locked)
    path = Path(db.path).with_name("lines")
    path.write_text("\n".join(numbered(number).dumps() for number in range(501)))
    with pytest.raises(DatabaseError, match="is locked"):
        import_records(db, path)
    assert [500] == [count for count in tried if count]


@settings(max_examples=60)
@given(
    content=st.binary(max_size=300) | st.text(max_size=200).map(str.encode),
    form=st.sampled_from(files.FORMATS),
)
def test_no_file_makes_another_error(tmp_path_factory: pytest.TempPathFactory, content: bytes, form: str):
    """Whatever it holds, of whatever format it is said to be: an import, or one of the two errors."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "database_workload.json").write_bytes(content)
    (folder / "file").write_bytes(content)
    with Database(folder / "a.sqlite") as db, contextlib.suppress(RecordError, DatabaseError):
        found = import_records(db, folder / "file", format=form, **T4)
        assert found.added == len(list(db.records()))


class Pieces(io.StringIO):
    """A file whose text comes in pieces of a size, whatever is asked for."""

    def __init__(self, text: str, size: int) -> None:
        super().__init__(text)
        self._size = size

    def read(self, _: int | None = -1) -> str:
        return super().read(self._size)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(
    document=st.dictionaries(st.text(max_size=5), json_values, max_size=5),
    size=st.integers(1, 40) | st.just(9999),
)
def test_the_stream_reads_what_json_does(document: dict[str, Any], size: int):
    """Member by member, whatever the pieces in which the text comes."""
    text = json.dumps(document, indent=1)

    stream = json_stream.JsonStream(Pieces(text, size))
    read = {key: stream.value() for key in stream.members()}
    assert document == read
    assert text.count("\n") + 1 == stream.line
    assert "" == stream.peek()


@given(content=st.text(max_size=4) | json_values.map(json.dumps))
def test_what_begins_a_document_is_what_json_takes(content: str):
    """A text that json reads is read, and what json refuses is refused, told by its beginning or later."""
    try:
        expected = json.loads(content, parse_constant=int)  # which refuses NaN, as we do
    except ValueError:
        with pytest.raises(RecordError, match="must be"):
            read_json(content)
    else:
        assert expected == read_json(content)


@pytest.mark.parametrize("size", [1, 7, 9999])
def test_the_stream_passes_over_values_of_any_depth(size: int):
    """Brackets in texts count for nothing; what is behind a value comes next, and the line is told right."""
    values = [f'{"[" * n}{{"]}}": "\\"{{", "b":\n[]}}{"]" * n}' for n in (0, 1, 3, 4, 5, 6, 40)]
    branches = "1"
    for _ in range(8):
        branches = f'[{branches}, "]", {{"[": {branches}}}]'
    values += [branches, branches, "12", "-1.5e3", "true", '""', '"[\\\\"', "[]", "{}"]
    text = f"[{', '.join(values)} , 7\n]"
    stream = json_stream.JsonStream(Pieces(text, size))
    read = []
    for number, _ in enumerate(stream.elements()):
        if number % 2:
            stream.skip()
        else:
            read.append(stream.value())
    expected = json.loads(text)[::2]
    assert expected == read
    assert text.count("\n") + 1 == stream.line
