"""From a configuration to object code: emit, parse, verify, optimise, and say which function it holds."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import llvmlite
from llvmlite import binding, ir

from targetspec.interop import to_llvmlite
from tuner.errors import KernelError
from tuner.kernel import Kernel

MARKER = b"tuner object 1: "
"""What the text starts with that every object of ours holds: its label, ended by a zero."""

_SPEED = {"O1": 1, "O2": 2, "O3": 3}
_GOLDEN = (5**0.5 - 1) / 2
_SPREAD = 6


class Label(NamedTuple):
    """What an object says of itself: its entry's type, such as `void (ptr, i64)`, and the functions it calls by name."""

    triple: str
    signature: str
    undefined: tuple[str, ...]


def compile_candidate(
    stage: Callable[[str], object], kernel: Kernel, config: Mapping[str, Any], target: Any, problem: Any
) -> bytes:
    """Emit and compile one configuration; exceptions say what is wrong with it."""
    stage("emit")
    text = emit_text(kernel, config, target, problem)
    stage("compile")
    return compile_text(text, target, entry=kernel.entry, passes=kernel.passes_of(config))


def compile_plain(stage: Callable[[str], object], kernel: Kernel, target: Any, problem: Any) -> bytes:
    """Emit and compile the baseline: the kernel's plain version at O3, or its first configuration."""
    if kernel.plain is None:
        return compile_candidate(stage, kernel, kernel.space[0], target, problem)
    stage("emit")
    text = _text_of(kernel.plain(target, problem), f"{kernel.name}: plain")
    stage("compile")
    return compile_text(text, target, entry=kernel.entry, passes="O3")


def emit_text(kernel: Kernel, config: Mapping[str, Any], target: Any, problem: Any) -> str:
    """Give the IR text of one configuration; KernelError where emit gives something else."""
    return _text_of(kernel.emit(dict(config), target, problem), f"{kernel.name}: emit")


def compile_text(text: str, target: Any, *, entry: str, passes: str) -> bytes:
    """Compile IR text for a target to an object that defines `entry` and tells its type.

    RuntimeError with LLVM's message where the text does not parse or verify; KernelError where it does not define
    `entry` as a void function that others can call.
    """
    if "\0" in text:
        raise KernelError("the IR text holds a zero character, where LLVM would stop reading")
    llvm = to_llvmlite(target)
    machine = _machine(llvm.triple, llvm.cpu, llvm.features, llvm.abi)
    if llvm.tune:
        text = tuned_text(text, llvm.tune)
    # A context of its own for each candidate: LLVM never frees the types and constants of the global one.
    context = binding.create_context()
    with binding.parse_assembly(text, context=context) as module:
        module.triple = llvm.triple
        module.data_layout = str(machine.target_data)
        module.verify()
        signature = _entry_type(module, text, entry)
        if passes != "none":
            _optimise(module, machine, _SPEED[passes])
        module.link_in(_labelling(module, Label(llvm.triple, signature, _undefined(module)), context))
        return bytes(machine.emit_object(module))


def tuned_text(text: str, cpu: str) -> str:
    """Mark every function in IR text to be scheduled for a CPU, which LLVM takes no other way.

    >>> '"tune-cpu"="znver4"' in tuned_text("define void @f() { ret void }", "znver4")
    True
    """
    with binding.parse_assembly(text, context=binding.create_context()) as module:
        lines = str(module).split("\n")
    marked = [
        _with_attribute(line, f'"tune-cpu"="{cpu}"') if line.startswith("define ") else line for line in lines
    ]
    return "\n".join(marked)


def read_label(object_code: bytes) -> Label:
    """Read what an object says of itself; KernelError where it is not one of ours."""
    at = object_code.find(MARKER)
    end = object_code.find(b"\0", at)
    if at < 0 or end < 0:
        raise KernelError("this is no object code made by compile_candidate")
    triple, signature, undefined = object_code[at + len(MARKER) : end].decode().split("\n")
    return Label(triple, signature, tuple(undefined.split()))


def toolchain() -> str:
    """Name what compiles: `llvmlite 0.50.0, LLVM 22.1.0`."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, binding.llvm_version_info))}"


def fingerprint(kernel: Kernel, target: Any, problem: Any) -> str:
    """Hash the kernel's name, and its IR and passes for up to eight fixed configurations: the same in every process.

    KernelError where one configuration gives two different texts.
    """
    digest = fingerprint_start(kernel)
    for position in sample(len(kernel.space)):
        digest.update(fingerprint_part(kernel, position, target, problem))
    return digest.hexdigest()


def fingerprint_start(kernel: Kernel) -> hashlib._Hash:
    """Begin a fingerprint with what it says of a kernel beside its configurations."""
    return hashlib.sha256(f"{kernel.name}\0{kernel.entry}".encode())


def fingerprint_part(kernel: Kernel, position: int, target: Any, problem: Any) -> bytes:
    """Return what a fingerprint says of the configuration at a position of the space."""
    config = kernel.space[position]
    text = _stable_text(kernel, config, target, problem)
    passes = kernel.passes_of(config)
    return f"\0{sorted(config.items())}\0{passes}\0{text}".encode(errors="surrogatepass")


def sample(size: int) -> list[int]:
    """Return the positions, in a space of this size, of the configurations that a fingerprint looks at."""
    # Multiples of the golden ratio fall evenly, and in step with no parameter's list of values.
    spread = (int(size * (number * _GOLDEN % 1)) for number in range(1, _SPREAD + 1))
    return sorted({0, size - 1, *spread})


def _text_of(emitted: object, source: str) -> str:
    if isinstance(emitted, ir.Module):
        return str(emitted)
    if isinstance(emitted, str):
        return emitted
    raise KernelError(f"{source} gave {type(emitted).__name__}, not IR text or an llvmlite module")


@functools.cache
def _initialize() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    # For inline assembly, without which LLVM aborts on it; llvmlite can initialise no other target's parser.
    binding.initialize_native_asmparser()


@functools.lru_cache(maxsize=8)
def _machine(triple: str, cpu: str, features: str, abi: str) -> binding.TargetMachine:
    _initialize()
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=cpu,
        features=features,
        opt=3,
        # The JIT's own memory lies anywhere; position-independent code under the default model reaches all of it.
        reloc="pic",
        codemodel="default",
        abiname=abi,
    )


def _entry_type(module: binding.ModuleRef, text: str, entry: str) -> str:
    try:
        function = module.get_function(entry)
    except NameError:
        defined = ", ".join(f.name for f in module.functions if not f.is_declaration)
        raise KernelError(f"the IR has no function {entry!r}; it defines {defined or 'none'}") from None
    if function.is_declaration:
        raise KernelError(f"the IR declares {entry!r} but does not define it")
    if function.linkage in {binding.Linkage.internal, binding.Linkage.private}:
        raise KernelError(f"{entry!r} has {function.linkage.name} linkage: nothing outside can call it")
    header = re.search(rf'^define\b([^@\n]*)@"?{re.escape(entry)}"?\(', text, re.MULTILINE)
    if header and re.search(r"\b(\w+cc|cc \d+|cc\d+)\b", header[1].replace("ccc", "")):
        raise KernelError(f"{entry!r} has a calling convention other than C's: {header[1].strip()}")
    signature = str(function.global_value_type)
    if not signature.startswith("void "):
        raise KernelError(f"{entry!r} must return void; its type is {signature}")
    return signature


def _optimise(module: binding.ModuleRef, machine: binding.TargetMachine, speed: int) -> None:
    options = binding.create_pipeline_tuning_options(speed_level=speed)
    # What clang turns on at O2 and above; llvmlite leaves each of them off.
    options.loop_vectorization = options.slp_vectorization = speed > 1
    options.loop_unrolling = options.loop_interleaving = speed > 1
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _with_attribute(line: str, attribute: str) -> str:
    """Add an attribute behind the closing parenthesis of a function's parameters."""
    depth = 0
    for at in range(line.index("(", line.index("@")), len(line)):
        depth += (line[at] == "(") - (line[at] == ")")
        if depth == 0:
            return f"{line[: at + 1]} {attribute}{line[at + 1 :]}"
    raise KernelError(f"no end of the parameters in {line!r}")


def _undefined(module: binding.ModuleRef) -> tuple[str, ...]:
    functions = (f.name for f in module.functions if f.is_declaration)
    return tuple(name for name in functions if not name.startswith("llvm."))


def _labelling(module: binding.ModuleRef, label: Label, context: binding.ContextRef) -> binding.ModuleRef:
    text = f"{label.triple}\n{label.signature}\n{' '.join(label.undefined)}"
    content = MARKER + text.encode() + b"\0"
    escaped = "".join(f"\\{byte:02X}" for byte in content)
    labelling = binding.parse_assembly(
        f'@tuner.label = constant [{len(content)} x i8] c"{escaped}"', context=context
    )
    labelling.triple, labelling.data_layout = module.triple, module.data_layout
    return labelling


def _stable_text(kernel: Kernel, config: Mapping[str, Any], target: Any, problem: Any) -> str:
    first, second = (_text_or_failure(kernel, config, target, problem) for _ in range(2))
    if first == second:
        return first
    lines = zip(first.splitlines(), second.splitlines(), strict=False)
    number = next((at for at, (one, two) in enumerate(lines, 1) if one != two), "last")
    raise KernelError(
        f"{kernel.name}: emit gave two different texts for {dict(config)} (first in line {number}); "
        "what it emits must depend on its arguments alone"
    )


def _text_or_failure(kernel: Kernel, config: Mapping[str, Any], target: Any, problem: Any) -> str:
    try:
        return emit_text(kernel, config, target, problem)
    except Exception as error:  # noqa: BLE001 - a configuration that cannot be emitted is one of the kernel's traits
        return f"raised {type(error).__name__}"
