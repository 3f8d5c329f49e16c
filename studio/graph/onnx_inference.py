"""Shapes of an ONNX model: inferred by onnx itself, in a child process with limits.

`onnx.shape_inference` trusts its input: a few hundred bytes can make it enter functions that call each
other without end, or believe in a tensor of a million dims. So it runs in a forked child whose memory
and time are limited; when the child dies, the graph is shown with the shapes the file states.
Whoever needs shapes asks `inferred`, never onnx itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import warnings
from collections.abc import Mapping
from typing import Any

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.onnx_calls import bodies_of, expanded_nodes
from studio.graph.onnx_contrib import stand_ins
from studio.graph.onnx_shape_values import with_values
from studio.graph.onnx_tensors import short, type_of

MAX_EXPANDED_NODES = 1_000_000
_SECONDS = 4.0
_SECONDS_PER_MB = 0.3  # 50,000 nodes are 7 MB without weights and take about half a second
_BYTES = 128 << 20
_BYTES_PER_BYTE = 40  # 50,000 nodes of 6.3 MB took 10 MB and the answer


def with_shapes(model: Any, builder: GraphBuilder) -> Any:
    """The model with inferred shapes, or the model itself and a note on `builder` when that fails."""
    if _knows_all_shapes(model.graph):
        return model
    try:
        return _bounded(model, data_prop=True)
    except Exception as error:  # it raises InferenceError, ValueError, RuntimeError, UnicodeDecodeError
        reason = short(str(error).strip().partition("\n")[0], 200)
        builder.note(f"Shapes could not be inferred: {reason}")
        return model


def inferred(model: Any, *, data_prop: bool = True) -> Any:
    """A copy with inferred shapes, or the model itself when onnx cannot: inference is advice."""
    try:
        return _bounded(model, data_prop=data_prop)
    except Exception:  # as above
        return model


def _bounded(model: Any, *, data_prop: bool) -> Any:
    if expanded_nodes(model, MAX_EXPANDED_NODES) > MAX_EXPANDED_NODES:
        raise RuntimeError("local functions call each other too often.")
    return _in_child(model, data_prop) if hasattr(os, "fork") else _infer(model, data_prop)


def _infer(model: Any, data_prop: bool) -> Any:
    import onnx

    def infer(one: Any) -> Any:
        return onnx.shape_inference.infer_shapes(one, strict_mode=False, data_prop=data_prop)

    followed = stand_ins(model)
    begin = time.process_time()
    first = result = infer(followed)
    if data_prop:
        took = time.process_time() - begin
        result = with_values(first, infer, end=begin + _seconds(model) / 2, round_seconds=took)
    return first if result is first and followed is model else _with_shapes_of(result, model)


def _seconds(model: Any) -> float:
    return _SECONDS + _SECONDS_PER_MB * float(model.ByteSize()) / 1e6


def _with_shapes_of(shaped: Any, model: Any) -> Any:
    """The model with what was inferred of the names it has, in its main graph and in bodies."""
    result = type(model)()
    result.CopyFrom(model)
    with_bodies = {tuple(n.output): n for n in shaped.graph.node if any(True for _ in bodies_of(n))}
    for node in result.graph.node if with_bodies else ():
        found = with_bodies.get(tuple(node.output))
        if found is not None and found.op_type == node.op_type:
            node.CopyFrom(found)
    names = {name for node in model.graph.node for name in node.output}
    del result.graph.value_info[:], result.graph.output[:]
    result.graph.value_info.extend(v for v in shaped.graph.value_info if v.name in names)
    result.graph.output.extend(shaped.graph.output)
    return result


def _in_child(model: Any, data_prop: bool) -> Any:
    """What `_infer` returns, computed by a forked child. Raises RuntimeError with the child's reason.

    The main graph's constants do not come back through the pipe: they are the model's own.
    """
    import onnx

    seconds = _seconds(model)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of a fork beside threads: a lock they hold stays locked. The child
        # takes none of ours, and is killed when it hangs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _be_child(model, data_prop, writer, int(seconds) + 1)
    os.close(writer)
    try:
        answer = _read_all(reader, time.monotonic() + 2 * seconds)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if answer[:1] == b"+":
        result = onnx.ModelProto()
        result.ParseFromString(answer[1:])
        result.graph.initializer.extend(model.graph.initializer)
        return result
    reason = answer[1:].decode("utf-8", "replace")
    raise RuntimeError(reason or "onnx took too much time or memory for it.")


def _be_child(model: Any, data_prop: bool, writer: int, seconds: int) -> None:
    """The child's whole life: infer, write "+model" or "-reason", leave without cleaning up."""
    answer = b"-"
    try:
        import resource

        limit = _memory_in_use() + _BYTES + _BYTES_PER_BYTE * model.ByteSize()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            result = _infer(model, data_prop)
            del result.graph.initializer[:]
            answer = b"+" + result.SerializeToString()
        except MemoryError:
            answer = b"-"
        except Exception as error:
            answer = b"-" + str(error).strip().encode()[:500]
        view = memoryview(answer)
        while view:
            view = view[os.write(writer, view) :]
    finally:
        os._exit(0)


def _memory_in_use() -> int:
    """Bytes of address space this process has; a generous guess where /proc does not tell."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 8 << 30


def _read_all(reader: int, deadline: float) -> bytes:
    """Everything from the pipe until it closes or the time is over."""
    chunks: list[bytes] = []
    while (left := deadline - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        chunk = os.read(reader, 1 << 20)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
    return b"-"


def fix_dims(graph: Any, dims: Mapping[str, int]) -> None:
    """Sets dims of the graph's inputs and forgets every shape that was said of the rest."""
    used: set[str] = set()
    constants = {tensor.name for tensor in graph.initializer}
    for info in graph.input:
        if info.name in constants or info.type.WhichOneof("value") != "tensor_type":
            continue
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            for key in (dim.dim_param, f"{info.name}:{axis}"):
                if key in dims and dim.dim_value <= 0:  # 0 and −1 stand for “open” in old exporters
                    dim.dim_value = dims[key]
                    used.add(key)
    unused = [name for name in dims if name not in used]
    if unused:
        raise InputError(
            f"The model's inputs have no open dim called {', '.join(unused)}.",
            hint="Name a symbolic dim of an input, or an input and an axis as in images:0.",
        )
    del graph.value_info[:]
    for info in graph.output:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")


def _knows_all_shapes(graph: Any) -> bool:
    """Whether every node output, in bodies too, has a declared static shape: nothing is left to infer."""
    known: set[str] = set()
    for infos in (graph.value_info, graph.output):
        for info in infos:
            shape = type_of(info.type)[1]
            if shape is not None and all(isinstance(dim, int) for dim in shape):
                known.add(info.name)
    for node in graph.node:
        if any(name and name not in known for name in node.output):
            return False
        if not all(_knows_all_shapes(body) for body in bodies_of(node)):
            return False
    return True
