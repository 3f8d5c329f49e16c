"""ONNX Runtime: .onnx → .ort, and running both on this computer.

Execution providers are compiled into a build of ONNX Runtime; the desktop wheel has the CPU one.
XNNPACK, NNAPI and QNN are asked for by name and refused in words when the build lacks them,
since a session with an absent provider falls back to the CPU without a sound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio.backends.ask import RENAMED, ToolNode
from studio.backends.backend import Array, Availability, Converted, InputInfo, LoadedModel, Report
from studio.backends.explain import tool_error
from studio.backends.ort_session import open_session
from studio.backends.packages import availability_of
from studio.errors import InputError, StudioError, UnsupportedError

TOOLS = ("onnxruntime", "ort-qnn", "ort-nnapi", "onnx")
"""Sections of the message catalogue that concern this tool chain."""

PROVIDERS = {
    "ort/cpu": "CPUExecutionProvider",
    "ort/xnnpack": "XnnpackExecutionProvider",
    "ort/nnapi": "NnapiExecutionProvider",
    "ort/qnn": "QNNExecutionProvider",
}

_DTYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(int16)": "int16",
    "tensor(uint16)": "uint16",
    "tensor(int32)": "int32",
    "tensor(uint32)": "uint32",
    "tensor(int64)": "int64",
    "tensor(uint64)": "uint64",
    "tensor(bool)": "bool",
    "tensor(string)": "str",
    "tensor(bfloat16)": "bfloat16",
}

_BAD_FILE = ("INVALID_PROTOBUF", "INVALID_GRAPH", "NO_SUCHFILE", "No graph was found", "No opset import")
"""Words of the runtime's messages that mean: this is not a whole ONNX model."""

LEVELS = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
"""Optimization levels of a `.ort` file. Above “basic” the file holds fused nodes that only the CPU
provider knows: NNAPI then refuses them (onnxruntime issue 9285, a maintainer's answer)."""


class OrtBackend:
    """ONNX Runtime on this computer."""

    backend_id = "ort"

    def probe(self) -> Availability:
        """Whether onnxruntime is installed."""
        return availability_of(
            self.backend_id,
            "ONNX Runtime",
            "onnxruntime",
            "onnxruntime",
            "onnxruntime-gpu",
            "onnxruntime-qnn",
            install="onnxruntime",
            targets=tuple(PROVIDERS),
        )

    def convert(self, source: Path, settings: Mapping[str, Any], out_dir: Path, report: Report) -> Converted:
        """`.onnx` → `.ort`. Setting `optimization`: a key of LEVELS.

        Raises InputError for an unknown level, ToolError when the runtime refuses the graph.
        """
        import onnxruntime as ort

        level = str(settings.get("optimization", "basic"))
        if level not in LEVELS:
            raise InputError(
                f"There is no optimization level “{level}”.", hint=f"Choose one of {', '.join(LEVELS)}."
            )
        report.progress("Converting to .ort", 0, None)
        made = out_dir / f"{source.stem}.ort"
        options = _options(threads=1)
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[level])
        options.optimized_model_filepath = str(made)
        options.add_session_config_entry("session.save_model_format", "ORT")
        try:
            session = open_session(source, options, providers=["CPUExecutionProvider"])
        except StudioError:
            raise
        except Exception as error:
            raise _translated(f"ONNX Runtime cannot convert {source.name}.", error) from None
        del session
        if not made.is_file():
            raise tool_error(f"ONNX Runtime left no .ort file for {source.name}.", "", tools=TOOLS)
        return Converted(path=str(made), format="ort", facts={"optimization": level})

    def load(self, path: Path, *, target: str = "ort/cpu", threads: int = 1) -> LoadedModel:
        """The file in a session. Raises UnsupportedError when this build lacks the provider."""
        return OrtModel(path, target=target, threads=threads)


class OrtModel:
    """A session with bound inputs. `target_ran` comes from the graph assignment, not from the request.

    `tune` may change the session's options; `content` is a ModelProto that stands for the file where it was
    edited in memory (external weights are still found beside the file).
    """

    def __init__(
        self,
        path: Path,
        *,
        target: str,
        threads: int,
        tune: Callable[[Any], None] | None = None,
        content: Any = None,
    ) -> None:
        import onnxruntime as ort

        provider = PROVIDERS.get(target)
        if provider is None:
            raise InputError(
                f"ONNX Runtime has no target “{target}”.", hint=f"Choose one of {', '.join(PROVIDERS)}."
            )
        if provider not in ort.get_available_providers():
            raise UnsupportedError(
                f"ONNX Runtime {ort.__version__} on this computer was built without {provider}.",
                hint=f"Run {target} on a phone, or choose ort/cpu here.",
            )
        options = _options(threads)
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if content is not None:
            folder = str(path.absolute().parent)
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
        if tune is not None:
            tune(options)
        wanted = [provider] if target == "ort/cpu" else [provider, "CPUExecutionProvider"]
        try:
            self._session = open_session(content or path, options, providers=wanted)
        except StudioError:
            raise
        except Exception as error:
            raise _translated(f"ONNX Runtime cannot load {path.name}.", error) from None
        self.inputs: Sequence[InputInfo] = [_info(value) for value in self._session.get_inputs()]
        self.outputs: Sequence[InputInfo] = [_info(value) for value in self._session.get_outputs()]
        self._names = [info.name for info in self.outputs]
        self._binding: Any = None
        self.delegated_nodes: int | None = None
        self.total_nodes: int | None = None
        self.placed: Sequence[ToolNode] = ()
        self.is_whole = target == "ort/cpu"  # the session has no other provider
        self._assign(provider, target)

    def _assign(self, provider: str, target: str) -> None:
        """Fills `target_ran` and its evidence from what each provider really got."""
        counts: dict[str, int] = {}
        placed: list[ToolNode] = []
        try:
            for part in self._session.get_provider_graph_assignment_info():
                nodes = part.get_nodes()
                counts[part.ep_name] = counts.get(part.ep_name, 0) + len(nodes)
                placed += [
                    ToolNode(name=RENAMED.sub("", n.name), op=n.op_type, taken=part.ep_name == provider)
                    for n in nodes
                ]
        except (AttributeError, RuntimeError):  # builds before 1.23 cannot tell
            counts = {}
        if not counts:  # a .ort file reports no assignment
            used = self._session.get_providers()
            self.target_ran = target if provider in used else "ort/cpu"
            self.evidence = f"providers of the session: {', '.join(used)}; the nodes of each are not reported"
            return
        self.placed = () if self.is_whole else tuple(placed)
        self.total_nodes = sum(counts.values())
        taken = counts.get(provider, 0)
        self.delegated_nodes = 0 if target == "ort/cpu" else taken
        self.target_ran = target if taken or target == "ort/cpu" else "ort/cpu"
        parts = ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
        self.evidence = f"graph assignment: {parts}"

    def run(self, feeds: Mapping[str, Array], names: Sequence[str] = ()) -> dict[str, Array]:
        """Outputs by name; with `names` only those.

        Raises InputError for a missing input, UnsupportedError for outputs that are no tensors,
        ToolError when the run fails.
        """
        wanted = list(names) or self._names
        try:
            made = self._session.run(wanted, self._ready(feeds))
        except StudioError:
            raise
        except Exception as error:
            raise _translated("ONNX Runtime failed while running the model.", error) from None
        for name, value in zip(wanted, made):
            if not isinstance(value, np.ndarray):
                raise UnsupportedError(
                    f"The output “{name}” is a sequence or a map, which cannot be compared.",
                    hint="Cut the model before it: deployment-studio edit FILE --cut :TENSOR --out FILE.",
                )
        return dict(zip(wanted, made))

    def bind(self, feeds: Mapping[str, Array]) -> None:
        """Binds inputs once; outputs are allocated by the runtime at each inference."""
        self._binding = self._session.io_binding()
        for name, array in self._ready(feeds).items():
            self._binding.bind_cpu_input(name, array)
        for name in self._names:
            self._binding.bind_output(name)

    def invoke(self) -> None:
        """One inference on the bound inputs."""
        self._session.run_with_iobinding(self._binding)

    def end_profiling(self) -> Path:
        """The trace file of a session that was opened with profiling."""
        return Path(self._session.end_profiling())

    def _ready(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        ready = {}
        for info in self.inputs:
            if info.name not in feeds:
                raise InputError(
                    f"The input “{info.name}” of the model was not given.",
                    hint=f"Given: {', '.join(feeds) or 'nothing'}.",
                )
            array = np.asarray(feeds[info.name])
            ready[info.name] = np.ascontiguousarray(
                array if info.dtype in ("str", "bfloat16", "") else array.astype(info.dtype, copy=False)
            )
        return ready


def _options(threads: int) -> Any:
    """Session options with a fixed number of threads; fatal messages only, errors come as exceptions."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return options


def _info(value: Any) -> InputInfo:
    shape = tuple(dim if isinstance(dim, (int, str)) else None for dim in value.shape)
    return InputInfo(name=value.name, dtype=_DTYPES.get(value.type, ""), shape=shape)


def _translated(message: str, error: Exception) -> StudioError:
    """The runtime's exception as one of ours, explained where the catalogue knows it."""
    text = str(error)
    made = tool_error(message, text, tools=TOOLS)
    if any(word in text for word in _BAD_FILE):
        return InputError(message, hint=made.hint)
    return made
