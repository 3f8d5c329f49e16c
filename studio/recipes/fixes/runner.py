"""Runner: a model on ONNX Runtime as it stands, or on onnx's reference where that has no kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from studio.backends.ort_session import open_session
from studio.errors import InputError, UnsupportedError
from studio.graph.onnx_tensors import short
from studio.recipes.fixes.protos import Array

_LONGEST = 240  # letters of a runtime's message


class Runner:
    """A model ready to run, unoptimized: inputs by name → outputs by name.

    The session is opened by `open` or at the first call. A sequence's tensors are outputs of their own,
    `name[i]`. Both raise UnsupportedError in the runtime's words.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._session: Any = None
        self._outputs: list[str] = []
        self._inputs: list[str] = []

    def open(self) -> Runner:
        """Itself, once the runtime has accepted the model."""
        if self._session is None:
            try:
                self._session = _session(self.model)
            except InputError:
                raise
            except Exception as error:  # ONNX Runtime raises its own family of bare exceptions
                raise _does_not_run(error) from None
            constants = {t.name for t in self.model.graph.initializer}
            self._inputs = [v.name for v in self.model.graph.input if v.name not in constants]
            self._outputs = [v.name for v in self.model.graph.output]
        return self

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of one run."""
        self.open()
        missing = [name for name in self._inputs if name not in feeds]
        if missing:
            raise _does_not_run(f"the input {missing[0]} is not given")
        try:
            values = self._session.run(None, {name: feeds[name] for name in self._inputs})
        except Exception as error:  # as above; the reference implementation raises any
            raise _does_not_run(error) from None
        return dict(pair for name, value in zip(self._outputs, values) for pair in _flat(name, value))


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        return open_session(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model, new_ops=_mended(model))


def _mended(model: Any) -> list[Any]:
    """What onnx's reference has wrong, done right.

    From opset 7 to 13 BatchNormalization trains only if it returns more than Y (onnx/docs/Changelog.md), but
    the reference normalises by the batch whenever `momentum` has its default (onnx 1.23).
    """
    from onnx.reference.op_run import OpRun

    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    trains = any(n.op_type == "BatchNormalization" and len(n.output) > 1 for n in model.graph.node)
    if not 7 <= opset < 14 or trains:
        return []

    class BatchNormalization(OpRun):  # type: ignore[misc]  # its name is how the reference finds it
        def _run(
            self, x: Array, scale: Array, bias: Array, mean: Array, var: Array, epsilon: float, **_: Any
        ) -> tuple[Array]:
            wide = [v.reshape(-1, *[1] * (x.ndim - 2)) for v in (scale, bias, mean, var)]
            y = wide[0] * (x - wide[2]) / np.sqrt(wide[3] + epsilon) + wide[1]
            return (y.astype(x.dtype),)

    return [BatchNormalization]


def _does_not_run(error: Exception | str) -> UnsupportedError:
    words = str(error).strip().splitlines() or [repr(error)]
    return UnsupportedError(
        f"Equality cannot be proven, ONNX Runtime does not run the model: {short(words[0], _LONGEST)}",
        hint="Give real inputs with --inputs, or mend the model first.",
    )


def _flat(name: str, value: Any) -> list[tuple[str, Array]]:
    if isinstance(value, list):
        return [pair for i, item in enumerate(value) for pair in _flat(f"{name}[{i}]", item)]
    if isinstance(value, dict):
        return [(name, np.asarray(sorted(map(repr, value.items()))))]
    return [(name, np.asarray(value))]
