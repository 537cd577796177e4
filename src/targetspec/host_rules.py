"""The rule of the field that every kind has: the code for the host must run on the other host."""

from __future__ import annotations

from typing import Any

from targetspec.rules import Answer, Rule


def _answer(need: Any, have: Any) -> Answer:
    if need is None:
        return "yes"
    return "unknown" if have is None else need.compatible(have).answer


def _say(need: Any, have: Any) -> tuple[str, str]:
    if need is None or have is None:
        return str(need or "nothing"), str(have or "no host stated")
    inner = "; ".join(str(reason) for reason in need.compatible(have).reasons)
    return f"[{need}]", f"[{have}]{': ' if inner else ''}{inner}"


def _bridge(built_for: Any, run_on: Any, bridges: tuple[str, ...]) -> str:
    """Return the bridges that the code for the host takes, one by one."""
    if built_for.host is None or run_on.host is None:
        return ""
    verdict = built_for.host.compatible(run_on.host, bridges=bridges)
    return ", ".join({reason.bridge: None for reason in verdict.reasons if reason.bridge}) if verdict else ""


def doubted(need: Any, have: Any) -> str:
    """Return what code needs of a target that its machines may hide, in words; empty where nothing, or no yes, is doubted."""
    if need is None or have is None:
        return ""
    return ", ".join(one.needed for one in need.compatible(have).reasons if one.weight == "caution")


_DOUBT = Rule(
    label="host",
    statement="the name of the host's CPU stands for features that some machines hide; detect the machine to know",
    source="compatibility of hosts, host against host",
    decide=lambda need, have: "unknown" if doubted(need, have) else "yes",
    demand=lambda target: target.host,
    promise=lambda target: target.host,
    say=lambda need, have: (doubted(need, have), "a host of which the CPU's name is known"),
)

HOST = Rule(
    label="host",
    statement="the code for the host must run on the other host",
    source="compatibility of hosts, host against host",
    decide=_answer,
    demand=lambda target: target.host,
    promise=lambda target: target.host,
    say=_say,
    repair=lambda built_for, run_on: ("host", built_for.host),  # noqa: ARG005 - a repair takes both
    advice="state the host of the target that runs it",
    bridge=_bridge,
    caution=_DOUBT,
)
