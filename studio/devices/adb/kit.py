"""The kit: what must be on a phone to run a model there — runner, runtime, loader and its libraries.

For ONNX Runtime the kit is our own runner (`resources/runner/ort_runner.c`, built once per ABI and
kept in the cache), `libonnxruntime.so` of a Linux build, and glibc's loader with the libraries both
need. It is started through that loader, so that a phone's own C library does not matter. CPU only: a
phone's GPU and NPU libraries are made for Android's C library and cannot be loaded by it.

Where the files come from, first found wins: `<runtimes folder>/<abi>/`, then, for a phone of this
computer's own architecture (the virtual phone, an emulator), the installed onnxruntime package and this
computer's libraries.

Proven 2026-12-01: on the virtual phone (x86-64, bit-equal to this computer); the arm64 build (`zig cc` 0.17,
onnxruntime 1.23.2, Debian's glibc 2.36) under qemu-aarch64, equal within 2e-7, its profile of nodes too.
onnxruntime 1.32.0 crashes under that qemu 7.2 while it is loaded. Never yet run on hardware.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from studio import paths
from studio.artifact import hash_file
from studio.devices.adb.elf import Elf, read_elf
from studio.errors import DeviceError, ToolError, UnsupportedError
from studio.records import Record

VARIABLE = "DEPLOYMENT_STUDIO_RUNTIMES"
RUNNER = "ort_runner"
RUNTIME = "libonnxruntime.so"
_TRIPLES = {"arm64-v8a": "aarch64-linux-gnu", "x86_64": "x86_64-linux-gnu"}
_LOADERS = {"arm64-v8a": "ld-linux-aarch64.so.1", "x86_64": "ld-linux-x86-64.so.2"}
_GLIBC = "2.28"  # what manylinux_2_28 wheels of onnxruntime need at least


class KitFile(Record):
    """A file to push and the name it has in the kit's folder on the phone."""

    path: str
    name: str
    sha256: str
    size_bytes: int
    is_program: bool = False


class Kit(Record):
    """Everything a run needs besides the model, and the argv that starts it in the folder of its files."""

    abi: str
    files: tuple[KitFile, ...]
    argv: tuple[str, ...]
    alignment: int


def host_abi() -> str:
    """This computer's architecture in Android's words; empty when there is no such phone."""
    return {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "arm64-v8a", "arm64": "arm64-v8a"}.get(
        platform.machine(), ""
    )


def runtimes_dir(abi: str) -> Path:
    """Where a user puts runtimes for phones of that ABI."""
    root = os.environ.get(VARIABLE)
    return (Path(root) if root else paths.data_dir() / "runtimes") / abi


def find_ort_kit(abi: str) -> Kit:
    """The kit for ONNX Runtime on phones of that ABI.

    Raises UnsupportedError for an ABI that no runner here serves, DeviceError naming the file that is
    missing and where it belongs, ToolError when the runner cannot be built.
    """
    if abi not in _TRIPLES:
        raise UnsupportedError(
            f"There is no runner for phones of the ABI {abi or 'unknown'}.",
            hint=f"Use a phone with {' or '.join(_TRIPLES)}.",
        )
    folder = runtimes_dir(abi)
    runtime = _runtime(folder, abi)
    _check(runtime, read_elf(runtime), abi)
    runner = folder / RUNNER if (folder / RUNNER).is_file() else build_runner(abi)
    libraries = _libraries(runtime, runner, folder, abi)
    loader = _LOADERS[abi]
    files = [kit_file(runner, RUNNER, is_program=True), kit_file(runtime, RUNTIME)]
    files += [kit_file(path, name, is_program=name == loader) for name, path in sorted(libraries.items())]
    return Kit(
        abi=abi,
        files=tuple(files),
        argv=(f"./{loader}", "--library-path", ".", f"./{RUNNER}", "job.txt", f"./{RUNTIME}"),
        alignment=min(read_elf(Path(f.path)).alignment for f in files),
    )


def _runtime(folder: Path, abi: str) -> Path:
    named = folder / RUNTIME
    if named.is_file():
        return named
    if abi == host_abi():
        spec = importlib.util.find_spec("onnxruntime")
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            found = sorted(Path(root, "capi").glob("libonnxruntime.so*"))
            if found:
                return found[0]
    raise DeviceError(
        f"ONNX Runtime for {abi} phones is missing.",
        hint=(
            f"Put {RUNTIME} from the Linux {_TRIPLES[abi].split('-')[0]} wheel of onnxruntime, and "
            f"glibc's loader {_LOADERS[abi]} with its libraries, into {folder}."
        ),
    )


def _check(path: Path, facts: Elf, abi: str) -> None:
    if facts.abi != abi:
        raise DeviceError(
            f"{path} is built for {facts.abi}, and the phone is {abi}.", hint="Put the right build there."
        )
    if facts.is_bionic:
        raise UnsupportedError(
            f"{path} is the Android build of ONNX Runtime, which the glibc runner cannot load.",
            hint="Use libonnxruntime.so from the Linux wheel of the same architecture.",
        )


def _libraries(runtime: Path, runner: Path, folder: Path, abi: str) -> dict[str, Path]:
    """The loader and every library that runner and runtime need, by soname, transitively."""
    found: dict[str, Path] = {}
    waiting = {_LOADERS[abi], *read_elf(runtime).needed, *read_elf(runner).needed}
    while waiting:
        name = waiting.pop()
        path = folder / name
        if not path.is_file():
            path = _host_libraries().get(name, path) if abi == host_abi() else path
        if not path.is_file():
            raise DeviceError(
                f"{name} for {abi} phones is missing; the runner needs it.",
                hint=f"Put it into {folder} (Debian: package libc6-{_deb(abi)}-cross and its friends).",
            )
        found[name] = path
        waiting |= set(read_elf(path).needed) - set(found)
    return found


@functools.lru_cache(maxsize=1)
def _host_libraries() -> dict[str, Path]:
    """soname → file, from `ldconfig -p`: only libraries of this computer's own architecture."""
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        said = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    wanted = "x86-64" if host_abi() == "x86_64" else "AArch64"
    rows = re.findall(r"^\s*(\S+) \(([^)]*)\) => (\S+)$", said, re.MULTILINE)
    return {name: Path(path) for name, kind, path in reversed(rows) if wanted in kind or "ld-linux" in name}


def _deb(abi: str) -> str:
    return "arm64" if abi == "arm64-v8a" else "amd64"


def build_runner(abi: str) -> Path:
    """The runner for an ABI, built once and kept by the hash of source and compiler.

    Raises DeviceError when there is no compiler, ToolError with its last lines when it fails.
    """
    source = paths.resources() / "runner" / f"{RUNNER}.c"
    compiler = find_compiler(abi)
    key = hashlib.sha256(source.read_bytes() + "\0".join((*compiler, abi)).encode()).hexdigest()[:16]
    folder = paths.cache_dir() / "runners" / f"{abi}-{key}"
    made = folder / RUNNER
    if made.is_file():
        return made
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{RUNNER}.{os.getpid()}.partial"
    argv = (
        *compiler,
        "-O2",
        "-std=c11",
        "-Wl,-z,max-page-size=16384",
        "-o",
        str(partial),
        str(source),
        "-ldl",
    )
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(
            f"The compiler does not start: {error}", hint="Install a C compiler.", argv=argv
        ) from None
    if done.returncode or not partial.is_file():
        raise ToolError(
            "The runner for phones could not be built.",
            hint="The compiler's last lines say why.",
            argv=argv,
            returncode=done.returncode,
            last_lines=tuple(done.stderr.splitlines()[-20:]),
        )
    partial.replace(made)
    return made


def find_compiler(abi: str) -> tuple[str, ...]:
    """argv of a C compiler for an ABI: `zig cc` (PyPI ziglang), else a cross or the native gcc or clang."""
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc", "-target", f"{_TRIPLES[abi]}.{_GLIBC}")
    cross = shutil.which(f"{_TRIPLES[abi]}-gcc")
    if cross:
        return (cross,)
    if abi == host_abi():
        for name in ("cc", "gcc", "clang"):
            path = shutil.which(name)
            if path:
                return (path,)
    raise DeviceError(
        f"There is no C compiler to build the runner for {abi} phones.",
        hint=f"Install one: pip install ziglang, or put a built {RUNNER} into {runtimes_dir(abi)}.",
    )


def kit_file(path: Path, name: str, *, is_program: bool = False) -> KitFile:
    """The file as part of a kit, under `name`."""
    return KitFile(
        path=str(path),
        name=name,
        sha256=hash_file(path),
        size_bytes=path.stat().st_size,
        is_program=is_program,
    )
