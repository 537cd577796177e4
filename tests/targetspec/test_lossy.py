"""The advice to leave things out is given where it helps, and only there."""

from __future__ import annotations

import pytest

from targetspec import NotRepresentableError, registry, tag, tags
from targetspec.cli import main
from targetspec.parsing import parse
from targetspec.target import Target

TEXTS = (
    "x86_64-linux-gnu -mcpu=haswell",
    "cpu cpu=haswell num_cores=4",
    "cpu triple=x86_64 features=avx2",
    "riscv64-linux-gnu",
    "aarch64-apple-macosx",
    "sm_90a",
    "cuda num_cores=3",
    "gfx90a",
    "webgpu",
    "composite members=[cuda arch=sm_90a][cpu cpu=cortex-a53]",
)
DIALECTS = tuple(name for name in registry.DIALECTS if name != "targetspec")


def refusal(target: Target, dialect: str, *, lossy: bool) -> NotRepresentableError | None:
    """Return the error of a writer, if any."""
    try:
        target.format(dialect, lossy=lossy)
    except NotRepresentableError as error:
        return error
    return None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_advised_helps(dialect: str) -> None:
    """An error is marked, and does not speak of lossy, iff a lossy text cannot be written either."""
    targets = [*map(parse, TEXTS), *map(tag, tags.tag_names()[::20])]
    marked = set()
    for target in targets:
        strict, loose = (refusal(target, dialect, lossy=lossy) for lossy in (False, True))
        if strict is None:
            assert loose is None
            continue
        assert (strict.lossy, "lossy" in str(strict)) == (loose is not None, loose is None)
        marked.add(strict.lossy)
        if loose is not None:
            assert loose.lossy
            assert "lossy" not in str(loose)
            assert set(loose.fields) <= set(strict.fields)
    assert marked


@pytest.mark.parametrize("options", [[], ["--lossy"]])
@pytest.mark.parametrize(
    ("text", "dialect", "words"),
    [
        ("x86_64-linux-gnu -mcpu=haswell", "wheel", "needs libc_version"),
        ("sm_90a", "gcc", "only a cpu target"),
        ("cpu num_cores=3", "zig", "not stated"),
        ("cuda num_cores=3", "cuda", "arch: not stated"),
    ],
)
def test_the_command_says_what_is_missing(capsys, text, dialect, words, options) -> None:
    """And gives no advice that fails."""
    assert 2 == main(["convert", text, "--to", dialect, *options])
    out, err = capsys.readouterr()
    assert "" == out
    assert words in err
    assert "lossy" not in err
