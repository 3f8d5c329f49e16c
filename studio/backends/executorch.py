"""ExecuTorch: torch program → .pte (portable, XNNPACK, Vulkan), and running it on this computer.

The wheel runs portable kernels and XNNPACK on the host. Vulkan is lowered here and runs on a
phone. Qualcomm, MediaTek and Samsung need the vendor's SDK at lowering time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio.backends.ask import ToolNode
from studio.backends.backend import Array, Availability, Converted, InputInfo, LoadedModel, Report
from studio.backends.explain import tool_error
from studio.backends.packages import availability_of, require
from studio.backends.quiet import quiet
from studio.errors import InputError, UnsupportedError

TOOLS = ("executorch", "executorch-vulkan", "executorch-qnn", "torch.export")
"""Sections of the message catalogue that concern this tool chain."""

TARGETS = (
    "executorch/portable", "executorch/xnnpack", "executorch/vulkan", "executorch/qnn",
    "executorch/mediatek", "executorch/samsung",
)  # fmt: skip

DELEGATES = {"executorch/xnnpack": "XnnpackBackend", "executorch/vulkan": "VulkanBackend"}
"""target → the id of its delegate inside a `.pte` file."""

_PHONE_DELEGATES = ("QnnBackend", "NeuropilotBackend", "EnnBackend", "CoreMLBackend", "MPSBackend")

_NEEDS_SDK = {
    "executorch/qnn": "Qualcomm's AI Runtime SDK (set QNN_SDK_ROOT)",
    "executorch/mediatek": "MediaTek's NeuroPilot SDK",
    "executorch/samsung": "Samsung's Exynos AI LiteCore SDK",
}

# ScalarType numbers of executorch/runtime/core/portable_type/scalar_type.h (release 1.5)
_SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    11: "bool", 15: "bfloat16",
}  # fmt: skip


class ExecutorchBackend:
    """ExecuTorch on this computer."""

    backend_id = "executorch"

    def probe(self) -> Availability:
        """Whether the package is installed."""
        return availability_of(
            self.backend_id,
            "ExecuTorch",
            "executorch",
            install="'deployment-studio[executorch]'",
            targets=TARGETS,
        )

    def convert(self, source: Path, settings: Mapping[str, Any], out_dir: Path, report: Report) -> Converted:
        """A `.pt2` program → `.pte`. Settings: `target` (default XNNPACK); `etrecord`, keep it too.

        Facts count the delegated nodes. Raises UnsupportedError for a target whose SDK is
        missing or whose delegate took nothing, ToolError when the lowering fails.
        """
        target = str(settings.get("target") or "executorch/xnnpack")
        records = bool(settings.get("etrecord"))
        _check_target(target)
        require("executorch", "Converting to .pte", "executorch")
        report.progress("Loading ExecuTorch", 0, None)
        try:
            with quiet() as output:
                import torch
                from executorch.devtools.backend_debug import get_delegation_info
                from executorch.exir import to_edge_transform_and_lower

                torch.set_num_threads(1)
                program = torch.export.load(source)
                report.progress(f"Lowering for {target}", 0, None)
                parts = _partitioners(target)
                edge = to_edge_transform_and_lower(program, partitioner=parts, generate_etrecord=records)
                delegation = get_delegation_info(edge.exported_program().graph_module)
                lowered = edge.to_executorch()
                data = lowered.buffer
                if records:
                    lowered.get_etrecord().save(str(out_dir / f"{source.stem}.etrecord"))
        except Exception as error:
            raise tool_error(
                f"ExecuTorch cannot lower {source.stem} for {target}.",
                f"{output.getvalue()}\n{type(error).__name__}: {error}",
                tools=TOOLS,
                hint="Try executorch/portable, which takes the most operators.",
            ) from None
        if target in DELEGATES and delegation.num_delegated_nodes == 0:
            raise UnsupportedError(
                f"{target} took none of the {delegation.num_non_delegated_nodes} nodes of {source.stem}.",
                hint="Choose executorch/portable, or look at the verdicts for the reasons.",
            )
        made = out_dir / f"{source.stem}.pte"
        made.write_bytes(data)
        left = sorted(
            name for name, count in delegation.delegation_by_operator.items() if count.non_delegated
        )
        facts: dict[str, str | int | float | bool | None] = {
            "delegated_nodes": delegation.num_delegated_nodes,
            "not_delegated_nodes": delegation.num_non_delegated_nodes,
            "partitions": delegation.num_delegated_subgraphs,
            "not_delegated_operators": ", ".join(left),
        }
        return Converted(path=str(made), format="pte", facts=facts)

    def load(self, path: Path, *, target: str = "executorch/xnnpack", threads: int = 1) -> LoadedModel:
        """The file's `forward` method. Raises UnsupportedError when it needs a delegate that is not here."""
        return ExecutorchModel(path, target=target, threads=threads)


class ExecutorchModel:
    """A loaded method. What really runs is read from the file: the delegates it names."""

    def __init__(self, path: Path, *, target: str, threads: int) -> None:
        _check_known(target)
        require("executorch", "Running .pte files", "executorch")
        named = delegates_in(path)
        try:
            with quiet() as output:
                from executorch.extension.pybindings import portable_lib
                from executorch.runtime import Runtime

                portable_lib._unsafe_reset_threadpool(threads)
                runtime = Runtime.get()
                here = set(runtime.backend_registry.registered_backend_names)
                absent = [name for name in named if name not in here]
                if not absent:
                    self._program = runtime.load_program(str(path))
                    self._method = self._program.load_method("forward")
        except Exception as error:
            text = f"{output.getvalue()}\n{error}"
            if "InvalidProgram" in text or "Failed to load program" in text or "0x23" in text:
                raise InputError(
                    f"{path.name} is not a .pte program that ExecuTorch can load.",
                    hint=tool_error("", text, tools=TOOLS).hint,
                ) from None
            raise tool_error(f"ExecuTorch cannot load {path.name}.", text, tools=TOOLS) from None
        if absent:
            raise UnsupportedError(
                f"{path.name} was lowered for {', '.join(absent)}, which this computer does not have.",
                hint="Deploy it to a phone, or convert for executorch/xnnpack to run it here.",
            )
        self._describe(named)

    def _describe(self, named: Sequence[str]) -> None:
        meta = self._method.metadata
        self.inputs: Sequence[InputInfo] = [
            _info(f"input_{i}", meta.input_tensor_meta(i)) for i in range(meta.num_inputs())
        ]
        self.outputs: Sequence[InputInfo] = [
            _info(f"output_{i}", meta.output_tensor_meta(i)) for i in range(meta.num_outputs())
        ]
        target_of = {name: target for target, name in DELEGATES.items()}
        self.target_ran = target_of.get(named[0], "executorch/portable") if named else "executorch/portable"
        self.evidence = f"the file delegates to {', '.join(named)}" if named else "the file names no delegate"
        self.delegated_nodes: int | None = None if named else 0
        self.total_nodes: int | None = None
        self.placed: Sequence[ToolNode] = ()  # which nodes a delegate holds is said by the file
        self.is_whole = not named
        self._bound: list[Any] = []

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs in order as `output_0`, …. Raises InputError or ToolError."""
        self.bind(feeds)
        try:
            with quiet() as output:
                made = self._method.execute(self._bound)
        except Exception as error:
            raise tool_error(
                "ExecuTorch failed while running the model.", f"{output.getvalue()}\n{error}", tools=TOOLS
            ) from None
        return {info.name: np.asarray(value) for info, value in zip(self.outputs, made)}

    def bind(self, feeds: Mapping[str, Array]) -> None:
        """Keeps the inputs as tensors that share memory with the arrays."""
        import torch

        bound = []
        for info in self.inputs:
            if info.name not in feeds:
                raise InputError(
                    f"The input “{info.name}” of the model was not given.",
                    hint=f"Given: {', '.join(feeds) or 'nothing'}.",
                )
            array = np.ascontiguousarray(np.asarray(feeds[info.name]).astype(info.dtype, copy=False))
            bound.append(torch.from_numpy(array))
        self._bound = bound

    @property
    def bound(self) -> Sequence[Any]:
        """The inputs that `bind` has set, as torch tensors."""
        return self._bound

    def invoke(self) -> None:
        """One inference on the bound inputs."""
        self._method.execute(self._bound)


def delegates_in(path: Path) -> tuple[str, ...]:
    """Ids of the delegates that a `.pte` file names. Raises InputError when it cannot be read.

    The ids are plain strings of the program's flatbuffer; known ones are searched for, which
    costs milliseconds where importing ExecuTorch's own parser costs seconds.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    return tuple(name for name in (*DELEGATES.values(), *_PHONE_DELEGATES) if name.encode() in data)


def _partitioners(target: str) -> list[Any]:
    if target == "executorch/xnnpack":
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return [XnnpackPartitioner()]
    if target == "executorch/vulkan":
        from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

        return [VulkanPartitioner()]
    return []


def _check_known(target: str) -> None:
    if target not in TARGETS:
        raise InputError(f"ExecuTorch has no target “{target}”.", hint=f"Choose one of {', '.join(TARGETS)}.")


def _check_target(target: str) -> None:
    """Raises UnsupportedError for a target that cannot be lowered for without a vendor's SDK."""
    _check_known(target)
    if target in _NEEDS_SDK:
        raise UnsupportedError(
            f"Lowering for {target} needs {_NEEDS_SDK[target]}, which the studio does not drive yet.",
            hint="Choose executorch/xnnpack, executorch/vulkan or executorch/portable.",
        )


def _info(name: str, meta: Any) -> InputInfo:
    return InputInfo(
        name=name,
        dtype=_SCALAR_TYPES.get(int(meta.dtype()), ""),
        shape=tuple(int(dim) for dim in meta.sizes()),
    )
