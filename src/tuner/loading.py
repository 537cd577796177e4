"""Object code in this process: loaded, checked against its arguments, called once or in a native loop."""

from __future__ import annotations

import ctypes
import functools
import itertools
from typing import Any

import attrs
from llvmlite import binding

from tuner.arguments import POINTER, ctype, ir_type, passed
from tuner.build import read_label
from tuner.errors import KernelError

_KEPT: list[Any] = []
_LIBRARIES = itertools.count()
_SAME_ARCH = {"arm64": "aarch64", "amd64": "x86_64"}


@attrs.frozen
class Function:
    """A loaded function with its arguments' IR types; its code lives as long as this does."""

    types: tuple[str, ...]
    address: int
    _library: Any

    def bind(self, arguments: tuple[Any, ...]) -> Call:
        """Fix the arguments, which must be those that it was loaded for in type; arrays are kept alive."""
        return Call(self, arguments, _repeater(self.types), tuple(passed(value) for value in arguments))


@attrs.frozen
class Call:
    """A function and its arguments, ready to run."""

    function: Function
    arguments: tuple[Any, ...]
    _repeat: Any
    _passed: tuple[Any, ...]

    def __call__(self, times: int = 1) -> None:
        """Run the function so many times, in a loop of native code."""
        self._repeat(self.function.address, times, *self._passed)


def load(object_code: bytes, entry: str, arguments: tuple[Any, ...]) -> Function:
    """Load the entry of an object made by compile_candidate, to be called with such arguments.

    KernelError where it is made for another architecture or takes other arguments; RuntimeError with LLVM's message
    where it cannot be linked, as with a symbol that nobody defines.
    """
    label = read_label(object_code)
    types = tuple(map(ir_type, arguments))
    # Both before linking: LLVM links code of any architecture, and calls what it is told to.
    _check_architecture(label.triple)
    if label.signature != f"void ({', '.join(types)})":
        raise KernelError(
            f"{entry!r} is of type {label.signature}; the arguments need void ({', '.join(types)})"
        )
    try:
        library = _link(object_code, entry)
    except RuntimeError as error:
        missing = [name for name in label.undefined if not binding.address_of_symbol(name)]
        raise RuntimeError(
            f"cannot link {entry!r}: nothing defines {', '.join(missing)}" if missing else str(error)
        ) from None
    return Function(types, library[entry], library)


def _check_architecture(triple: str) -> None:
    made, here = (text.partition("-")[0] for text in (triple, binding.get_process_triple()))
    if _SAME_ARCH.get(made, made) != _SAME_ARCH.get(here, here):
        raise KernelError(f"this object code is for {made}; this process runs {here}")


@functools.cache
def _linker() -> tuple[binding.TargetMachine, binding.LLJIT]:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(
        opt=2, reloc="pic", codemodel="default"
    )
    return machine, binding.create_lljit_compiler(machine)


def _link(object_code: bytes, entry: str) -> Any:
    builder = binding.JITLibraryBuilder()
    builder.add_object_img(object_code).add_current_process().export_symbol(entry)
    return builder.link(_linker()[1], f"tuner.{next(_LIBRARIES)}")


@functools.cache
def _repeater(types: tuple[str, ...]) -> Any:
    """Give the native `repeat(address, times, *arguments)` for functions that take these IR types."""
    machine, _ = _linker()
    with binding.parse_assembly(_repeat_text(types), context=binding.create_context()) as module:
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        library = _link(machine.emit_object(module), "repeat")
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *map(ctype, types))
    _KEPT.append(library)
    return signature(library["repeat"])


def _repeat_text(types: tuple[str, ...]) -> str:
    values = [f"{name} %a{position}" for position, name in enumerate(types)]
    return f"""
define void @repeat({", ".join([POINTER + " %f", "i64 %times", *values])}) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %times
  br i1 %more, label %body, label %exit
body:
  call void %f({", ".join(values)})
  %next = add i64 %i, 1
  br label %head
exit:
  ret void
}}
"""
