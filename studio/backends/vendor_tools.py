"""The vendors' own converters on this machine: found in PATH or in a configured folder, or how to get them.

They are licensed software that nobody may redistribute, so an absent one is ordinary: it is
shown greyed with where it comes from. Nothing here runs them.
Sources: the vendors' pages named in each row, read 2026-11.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from studio.backends.backend import Availability
from studio.paths import config_dir
from studio.records import Record


class VendorTool(Record):
    """A vendor's converter: executables (the first found counts), where to get it, what it serves."""

    id: str
    title: str
    executables: tuple[str, ...]
    folder_variables: tuple[str, ...]  # environment variables that name the SDK's folder
    get: str
    targets: tuple[str, ...]


VENDOR_TOOLS = (
    VendorTool(
        id="qairt",
        title="Qualcomm AI Runtime (QAIRT, QNN)",
        executables=("qairt-converter", "qnn-onnx-converter"),
        folder_variables=("QAIRT_SDK_ROOT", "QNN_SDK_ROOT"),
        get="Download Qualcomm_AI_Runtime_Community from softwarecenter.qualcomm.com, unpack it, then "
        "source bin/envsetup.sh or set QAIRT_SDK_ROOT.",
        targets=("qualcomm/htp", "executorch/qnn", "litert/npu-qualcomm"),
    ),
    VendorTool(
        id="snpe",
        title="Qualcomm SNPE",
        executables=("snpe-onnx-to-dlc",),
        folder_variables=("SNPE_ROOT",),
        get="It is part of the Qualcomm AI Runtime SDK from softwarecenter.qualcomm.com; set SNPE_ROOT.",
        targets=("qualcomm/htp",),
    ),
    VendorTool(
        id="omg",
        title="Huawei CANN Kit (omg)",
        executables=("omg", "atc"),
        folder_variables=("DDK_ROOT", "HIAI_DDK"),
        get="Download DDK-tools from developer.huawei.com → CANN Kit → Tools, unpack it and set DDK_ROOT.",
        targets=("huawei/hiai",),
    ),
    VendorTool(
        id="neuropilot",
        title="MediaTek NeuroPilot (ncc-tflite)",
        executables=("ncc-tflite",),
        folder_variables=("NEUROPILOT_SDK", "NEURON_SDK"),
        get="Download the NeuroPilot SDK from neuropilot.mediatek.com, unpack it and set NEUROPILOT_SDK.",
        targets=("mediatek/neuropilot", "litert/npu-mediatek", "executorch/mediatek"),
    ),
    VendorTool(
        id="mindspore-lite",
        title="MindSpore Lite (converter_lite)",
        executables=("converter_lite",),
        folder_variables=("MINDSPORE_LITE_HOME",),
        get="Download MindSpore Lite from mindspore.cn/lite (no sign-up), unpack it and "
        "set MINDSPORE_LITE_HOME.",
        targets=("mindspore-lite/cpu", "mindspore-lite/kirin"),
    ),
)

_VERSION = re.compile(r"\d+\.\d+(\.\d+)*")
_SEARCH_DEPTH = 5  # bin/x86_64-linux-clang/…, tools/converter/converter/…, neuron_sdk/host/bin/…


def configured_folders() -> tuple[Path, ...]:
    """Folders with vendor tools that the user named in the settings (`tool_folders` of the preferences)."""
    try:
        loaded = json.loads((config_dir() / "preferences.json").read_text(encoding="utf-8"))
        return tuple(Path(folder) for folder in loaded.get("tool_folders", ()))
    except (OSError, ValueError, AttributeError, TypeError):
        return ()


def find_tool(tool: VendorTool) -> Path | None:
    """The executable: from the SDK's variable, a configured folder, or PATH, in this order."""
    named = [Path(os.environ[v]) for v in tool.folder_variables if os.environ.get(v)]
    for folder in (*named, *configured_folders()):
        for name in tool.executables:
            found = _find_below(folder, name)
            if found:
                return found
    for name in tool.executables:
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    return None


def _find_below(folder: Path, name: str) -> Path | None:
    """An executable of that name in the folder or a few levels below it."""
    if not folder.is_dir():
        return None
    root_depth = len(folder.parts)
    for parent, folders, files in os.walk(folder):
        if name in files and os.access(Path(parent) / name, os.X_OK):
            return Path(parent) / name
        folders.sort()
        if len(Path(parent).parts) - root_depth >= _SEARCH_DEPTH:
            folders.clear()
    return None


def _version_in(path: Path) -> str:
    """The version in the SDK folder's name, and where the tool is: few of these tools tell theirs."""
    found = [match[0] for part in path.parts if (match := _VERSION.search(part))]
    return f"{found[-1]} ({path})" if found else f"unknown ({path})"


def probe_vendor_tools() -> list[Availability]:
    """Whether each vendor's converter is here; the version is the SDK folder's name where it tells one."""
    found = []
    for tool in VENDOR_TOOLS:
        path = find_tool(tool)
        found.append(
            Availability(
                backend_id=tool.id,
                title=tool.title,
                is_available=path is not None,
                version=_version_in(path) if path else "",
                reason="" if path else f"{' or '.join(tool.executables)} is neither in PATH nor configured.",
                fix="" if path else tool.get,
                targets=tool.targets,
            )
        )
    return found
