"""The one door to ONNX Runtime: sessions, made only of what it can take in.

The runtime inlines local functions at every call and does not come back from ones that call each other
exponentially; a C call cannot be cancelled, so such a file is refused before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.graph.onnx_calls import refuse_expansion, refuse_expansion_of


def open_session(source: Path | Any, options: Any, **choices: Any) -> Any:
    """A session on a model file or a ModelProto; `choices` are InferenceSession's own, such as `providers`.

    Raises InputError when inlining would grow the graph without bound, and what ONNX Runtime raises.
    """
    import onnxruntime

    if isinstance(source, Path):
        refuse_expansion_of(source)
        return onnxruntime.InferenceSession(str(source), options, **choices)
    refuse_expansion(source, "the model")
    return onnxruntime.InferenceSession(source.SerializeToString(), options, **choices)
