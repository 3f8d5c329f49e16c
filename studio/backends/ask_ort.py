"""Asks ONNX Runtime itself: its QNN provider per SoC, and its own NNAPI checker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from studio.backends.ask import RENAMED, ToolAnswer, ToolNode
from studio.backends.ort_session import open_session
from studio.backends.packages import has_module, package_version, require
from studio.backends.quiet import quiet
from studio.errors import InputError, ToolError, UnsupportedError
from studio.graph.onnx_inference import inferred

SOC_MODELS = {
    "SM8350": (30, 68), "SM8450": (36, 69), "SM8475": (42, 69), "SM8550": (43, 73), "SM8650": (57, 75),
    "SM8750": (69, 79), "SM8850": (87, 81), "SM7550": (67, 73), "SM7450": (41, 69), "SM7475": (54, 69),
    "SM8635": (68, 73), "SA8295": (39, 68), "QCS8550": (66, 73),
}  # fmt: skip
"""SoC → (soc_model, htp_arch). Source: pip:executorch==1.5.1 backends/qualcomm/serialization/qc_schema.py.
The provider accepts a bogus htp_arch without a word, so only pairs of this table are ever passed."""


def ask_qnn(path: Path, soc: str) -> ToolAnswer:
    """Which nodes Qualcomm's HTP takes on a SoC, by compiling for it on this machine.

    Raises UnsupportedError for a SoC that is not in `SOC_MODELS`, ToolError when the provider did not
    start: it falls back to the CPU silently, so the assignment is read, not the absence of an error.
    """
    if soc not in SOC_MODELS:
        raise UnsupportedError(
            f"“{soc}” is not a Snapdragon that can be asked about.", hint=f"Known: {', '.join(SOC_MODELS)}."
        )
    require("onnxruntime_qnn", "Asking Qualcomm's HTP", "qualcomm")
    import onnxruntime
    import onnxruntime_qnn

    soc_model, htp_arch = SOC_MODELS[soc]
    with quiet() as said:
        devices = _qnn_devices(onnxruntime, onnxruntime_qnn)
        if not devices:
            raise ToolError(
                "The QNN provider offers no device on this machine.",
                hint="It runs on x86-64 and arm64 Linux and Windows.",
            )
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        options.add_provider_for_devices(
            devices[:1],
            {
                "backend_path": onnxruntime_qnn.get_qnn_htp_path(),
                "soc_model": str(soc_model),
                "htp_arch": str(htp_arch),
            },
        )
        try:
            session = open_session(path, options)
        except InputError:
            raise
        except Exception as error:
            raise ToolError(
                f"QNN could not compile {path.name} for {soc}.",
                hint="The last lines are Qualcomm's own.",
                last_lines=tuple(str(error).splitlines()[-6:]),
            ) from None
        parts = session.get_provider_graph_assignment_info()
        assigned = [(n.name, n.op_type, p.ep_name) for p in parts for n in p.get_nodes()]
        count = sum(1 for p in parts if "QNN" in p.ep_name)
        started = "QNN" in " ".join(session.get_providers())
    text = said.getvalue()
    if not started or (
        not count and re.search(r"QNN SetupBackend failed|Unable to (load|create) backend", text)
    ):
        raise ToolError(
            "The QNN back end did not start; everything would silently run on the CPU.",
            hint="See the log lines.",
            last_lines=tuple(text.splitlines()[-6:]),
        )
    return ToolAnswer(
        tool=f"QNN HTP for {soc}",
        version=f"onnxruntime-qnn {package_version('onnxruntime-qnn')}",
        target_id="ort/qnn",
        nodes=tuple(
            ToolNode(name=RENAMED.sub("", name), op=op, taken="QNN" in provider)
            for name, op, provider in assigned
        ),
        partitions=count,
    )


def _qnn_devices(onnxruntime: Any, onnxruntime_qnn: Any) -> list[Any]:
    if not any(d.ep_name == "QNN" for d in onnxruntime.get_ep_devices()):
        onnxruntime.register_execution_provider_library("QNN", onnxruntime_qnn.get_library_path())
    return [d for d in onnxruntime.get_ep_devices() if d.ep_name == "QNN"]


_NO_KERNEL = re.compile(r"Could not find an implementation for (\w+)\(")


def ask_cpu(path: Path) -> ToolAnswer:
    """Whether ONNX Runtime loads the file on its CPU, and which operator lacks a kernel when not."""
    require("onnxruntime", "Asking ONNX Runtime", "")
    import onnx
    import onnxruntime

    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:
        raise InputError(f"{path.name} cannot be read by onnx: {error}", hint="Check the file.") from None
    missing = ""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    with quiet():
        try:
            open_session(path, options, providers=["CPUExecutionProvider"])
        except InputError:
            raise
        except Exception as error:
            match = _NO_KERNEL.search(str(error))
            if match is None:
                raise ToolError(
                    f"ONNX Runtime cannot load {path.name}.",
                    hint="The last lines say why.",
                    last_lines=tuple(str(error).splitlines()[-4:]),
                ) from None
            missing = match[1]
    alone = sum(1 for n in graph.node if n.op_type == missing) == 1
    return ToolAnswer(
        tool="CPU provider",
        version=f"onnxruntime {package_version('onnxruntime')}",
        target_id="ort/cpu",
        nodes=tuple(
            ToolNode(
                name=node.name or f"{node.op_type}#{i}",
                op=node.op_type,
                index=i,
                # after the first missing kernel nothing is known of the others, nor which of several it was
                taken=True if not missing else (False if alone and node.op_type == missing else None),
                reason=f"no implementation for {missing}" if node.op_type == missing else "",
            )
            for i, node in enumerate(graph.node)
        ),
        partitions=0 if missing else 1,
    )


def ask_nnapi_checker(path: Path) -> ToolAnswer:
    """What ONNX Runtime's own usability checker says of NNAPI: groups of nodes, with their caveats.

    It knows operators from a list and refuses dynamic shapes; conditions on attributes are only quoted.
    """
    if not has_module("onnxruntime"):
        raise UnsupportedError("onnxruntime is not installed.", hint="pip install onnxruntime")
    import onnx
    from onnxruntime.tools.mobile_helpers import usability_checker

    try:
        model = onnx.load(str(path), load_external_data=False)
        model = inferred(model)
    except Exception as error:
        raise InputError(f"{path.name} cannot be read by onnx: {error}", hint="Check the file.") from None
    try:
        with quiet():
            info = usability_checker.check_nnapi_partitions(model, True)
    except ValueError as error:  # it wants inferred shapes, which some graphs do not yield
        raise ToolError(f"The NNAPI checker refuses {path.name}: {error}", hint="Judge it by rule.") from None
    shaped = _shaped(model.graph)
    groups = [g if isinstance(g, (list, tuple)) else [g] for g in info.supported_groups]
    listed = {n.name for group in groups for n in group} | {tuple(n.output) for g in groups for n in g}
    return ToolAnswer(
        tool="check_nnapi_partitions",
        version=f"onnxruntime {package_version('onnxruntime')}",
        target_id="ort/nnapi",
        nodes=tuple(
            ToolNode(
                name=node.name or f"{node.op_type}#{i}",
                op=node.op_type,
                index=i,
                # in a group: the operator is on the list, its attributes were not looked at; a left-out
                # optional input is read as a dynamic shape by the checker, which the provider does not;
                # and where inference here found no shape at all (after a contrib operator), it cannot say
                taken=None if tuple(node.output) in listed or not shaped.issuperset(_names(node)) else False,
                reason="" if tuple(node.output) in listed else "not in any group of the checker",
            )
            for i, node in enumerate(model.graph.node)
        ),
        partitions=int(info.num_partitions),
        notes=(f"{info.num_supported_nodes} of {info.num_nodes} nodes by list",),
    )


def _names(node: Any) -> set[str]:
    return {*node.input, *node.output}


def _shaped(graph: Any) -> set[str]:
    """Names of the tensors whose shape is written down, with numbers or with symbols."""
    values = [*graph.input, *graph.output, *graph.value_info]
    found = {v.name for v in values if v.type.tensor_type.HasField("shape")}
    return found | {t.name for t in graph.initializer}
