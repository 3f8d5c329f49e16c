"""What an export leaves of TorchScript nodes that compute no tensor: bookkeeping, control flow, side effects.

Source: torch/csrc/jit/passes/inline_fork_wait.cpp, freeze_module.cpp; torch.export and jit.trace run the
module once on example inputs (docs.pytorch.org/docs/stable/export.html, "Specialized values", 2026-11).
"""

from __future__ import annotations

from studio.support.op_node import OpNode, OpTensor
from studio.support.predict.lowering import Lowering, not_known, vanishes

SOURCE = "prediction: what torch.export and tracing keep (studio/support/predict/script_nodes.py)"

CONTROL_FLOW = {"prim::If", "prim::Loop"}
SIDE_EFFECTS = {"prim::SetAttr", "prim::RaiseException", "prim::Print", "aten::warn", "aten::append",
                "aten::_set_item", "aten::manual_seed"}  # fmt: skip
CALLS = {"prim::CallMethod", "prim::CallFunction", "prim::PythonOp", "prim::fork", "aten::wait", "prim::rpc"}
TENSOR_MATHS = {"prim::FusedConcat", "prim::ConstantChunk", "prim::AutogradZero", "prim::DifferentiableGraph",
                "prim::FusionGroup", "prim::TensorExprGroup", "prim::BroadcastSizes", "prim::MMTreeReduce",
                "prim::MMBatchSide"}  # fmt: skip
READS_VALUE = {"aten::item", "aten::Bool", "aten::Int", "aten::Float", "aten::IntImplicit",
               "aten::FloatImplicit", "aten::ScalarImplicit", "aten::_local_scalar_dense", "aten::is_nonzero",
               "prim::tolist"}  # fmt: skip
ON_THE_HOST = {"aten::dim", "aten::size", "aten::len", "aten::format", "aten::__not__", "aten::__contains__",
               "aten::__getitem__", "aten::__is__", "aten::__isnot__", "aten::floordiv", "aten::numel",
               "aten::is_floating_point", "aten::list", "aten::str", "aten::stride"}  # fmt: skip
GET_ITEM = ("getitem", "<built-in function getitem>", "operator.getitem")


def not_computed(node: OpNode) -> Lowering | None:
    """What is left of a node that is no tensor operator; None when it is one."""
    op = node.op
    if op in CONTROL_FLOW:
        return not_known(
            "Control flow: an export keeps the branch that its example input takes, and stops where the "
            "condition depends on data.",
            SOURCE,
        )
    if op in SIDE_EFFECTS:
        if op == "prim::RaiseException":
            return not_known("Raises an error: an export drops the check or stops at it.", SOURCE)
        return not_known(
            f"{op} changes something outside of the graph: an export makes an input and an output of it, "
            "or loses it.",
            SOURCE,
        )
    if op in CALLS or op in TENSOR_MATHS:
        return not_known(f"What {op} becomes depends on what it calls.", SOURCE)
    if op in READS_VALUE:
        return not_known(
            "Reads a number out of a tensor: an export makes a constant of it, or stops here.", SOURCE
        )
    if op.startswith("prim::") or op.startswith(GET_ITEM):
        return vanishes("Bookkeeping, not computed.", SOURCE)
    if op in ON_THE_HOST or _is_scalar_maths(node):
        return vanishes(
            "Numbers on the host, not tensors: an export with a fixed input makes constants of them.", SOURCE
        )
    return None


def _is_scalar_maths(node: OpNode) -> bool:
    """Whether a TorchScript operator works on plain numbers or strings only, as far as the file says."""
    tensors = [*node.inputs, *node.outputs]
    return node.op.startswith("aten::") and bool(node.outputs) and all(map(_is_number, tensors))


def _is_number(tensor: OpTensor) -> bool:
    return tensor.dtype in ("int64", "float64", "bool", "string") and tensor.shape == ()
