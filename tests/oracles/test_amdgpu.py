"""clang's own check of AMD target IDs: which it takes, and how it writes them."""

from __future__ import annotations

import itertools
import random

import pytest

from oracle_inliner import clang_oracle
from oracle_review import Accepted, review
from targetspec import TargetspecError
from targetspec.gpu_amd import ALIASES, PROCESSORS, TargetId

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(600)]
TRIPLE, SAMPLE = "amdgcn-amd-amdhsa", 300
_SETTINGS = ("", ":xnack+", ":xnack-", ":sramecc+", ":sramecc-")
_WRONG = (
    ":xnack",
    ":xnack+:xnack-",
    ":sramecc+:sramecc+",
    ":cumode+",
    ":xnack*",
    "::xnack+",
    ":",
    ":XNACK+",
    "xnack+",
)
_NO_PROCESSOR = ("gfx", "gfx9", "gfx999", "generic", "gfx9-5-generic", "GFX906", "gfx906 ", "vega")
_GONE = Accepted(
    "an early stepping of gfx942, known until LLVM 20; objects for it are still about",
    "LLVM 20 release notes",
)
ACCEPTED = {
    "gfx940": _GONE,
    "gfx941": _GONE,
    "a colon at the end": Accepted(
        "clang drops an empty setting; the grammar has none", "AMDGPUUsage, Target ID"
    ),
}
"""Where clang and this library differ, by the processor or by what is odd about the text."""


def _ours(text: str) -> str | None:
    try:
        return str(TargetId.parse(text))
    except TargetspecError:
        return None


def _key(text: str) -> str:
    return "a colon at the end" if text.endswith(":") else text.partition(":")[0]


def _texts() -> list[str]:
    """Return every processor alone and with each setting, and a sample of pairs, wrong settings and wrong names."""
    draw = random.Random(5)
    names = [*PROCESSORS, *ALIASES]
    pairs = [name + "".join(two) for name in names for two in itertools.permutations(_SETTINGS[1:], 2)]
    wrong = [name + end for name in names for end in _WRONG]
    return [
        *(name + setting for name in names for setting in _SETTINGS),
        *draw.sample(pairs, SAMPLE),
        *draw.sample(wrong, SAMPLE),
        *_NO_PROCESSOR,
    ]


def test_target_ids():
    """clang takes a target ID iff it is read here, and compiles for the processor that it is read as."""
    oracle = clang_oracle()
    texts = _texts()
    answers = oracle.ask_all(lambda text: oracle.driver(TRIPLE, f"-mcpu={text}"), texts)
    taken = {text: _ours(text) is not None for text in texts}
    review(
        {_key(text): text for text, answer in answers.items() if taken[text] == bool(answer.error)}, ACCEPTED
    )
    assert min(sum(taken.values()), len(texts) - sum(taken.values())) >= SAMPLE // 2
    other = {
        text: answer.cpu
        for text, answer in answers.items()
        if taken[text] and not answer.error and answer.cpu != _ours(text).split(":")[0]
    }
    assert {} == other


def test_settings_reach_the_code():
    """What a target ID states is what clang turns on or off, and what it leaves out clang leaves to the loader."""
    oracle = clang_oracle()
    texts = [text for text in _texts() if _ours(text) and _key(text) not in ACCEPTED]
    for text, answer in oracle.ask_all(lambda text: oracle.driver(TRIPLE, f"-mcpu={text}"), texts).items():
        read = TargetId.parse(text)
        for name in read.settings:
            stated = {
                True: name in answer.on,
                False: name in answer.off,
                None: name not in answer.on | answer.off,
            }
            assert stated[getattr(read, name)], text
