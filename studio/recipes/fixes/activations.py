"""HardSwish, HardSigmoid and Gelu written out in operators that nearly every accelerator has.

By hand, not by ONNX's function bodies: those speak CastLike, Sum and Sqrt of constants, which many
targets refuse, and there are none for HardSigmoid before opset 18.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, dtype_of, label, nothing_to_do


class Writer:
    """Collects the nodes that take the place of one node; constants in the node's own type."""

    def __init__(self, edit: OnnxEdit, node: Any) -> None:
        self._edit, self._node = edit, node
        self.dtype = dtype_of(edit.element_type(node.input[0]))
        self._base = label(node)
        self.new: list[Any] = []

    def constant(self, value: float, name: str) -> str:
        """The name of a scalar constant."""
        return self._edit.add_constant(np.array(value, self.dtype), f"{self._base}_{name}")

    def add(self, op: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """The output's name of a new node; `out` when it is one that is there already."""
        name = f"{self._base}_{op.lower()}"
        result = out or self._edit.fresh(f"{name}_out")
        self.new.append(self._edit.make(op, inputs, [result], name, **attributes))
        return result

    def six_times_gate(self, x: str, alpha: float, beta: float) -> str:
        """6 · clip(alpha · x + beta, 0, 1): a clip to 0 … 6 is ReLU6, which is taken where others are not."""
        scaled = x if math.isclose(6 * alpha, 1.0, abs_tol=1e-6) else ""
        scaled = scaled or self.add("Mul", x, self.constant(6 * alpha, "slope"))
        shifted = self.add("Add", scaled, self.constant(6 * beta, "offset"))
        if self._edit.opset < 11:  # bounds were attributes until opset 11
            return self.add("Clip", shifted, min=0.0, max=6.0)
        return self.add("Clip", shifted, self.constant(0.0, "low"), self.constant(6.0, "high"))

    def carry_out(self) -> str:
        """Puts the new nodes in the place of the old one and says what it was called."""
        self._edit.replace([self._node], self.new)
        return self._base


def hardswish(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """HardSwish → Add, Clip, Mul, Mul."""
    changed = []
    for node in edit.named("HardSwish", options.nodes):
        write = Writer(edit, node)
        gate = write.six_times_gate(node.input[0], 1 / 6, 0.5)
        sixth = write.add("Mul", gate, write.constant(1 / 6, "sixth"))
        write.add("Mul", node.input[0], sixth, out=node.output[0])
        changed.append(write.carry_out())
    return _done(edit, changed, "HardSwish", 1e-5)


def hardsigmoid(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """HardSigmoid → (Mul,) Add, Clip, Mul."""
    changed = []
    for node in edit.named("HardSigmoid", options.nodes):
        write = Writer(edit, node)
        alpha, beta = attribute(node, "alpha", 0.2), attribute(node, "beta", 0.5)
        gate = write.six_times_gate(node.input[0], alpha, beta)
        write.add("Mul", gate, write.constant(1 / 6, "sixth"), out=node.output[0])
        changed.append(write.carry_out())
    return _done(edit, changed, "HardSigmoid", 1e-5)


def gelu(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Gelu → Mul, Erf, Add, Mul, Mul; the approximate one → Tanh of a cubic. Source: ONNX operator text."""
    changed = []
    for node in edit.named("Gelu", options.nodes):
        write = Writer(edit, node)
        x = node.input[0]
        if attribute(node, "approximate", "none") == "tanh":
            square = write.add("Mul", x, x)
            bent = write.add("Mul", square, write.constant(0.044715, "cubic"))
            slope = write.add("Add", bent, write.constant(1.0, "one"))
            inner = write.add(
                "Mul", write.add("Mul", x, slope), write.constant(math.sqrt(2 / math.pi), "root")
            )
            bell = write.add("Tanh", inner)
        else:
            bell = write.add("Erf", write.add("Mul", x, write.constant(math.sqrt(0.5), "root")))
        raised = write.add("Add", bell, write.constant(1.0, "one"))
        half = write.add("Mul", x, write.constant(0.5, "half"))
        write.add("Mul", half, raised, out=node.output[0])
        changed.append(write.carry_out())
    return _done(edit, changed, "Gelu", 1e-5)


def _done(edit: OnnxEdit, changed: list[str], what: str, tolerance: float) -> Rewrite:
    if not changed:
        raise nothing_to_do(f"no {what} in the main graph")
    edit.prune()
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=tolerance)
