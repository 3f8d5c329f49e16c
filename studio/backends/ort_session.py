"""The one door to ONNX Runtime: sessions, made only of what it can take in.

The runtime inlines local functions at every call and does not come back from ones that call each other
exponentially; a C call cannot be cancelled, so such a file is refused before.

Integer products are exact: x86 processors without VNNI multiply uint8 by int8 with an instruction that
saturates, which phones (Arm) do not have. ONNX Runtime then turns int8 weights into uint8, in sessions and in
the .ort files that it writes above basic level; elsewhere the entry does nothing
(`session.x64quantprecision`, onnxruntime_session_options_config_keys.h). Measured on such a processor, int8
sample: 19 dB and 97.0 % without, 29 dB and 99.5 % with it, for a third more time (ONNX Runtime 1.32,
2026-11-30).
It has no kernel for what it makes of some models (QLinearMatMul on int8): those run as they are.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.graph.onnx_calls import refuse_expansion, refuse_expansion_of

_EXACT = "session.x64quantprecision"


def open_session(source: Path | Any, options: Any, **choices: Any) -> Any:
    """A session on a model file or a ModelProto; `choices` are InferenceSession's own, such as `providers`.

    Raises InputError when inlining would grow the graph without bound, and what ONNX Runtime raises.
    """
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

    if isinstance(source, Path):
        refuse_expansion_of(source)
        given: Any = str(source)
    else:
        refuse_expansion(source, "the model")
        given = source.SerializeToString()
    options.add_session_config_entry(_EXACT, "1")
    try:
        return onnxruntime.InferenceSession(given, options, **choices)
    except NoKernel:
        options.add_session_config_entry(_EXACT, "0")
        return onnxruntime.InferenceSession(given, options, **choices)
