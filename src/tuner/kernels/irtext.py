"""Writes one function of LLVM IR as text: values with fresh names, counted loops, address arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

Index = int | str
"""A number known now, or the name of an i64."""


class FunctionText:
    """The growing text of one function; `loops` numbers the loops of a module, which are told apart by it."""

    def __init__(self, header: str, loops: Iterator[int]) -> None:
        self._lines = [f"define {header} {{", "entry:"]
        self._block = "entry"
        self._names = 0
        self._loops = loops

    def text(self) -> str:
        """End the function and give its text."""
        return "\n".join([*self._lines, "  ret void", "}", ""])

    def line(self, instruction: str) -> None:
        """Add an instruction without a result."""
        self._lines.append(f"  {instruction}")

    def value(self, instruction: str) -> str:
        """Add an instruction and give the name of its result."""
        self._names += 1
        self._lines.append(f"  %v{self._names} = {instruction}")
        return f"%v{self._names}"

    def add(self, one: Index, other: Index) -> Index:
        """Add two non-negative numbers."""
        if isinstance(one, int) and isinstance(other, int):
            return one + other
        if 0 in (one, other):
            return one if other == 0 else other
        return self.value(f"add nuw nsw i64 {one}, {other}")

    def sub(self, one: Index, other: Index) -> Index:
        """Take away a number that is not larger."""
        if isinstance(one, int) and isinstance(other, int):
            return one - other
        return one if other == 0 else self.value(f"sub nuw nsw i64 {one}, {other}")

    def mul(self, one: Index, factor: int) -> Index:
        """Multiply a non-negative number by a constant."""
        return one * factor if isinstance(one, int) else self.value(f"mul nuw nsw i64 {one}, {factor}")

    def min(self, one: Index, limit: int) -> Index:
        """Give the smaller one."""
        if isinstance(one, int):
            return min(one, limit)
        return self.value(f"call i64 @llvm.umin.i64(i64 {one}, i64 {limit})")

    def floor(self, one: Index, step: int) -> Index:
        """Round down to a multiple of `step`."""
        if isinstance(one, int):
            return one // step * step
        return self.mul(self.value(f"udiv i64 {one}, {step}"), step)

    def at(self, base: str, floats: Index) -> str:
        """Give the address so many floats behind a pointer."""
        return base if floats == 0 else self.value(f"getelementptr inbounds float, ptr {base}, i64 {floats}")

    def trap_if(self, condition: str) -> None:
        """End the process where the condition holds."""
        self._names += 1
        here = self._names
        self.line(f"br i1 {condition}, label %trap{here}, label %sound{here}")
        self._open(f"trap{here}")
        self.line("call void @llvm.trap()")
        self.line("unreachable")
        self._open(f"sound{here}")

    @contextmanager
    def loop(self, stop: Index, step: int, *, start: Index = 0) -> Iterator[str]:
        """Repeat what is added within for each index from start to below stop."""
        with self.carried_loop(stop, step, start=start) as (index, _):
            yield index

    @contextmanager
    def carried_loop(
        self, stop: Index, step: int, carried: dict[str, tuple[str, str]] | None = None, *, start: Index = 0
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Loop with values carried from one turn to the next.

        `carried` maps a value's name to its type and its first value; within, the dict that is given maps it to its value
        at the start of a turn and is to be updated with that at the end. After the loop the names hold the last values.
        """
        carried = carried or {}
        number = next(self._loops)
        before, head = self._block, f"head{number}"
        self.line(f"br label %{head}")
        self._open(head)
        place = len(self._lines)
        index, following = f"%i{number}", f"%next{number}"
        more = self.value(f"icmp ult i64 {index}, {stop}")
        self.line(f"br i1 {more}, label %body{number}, label %done{number}")
        self._open(f"body{number}")
        current = {name: name for name in carried}
        yield index, current
        self.line(f"{following} = add nuw nsw i64 {index}, {step}")
        self.line(f"br label %{head}, !llvm.loop !{number}")
        end = self._block
        phis = [f"  {index} = phi i64 [ {start}, %{before} ], [ {following}, %{end} ]"]
        phis += [
            f"  {name} = phi {kind} [ {first}, %{before} ], [ {current[name]}, %{end} ]"
            for name, (kind, first) in carried.items()
        ]
        self._lines[place:place] = phis
        self._open(f"done{number}")

    def _open(self, block: str) -> None:
        self._lines.append(f"{block}:")
        self._block = block


def loop_metadata(count: int) -> str:
    """Describe the loops numbered from 0: left as they are written, whatever the pass pipeline."""
    nodes = [f"!{number} = distinct !{{!{number}, !{count}, !{count + 1}}}" for number in range(count)]
    nodes.append(f'!{count} = !{{!"llvm.loop.unroll.disable"}}')
    nodes.append(f'!{count + 1} = !{{!"llvm.loop.vectorize.enable", i1 false}}')
    return "\n".join(nodes)
