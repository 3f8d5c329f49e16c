"""Writes `resources/schemas/torch_arguments.json`: argument names of operators that `.pte` files call.

An ExecuTorch program stores arguments by position only. Names come from torch's own operator schemas, for
every operator with an out variant that torch and executorch register; results (`out`) are left out.
Needs torch and executorch:  python packaging/schemas/make_torch_arguments.py
"""

from __future__ import annotations

import json
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent.parent / "resources" / "schemas" / "torch_arguments.json"
NAMESPACES = ("aten::", "quantized_decomposed::", "dim_order_ops::", "executorch_prim::", "et_vk::")
SKIPPED = ("_foreach", "backward", "_cudnn", "_miopen", "mkldnn", "fbgemm", "_fused_", "special_", "nested")


def main() -> None:
    import executorch.exir  # noqa: F401  (registers the dim_order and quantized operators)
    import torch

    found: dict[str, str] = {}
    for schema in torch._C._jit_get_all_schemas():
        outs = [a for a in schema.arguments if a.is_out]
        if not outs or not schema.name.startswith(NAMESPACES) or any(s in schema.name for s in SKIPPED):
            continue
        names = [a.name for a in schema.arguments if not a.is_out]
        found[f"{schema.name}.{schema.overload_name}"] = " ".join(names)
    data = {"source": f"torch {torch.__version__.partition('+')[0]}, operator schemas", "arguments": found}
    OUT.write_text(json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n")
    print(OUT.name, OUT.stat().st_size, "bytes,", len(found), "operators")


if __name__ == "__main__":
    main()
