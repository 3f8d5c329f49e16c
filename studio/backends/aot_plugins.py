"""AotPlugin: LiteRT's ahead-of-time compiler plug-ins, and where the user's vendor SDKs for them are.

The wheel `ai-edge-litert` brings `apply_plugin_main` and one plug-in per vendor; each needs the vendor's own
compiler libraries, which are licensed and come from the vendor. They are looked for in the variables that the
vendors and LiteRT use, in the folders of the settings, and in Python packages, in this order.
Sources: google-ai-edge/LiteRT@f67457790 litert/python/aot, litert/vendors, ci/tools/python/vendor_sdk.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studio.backends.backend import Availability
from studio.backends.packages import package_version
from studio.backends.vendor_tools import configured_folders


@dataclass(frozen=True, slots=True)
class AotPlugin:
    """One vendor's plug-in: `libraries` are the SDK's own, any of which shows where the SDK is."""

    target_id: str
    vendor: str  # as the tool's --soc_manufacturer and the table of chips spell it
    folder: str  # below ai_edge_litert/vendors
    libraries: tuple[str, ...]
    variables: tuple[str, ...]
    packages: tuple[str, ...]  # Python modules that may bring the libraries
    example: str
    get: str


PLUGINS: dict[str, AotPlugin] = {
    p.target_id: p
    for p in (
        AotPlugin(
            target_id="litert/npu-qualcomm",
            vendor="Qualcomm",
            folder="qualcomm",
            libraries=("libQnnHtp.so",),
            variables=("QAIRT_SDK_ROOT", "QNN_SDK_ROOT"),
            packages=("ai_edge_litert_sdk_qualcomm", "onnxruntime_qnn"),
            example="SM8650",
            get="Install onnxruntime-qnn, which brings it, or get Qualcomm's AI Runtime SDK: "
            "set QAIRT_SDK_ROOT or add its folder in the settings.",
        ),
        AotPlugin(
            target_id="litert/npu-mediatek",
            vendor="MediaTek",
            folder="mediatek",
            libraries=("libneuron_adapter.so", "libneuronusdk_adapter.mtk.so"),
            variables=("NEUROPILOT_SDK", "NEURON_SDK"),
            packages=("ai_edge_litert_sdk_mediatek",),
            example="MT6989",
            get="Get the NeuroPilot SDK from neuropilot.mediatek.com: "
            "set NEUROPILOT_SDK or add its folder in the settings.",
        ),
        AotPlugin(
            target_id="litert/npu-google-tensor",
            vendor="Google",
            folder="google_tensor",
            libraries=("liblitert_plugin_compiler.so",),
            variables=("GOOGLE_TENSOR_COMPILER_LIB",),
            packages=("ai_edge_litert_sdk_google_tensor",),
            example="Tensor G4",
            get="Get the Tensor ML SDK from developers.google.com/edge/litert: "
            "set GOOGLE_TENSOR_COMPILER_LIB or add its folder in the settings.",
        ),
        AotPlugin(
            target_id="litert/npu-samsung",
            vendor="Samsung",
            folder="samsung",
            libraries=("libgraph_wrapper.so",),
            variables=("EXYNOS_AI_LITECORE_ROOT",),
            packages=("ai_edge_litert_sdk_samsung",),
            example="S5E9965",
            get="Get Exynos AI LiteCore from soc-developer.semiconductor.samsung.com: "
            "set EXYNOS_AI_LITECORE_ROOT or add its folder in the settings.",
        ),
    )
}
"""target id → plug-in. Library names: vendors/*/compiler (DT_NEEDED), neuron_adapter_api.cc, adapter_aot.cc,
samsung_build_defs.bzl of the source above."""

_DEPTH = 5
_ELF_MACHINES = {"x86_64": 62, "AMD64": 62, "aarch64": 183, "arm64": 183}
_NEEDS_V9 = ("MT6993",)


@dataclass(frozen=True, slots=True)
class Sdk:
    """A vendor's libraries: folders for the loader, the SDK's root, and the package they came from."""

    folders: tuple[Path, ...]
    root: Path
    package: str = ""


def wheel_folder() -> Path | None:
    """Where the package ai_edge_litert is, without importing it; None when it is not installed."""
    return _package_folder("ai_edge_litert")


def apply_tool() -> Path | None:
    """`apply_plugin_main` of the wheel; wheels for other systems than Linux lack it."""
    folder = wheel_folder()
    tool = folder / "tools" / "apply_plugin_main" if folder else None
    return tool if tool and os.access(tool, os.X_OK) else None


def compiler_folder(plugin: AotPlugin) -> Path | None:
    """The folder of the wheel that holds the plug-in; None when the wheel has none."""
    wheel = wheel_folder()
    folder = wheel / "vendors" / plugin.folder / "compiler" if wheel else None
    return folder if folder and any(folder.glob("libLiteRtCompilerPlugin_*.so")) else None


def find_sdk(plugin: AotPlugin, soc: str = "") -> Sdk | None:
    """The vendor's libraries for this machine's processor; None when they are nowhere.

    MediaTek's SDK holds one folder per generation: version 9 for MT6993, version 8 for the others.
    """
    named = [Path(os.environ[v]) for v in plugin.variables if os.environ.get(v)]
    for root in (*named, *configured_folders()):
        found = _libraries_below(root, plugin, soc)
        if found:
            return Sdk((found,), root)
    for name in plugin.packages:
        package = _package_folder(name)
        found = _libraries_below(package, plugin, soc) if package else None
        if package and found:
            beside = package.with_name(f"{package.name}.libs")  # where pip puts what the libraries need
            folders = (found, beside) if beside.is_dir() else (found,)
            return Sdk(folders, found, name.replace("_", "-"))
    return None


def probe_aot() -> list[Availability]:
    """Whether each plug-in can be asked: the wheel's tool is here and so are the vendor's libraries."""
    tool, version, found = apply_tool(), package_version("ai-edge-litert"), []
    for plugin in PLUGINS.values():
        sdk = find_sdk(plugin)
        reason, fix = "", ""
        if tool is None or compiler_folder(plugin) is None:
            reason, fix = "ai-edge-litert for Linux is not installed.", "pip install ai-edge-litert"
        elif sdk is None:
            reason, fix = f"{plugin.vendor}'s {plugin.libraries[0]} is nowhere on this computer.", plugin.get
        found.append(
            Availability(
                backend_id=f"litert-aot-{plugin.folder.replace('_', '-')}",
                title=f"LiteRT compiler plug-in for {plugin.vendor}",
                is_available=not reason,
                version="" if reason or sdk is None else f"ai-edge-litert {version} ({sdk.root})",
                reason=reason,
                fix=fix,
                targets=(plugin.target_id,),
            )
        )
    return found


def _package_folder(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


def _libraries_below(root: Path, plugin: AotPlugin, soc: str) -> Path | None:
    """The folder of the SDK's libraries: an SDK holds those for phones beside those for this machine."""
    found = [folder for folder in _walk(root) for name in plugin.libraries if _fits(folder / name)]
    if plugin.vendor == "MediaTek":
        generation = "v9" if soc.upper() in _NEEDS_V9 else "v8"
        found.sort(key=lambda folder: not any(part.startswith(generation) for part in folder.parts))
    return found[0] if found else None


def _walk(root: Path) -> Iterator[Path]:
    depth = len(root.parts)
    for parent, folders, _files in os.walk(root):
        yield Path(parent)
        folders.sort()
        if len(Path(parent).parts) - depth >= _DEPTH:
            folders.clear()


def _fits(library: Path) -> bool:
    """Whether a file is a library for this machine's processor, by its ELF header."""
    try:
        with library.open("rb") as file:
            head = file.read(20)
    except OSError:
        return False
    machine = _ELF_MACHINES.get(platform.machine(), 0)
    return head[:4] == b"\x7fELF" and int.from_bytes(head[18:20], "little") == machine
