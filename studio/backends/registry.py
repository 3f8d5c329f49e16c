"""Backends by id: a literal table, plus the entry-point group `deployment_studio.backends`.

A backend is imported on first use. One that cannot be imported is reported as unavailable with
the reason, never hidden.
"""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import cast

from studio.backends.backend import Availability, Backend
from studio.errors import InputError, UnsupportedError

BACKENDS: dict[str, str] = {
    "ort": "studio.backends.ort:OrtBackend",
    "litert": "studio.backends.litert:LitertBackend",
    "executorch": "studio.backends.executorch:ExecutorchBackend",
    "pytorch-mobile": "studio.backends.torchscript:TorchscriptBackend",
}
"""id → "module:Class"; the id is the runtime's part of a target id."""

FORMATS: dict[str, str] = {
    "onnx": "ort",
    "ort": "ort",
    "tflite": "litert",
    "pte": "executorch",
    "pt": "pytorch-mobile",
    "ptl": "pytorch-mobile",
}
"""artifact format → id of the backend that loads it."""

ENTRY_POINT_GROUP = "deployment_studio.backends"


def backend_ids() -> tuple[str, ...]:
    """Ids of the built-in backends and of those that other packages bring."""
    foreign = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return (*BACKENDS, *(name for name in foreign if name not in BACKENDS))


def open_backend(backend_id: str) -> Backend:
    """The backend of that id. Raises InputError when there is none, UnsupportedError when it is broken."""
    address = BACKENDS.get(backend_id) or next(
        (p.value for p in entry_points(group=ENTRY_POINT_GROUP) if p.name == backend_id), ""
    )
    if not address:
        raise InputError(
            f"There is no tool chain “{backend_id}”.", hint=f"Known tool chains: {', '.join(backend_ids())}."
        )
    module_name, _, class_name = address.partition(":")
    try:
        return cast(Backend, getattr(importlib.import_module(module_name), class_name)())
    except (ImportError, AttributeError) as error:
        raise UnsupportedError(
            f"The tool chain “{backend_id}” cannot be loaded: {error}.",
            hint="Reinstall the package that brings it.",
        ) from None


def backend_for_format(format_: str) -> Backend:
    """The backend that loads files of a format. Raises UnsupportedError for one that nothing here runs."""
    if format_ not in FORMATS:
        raise UnsupportedError(
            f"Nothing on this computer runs a .{format_} file.",
            hint=f"Formats that run here: {', '.join('.' + name for name in FORMATS)}.",
        )
    return open_backend(FORMATS[format_])


def probe_all() -> list[Availability]:
    """Every tool chain and vendor tool: its version, or why it is absent and how to get it."""
    from studio.backends.aot_plugins import probe_aot
    from studio.backends.vendor_tools import probe_vendor_tools

    found = []
    for backend_id in backend_ids():
        try:
            found.append(open_backend(backend_id).probe())
        except (InputError, UnsupportedError) as error:
            found.append(
                Availability(
                    backend_id=backend_id, title=backend_id, is_available=False,
                    reason=error.message, fix=error.hint,
                )
            )  # fmt: skip
    return found + probe_aot() + probe_vendor_tools()
