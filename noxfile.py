"""The tasks of a contributor, each in an environment of its own: `nox --list` shows them."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "typing", "tests"]

PINNED = ("-c", "constraints.txt")
BUILD_PINNED = ("--build-constraint", "constraints.txt")
# A test takes fixtures without saying their types, passes wrong values on purpose, and knows what kind of target it
# has parsed and which optional fact is stated.
LENIENT = (
    "--allow-untyped-defs",
    "--allow-incomplete-defs",
    "--allow-untyped-calls",
    "--implicit-reexport",
    "--disable-error-code=arg-type",
    "--disable-error-code=attr-defined",
    "--disable-error-code=operator",
    "--disable-error-code=union-attr",
    "--disable-error-code=unused-ignore",
    "--disable-error-code=list-item",
    "--disable-error-code=misc",
    "--disable-error-code=comparison-overlap",
    "--disable-error-code=no-any-return",
    "--disable-error-code=import-not-found",
    "--no-warn-unreachable",
)


def install(session: nox.Session, *groups: str) -> None:
    """Install the project with all its extras, and dependency groups, at the pinned versions."""
    chosen = [word for group in groups for word in ("--group", group)]
    session.install(*PINNED, *BUILD_PINNED, *chosen, "-e", ".[all]")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and layers."""
    session.install(*PINNED, "--group", "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports", env={"PYTHONPATH": "src"})


@nox.session
def typing(session: nox.Session) -> None:
    """Check the types of the packages and of their tests."""
    install(session, "test", "typing", "tasks")
    session.run("mypy", "src/targetspec", "src/tuner", "noxfile.py")
    session.run("mypy", *LENIENT, "tests")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests."""
    install(session, "test")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Run the tests of faults at full length: candidates that do the worst, and endings at any moment."""
    install(session, "test")
    session.run("pytest", "-s", "tests/tuner/faults", *session.posargs, env={"FAULTS": "full"})


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the tests and report which lines and branches they miss, worker processes included."""
    install(session, "test")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-n", "2", *session.posargs)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session
def oracles(session: nox.Session) -> None:
    """Compare with clang, which comes with the ziglang package."""
    install(session, "test", "oracles")
    session.run("pytest", "-n", "2", "-m", "oracle", *session.posargs)


@nox.session
def corpora(session: nox.Session) -> None:
    """Count each file of real inputs: right, wrong, listed."""
    install(session, "test")
    session.run("python", "tools/corpora.py", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def laws(session: nox.Session) -> None:
    """Try the laws of the relation with 5,000 examples each."""
    install(session, "test")
    tests = ("tests/targetspec/test_laws.py", "tests/targetspec/test_bridges.py")
    session.run(
        "pytest",
        "-n",
        "2",
        "--timeout",
        "1800",
        *tests,
        *session.posargs,
        env={"HYPOTHESIS_PROFILE": "nightly"},
    )


@nox.session
def mutation(session: nox.Session) -> None:
    """Change the code of the relation in many small ways, and see that its tests notice; `--sample 60` takes some."""
    install(session, "test")
    session.run("python", "tools/mutate.py", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Read a million strings, random or made from real ones, in every dialect."""
    install(session, "test")
    session.run("python", "tools/fuzz.py", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session
def bench(session: nox.Session) -> None:
    """Run every benchmark; none judges, each prints what it measured."""
    install(session, "bench")
    for script in sorted(Path("benchmarks").glob("*.py")):
        session.run("python", str(script), *session.posargs)
