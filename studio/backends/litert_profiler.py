"""LiteRT's C interface with its profiler switched on: what the Python package leaves out.

`ai-edge-litert` ships `libLiteRt`, whose C functions run a model and list profiler events. They are not
declared stable, so only versions in `KNOWN_VERSIONS` are called. Source of names and structures:
github.com/google-ai-edge/LiteRT, litert/c/*.h (`litert_profiler.h`, `litert_profiler_event.h`), and
options/litert_cpu_options.cc for the option texts; checked against the library on 2026-11-30.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from studio.backends.backend import Array
from studio.backends.packages import package_version
from studio.errors import ToolError, UnsupportedError

KNOWN_VERSIONS = ("2.3.0",)

_CPU = 1  # kLiteRtHwAcceleratorCpu
_WRITE, _UNLOCKED = 1, 0  # kLiteRtTensorBufferLockModeWrite
_TENSOR_TYPE_BYTES = 4096  # room for LiteRtRankedTensorType, which is passed on unread
_Handle = ctypes.c_void_p


class _Event(ctypes.Structure):
    _fields_ = (
        ("tag", ctypes.c_char_p),
        ("event_type", ctypes.c_int),
        ("start_us", ctypes.c_uint64),
        ("elapsed_us", ctypes.c_uint64),
        ("begin_memory", ctypes.c_int64 * 3),
        ("end_memory", ctypes.c_int64 * 3),
        ("metadata1", ctypes.c_uint64),
        ("metadata2", ctypes.c_uint64),
        ("source", ctypes.c_int),
    )


OPERATOR, DELEGATE_OPERATOR, DELEGATE_PROFILED = 2, 4, 8
"""Kinds of events that are operators; `index` is the node, or the delegate's own number of its operator."""


@dataclass(frozen=True, slots=True)
class ProfilerEvent:
    """One operator of one inference, in the order of execution; `graph` is the subgraph."""

    name: str
    kind: int
    elapsed_us: int
    index: int
    graph: int


class ProfiledModel:
    """A `.tflite` file compiled for the CPU with the profiler on. Use it as a context manager."""

    def __init__(self, path: Path, threads: int) -> None:
        version = package_version("ai-edge-litert")
        if version not in KNOWN_VERSIONS:
            raise UnsupportedError(
                f"The profiler of ai-edge-litert {version or '(not installed)'} is not known to the studio.",
                hint=f"Install ai-edge-litert {KNOWN_VERSIONS[-1]}, or profile the ONNX file with ort/cpu.",
            )
        self._library = _load_library()
        self._close: list[tuple[str, Any]] = []
        self._kept: list[Any] = []
        self._environment = self._make("LiteRtCreateEnvironment", ctypes.c_int(0), None)
        self._close.append(("LiteRtDestroyEnvironment", self._environment))
        self._model = self._make("LiteRtCreateModelFromFile", self._environment, str(path).encode())
        self._close.append(("LiteRtDestroyModel", self._model))
        options = self._options(threads)
        self._compiled = self._make("LiteRtCreateCompiledModel", self._environment, self._model, options)
        self._close.append(("LiteRtDestroyCompiledModel", self._compiled))
        self._profiler = self._make("LiteRtCompiledModelGetProfiler", self._compiled)
        self._signature = self._make("LiteRtGetModelSignature", self._model, ctypes.c_size_t(0))
        self.input_names: list[str] = []
        self._inputs = self._buffers("Input", self.input_names)
        self._outputs = self._buffers("Output", [])

    def write(self, arrays: Sequence[Array]) -> None:
        """Fills the inputs, in the order of `input_names`. Raises UnsupportedError when a size differs."""
        for name, buffer, array in zip(self.input_names, self._inputs, arrays):
            size = ctypes.c_size_t()
            self._call("LiteRtGetTensorBufferPackedSize", buffer, ctypes.byref(size))
            data = np.ascontiguousarray(array).tobytes()
            if len(data) != size.value:
                raise UnsupportedError(
                    f"The input “{name}” takes {size.value} bytes, not {len(data)}: its size is open.",
                    hint="Export the model with fixed sizes to profile it.",
                )
            address = _Handle()
            self._call("LiteRtLockTensorBuffer", buffer, ctypes.byref(address), ctypes.c_int(_WRITE))
            ctypes.memmove(address, data, len(data))
            self._call("LiteRtUnlockTensorBuffer", buffer)

    def invoke(self) -> None:
        """One inference."""
        inputs = (_Handle * len(self._inputs))(*self._inputs)
        outputs = (_Handle * len(self._outputs))(*self._outputs)
        self._call(
            "LiteRtRunCompiledModel", self._compiled, ctypes.c_size_t(0),
            ctypes.c_size_t(len(self._inputs)), inputs, ctypes.c_size_t(len(self._outputs)), outputs,
        )  # fmt: skip

    def profiled(self) -> tuple[int, list[ProfilerEvent]]:
        """One inference with the profiler on: its nanoseconds, and its operators in order."""
        self._call("LiteRtResetProfiler", self._profiler)
        self._call("LiteRtStartProfiler", self._profiler)
        begin = time.perf_counter_ns()
        self.invoke()
        elapsed = time.perf_counter_ns() - begin
        self._call("LiteRtStopProfiler", self._profiler)
        count = ctypes.c_int()
        self._call("LiteRtGetNumProfilerEvents", self._profiler, ctypes.byref(count))
        events = (_Event * max(count.value, 1))()
        self._call("LiteRtGetProfilerEvents", self._profiler, count, events)
        return elapsed, [
            ProfilerEvent(
                name=(event.tag or b"").decode(errors="replace"),
                kind=event.event_type,
                elapsed_us=event.elapsed_us,
                index=event.metadata1,
                graph=event.metadata2,
            )
            for event in events[: count.value]
            if event.event_type in (OPERATOR, DELEGATE_OPERATOR, DELEGATE_PROFILED)
        ]

    def __enter__(self) -> ProfiledModel:
        return self

    def __exit__(self, *_: object) -> None:
        for name, handle in reversed(self._close):
            function = getattr(self._library, name)
            function.restype = None
            function(handle)
        self._close.clear()

    def _options(self, threads: int) -> Any:
        options = self._make("LiteRtCreateOptions")
        self._close.append(("LiteRtDestroyOptions", options))
        self._call("LiteRtSetOptionsHardwareAccelerators", options, ctypes.c_int(_CPU))
        for name, text in (
            (b"runtime_options_string", "enable_profiling = true\n"),
            (b"xnnpack", f"num_threads = {threads}\n"),
        ):
            payload = ctypes.create_string_buffer(text.encode())
            leave = ctypes.CFUNCTYPE(None, _Handle)(lambda _payload: None)  # Python owns the text
            self._kept += [payload, leave]
            made = self._make("LiteRtCreateOpaqueOptions", name, ctypes.cast(payload, _Handle), leave)
            self._call("LiteRtAddOpaqueOptions", options, made)
        return options

    def _buffers(self, side: str, names: list[str]) -> list[Any]:
        count = ctypes.c_size_t()
        self._call(f"LiteRtGetNumSignature{side}s", self._signature, ctypes.byref(count))
        result = []
        for index in range(count.value):
            tensor = self._make(
                f"LiteRtGetSignature{side}TensorByIndex", self._signature, ctypes.c_size_t(index)
            )
            name = ctypes.c_char_p()
            self._call("LiteRtGetTensorName", tensor, ctypes.byref(name))
            names.append((name.value or b"").decode(errors="replace"))
            kind = ctypes.create_string_buffer(_TENSOR_TYPE_BYTES)
            self._call("LiteRtGetRankedTensorType", tensor, kind)
            needs = self._make(
                f"LiteRtGetCompiledModel{side}BufferRequirements",
                self._compiled, ctypes.c_size_t(0), ctypes.c_size_t(index),
            )  # fmt: skip
            buffer = self._make(
                "LiteRtCreateManagedTensorBufferFromRequirements", self._environment, kind, needs
            )
            self._close.append(("LiteRtDestroyTensorBuffer", buffer))
            result.append(buffer)
        return result

    def _make(self, name: str, *arguments: Any) -> Any:
        """Calls a function whose last argument receives a handle."""
        handle = _Handle()
        self._call(name, *arguments, ctypes.byref(handle))
        return handle

    def _call(self, name: str, *arguments: Any) -> None:
        function = getattr(self._library, name)
        function.restype = ctypes.c_int
        status = function(*arguments)
        if status != 0:
            raise ToolError(
                f"LiteRT refuses to profile this file: {name} returned {status}.",
                hint="Run it without profiling to see whether LiteRT runs it at all.",
            )


def _load_library() -> ctypes.CDLL:
    from importlib.util import find_spec

    spec = find_spec("ai_edge_litert")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        for path in sorted(Path(folder).glob("libLiteRt.*")):
            return ctypes.CDLL(str(path))
    raise UnsupportedError(
        "This build of ai-edge-litert has no libLiteRt, which has the profiler.",
        hint="Profile the ONNX file with ort/cpu.",
    )
