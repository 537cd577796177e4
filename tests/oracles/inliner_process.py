"""Ask LLVM's inliner, by way of llvmlite: is a callee with one feature string inlined into a caller with another?

Reads lines of two feature strings with a tab between them, for the triple in its argument; writes a line for each. LLVM
answers bad features by ending the process, so a child does the work, and another one goes on behind what it died of.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import llvmlite.binding as llvm

_MODULE = """
define internal i32 @callee(i32 %x) "target-features"="{callee}" {{
  %y = add i32 %x, 1
  ret i32 %y
}}
define i32 @caller(i32 %x) "target-features"="{caller}" {{
  %y = call i32 @callee(i32 %x)
  ret i32 %y
}}
"""
_SAID = {ord("i"): "inlined", ord("k"): "kept"}


def is_inlined(machine: llvm.TargetMachine, callee: str, caller: str) -> bool:
    """Say whether the call is gone after the passes of level 2."""
    module = llvm.parse_assembly(_MODULE.format(callee=callee, caller=caller))
    module.triple = machine.triple
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    return " call " not in str(module)


def answers(machine: llvm.TargetMachine, questions: list[list[str]]) -> Iterator[str]:
    """Yield an answer for each question."""
    while questions:
        said, death = _in_a_child(machine, questions)
        yield from (_SAID[one] for one in said)
        questions = questions[len(said) :]
        if questions:
            yield death
            questions = questions[1:]


def _in_a_child(machine: llvm.TargetMachine, questions: list[list[str]]) -> tuple[bytes, str]:
    """Return the answers, as many as there are, and how the child ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        for callee, caller in questions:
            os.write(writer, b"i" if is_inlined(machine, callee, caller) else b"k")
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:  # noqa: PTH123 - a descriptor, not a path
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return said, f"died of {signal.Signals(os.WTERMSIG(status)).name}"
    return said, f"exit {os.WEXITSTATUS(status)}"


def main() -> None:
    """Answer all of standard input."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(sys.argv[1]).create_target_machine()
    questions = [line.rstrip("\n").split("\t") for line in sys.stdin]
    sys.stdout.writelines(f"{answer}\n" for answer in answers(machine, questions))


if __name__ == "__main__":
    main()
