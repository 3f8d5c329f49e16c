"""LiteRT on the CPU: XNNPACK where it takes the node, LiteRT's own kernels otherwise.

Both run on the CPU, so both are *runs*; partitions count what XNNPACK takes. Own kernels: table
`litert_builtin` (register.cc), by highest op version; dtypes are checked by each kernel at load.
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.rules import litert_xnnpack
from studio.support.ruling import Ruling, Setting, depends, fails, takes, unknown
from studio.support.tables import load_table
from studio.support.verdict import Verdict

USUAL_TYPES = {"float32", "int8", "uint8", "int16", "int32", "int64", "bool", "int4", "float16"}
FULL_TYPES = {"float32", "int32", "int64", "bool", "int8", "uint8"}


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """What runs the node: XNNPACK, or LiteRT's own kernel."""
    if found := _cannot_load(node):
        return found
    delegated = litert_xnnpack.judge_node(node, setting)
    if delegated.verdict == Verdict.RUNS:
        return delegated
    own = own_kernel(node, setting)
    if own.verdict == Verdict.RUNS:
        return own._replace(text=f"{own.text} Not XNNPACK: {delegated.text}", engine=False)
    return own._replace(engine=False)


def _cannot_load(node: OpNode) -> Ruling | None:
    """What stops or may stop the interpreter before any delegate is asked."""
    row = load_table("litert_builtin").find(node.op)
    if row is not None and node.version > max(row.level, 1):
        return unknown(
            f"{node.op} has op version {node.version}; the newest runtime known here has {row.level}: it "
            "needs a newer LiteRT in the app, or an older converter.",
            f"{load_table('litert_builtin').cite(row)}; https://github.com/tensorflow/tensorflow/issues/80736",
        )
    both = node.attributes.get("align_corners") and node.attributes.get("half_pixel_centers")
    if node.op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR") and both:
        return depends(
            "align_corners and half_pixel_centers are both set: LiteRT's own kernel refuses to prepare; it "
            "runs only where XNNPACK takes it.",
            "https://github.com/google-ai-edge/litert-torch/issues/158; tflite/kernels/resize_bilinear.cc",
            "resize-half-pixel",
        )
    return None


def own_kernel(node: OpNode, setting: Setting) -> Ruling:
    """Whether LiteRT's built-in kernels run the node."""
    table = load_table("litert_builtin")
    row = table.find(node.op)
    if row is None and node.op.startswith("STABLEHLO_"):
        return fails(
            f"{node.op} has no kernel: the interpreter cannot load this file.",
            "https://github.com/google-ai-edge/litert-torch (topk lowers to it); " + table.cite_absence(),
            "cut-tail",
        )
    if row is None:
        if node.domain or node.op in ("CUSTOM", "DELEGATE") or node.op.startswith("Flex"):
            return unknown(
                f"{node.op} is a custom operator: the app has to register its kernel.", table.cite_absence()
            )
        return unknown(f"LiteRT's resolver does not list {node.op}.", table.cite_absence())
    if node.version > max(row.level, 1):
        return unknown(
            f"{node.op} of op version {node.version} is newer than this resolver ({row.level}).",
            table.cite(row),
        )
    kinds = {t.dtype for t in (*node.inputs, *node.outputs) if t.dtype}
    if kinds <= FULL_TYPES:
        return takes(f"LiteRT's own {node.op} kernel.", table.cite(row), engine=False)
    if kinds <= USUAL_TYPES:
        return depends(
            f"LiteRT's own {node.op} kernel, if it has {', '.join(sorted(kinds - FULL_TYPES))}.",
            table.cite(row),
        )
    return unknown(
        f"Whether {node.op} has a kernel for {', '.join(sorted(kinds))} is not known.", table.cite(row)
    )
