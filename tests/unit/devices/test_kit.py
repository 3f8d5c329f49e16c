"""What must be on a phone: ELF facts, and what is said when something is missing."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from studio.devices.adb import kit
from studio.devices.adb.elf import read_elf
from studio.devices.adb.kit import find_ort_kit, host_abi
from studio.errors import DeviceError, InputError, StudioError, UnsupportedError

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")


def elf_header(machine: int) -> bytes:
    """A library of that machine without any segment."""
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    return ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 0, 0, 0, 0)


@needs_cc
def test_facts_of_a_real_program(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-o", tmp_path / "p", source, "-Wl,-z,max-page-size=16384"], check=True)
    facts = read_elf(tmp_path / "p")
    assert facts.abi == host_abi()
    assert "ld-linux" in facts.interpreter and "libc.so.6" in facts.needed
    assert facts.alignment == 16384 and not facts.is_bionic


@pytest.mark.parametrize(
    "content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(60), elf_header(183)[:40]]
)
def test_what_is_no_64_bit_elf_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libonnxruntime.so"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"libonnxruntime\.so"):
        read_elf(path)


def test_a_missing_runtime_names_file_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_RUNTIMES", str(tmp_path))
    monkeypatch.setattr(kit, "host_abi", lambda: "")
    with pytest.raises(DeviceError, match="arm64-v8a") as raised:
        find_ort_kit("arm64-v8a")
    assert "libonnxruntime.so" in raised.value.hint and str(tmp_path / "arm64-v8a") in raised.value.hint


def test_a_runtime_of_another_machine_is_refused_before_a_push(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_RUNTIMES", str(tmp_path))
    (tmp_path / "arm64-v8a").mkdir()
    (tmp_path / "arm64-v8a/libonnxruntime.so").write_bytes(elf_header(62))
    with pytest.raises(DeviceError, match="built for x86_64"):
        find_ort_kit("arm64-v8a")


@pytest.mark.parametrize("abi", ["armeabi-v7a", "riscv64", ""])
def test_an_abi_without_a_runner_is_refused(abi: str) -> None:
    with pytest.raises(UnsupportedError):
        find_ort_kit(abi)


@needs_cc
def test_the_runner_is_built_once_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path))
    made = kit.build_runner(host_abi())
    before = made.stat().st_mtime_ns
    assert kit.build_runner(host_abi()).stat().st_mtime_ns == before
    said = subprocess.run([str(made)], capture_output=True, text=True)
    first, last = said.stdout.splitlines()
    assert '"type":"error"' in first and '"reason":"failed"' in last and said.returncode == 1


@needs_cc
@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("nonsense 1\n", "does not know"),
        ("input 78 1 2 1 4 missing.raw\n", "Cannot read the input"),
        ("input 78 8 1 4 x.raw\n", "cannot feed"),
        ("model absent.onnx\n", "Cannot open the runtime"),
    ],
)
def test_the_runner_says_what_is_wrong_with_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, said: str
) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path))
    (tmp_path / "job.txt").write_text(job)
    done = subprocess.run(
        [str(kit.build_runner(host_abi())), "job.txt", "./none.so"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1 and said in done.stdout
    assert done.stdout.splitlines()[-1].startswith('{"type":"end"')


@needs_cc
def test_a_full_disk_does_not_exit_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path))
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(kit.build_runner(host_abi())), "a", "b"], stdout=full)
    assert done.returncode == 2


def test_a_compiler_that_fails_is_a_tool_error_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "cc"
    fake.write_text("#!/bin/sh\necho 'cannot find -ldl' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path))
    monkeypatch.setattr(kit, "find_compiler", lambda _: (str(fake),))
    with pytest.raises(StudioError) as raised:
        kit.build_runner("x86_64")
    assert "cannot find -ldl" in "\n".join(getattr(raised.value, "last_lines", ()))
