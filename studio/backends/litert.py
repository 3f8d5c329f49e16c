"""LiteRT (TensorFlow Lite): torch program → .tflite, and running it on this computer.

*Why every file is loaded right after it is made:* the converter can write a file that its own
interpreter cannot load (STABLEHLO_SORT from topk; align_corners with half_pixel of Resize).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio.backends.ask import ToolNode
from studio.backends.ask_litert import placed_nodes
from studio.backends.backend import Array, Availability, Converted, InputInfo, LoadedModel, Report
from studio.backends.explain import tool_error
from studio.backends.packages import has_module, package_version, require
from studio.backends.quiet import quiet
from studio.errors import InputError, UnsupportedError

TOOLS = ("litert-torch", "litert-runtime", "tflite-delegate-xnnpack", "torch.export")
"""Sections of the message catalogue that concern this tool chain."""

TARGETS = (
    "litert/cpu", "litert/gpu", "litert/nnapi", "litert/npu-qualcomm", "litert/npu-mediatek",
    "litert/npu-google-tensor", "litert/npu-samsung",
)  # fmt: skip


class LitertBackend:
    """LiteRT on this computer: its CPU, by XNNPACK where it takes the nodes."""

    backend_id = "litert"

    def probe(self) -> Availability:
        """Whether the interpreter is installed; the version names the converter as well."""
        runs, converts = has_module("ai_edge_litert"), has_module("litert_torch")
        version = package_version("ai-edge-litert")
        if runs and converts:
            version += f", converter litert-torch {package_version('litert-torch')}"
        fix = "" if runs and converts else "pip install 'deployment-studio[litert]'"
        reason = "" if runs else "The package ai-edge-litert is not installed."
        if runs and not converts:
            reason = "Files can be run; the converter litert-torch is not installed."
        return Availability(
            backend_id=self.backend_id,
            title="LiteRT",
            is_available=runs,
            version=version,
            reason=reason,
            fix=fix,
            targets=TARGETS,
        )

    def convert(self, source: Path, settings: Mapping[str, Any], out_dir: Path, report: Report) -> Converted:
        """A `.pt2` program → float `.tflite`, loaded once to prove that it can be.

        Raises UnsupportedError when the interpreter refuses the file, ToolError when the
        converter fails.
        """
        require("litert_torch", "Converting to .tflite", "litert")
        made = out_dir / f"{source.stem}.tflite"
        report.progress("Loading the LiteRT converter", 0, None)
        try:
            with quiet() as output:
                import litert_torch
                import torch

                torch.set_num_threads(1)
                program = torch.export.load(source)
                report.progress("Converting to .tflite", 0, None)
                litert_torch.convert(program.module(), program.example_inputs[0]).export(str(made))
        except Exception as error:
            raise tool_error(
                f"LiteRT cannot convert {source.stem}.",
                f"{output.getvalue()}\n{type(error).__name__}: {error}",
                tools=TOOLS,
                hint="The operator named in the last lines has no LiteRT counterpart; rewrite it.",
            ) from None
        report.progress("Loading the result", 0, None)
        try:
            loaded = LitertModel(made, target="litert/cpu", threads=1)
        except Exception as error:
            raise UnsupportedError(
                f"The converter wrote {made.name}, but LiteRT cannot load it: {error}",
                hint="Rewrite the operator that is named, or choose another runtime.",
            ) from None
        facts: dict[str, str | int | float | bool | None] = {
            "total_nodes": loaded.total_nodes,
            "xnnpack_nodes": loaded.delegated_nodes,
        }
        return Converted(path=str(made), format="tflite", facts=facts)

    def load(self, path: Path, *, target: str = "litert/cpu", threads: int = 1) -> LoadedModel:
        """The file in an interpreter. Raises UnsupportedError for anything but the CPU here."""
        return LitertModel(path, target=target, threads=threads)


class LitertModel:
    """An interpreter. Quantised inputs and outputs are converted from and to float.

    `keeps_tensors`: every tensor can be read after an inference; then the built-in kernels run all nodes.
    """

    def __init__(self, path: Path, *, target: str, threads: int, keeps_tensors: bool = False) -> None:
        if target not in TARGETS:
            raise InputError(f"LiteRT has no target “{target}”.", hint=f"Choose one of {', '.join(TARGETS)}.")
        if target != "litert/cpu":
            raise UnsupportedError(
                f"{target} needs a phone: LiteRT on this computer has its CPU only.",
                hint="Deploy to a phone, or choose litert/cpu here.",
            )
        require("ai_edge_litert", "Running .tflite files", "litert")
        try:
            with quiet() as output:
                from ai_edge_litert.interpreter import Interpreter, OpResolverType

                kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if keeps_tensors else None
                self._interpreter = Interpreter(
                    str(path),
                    num_threads=threads,
                    experimental_preserve_all_tensors=keeps_tensors,
                    experimental_op_resolver_type=kernels or OpResolverType.AUTO,
                )
                self._interpreter.allocate_tensors()
        except Exception as error:
            text = f"{output.getvalue()}\n{error}"
            if isinstance(error, (ValueError, OSError)) and "Could not open" in text:
                raise InputError(f"{path} cannot be opened.", hint="Check the path.") from None
            raise tool_error(f"LiteRT cannot load {path.name}.", text, tools=TOOLS) from None
        self._ins = self._interpreter.get_input_details()
        self._outs = self._interpreter.get_output_details()
        self.inputs: Sequence[InputInfo] = [_info(detail) for detail in self._ins]
        self.outputs: Sequence[InputInfo] = [_info(detail) for detail in self._outs]
        self.target_ran = target
        self.placed: Sequence[ToolNode] = _placed(self._interpreter)
        self.is_whole = False
        taken = sum(bool(node.taken) for node in self.placed)
        self.delegated_nodes: int | None = taken if self.placed else None
        self.total_nodes: int | None = len(self.placed) or None
        self.evidence = (
            f"XNNPACK took {self.delegated_nodes} of {self.total_nodes} nodes"
            if self.delegated_nodes
            else f"built-in kernels run all {self.total_nodes} nodes"
        )

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name, dequantised. Raises InputError for a wrong input, ToolError when it fails."""
        self.bind(feeds)
        try:
            with quiet() as output:
                self._interpreter.invoke()
        except Exception as error:
            raise tool_error(
                "LiteRT failed while running the model.", f"{output.getvalue()}\n{error}", tools=TOOLS
            ) from None
        return {
            info.name: from_tensor(self._interpreter.get_tensor(detail["index"]), info)
            for info, detail in zip(self.outputs, self._outs)
        }

    def bind(self, feeds: Mapping[str, Array]) -> None:
        """Sets the input tensors; a free dim takes the size of what is given."""
        arrays = []
        resized = False
        for info, detail in zip(self.inputs, self._ins):
            if info.name not in feeds:
                raise InputError(
                    f"The input “{info.name}” of the model was not given.",
                    hint=f"Given: {', '.join(feeds) or 'nothing'}.",
                )
            array = to_tensor(np.asarray(feeds[info.name]), info)
            now = self._interpreter.get_tensor(detail["index"]).shape if resized else tuple(detail["shape"])
            if tuple(array.shape) != tuple(now):
                self._resize(detail, array, info)
                resized = True
            arrays.append((detail["index"], array))
        if resized:
            self._interpreter.allocate_tensors()
            self._ins = self._interpreter.get_input_details()
        for index, array in arrays:
            self._interpreter.set_tensor(index, array)

    def invoke(self) -> None:
        """One inference on the bound inputs."""
        self._interpreter.invoke()

    def tensor(self, index: int) -> Array | None:
        """The values of a tensor of the main graph after an inference, None where it holds none."""
        try:
            values: Array = self._interpreter.get_tensor(index)
        except ValueError:
            return None
        return values

    def _resize(self, detail: Any, array: Array, info: InputInfo) -> None:
        """Fits a free dim. Raises InputError when a fixed one differs."""
        fits = len(info.shape) == array.ndim and all(
            dim in (None, have) for dim, have in zip(info.shape, array.shape)
        )
        if not fits:
            raise InputError(
                f"The input “{info.name}” has shape {list(array.shape)}, the model takes {list(info.shape)}.",
                hint="Give inputs of the model's shape.",
            )
        self._interpreter.resize_tensor_input(detail["index"], array.shape)


def _info(detail: Any) -> InputInfo:
    """Declared shape with −1 as free; scale and zero point for quantised tensors."""
    signature = detail["shape_signature"] if len(detail["shape_signature"]) else detail["shape"]
    scale, zero_point = detail["quantization"]
    return InputInfo(
        name=str(detail["name"]),
        dtype=np.dtype(detail["dtype"]).name,
        shape=tuple(None if dim < 0 else int(dim) for dim in signature),
        scale=float(scale) if scale else None,
        zero_point=int(zero_point) if scale else None,
    )


def to_tensor(array: Array, info: InputInfo) -> Array:
    """Float values as the tensor holds them; values that are integers already stay."""
    if info.scale is None or not np.issubdtype(array.dtype, np.floating):
        return array.astype(info.dtype, copy=False)
    limits = np.iinfo(info.dtype)
    steps = np.round(np.divide(array, info.scale, dtype=np.float64)) + (info.zero_point or 0)
    return np.clip(steps, limits.min, limits.max).astype(info.dtype)


def from_tensor(array: Array, info: InputInfo) -> Array:
    if info.scale is None:
        return array
    return ((array.astype(np.float32) - (info.zero_point or 0)) * np.float32(info.scale)).astype(np.float32)


def _placed(interpreter: Any) -> tuple[ToolNode, ...]:
    """The nodes and whether XNNPACK took them; empty where this version cannot tell."""
    try:
        return placed_nodes(interpreter._get_ops_details())
    except AttributeError:  # a private method of ai-edge-litert
        return ()
