"""The program round a pool: how it was started, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import tuner

METHODS = ("spawn", "forkserver", "fork")

LAMBDAS = """
from tuner.pool import Pool
factor = 6
def scaled(value):
    return factor * value
with Pool(1, start_method={method!r}, preload=()) as pool:
    ticket = pool.submit(lambda stage, value: (stage("run"), scaled(value))[1], 7)
    print(pool.wait(60)[0].value)

print("the program ran")
"""

BUSY = """
import ctypes, os, threading, time
from tuner.pool import Pool

def report(what):
    with open(os.environ["REPORT"], "a") as file:
        file.write(f"{{what}} {{os.getpid()}}\\n")

def python_loop(stage):
    stage("run")
    report("job")
    while True:
        pass

def native_sleep(stage):
    stage("run")
    report("job")
    ctypes.PyDLL(None).pause()

def native_loop(stage):
    from llvmlite import binding
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly("define void @f() {{\\n br label %l\\nl:\\n br label %l\\n}}")
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(module, machine)
    loop = ctypes.PYFUNCTYPE(None)(engine.get_function_address("f"))
    stage("run")
    report("job")
    loop()

def with_daemon(stage):
    stage("run")
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        report("job")
        time.sleep(600)
        os._exit(0)
    report("job")
    time.sleep(600)

def main():
    pool = Pool(2, start_method={method!r}, preload=())
    for job in ({jobs}):
        pool.submit(job)
    report("ready")
    try:
        pool.wait()
    except KeyboardInterrupt:
        pool.close()
        report("closed")

if {thread}:
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
"""


def run(*command: str, text: str = "", folder: Path | None = None) -> str:
    """Run a program of ours and return what it printed; its standard error shows only when it fails."""
    done = subprocess.run(
        [sys.executable, *command],
        input=text,
        capture_output=True,
        text=True,
        timeout=100,
        cwd=folder,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", ["file", "stdin", "-c", "-i", "-I"])
def test_programs_of_every_sort_can_have_workers(way: str, method: str, tmp_path: Path) -> None:
    """A script without guard, a piped one, `-c`, an interactive session and an isolated one run once, with closures."""
    text = LAMBDAS.format(method=method)
    script = tmp_path / "script.py"
    script.write_text(text)
    given = {
        "file": ([str(script)], ""),
        "stdin": (["-"], text),
        "-c": (["-c", text], ""),
        "-i": (["-q", "-i"], text.replace("* value\n", "* value\n\n")),
        "-I": (["-I", str(script)], ""),
    }
    command, typed = given[way]
    assert "42\nthe program ran\n" == run(*command, text=typed, folder=tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_files_beside_the_program_shadow_nothing_of_ours(method: str, tmp_path: Path) -> None:
    """A working directory full of misleading names does not reach the workers of a program from elsewhere."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("socket", "select", "struct", "tuner", "numpy"):
        (folder / f"{name}.py").write_text("raise RuntimeError('shadowed')")
    (tmp_path / "script.py").write_text(LAMBDAS.format(method=method))
    assert "42\nthe program ran\n" == run(str(tmp_path / "script.py"), folder=folder)


@pytest.mark.parametrize("method", METHODS)
def test_the_package_is_found_where_the_parent_found_it(method: str, tmp_path: Path) -> None:
    """A parent that has the packages by changing sys.path has workers that find them too."""
    places = [path for path in sys.path if path]
    text = f"import sys; sys.path[:0] = {places!r}\n" + LAMBDAS.format(method=method)
    assert "42\nthe program ran\n" == run("-S", "-E", "-s", "-c", text, folder=tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_the_package_is_found_after_a_change_of_folder(method: str, tmp_path: Path) -> None:
    """A parent that found the packages by a relative entry of sys.path, and went elsewhere, has workers all the same."""
    source = Path(tuner.__file__).parent.parent
    others = [path for path in sys.path if path and Path(path) != source]
    text = f"import os, sys; sys.path[:] = [{source.name!r}, *{others!r}]; import tuner.pool; os.chdir('/')\n"
    output = run("-S", "-E", "-s", "-c", text + LAMBDAS.format(method=method), folder=source.parent)
    assert "42\nthe program ran\n" == output


@pytest.mark.parametrize("method", METHODS)
def test_the_package_may_lie_in_an_archive(method: str, tmp_path: Path) -> None:
    """A zipapp that brings the packages along has workers that take them from there."""
    source = Path(tuner.__file__).parent.parent
    with zipfile.ZipFile(tmp_path / "program.pyz", "w") as archive:
        for file in (
            file for package in ("tuner", "targetspec") for file in (source / package).rglob("*.py")
        ):
            archive.write(file, file.relative_to(source))
        archive.writestr(
            "__main__.py", LAMBDAS.format(method=method) + "import tuner; print(tuner.__file__)\n"
        )
    lines = run(str(tmp_path / "program.pyz"), folder=tmp_path).splitlines()
    assert ["42", "the program ran"] == lines[:2]
    assert str(tmp_path / "program.pyz") in lines[2]


class Parent:
    """A program with busy workers, and the numbers of those."""

    def __init__(self, folder: Path, method: str, jobs: str, *, thread: bool = False) -> None:
        self._report = folder / "report"
        self.process = subprocess.Popen(
            [sys.executable, "-c", BUSY.format(method=method, jobs=jobs, thread=thread)],
            env=os.environ | {"REPORT": str(self._report)},
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.workers: list[int] = []
        expected = sum(2 if job.strip() == "with_daemon" else 1 for job in jobs.split(","))
        limit = time.monotonic() + 60.0
        while len(self.workers) < expected or not self.reported("ready"):
            assert time.monotonic() < limit
            assert self.process.poll() is None
            self.workers = self.reported("job")
            time.sleep(0.01)
        time.sleep(0.1)
        assert all(map(is_alive, self.workers))

    def reported(self, what: str) -> list[int]:
        """Return the numbers of the processes that said so."""
        lines = self._report.read_text().splitlines() if self._report.exists() else []
        return [int(line.split()[1]) for line in lines if line.startswith(what)]

    def alive(self) -> list[int]:
        """Return the workers that have not ended, for up to two seconds while there are any."""
        limit = time.monotonic() + 2.0
        while (left := [pid for pid in self.workers if is_alive(pid)]) and time.monotonic() < limit:
            time.sleep(0.01)
        return left

    def end(self) -> tuple[int, str]:
        """Return the exit status and standard error, when it has ended by itself."""
        try:
            _, errors = self.process.communicate(timeout=20)
        finally:
            self.process.kill()
        return self.process.returncode, errors.decode()


def is_alive(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    if not shutil.which("ps"):
        pytest.skip("ps is not installed")
    command = [str(shutil.which("ps")), "-o", "stat=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()[:1] not in {
        "",
        "Z",
    }


GUEST = """
import os, resource, signal, subprocess, sys, threading
from tuner.pool import Pool
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
def job(stage, code):
    stage("run")
    if code:
        os._exit(code)
    return subprocess.run([sys.executable, "-c", "raise SystemExit(3)"]).returncode
with Pool(1, start_method={method!r}, preload=()) as pool:
    for code in (0, 7):
        pool.submit(job, code)
        (done,) = pool.wait(60)
        print(done.value if done.ok else done.failure.cause)
    reaped = []
    def reap():
        try:
            while True:
                reaped.append(os.waitpid(-1, 0))
        except ChildProcessError:
            pass
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pool.submit(job, 8)
    thread = threading.Thread(target=reap)
    thread.start()
    (done,) = pool.wait(60)
    print(done.failure.cause)
thread.join()
print("through")
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_host_that_takes_all_exit_statuses_harms_nothing(method: str) -> None:
    """Neither a host program that ignores SIGCHLD, blocks signals, nor one that waits for every child, hides a death."""
    assert "3\nexit status 7\nexit status 8\nthrough\n" == run("-c", GUEST.format(method=method))


PLAIN_SIGPIPE = """
import os, signal, time
from tuner.pool import Pool
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
def job(stage):
    stage("run")
    return os.getppid(), os.getpid()
with Pool(1, start_method={method!r}, preload=()) as pool:
    for victim in (1, 0):
        pool.submit(job)
        (done,) = pool.wait(60)
        os.kill(done.value[victim], signal.SIGKILL)
        time.sleep(0.1)
    pool.renew()
    pool.submit(job)
    print(pool.wait(60)[0].ok)
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_host_that_dies_of_closed_pipes_does_not_die_of_ours(method: str) -> None:
    """With SIGPIPE at its default, as command line tools like it, the loss of a worker or keeper is no signal."""
    assert "True\n" == run("-c", PLAIN_SIGPIPE.format(method=method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_a_host_may_have_closed_its_standard_streams(
    closed: tuple[int, ...], method: str, tmp_path: Path
) -> None:
    """The numbers that these leave free are not given to a channel, over which a child would put its own streams."""
    text = f"import os, sys; sys.stdout = open({str(tmp_path / 'told')!r}, 'w')\n"
    text += "".join(f"os.close({number})\n" for number in closed) + LAMBDAS.format(method=method)
    run("-c", text, folder=tmp_path)
    assert "42\nthe program ran\n" == (tmp_path / "told").read_text()


@pytest.mark.parametrize("method", METHODS)
def test_a_program_that_ends_without_close_leaves_quietly(method: str) -> None:
    """The pool's end is seen to at the end of the interpreter, without a warning."""
    code = f"from tuner.pool import Pool; pool = Pool(2, start_method={method!r}); pool.submit(print, 1)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, check=False, timeout=60
    )
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(method: str, number: int, tmp_path: Path, *, thread: bool) -> None:
    """Nothing outlives a parent that is killed: not a loop in Python, nor one in native code, nor a daemon of a job."""
    jobs = "native_loop, with_daemon" if thread else "python_loop, native_sleep"
    parent = Parent(tmp_path, method, jobs, thread=thread)
    parent.process.send_signal(number)
    assert -number == parent.end()[0]
    assert [] == parent.alive()


@pytest.mark.parametrize("method", METHODS)
def test_workers_end_with_a_parent_that_is_interrupted(method: str, tmp_path: Path) -> None:
    """Ctrl-C reaches the parent alone, whose close ends all at once, without a word."""
    parent = Parent(tmp_path, method, "python_loop, with_daemon")
    begin = time.monotonic()
    parent.process.send_signal(signal.SIGINT)
    status, errors = parent.end()
    assert (0, "", 1) == (status, errors, len(parent.reported("closed")))
    assert [] == parent.alive()
    assert time.monotonic() - begin < 5.0


@pytest.mark.parametrize("method", METHODS)
def test_workers_end_when_their_keeper_is_killed(method: str, tmp_path: Path) -> None:
    """The tie to the keeper is the kernel's: a loop in native code does not hold it up."""
    if sys.platform != "linux":
        pytest.skip("only Linux ties a process group to a pipe")
    parent = Parent(tmp_path, method, "native_loop, python_loop")
    keeper = int(Path(f"/proc/{parent.workers[0]}/stat").read_text().rpartition(")")[2].split()[1])
    assert keeper != parent.process.pid
    os.kill(keeper, signal.SIGSTOP)  # so that the tie alone can act
    parent.process.kill()
    os.kill(keeper, signal.SIGKILL)
    parent.end()
    assert [] == parent.alive()


INTERRUPTED = """
import os, signal, threading, time
from tuner.pool import Pool

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.05)

others = threading.Thread(target=time.sleep, args=(60,), daemon=True)
others.start()
os.register_at_fork({moment}=interrupt)
handler = signal.getsignal(signal.SIGINT)
try:
    Pool(1, start_method="fork", preload=())
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGINT) is handler)
os._exit(0)
"""


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("moment", ["before", "after_in_parent"])
def test_an_interrupt_during_a_fork_is_not_lost(moment: str) -> None:
    """Nor where another thread takes it, as numpy's do, and a function that others registered for forks runs just then."""
    assert "interrupted True" == run("-c", INTERRUPTED.format(moment=moment)).strip()
