"""The kind `cuda`: an NVIDIA GPU, or code for one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs

from targetspec.errors import FieldError
from targetspec.fields import Count, Refused, Shape, Version, spec
from targetspec.gpu_cuda import CODE_FORMS, CudaArch, CudaCode, arch_names, isa_key, read_code
from targetspec.kinds.cuda_rules import ARCH
from targetspec.kinds.device import BlockTarget, chosen, limit, model, warp_size
from targetspec.target import Target

_PAIR = 2


@attrs.frozen
class _ArchShape(Shape):
    """An architecture: written as sm_90a, and given in Python or text in any usual spelling."""

    def check(self, value: Any) -> CudaArch | CudaCode:
        if type(value) is CudaArch or type(value) is CudaCode:
            return value
        if type(value) is tuple and len(value) == _PAIR and all(type(part) is int for part in value):
            return read_code(value)
        if type(value) is not str:
            raise Refused("must be a CUDA architecture", "write it as 'sm_90a' or (9, 0)", wrong_type=True)
        return read_code(value)

    def load(self, value: Any) -> CudaArch:
        if type(value) is not str:
            raise Refused("must be a CUDA architecture, a string", wrong_type=True)
        code = read_code(value)
        if value != str(code.arch):
            raise Refused(f"must be written as {code.arch}", _where_the_form_goes(code))
        return code.arch

    def dump(self, value: Any) -> str:
        return str(value)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(arch_names())}


def _where_the_form_goes(code: CudaCode) -> str:
    return f"and code_form as {code.code_form}" if code.code_form else ""


@attrs.frozen(eq=False, repr=False, kw_only=True)
class CudaTarget(BlockTarget):
    """An NVIDIA GPU, or code for one.

    `arch` is a CudaArch, a pair such as (9, 0), or a text in any usual spelling; what a spelling says of the
    form of the code (`compute_90`, `90-real`, `9.0+PTX`, `lto_90`) is kept in `code_form`. None there is a
    device, and of code it says that nobody stated its form. Describe a device by its most specific
    architecture: sm_90a for 9.0.

    Raises UnknownNameError (an architecture), FieldError, FieldTypeError.

    >>> CudaTarget(arch="compute_80").compatible(CudaTarget(arch="sm_90a")).answer
    'yes'
    """

    kind: ClassVar[str] = "cuda"
    about: ClassVar[str] = "An NVIDIA GPU, or code for one."

    arch: CudaArch | None = attrs.field(
        default=None, metadata=spec(_ArchShape(), "the architecture, such as sm_90a", code=(ARCH,))
    )
    code_form: str | None = chosen(
        CODE_FORMS,
        "what the code is: PTX, machine code, both, or an intermediate; a device has none",
        (ARCH,),
    )
    ptx_isa: str | None = attrs.field(
        default=None,
        metadata=spec(Version(), "the PTX ISA that the code is in, or the driver's newest", code=(ARCH,)),
    )
    model: str | None = model()
    max_threads_per_core: int | None = limit("max_threads_per_core")
    max_shared_memory_per_core: int | None = limit("max_shared_memory_per_core")
    warp_size: int | None = warp_size(Count(32, 32))
    registers_per_block: int | None = limit("registers_per_block")
    registers_per_thread: int | None = limit("registers_per_thread")
    l2_cache_bytes: int | None = limit("l2_cache_bytes")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")

    def _complete(self) -> None:
        spelled: Any = self.arch
        if type(spelled) is CudaCode:
            self._settle(spelled)
        if self.arch is not None and self.ptx_isa is not None:
            self._check_isa(self.arch, self.ptx_isa)
        super()._complete()

    @classmethod
    def common_candidates(
        cls, targets: Sequence[Target], fields: tuple[str, ...]
    ) -> Iterator[dict[str, Any]]:
        """Give the plain architecture of each target, as PTX, which later devices run, and as it is.

        PTX that states no version is what any compiler writes: for the oldest driver it has to state one.
        """
        if "arch" not in fields:
            return
        archs = [target.arch for target in targets if isinstance(target, cls) and target.arch is not None]
        forms = {target.code_form: None for target in targets if isinstance(target, cls)}
        isas = {target.ptx_isa: None for target in targets if isinstance(target, cls)}
        for arch, form, isa in itertools.product(archs, (*forms, "ptx"), (None, *isas)):
            yield {"arch": CudaArch(arch.number), "code_form": form, "ptx_isa": isa}
            yield {"arch": arch, "code_form": form, "ptx_isa": isa}

    def _settle(self, spelled: CudaCode) -> None:
        if spelled.code_form is not None and self.code_form not in (None, spelled.code_form):
            message = f"the spelling of arch says {spelled.code_form}"
            raise FieldError(self.kind, "code_form", self.code_form, message, "change one of the two")
        self._store("arch", spelled.arch)
        if spelled.code_form is not None:
            self._store("code_form", spelled.code_form)

    def _check_isa(self, arch: CudaArch, isa: str) -> None:
        if isa_key(isa) < isa_key(arch.first_ptx_isa):
            message = f"{arch} appeared in PTX ISA {arch.first_ptx_isa}"
            raise FieldError(self.kind, "ptx_isa", isa, message, f"state {arch.first_ptx_isa} or later")
