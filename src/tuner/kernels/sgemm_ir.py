"""IR of a blocked matrix product for one shape, out of a configuration and a vector width.

The structure is that of Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008): blocks of
k x n of B that stay in the second-level cache, panels of A that stay in the first, and within them a micro-kernel that
keeps a tile of C in registers. A panel of A is mr rows, each kept contiguous; one of B is k rows of nr vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import attrs

from tuner.kernels.irtext import FunctionText, Index, loop_metadata

Tile = dict[tuple[int, int, int], str]
"""The values of a tile by row, vector in the row, and how many lanes of it count."""

_LINE = 16
_PAGE = 4096
# Without the second, loops that copy become calls of memcpy for a few elements each.
_ATTRIBUTES = 'nounwind "no-builtins"'


@attrs.frozen
class Plan:
    """One configuration for one shape, all sizes in floats, those that exceed the shape cut down to it."""

    m: int
    n: int
    k: int
    lanes: int
    mr: int
    nr: int
    mc: int
    nc: int
    kc: int
    unroll: int
    pack_a: bool
    pack_b: bool
    size_bits: int

    @property
    def vector(self) -> str:
        """The IR type of a vector."""
        return f"<{self.lanes} x float>"

    @property
    def suffix(self) -> str:
        """What an intrinsic's name has at its end for this type."""
        return f"v{self.lanes}f32"

    @property
    def row_of_a(self) -> int:
        """From one row of A to the next, as the micro-kernel reads it."""
        # One cache line more than the row: rows a power of two apart would share a few sets of the cache.
        return -(-self.kc // _LINE) * _LINE + _LINE if self.pack_a else self.k

    @property
    def row_of_b(self) -> int:
        """From one row of B to the next, as the micro-kernel reads it."""
        return self.nr if self.pack_b else self.n

    @property
    def packed_a(self) -> int:
        """The space for packed A."""
        return min(self.mc, self.m) * self.row_of_a if self.pack_a else 0

    @property
    def packed_b(self) -> int:
        """The space for packed B, its panels whole."""
        return self.kc * -(-min(self.nc, self.n) // self.nr) * self.nr if self.pack_b else 0

    def tiles(self) -> list[tuple[int, int]]:
        """Give the sizes of the tiles of C that occur, the commonest first."""
        return list(itertools.product(parts(self.m, self.mr), parts(self.n, self.nr)))


def parts(total: int, tile: int) -> list[int]:
    """Give the sizes that cutting into tiles yields: whole, and what is left at the end."""
    return [size for size in (tile if total >= tile else 0, total % tile) if size]


def product_text(plan: Plan, entry: str) -> str:
    """Give a module that defines `entry(a, b, c)`: c += a @ b for the plan's shape."""
    loops = itertools.count()
    kernels = [_micro_kernel(plan, rows, columns, loops) for rows, columns in plan.tiles()]
    driver = _driver(plan, entry, loops)
    return "\n".join([*kernels, driver, _declarations(plan), loop_metadata(next(loops)), ""])


def _declarations(plan: Plan) -> str:
    vector, mask = plan.vector, f"<{plan.lanes} x i1>"
    return f"""declare {vector} @llvm.fmuladd.{plan.suffix}({vector}, {vector}, {vector})
declare {vector} @llvm.masked.load.{plan.suffix}.p0(ptr, {mask}, {vector})
declare void @llvm.masked.store.{plan.suffix}.p0({vector}, ptr, {mask})
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.trap()
declare ptr @malloc(i{plan.size_bits})
declare void @free(ptr)
"""


def _lanes_used(plan: Plan, columns: int) -> list[int]:
    """Give for each vector of a row how many lanes of it count."""
    return [min(plan.lanes, columns - first) for first in range(0, columns, plan.lanes)]


def _mask(plan: Plan, used: int) -> str:
    lanes = ", ".join(f"i1 {'true' if lane < used else 'false'}" for lane in range(plan.lanes))
    return f"<{plan.lanes} x i1> <{lanes}>"


def _load(f: FunctionText, plan: Plan, address: str, used: int) -> str:
    if used == plan.lanes:
        return f.value(f"load {plan.vector}, ptr {address}, align 4")
    return f.value(
        f"call {plan.vector} @llvm.masked.load.{plan.suffix}.p0(ptr align 4 {address}, {_mask(plan, used)}, "
        f"{plan.vector} zeroinitializer)"
    )


def _store(f: FunctionText, plan: Plan, value: str, address: str, used: int) -> None:
    if used == plan.lanes:
        f.line(f"store {plan.vector} {value}, ptr {address}, align 4")
    else:
        f.line(
            f"call void @llvm.masked.store.{plan.suffix}.p0({plan.vector} {value}, ptr align 4 {address}, "
            f"{_mask(plan, used)})"
        )


def _micro_kernel(plan: Plan, rows: int, columns: int, loops: Iterator[int]) -> str:
    """Give the function that adds to one tile of C the product of a panel of A and one of B, `steps` long."""
    f = FunctionText(
        f"internal void @tile_{rows}x{columns}(ptr noalias readonly %a, ptr noalias readonly %b, ptr noalias %c, "
        f"i64 %steps) noinline {_ATTRIBUTES}",
        loops,
    )
    for row, column in itertools.product(range(rows), range(0, columns, _LINE)):
        f.line(f"call void @llvm.prefetch.p0(ptr {f.at('%c', row * plan.n + column)}, i32 0, i32 3, i32 1)")
    tile = [(row, *part) for row in range(rows) for part in enumerate(_lanes_used(plan, columns))]
    unroll = plan.unroll if (rows, columns) == plan.tiles()[0] else 1
    sums = dict.fromkeys(tile, "zeroinitializer")
    whole: Index = "%steps"
    if unroll > 1 and (plan.kc % unroll or plan.k % plan.kc % unroll):
        whole = f.floor("%steps", unroll)
    sums = _accumulate(f, plan, sums, (0, whole), unroll)
    if whole != "%steps":
        sums = _accumulate(f, plan, sums, (whole, "%steps"), 1)
    for row, vector, used in tile:
        address = f.at("%c", row * plan.n + vector * plan.lanes)
        before = _load(f, plan, address, used)
        after = f.value(f"fadd {plan.vector} {before}, {sums[row, vector, used]}")
        _store(f, plan, after, address, used)
    return f.text()


def _accumulate(
    f: FunctionText,
    plan: Plan,
    sums: Tile,
    steps: tuple[Index, Index],
    unroll: int,
) -> Tile:
    """Loop over k from one step to another and give the names of the new sums."""
    start, stop = steps
    names = {place: f"%sum{place[0]}.{place[1]}.{unroll}" for place in sums}
    carried = {names[place]: (plan.vector, first) for place, first in sums.items()}
    with f.carried_loop(stop, unroll, carried, start=start) as (step, current):
        a = f.at("%a", step)
        b = f.at("%b", f.mul(step, plan.row_of_b))
        for turn in range(unroll):
            line: dict[int, str] = {}
            factors: dict[int, str] = {}
            for (row, vector, used), name in names.items():
                # In this order: what a row of the tile needs is loaded just before it.
                if vector not in line:
                    address = f.at(b, turn * plan.row_of_b + vector * plan.lanes)
                    line[vector] = _load(f, plan, address, used)
                if row not in factors:
                    factors[row] = _broadcast(f, plan, f.at(a, row * plan.row_of_a + turn))
                current[name] = f.value(
                    f"call {plan.vector} @llvm.fmuladd.{plan.suffix}({plan.vector} {factors[row]}, "
                    f"{plan.vector} {line[vector]}, {plan.vector} {current[name]})"
                )
    return names


def _broadcast(f: FunctionText, plan: Plan, address: str) -> str:
    scalar = f.value(f"load float, ptr {address}, align 4")
    first = f.value(f"insertelement {plan.vector} poison, float {scalar}, i64 0")
    return f.value(
        f"shufflevector {plan.vector} {first}, {plan.vector} poison, <{plan.lanes} x i32> zeroinitializer"
    )


def _driver(plan: Plan, entry: str, loops: Iterator[int]) -> str:
    """Give the function that walks over the blocks, packs them and calls the micro-kernels."""
    f = FunctionText(
        f"void @{entry}(ptr noalias readonly %a, ptr noalias readonly %b, ptr noalias %c) {_ATTRIBUTES}",
        loops,
    )
    buffer = _allocate(f, plan)
    with f.loop(plan.n, plan.nc) as column:
        width = f.min(f.sub(plan.n, column), plan.nc)
        with f.loop(plan.k, plan.kc) as step:
            depth = f.min(f.sub(plan.k, step), plan.kc)
            b = f.at("%b", f.add(f.mul(step, plan.n), column))
            if plan.pack_b:
                b = _pack_b(f, plan, b, (width, depth))
            with f.loop(plan.m, plan.mc) as row:
                height = f.min(f.sub(plan.m, row), plan.mc)
                a = f.at("%a", f.add(f.mul(row, plan.k), step))
                if plan.pack_a:
                    a = _pack_a(f, plan, a, (height, depth))
                c = f.at("%c", f.add(f.mul(row, plan.n), column))
                _multiply(f, plan, (a, b, c), (height, width, depth))
    if buffer:
        f.line(f"call void @free(ptr {buffer})")
    return f.text()


def _allocate(f: FunctionText, plan: Plan) -> str | None:
    """Define %pb and %pa, the page-aligned place for packed panels, and give what is to be freed."""
    size = plan.packed_a + plan.packed_b
    if not size:
        return None
    bits = plan.size_bits
    # From the heap at each call: a global would be shared by threads, and a stack may be smaller than a panel.
    buffer = f.value(f"call ptr @malloc(i{bits} {4 * size + _PAGE})")
    f.trap_if(f.value(f"icmp eq ptr {buffer}, null"))
    number = f.value(f"ptrtoint ptr {buffer} to i{bits}")
    aligned = f.value(f"and i{bits} {f.value(f'add i{bits} {number}, {_PAGE - 1}')}, -{_PAGE}")
    f.line(f"%pb = inttoptr i{bits} {aligned} to ptr")
    f.line(f"%pa = getelementptr inbounds float, ptr %pb, i64 {plan.packed_b}")
    return buffer


def _tiled(f: FunctionText, extent: Index, total: int, tile: int, body: Callable[[str, int], None]) -> None:
    """Run the body for the whole tiles within an extent, then for what is left at the end of the matrix."""
    whole = f.floor(extent, tile)
    for size in parts(total, tile):
        start, stop = (0, whole) if size == tile else (whole, extent)
        with f.loop(stop, tile, start=start) as place:
            body(place, size)


def _pack_b(f: FunctionText, plan: Plan, b: str, sizes: tuple[Index, Index]) -> str:
    """Copy a block of B into panels; the last one is filled up with zeros."""
    width, depth = sizes

    def copy(column: str, columns: int) -> None:
        with f.loop(depth, 1) as step:
            source = f.at(b, f.add(f.mul(step, plan.n), column))
            drain = f.at("%pb", f.add(f.mul(column, plan.kc), f.mul(step, plan.nr)))
            for vector, used in enumerate(_lanes_used(plan, columns)):
                part = _load(f, plan, f.at(source, vector * plan.lanes), used)
                _store(f, plan, part, f.at(drain, vector * plan.lanes), plan.lanes)

    _tiled(f, width, plan.n, plan.nr, copy)
    return "%pb"


def _pack_a(f: FunctionText, plan: Plan, a: str, sizes: tuple[Index, Index]) -> str:
    """Copy the rows of a block of A."""
    height, depth = sizes
    whole = f.floor(depth, plan.lanes)
    with f.loop(height, 1) as row:
        source = f.at(a, f.mul(row, plan.k))
        drain = f.at("%pa", f.mul(row, plan.row_of_a))
        with f.loop(whole, plan.lanes) as step:
            part = _load(f, plan, f.at(source, step), plan.lanes)
            _store(f, plan, part, f.at(drain, step), plan.lanes)
        if plan.kc % plan.lanes or plan.k % plan.kc % plan.lanes:
            with f.loop(depth, 1, start=whole) as step:
                part = f.value(f"load float, ptr {f.at(source, step)}, align 4")
                f.line(f"store float {part}, ptr {f.at(drain, step)}, align 4")
    return "%pa"


def _multiply(
    f: FunctionText, plan: Plan, blocks: tuple[str, str, str], sizes: tuple[Index, Index, Index]
) -> None:
    """Call the micro-kernels for the tiles of a block of C."""
    (a, b, c), (height, width, depth) = blocks, sizes

    def rows(row: str, height: int) -> None:
        panel = f.at(a, f.mul(row, plan.row_of_a))

        def columns(column: str, width: int) -> None:
            right = f.at(b, f.mul(column, plan.kc) if plan.pack_b else column)
            tile = f.at(c, f.add(f.mul(row, plan.n), column))
            f.line(f"call void @tile_{height}x{width}(ptr {panel}, ptr {right}, ptr {tile}, i64 {depth})")

        _tiled(f, width, plan.n, plan.nr, columns)

    _tiled(f, height, plan.m, plan.mr, rows)
