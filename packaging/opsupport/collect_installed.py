"""Dumps operator tables from the installed packages into `resources/opsupport/`.

onnx_ops: operator definitions; ort_cpu: kernels of the onnxruntime wheel with the dtypes of each
input; executorch_portable: the kernel lists of the executorch wheel;
torch_cpu: aten operators with a CPU or composite kernel;
litert_builtin: operators of LiteRT's built-in resolver, from a checkout of google-ai-edge/LiteRT.
Usage: collect_installed.py OUT [LITERT_CHECKOUT_GIT_DIR]"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from write_table import write_table

TODAY = datetime.date.today().isoformat()
OPEN_END = 2147483647
DTYPES = {
    "float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2",
    "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
}  # fmt: skip


def dtype(text: str) -> str:
    """A numpy dtype of `tensor(float)`; sequences, maps and optionals keep their text."""
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    return DTYPES.get(match[1], match[1]) if match else text


def ort_cpu() -> dict[str, Any]:
    """The kernels of ONNX Runtime's CPU provider, merged per operator and opset range."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as native

    schemas: dict[tuple[str, str], list[Any]] = {}
    for schema in native.get_all_operator_schema():
        schemas.setdefault((schema.domain, schema.name), []).append(schema)
    version = onnxruntime.__version__
    ops: dict[tuple[str, str], dict[tuple[int, int], list[dict[str, set[str]]]]] = {}
    for kernel in native.get_all_opkernel_def():
        if kernel.provider != "CPUExecutionProvider":
            continue
        types = {n: {dtype(t) for t in allowed} for n, allowed in kernel.type_constraints.items()}
        ranges = ops.setdefault((kernel.domain, kernel.op_name), {})
        known = ranges.setdefault(tuple(kernel.version_range), [])
        # kernels that differ in one type variable are one kernel with more types; combinations stay apart
        for other in known:
            if len([n for n in types if other.get(n) != types[n]]) <= 1 and other.keys() == types.keys():
                for name in types:
                    other[name] |= types[name]
                break
        else:
            known.append(types)
    rows = []
    for (domain, op), ranges in sorted(ops.items()):
        kernels = []
        for (since, until), types in ((r, t) for r, many in sorted(ranges.items()) for t in many):
            known = [s for s in schemas.get((domain, op), []) if s.since_version <= min(until, 10**6)]
            schema = max(known, key=lambda s: s.since_version, default=None)
            inputs = [dtype(p.typeStr) for p in schema.inputs] if schema else []
            outputs = [dtype(p.typeStr) for p in schema.outputs] if schema else []
            variadic = bool(schema and schema.inputs and "Variadic" in str(schema.inputs[-1].option))
            kernels.append(
                {
                    "since": since,
                    "until": 0 if until == OPEN_END else until,
                    "types": {k: sorted(v) for k, v in sorted(types.items())},
                    "inputs": inputs,
                    "outputs": outputs,
                    **({"is_variadic": True} if variadic else {}),
                }
            )
        rows.append(
            {
                "op": op,
                "domain": "" if domain == "ai.onnx" else domain,
                "status": "yes",
                "since": f"opset {kernels[0]['since']}",
                "source": f"pip:onnxruntime=={version} get_all_opkernel_def()",
                "kernels": kernels,
            }
        )
    return {
        "table": "ort_cpu",
        "title": f"ONNX Runtime {version}, CPU kernels",
        "ir": "onnx",
        "collected": TODAY,
        "notes": "Registry of the x86-64 wheel. Arm64 builds add float16 kernels, which it cannot show.",
        "origins": [{"kind": "pip", "name": "onnxruntime", "revision": version}],
        "rows": rows,
    }


def onnx_ops() -> dict[str, Any]:
    """Every operator of the ONNX standard with the opsets in which its definition changed."""
    import onnx

    history: dict[tuple[str, str], list[int]] = {}
    functions = set()
    for schema in onnx.defs.get_all_schemas_with_history():
        domain = "" if schema.domain == "ai.onnx" else schema.domain
        history.setdefault((domain, schema.name), []).append(schema.since_version)
        if schema.has_function or schema.has_context_dependent_function:
            functions.add((domain, schema.name))
    rows = [
        {
            "op": op,
            "domain": domain,
            "status": "yes",
            "source": f"pip:onnx=={onnx.__version__} onnx.defs",
            "flags": {"function": True} if (domain, op) in functions else {},
            "kernels": [{"since": v} for v in sorted(set(versions))],
        }
        for (domain, op), versions in sorted(history.items())
    ]
    return {
        "table": "onnx_ops",
        "title": f"ONNX {onnx.__version__}, operator definitions",
        "ir": "onnx",
        "collected": TODAY,
        "notes": "`kernels[].since`: opsets in which the operator's definition changed.",
        "origins": [{"kind": "pip", "name": "onnx", "revision": onnx.__version__}],
        "rows": rows,
    }


def functional_overloads() -> Iterator[Any]:
    """Every overload of aten and quantized_decomposed that PyTorch knows."""
    import torch
    import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed

    for full in torch._C._dispatch_get_all_op_names():
        namespace, name = full.split("::")
        if namespace in ("aten", "quantized_decomposed"):
            packet, _, overload = name.partition(".")
            with contextlib.suppress(AttributeError, RuntimeError):
                yield getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def executorch_portable() -> dict[str, Any]:
    """The kernels of ExecuTorch's portable and quantized libraries."""
    import executorch

    version = importlib.metadata.version("executorch")
    from executorch.exir.operator.convert import to_out_variant

    base = Path(executorch.__path__[0]) / "kernels"
    rows = []
    for part in ("portable/functions.yaml", "quantized/quantized.yaml"):
        listed = set()
        for line in (base / part).read_text(encoding="utf-8").splitlines():
            if match := re.match(r"- (?:op|func): ([\w:.]+)", line):
                listed.add(match[1] if "::" in match[1] else f"aten::{match[1]}")
        for functional in functional_overloads():
            try:
                out_name = to_out_variant(functional)[0]._schema
            except Exception:  # most overloads have no out variant
                continue
            full = f"{out_name.name}.{out_name.overload_name}".rstrip(".")
            if full in listed:
                rows.append(
                    {
                        "op": str(functional),
                        "status": "yes",
                        "condition": f"kernel {full}",
                        "source": f"pip:executorch=={version} kernels/{part}",
                    }
                )
    rows.sort(key=lambda row: str(row["op"]))
    return {
        "table": "executorch_portable",
        "title": f"ExecuTorch {version}, portable and quantized kernels",
        "ir": "torch",
        "collected": TODAY,
        "notes": "Functional overloads whose out variant has a kernel.",
        "origins": [{"kind": "pip", "name": "executorch", "revision": version}],
        "rows": rows,
    }


def torch_cpu() -> dict[str, Any]:
    """aten operators that PyTorch runs on a CPU."""
    import torch

    version = torch.__version__.split("+")[0]
    names = set()
    for full in torch._C._dispatch_get_all_op_names():
        namespace, rest = full.split("::")
        keys = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "QuantizedCPU")
        if namespace in ("aten", "quantized") and any(
            torch._C._dispatch_has_kernel_for_dispatch_key(full, key) for key in keys
        ):
            names.add(f"{namespace}::{rest.split('.')[0]}")
    rows = [
        {"op": name, "status": "yes", "source": f"pip:torch=={version} dispatcher"} for name in sorted(names)
    ]
    return {
        "table": "torch_cpu",
        "title": f"PyTorch {version}, operators with a CPU kernel",
        "ir": "torch",
        "collected": TODAY,
        "notes": "Overloads merged. A selective build of the lite interpreter may leave operators out.",
        "origins": [{"kind": "pip", "name": "torch", "revision": version}],
        "rows": rows,
    }


def litert_builtin(checkout: str) -> dict[str, Any]:
    """Operators of LiteRT's built-in resolver with their highest op version."""
    path = "tflite/core/kernels/register.cc"
    run = ["git", "-C", checkout]
    revision = subprocess.check_output([*run, "rev-parse", "HEAD"], text=True).strip()[:9]
    text = subprocess.check_output([*run, "show", f"HEAD:{path}"], text=True)
    rows = []
    for match in re.finditer(r"AddBuiltin\(\s*BuiltinOperator_(\w+),\s*[\w:]+\(\)\s*(?:,([^;]*?))?\);", text):
        arguments = re.sub(r"/\*.*?\*/", "", match[2] or "", flags=re.DOTALL)  # /* max_version = */ 8
        versions = [int(n) for n in re.findall(r"\d+", arguments)]
        line = text[: match.start()].count("\n") + 1
        rows.append(
            {
                "op": match[1],
                "status": "yes",
                "level": max(versions, default=1),
                "condition": f"op version ≤ {max(versions, default=1)}",
                "source": f"github:google-ai-edge/LiteRT@{revision}:{path}#L{line}",
            }
        )
    return {
        "table": "litert_builtin",
        "title": "LiteRT built-in CPU kernels",
        "ir": "tflite",
        "collected": TODAY,
        "notes": "`level`: highest op version that the resolver registers. Kernels check their dtypes.",
        "origins": [
            {"kind": "github", "name": "google-ai-edge/LiteRT", "revision": revision, "paths": [path]}
        ],
        "rows": rows,
    }


def main() -> None:
    out = Path(sys.argv[1])
    tables = [onnx_ops(), ort_cpu(), executorch_portable(), torch_cpu()]
    if len(sys.argv) > 2:
        tables.append(litert_builtin(sys.argv[2]))
    for table in tables:
        write_table(out, table)


if __name__ == "__main__":
    main()
