"""Taps: a model whose inner results can be read, for comparing two files layer by layer.

The file runs as its runtime runs it, but for what is read: a result that is looked at cannot be fused away.
Integer results are dequantised by their scale and zero point.

*Why with all optimisations:* the error of a quantised model is that of its integer kernels, whose fusions and
requantisation are not those of quantize and dequantize in float. (What x86 processors without VNNI add by
saturating is kept out: see `ort_session.py`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from studio.backends.backend import Array, InputInfo
from studio.backends.explain import tool_error
from studio.backends.litert import TOOLS as LITERT_TOOLS
from studio.backends.litert import LitertModel
from studio.backends.ort import OrtModel
from studio.errors import StudioError, UnsupportedError
from studio.graph import Graph, Quantization

_REFUSED = {
    "ort": ("A .ort file cannot give its inner results.", "Compare the .onnx file that it was made from."),
    "pte": (
        "ExecuTorch gives inner results only for programs made with an ETRecord, which this file has not.",
        "Compare the .onnx or .tflite file of the same model.",
    ),
}
_REFUSED_ELSE = "Export it to ONNX first: deployment-studio export."


class Taps(Protocol):
    """A loaded model with all its tensors within reach."""

    inputs: Sequence[InputInfo]
    target_ran: str

    def feed(self, feeds: Mapping[str, Array]) -> None:
        """Sets the inputs of the next reads."""
        ...

    def read(self, tensors: Sequence[int]) -> dict[int, Array]:
        """The values of these tensors for the inputs that were fed, in float; those that are no numbers
        are left out."""
        ...


def open_taps(path: Path, graph: Graph, threads: int, wanted: Sequence[int]) -> Taps:
    """The file with the `wanted` tensors of its main graph within reach.

    Raises UnsupportedError for a format whose runtime cannot show them, ToolError when it does not load.
    """
    if graph.format == "onnx":
        return OrtTaps(path, graph, threads, wanted)
    if graph.format == "tflite":
        return LitertTaps(path, graph, threads)
    message, hint = _REFUSED.get(
        graph.format, (f"A .{graph.format} file cannot be compared layer by layer.", _REFUSED_ELSE)
    )
    raise UnsupportedError(message, hint=hint)


class OrtTaps:
    """An ONNX file whose tensors are added to its outputs; only those that are asked for are kept."""

    def __init__(self, path: Path, graph: Graph, threads: int, wanted: Sequence[int]) -> None:
        import onnx

        proto = onnx.load(str(path), load_external_data=False)
        there = {output.name for output in proto.graph.output}
        for tensor in wanted:
            name = graph.tensor_name[tensor]
            if name and name not in there:
                there.add(name)
                proto.graph.output.append(onnx.ValueInfoProto(name=name))

        self._model = OrtModel(path, target="ort/cpu", threads=threads, content=proto)
        self._graph = graph
        self.inputs: Sequence[InputInfo] = self._model.inputs
        self.target_ran = "ort/cpu"
        self._feeds: Mapping[str, Array] = {}
        # sequences, maps and texts are no numbers to compare
        self._readable = {o.name for o in self._model.outputs if o.dtype not in ("", "str")}

    def feed(self, feeds: Mapping[str, Array]) -> None:
        self._feeds = feeds

    def read(self, tensors: Sequence[int]) -> dict[int, Array]:
        wanted = {t: self._graph.tensor_name[t] for t in tensors}
        wanted = {tensor: name for tensor, name in wanted.items() if name in self._readable}
        if not wanted:
            return {}
        made = self._model.run(self._feeds, list(dict.fromkeys(wanted.values())))
        return {
            tensor: dequantized(made[name], self._graph.tensor_quantization.get(tensor))
            for tensor, name in wanted.items()
        }


class LitertTaps:
    """A `.tflite` file run by the built-in kernels, which keep every tensor; XNNPACK would not."""

    def __init__(self, path: Path, graph: Graph, threads: int) -> None:
        self._model = LitertModel(path, target="litert/cpu", threads=threads, keeps_tensors=True)
        self._graph = graph
        self.inputs: Sequence[InputInfo] = self._model.inputs
        self.target_ran = "litert/cpu"

    def feed(self, feeds: Mapping[str, Array]) -> None:
        try:
            self._model.bind(feeds)
            self._model.invoke()
        except StudioError:
            raise
        except Exception as error:
            raise tool_error(
                "LiteRT failed while running the model.", str(error), tools=LITERT_TOOLS
            ) from None

    def read(self, tensors: Sequence[int]) -> dict[int, Array]:
        found = {}
        for tensor in tensors:
            values = self._model.tensor(tensor)
            if values is not None:
                found[tensor] = dequantized(values, self._graph.tensor_quantization.get(tensor))
        return found


def dequantized(values: Array, quantization: Quantization | None) -> Array:
    """Integers as the real numbers that they stand for; everything else as it is."""
    if quantization is None or not np.issubdtype(values.dtype, np.integer) or not quantization.scale:
        return values
    scale = np.asarray(quantization.scale, np.float32)
    zero = np.asarray(quantization.zero_point or (0,), np.float32)
    if quantization.axis is not None and len(scale) > 1:
        shape = [1] * values.ndim
        shape[quantization.axis] = -1
        scale = scale.reshape(shape)
        zero = zero.reshape(shape) if len(zero) > 1 else zero
    return np.asarray((values.astype(np.float32) - zero) * scale)
