"""The mutants of the code of the relation: each is one small change of its source, as a wrong rule would be.

Texts for people (statements, sources, advice, labels) are left alone: no test should hold on to wording.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

# The modules of the relation below src/targetspec, and the parts that are it; None is all of them.
_SOURCES: Mapping[str, tuple[str, ...] | None] = {
    "rules.py": None,
    "compatibility.py": (
        *("judge", "judge_plainly", "_answer_of_most", "stance", "_checked_needs", "_checked_need", "_rules"),
        *("_need_rules", "_all_rules", "_decide", "_judge_of", "_answer", "_explain", "_cautions", "_weight"),
        *("_WEIGHT_OF", "BRIDGES", "Verdict"),
    ),
    "target.py": ("_host_answer", "_host_say", "_host_bridge", "_HOST", "_rules_for"),
    "kinds/cpu_arch.py": None,
    "kinds/cpu_rules.py": None,
    "kinds/cpu_libc.py": None,
    "kinds/cpu_bridges.py": None,
    "kinds/cpu_optional.py": (
        "known_optional",
        "hidden_by",
        "_needed",
        "_doubtful",
        "_decide",
        "OPTIONAL_FEATURES",
    ),
    "kinds/cuda_rules.py": None,
    "kinds/rocm_rules.py": None,
    "kinds/device.py": ("both_ways", "lifting", "limit", "warp_size", "names", "DeviceTarget", "_fields_of"),
    "kinds/composite.py": (
        *("_members", "_fit", "_bridges_taken", "_doubts", "_MEMBER_DOUBT", "_members_rule", "_need_of_some"),
        "CompositeTarget.",
    ),
    "kinds/cpu.py": ("CpuTarget.",),
    "kinds/cuda.py": ("CudaTarget.",),
    "kinds/rocm.py": ("RocmTarget.",),
    "kinds/vulkan.py": (
        *(
            "_BROUGHT",
            "_demanded",
            "_promised",
            "_serve",
            "_repair",
            "_VERSIONS",
            "_declared",
            "_CAPABILITIES",
        ),
        "VulkanTarget.",
    ),
    "kinds/metal.py": (
        *(
            "_ON_MACOS",
            "_ON_IOS",
            "_LANGUAGES",
            "_promised_language",
            "_brought",
            "_families",
            "_family_serves",
        ),
        *(
            "_line",
            "_number",
            "_GPU_FAMILY",
            "_OS",
            "_FIRST_WITH_METAL3",
            "_ON_A_MAC",
            "_IMPLIED",
            "MetalTarget.",
        ),
    ),
    "kinds/opencl.py": ("OpenCLTarget.",),
    "kinds/webgpu.py": ("WebGPUTarget.",),
    "kinds/hexagon.py": (
        "_number",
        "_runs",
        "_VERSION",
        "_HVX_BYTES",
        "_hvx",
        "_HVX_VERSION",
        "HexagonTarget.",
    ),
}
SOURCES = tuple(_SOURCES)
# Texts for people; and `strict`, which is an assertion.
_WORDING = {"label", "statement", "source", "say", "advice", "what", "unit", "strict"}
# Functions that only write for people; names of types, and what only the former ask; what is said of documents.
_FOR_PEOPLE = ("show", "_say", "_name_", "_written", "_dotted", "_listed", "_host_say", "_extra", "_stated")
_TYPES = ("Answer", "Purpose", "Weight", "View", "Versions", "Reason", "_ASKED", "SETS")
_OF_DOCUMENTS = ("always_written",)
_OPTIONS = {"repair", "bridge", "caution", "weight", "apart", "need", "link", "schedule", "demand", "promise"}
_COMPARED: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.LtE: (ast.GtE, ast.Lt),
    ast.GtE: (ast.LtE, ast.Gt),
    ast.Lt: (ast.LtE,),
    ast.Gt: (ast.GtE,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_NAMES: Mapping[str, tuple[str, ...]] = {
    "at_most": ("equal",),
    "equal": ("at_most", "always"),
    "within": ("contains", "equal"),
    "contains": ("within",),
    "worst": ("best",),
    "best": ("worst",),
    "floor": ("same",),
    "same": ("floor",),
    "subset": ("same",),
    "any": ("all",),
    "all": ("any",),
    "max": ("min",),
}
_ANSWERS: Mapping[str, tuple[str, ...]] = {"yes": ("no",), "no": ("unknown",), "unknown": ("yes", "no")}
_SIDES = (("need", "have"), ("built_for", "run_on"))
_COMBINED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Sub: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


class Mutant(NamedTuple):
    """One change: the module below src/targetspec, its name in lists, and the whole source with the change."""

    module: str
    name: str
    source: str


class _Change(NamedTuple):
    scope: str
    node: ast.AST
    text: str
    name: str = ""


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Return the mutants of a module; their names say the place and the change, not the line."""
    lines = source.splitlines(keepends=True)
    found, seen = [], Counter[str]()
    for change in _changes(module, source):
        start, end = _span(lines, change.node)
        name = f"{module}:{change.scope}: {change.name or _difference(source[start:end], change.text)}"
        seen[name] += 1
        if seen[name] > 1:
            name = f"{name} #{seen[name]}"
        mutated = _imported(source[:start] + change.text + source[end:], change.text, source)
        try:
            ast.parse(mutated)
        except SyntaxError:
            continue
        found.append(Mutant(module, name, mutated))
    return found


def _imported(mutated: str, name: str, source: str) -> str:
    """Import a rule's name that only the change uses, so that it is the rule that fails and not the module."""
    known = {other for others in _NAMES.values() for other in others} - set(dir(builtins))
    if name not in known or re.search(rf"\b{name}\b", source):
        return mutated
    start = "from targetspec.rules import "
    return mutated.replace(start, f"{start}{name}\n{start}", 1)


def _difference(before: str, after: str) -> str:
    return f"{' '.join(before.split())} => {' '.join(after.split())}"


def _span(lines: list[str], node: ast.AST) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        ahead = lines[line - 1].encode()[:column].decode()
        return sum(map(len, lines[: line - 1])) + len(ahead)

    return (
        offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
        offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
    )


def _changes(module: str, source: str) -> Iterator[_Change]:
    parts = _SOURCES[module]
    for statement in ast.parse(source).body:
        for scope in _scopes(statement):
            if scope.startswith(_FOR_PEOPLE) or scope in _TYPES:
                continue
            if parts is None or scope in parts:
                yield from _within(scope, statement)
            elif f"{scope}." in parts:
                # Of a kind only the declarations of its fields, which hold its rules.
                for field in ast.iter_child_nodes(statement):
                    if isinstance(field, ast.AnnAssign) and ast.unparse(field.target) not in _OF_DOCUMENTS:
                        declared = _within(f"{scope}.{ast.unparse(field.target)}", field)
                        yield from (change for change in declared if not _is_of_shape(change.node))


def _is_of_shape(node: ast.AST) -> bool:
    """Say whether a change of a field's declaration is about the values that it takes, not about a rule."""
    elements = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(one, ast.Constant) for one in elements)


def _scopes(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _within(scope: str, node: ast.AST) -> Iterator[_Change]:
    for child, text in _of_node(node):
        yield _Change(scope, child, text)
    if isinstance(node, ast.Call):
        yield from _without_options(scope, node)
    if isinstance(node, ast.Set) or (isinstance(node, ast.Tuple) and _is_table(node)):
        yield from _without_elements(scope, node)
    if isinstance(node, ast.Dict):
        yield from _without_entries(scope, node)
    for child in _children(node):
        yield from _within(scope, child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.FunctionDef():
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield from body
        case ast.ClassDef():
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            yield from (one for one in methods if not one.name.startswith("__"))
        case ast.AnnAssign(value=value):
            yield from [value] if value is not None else []
        case ast.Call(func=ast.Name(id="Count" | "Choice" | "NameSet" | "Text" | "Version")):
            # What values a field takes is no rule.
            return
        case ast.Call():
            yield node.func
            yield from node.args
            yield from (one.value for one in node.keywords if one.arg not in _WORDING)
        case ast.JoinedStr() | ast.Raise():
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _of_node(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what each change replaces, and by what."""
    yield from _of_condition(node)
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMBINED:
            yield node, f"({ast.unparse(ast.BinOp(left, _COMBINED[type(op)](), right))})"
        case ast.Constant(value=value):
            yield from ((node, repr(other)) for other in _other_values(value))
        case ast.Name(id=name, ctx=ast.Load()):
            yield from ((node, other) for other in _NAMES.get(name, ()))
        case ast.Call():
            yield from _of_call(node)
        case ast.FunctionDef() | ast.Lambda():
            yield from _swapped(node)


def _of_condition(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in _COMPARED[type(op)]:
                yield node, ast.unparse(ast.Compare(left, [other()], [right]))
        case ast.BoolOp(op=op, values=values):
            yield (
                node,
                f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})",
            )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield node, f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.If(test=ast.Name() | ast.Call() | ast.Attribute() as test):
            yield test, f"not {ast.unparse(test)}"


def _other_values(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case str():
            yield from _ANSWERS.get(value, ())


def _is_table(node: ast.Tuple) -> bool:
    """Say whether a tuple lists things of one sort, whatever their number; a pair of unlike things does not."""
    sorts = {type(one) for one in node.elts}
    return (
        isinstance(node.ctx, ast.Load)
        and len(sorts) == 1
        and bool(sorts & {ast.Constant, ast.Call, ast.Name, ast.Tuple})
    )


def _without_entries(scope: str, node: ast.Dict) -> Iterator[_Change]:
    for at, gone in enumerate(node.keys):
        if isinstance(gone, ast.Constant):
            keys, values = ([*part[:at], *part[at + 1 :]] for part in (node.keys, node.values))
            yield _Change(scope, node, ast.unparse(ast.Dict(keys, values)), f"without {ast.unparse(gone)}")


def _without_elements(scope: str, node: ast.Tuple | ast.Set) -> Iterator[_Change]:
    for at, gone in enumerate(node.elts):
        kept = [one for place, one in enumerate(node.elts) if place != at]
        if isinstance(node, ast.Set):
            text = ast.unparse(ast.Set(kept)) if kept else "set()"
        else:
            text = ast.unparse(ast.Tuple(kept, ast.Load()))
        yield _Change(scope, node, text, f"without {ast.unparse(gone)}")


def _of_call(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    """Ask a bridge about another rule, or have no repair."""
    if isinstance(node.func, ast.Name) and node.func.id in ("over", "take_over"):
        yield node, f"{node.func.id}('nothing')" if node.func.id == "over" else "None"


def _without_options(scope: str, node: ast.Call) -> Iterator[_Change]:
    for at, keyword in enumerate(node.keywords):
        if keyword.arg in _OPTIONS and not _is_required(node, str(keyword.arg)):
            kept = [one for place, one in enumerate(node.keywords) if place != at]
            text = ast.unparse(ast.Call(node.func, node.args, kept))
            yield _Change(scope, node, text, f"{ast.unparse(node.func)}(...) without {keyword.arg}")


def _is_required(node: ast.Call, option: str) -> bool:
    return option in ("demand", "promise") and isinstance(node.func, ast.Name) and node.func.id == "Rule"


def _swapped(node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[ast.AST, str]]:
    """Exchange the two targets, or what the one needs and the other has."""
    names = [argument.arg for argument in node.args.args]
    for one, other in _SIDES:
        if {one, other} <= set(names) and _reads(node, (one, other)):
            first, second = names.index(one), names.index(other)
            if isinstance(node, ast.Lambda):
                text = ast.unparse(node).replace(f"lambda {one}, {other}:", f"lambda {other}, {one}:", 1)
                yield node, f"({text})"
            else:
                left, right = node.args.args[first], node.args.args[second]
                yield _Between(left, right), f"{_renamed(right, other, one, left)}"


def _reads(node: ast.AST, names: Iterable[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))


class _Between(ast.AST):
    """The span of two arguments."""

    def __init__(self, left: ast.arg, right: ast.arg) -> None:
        self.lineno, self.col_offset = left.lineno, left.col_offset
        self.end_lineno, self.end_col_offset = right.end_lineno, right.end_col_offset


def _renamed(right: ast.arg, other: str, one: str, left: ast.arg) -> str:
    first = ast.unparse(ast.arg(other, right.annotation))
    return f"{first}, {ast.unparse(ast.arg(one, left.annotation))}"
