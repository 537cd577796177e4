"""`targetspec host` and `targetspec compare`: this machine, and whether what was built for one target can be used on another."""

from __future__ import annotations

import argparse
from typing import Any

import attrs

from targetspec.commands.command import (
    FINE,
    NO,
    UNKNOWN,
    Output,
    add_command,
    add_text,
    at_most_one_dash,
    text_of,
)
from targetspec.compatibility import BRIDGES, Verdict
from targetspec.host.detected import detect_host
from targetspec.parsing import parse
from targetspec.rules import PURPOSES

_STATUS_OF = {"yes": FINE, "no": NO, "unknown": UNKNOWN}


def add(commands: Any) -> None:
    """Add the commands."""
    add_command(commands, "host", _host, "print the target that this machine is")
    words = "say whether what was built for A can be used on B; exit status 0 yes, 1 no, 3 unknown"
    command = add_command(commands, "compare", _compare, words)
    add_text(command, "built_for", "A")
    add_text(command, "run_on", "B")
    command.add_argument(
        "--purpose", default="code", choices=PURPOSES, help="what the use is (default: code)"
    )
    command.add_argument(
        "--bridge",
        action="append",
        default=[],
        dest="bridges",
        choices=BRIDGES,
        metavar="BRIDGE",
        help=f"a layer that B has beside: {', '.join(BRIDGES)}; may be repeated",
    )


def _host(arguments: argparse.Namespace) -> Output:  # noqa: ARG001 - every command takes them
    target = detect_host()
    return Output((str(target),), target.to_dict())


def _compare(arguments: argparse.Namespace) -> Output:
    at_most_one_dash([arguments.built_for, arguments.run_on])
    built_for, run_on = (parse(text_of(text)) for text in (arguments.built_for, arguments.run_on))
    verdict = built_for.compatible(run_on, purpose=arguments.purpose, bridges=arguments.bridges)
    return Output((str(verdict),), _document(verdict), _STATUS_OF[verdict.answer])


def _document(verdict: Verdict) -> dict[str, Any]:
    reasons = [
        attrs.asdict(reason, filter=lambda field, _: field.name != "repair") for reason in verdict.reasons
    ]
    return {"answer": verdict.answer, "purpose": verdict.purpose, "reasons": reasons}
