"""AotRun: one question to `apply_plugin_main`, in a process of its own, with a time limit and a fresh folder.

A run that ends well has written a file that is not empty; the tool leaves an empty one when it fails. Every
other end is an error that says what is missing: the vendor's library, the chip, a wheel that works.
Source of the messages: google-ai-edge/LiteRT@f67457790 litert/vendors; seen with ai-edge-litert 2.3.0.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from studio.backends.aot_plugins import AotPlugin, Sdk
from studio.backends.explain import tool_error
from studio.backends.packages import package_version
from studio.errors import StudioError, ToolError, UnsupportedError

_MOST_LOG = 32 << 20
_NEAREST = 8
_LPAI = "libQnnLpai.so"
_MISSING = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")
_NO_ADAPTER = "Failed to load NeuronAdapter shared library"
_SYMBOL = re.compile(r"undefined symbol: (\w+)")
_NO_SOC = re.compile(r"(Unexpected|Unsupported) SoC model", re.IGNORECASE)
_NOISE = re.compile(
    r"^\s*(INFO:|WARNING:|\[LITERT_TOOLS|\d*\.?\d+ms \[ *(INFO|WARNING) *\]|# LIBNATIVE)|^\s*$"
)
_TELLING = re.compile(r"ERROR: (\[[^\]]+\] )?(?!ERROR|\[)\S|<E> \S|^└")
_LEFT = re.compile(
    r"LiteRT Op #\d+|QNN op validation failed|QNN error=|Failed to validate op|validateOpConfig failed"
    r"|^\s*(Inputs|Outputs):$|^\s*\[\d+\] name=|<E> \[\d+\] has "
)
"""What is said of operators that are left; a file fails for another reason."""


@dataclass(frozen=True, slots=True)
class AotRun:
    """Everything that is the same in all runs of one question."""

    tool: Path
    compiler: Path  # the folder of the plug-in
    plugin: AotPlugin
    sdk: Sdk | None
    chip: str
    folder: Path
    environment: dict[str, str]
    limit_s: float


def environment_of(plugin: AotPlugin, compiler: Path, sdk: Sdk | None, folder: Path) -> dict[str, str]:
    """The environment of the tool: where the loader finds the SDK, and the fresh folder for what it dumps.

    Qualcomm's plug-in is linked to the library of the LPAI, which onnxruntime-qnn lacks and the HTP does not
    use: no symbol of it is bound, only its presence is demanded. Then the HTP's library stands in for it.
    """
    folders = list(sdk.folders) if sdk else []
    if plugin.vendor == "Qualcomm" and sdk and not (sdk.folders[0] / _LPAI).exists():
        stand_in = folder / "lpai"
        stand_in.mkdir()
        (stand_in / _LPAI).symlink_to(sdk.folders[0] / "libQnnHtp.so")
        folders.append(stand_in)
    folders += [compiler.parents[2], compiler]  # the wheel's own libraries
    given = os.environ.get("LD_LIBRARY_PATH", "")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": os.pathsep.join([*map(str, folders), *([given] if given else [])]),
        "MTKNN_ADAPTER_DLA_DIR": str(folder / "dla"),
        "TMPDIR": str(folder),
    }
    (folder / "dla").mkdir()
    if plugin.vendor == "Samsung" and sdk and not environment.get("EXYNOS_AI_LITECORE_ROOT"):
        environment["EXYNOS_AI_LITECORE_ROOT"] = str(sdk.folders[0].parent.parent)
    return environment


def run(call: AotRun, command: str, path: Path) -> tuple[Path, str]:
    """The file that a run wrote, and its log. Raises what the run's end means."""
    made = call.folder / f"{command}.tflite"
    argv = [
        str(call.tool),
        f"--cmd={command}",
        f"--model={path.absolute()}",
        f"--o={made}",
        f"--libs={call.compiler}",
        f"--soc_manufacturer={call.plugin.vendor}",
        f"--soc_model={call.chip}",
        "--err=--",
    ]
    if call.plugin.vendor == "Samsung":
        argv.append(f"--samsung_soc_model={call.chip}")  # has a default that would win
    if call.plugin.vendor == "MediaTek" and call.chip == "mt6993":
        argv.append("--mediatek_sdk_version_type=version9")
    code = _execute(argv, call, command)
    # standard error last: it has the plug-in's own last words, standard output the SDK's
    log = "\n".join(_text(call.folder / f"{command}.{end}") for end in ("out", "err"))
    who = f"LiteRT's {call.plugin.vendor} plug-in"
    if code < 0:
        raise tool_error(
            f"{who} crashed ({_signal_name(-code)}) on {path.name}.",
            telling(log),
            argv=tuple(argv),
            returncode=code,
        )
    if code:
        raise _refusal(call, path, log, argv, code)
    if not made.is_file() or not made.stat().st_size:
        raise tool_error(
            f"{who} said that it was done with {path.name}, but wrote nothing.",
            telling(log),
            argv=tuple(argv),
            returncode=code,
        )
    return made, log


def _execute(argv: list[str], call: AotRun, command: str) -> int:
    """The exit code, negative = killed by that signal; output goes to files, which nobody has to drain."""
    with (
        (call.folder / f"{command}.out").open("wb") as out,
        (call.folder / f"{command}.err").open("wb") as err,
    ):
        try:
            return subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=call.folder,
                env=call.environment,
                timeout=call.limit_s,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"LiteRT's {call.plugin.vendor} plug-in took over {call.limit_s:.0f} s and was stopped.",
                hint="Ask about a smaller part of the model.",
                argv=tuple(argv),
            ) from None
        except OSError as error:
            raise ToolError(
                f"{call.tool.name} does not start: {error.strerror}.",
                hint="Reinstall ai-edge-litert.",
                argv=tuple(argv),
            ) from None


def _refusal(call: AotRun, path: Path, log: str, argv: list[str], code: int) -> StudioError:
    """What a run that ended with an error code means."""
    vendor, wheel = call.plugin.vendor, f"ai-edge-litert {package_version('ai-edge-litert')}"
    missing = _MISSING.search(log)
    if missing or _NO_ADAPTER in log:
        name = missing[1] if missing else call.plugin.libraries[0]
        return UnsupportedError(f"LiteRT's {vendor} plug-in needs {name} of the SDK.", hint=call.plugin.get)
    if symbol := _SYMBOL.search(log):
        return UnsupportedError(
            f"LiteRT's {vendor} plug-in in {wheel} does not load: it lacks the symbol {symbol[1]}.",
            hint="That is a fault of this wheel; try another release of ai-edge-litert.",
        )
    if _NO_SOC.search(log):
        return UnsupportedError(
            f"LiteRT's {vendor} plug-in in {wheel} does not know the chip {call.chip}.",
            hint=f"It knows {_nearest(call.chip, _known_chips(call)) or 'others'}.",
        )
    return tool_error(
        f"LiteRT's {vendor} plug-in failed on {path.name} for {call.chip}.",
        telling(log),
        argv=tuple(argv),
        returncode=code,
    )


def _known_chips(call: AotRun) -> tuple[str, ...]:
    """The chips that the plug-in lists itself."""
    listed = call.folder / "chips.txt"
    argv = [str(call.tool), "--cmd=info", f"--o={listed}", f"--libs={call.compiler}", "--err=--"]
    try:
        if _execute(argv, call, "info"):
            return ()
        return tuple(re.findall(r'"([\w.-]+)"', _text(listed).partition("|")[2]))
    except StudioError:
        return ()


def _nearest(soc: str, known: tuple[str, ...]) -> str:
    """The chips whose names are most like it, of some hundred."""
    near = get_close_matches(soc, known, n=_NEAREST, cutoff=0.0)
    return ", ".join(sorted(near)) + (f" and {len(known) - len(near)} more" if len(known) > len(near) else "")


def telling(log: str) -> str:
    """The lines of the log that say why a file failed: errors, but not those about operators that are left.

    A log without such lines, of a crash for one, is given without what every run has.
    """
    lines = [line for line in log.splitlines() if not _NOISE.match(line) and not _LEFT.search(line)]
    return "\n".join([line for line in lines if _TELLING.search(line)] or lines)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_LOG).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
