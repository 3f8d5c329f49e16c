"""Run files: appended, read back, and read after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.devices.stream import End, Hello, Inference, Loaded, Phase, Sample, Warm, encode_record
from studio.errors import InputError
from studio.measure.measurement import ErrorFigures
from studio.measure.run_file import Compared, RunFile, list_runs, new_run_file, read_run

HELLO = Hello(
    runner="r", runtime="ort", target="ort/cpu", device_id="d", wall_time="2026-11-30T12:00:01.250+00:00"
)
RECORDS = (
    HELLO,
    Phase(t_ns=1, name="load"),
    Loaded(t_ns=2, load_ns=5, target_ran="ort/cpu"),
    Warm(t_ns=3, runs=5, latency_ns=9),
    *(Inference(i=i, t_ns=10 + i, latency_ns=100 + i) for i in range(3)),
    Sample(t_ns=20, temperature_celsius={"skin": 31.5}, unavailable={"power": "charging"}),
    End(t_ns=30, reason="done", runs=3),
)


def written(folder: Path) -> Path:
    with new_run_file(folder, "this-computer", HELLO.wall_time) as file:
        for record in RECORDS:
            file.append(record)
        return file.path


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    run = read_run(written(tmp_path / "x.runs"))
    assert run.hello == HELLO
    assert run.latency_ns.tolist() == [100, 101, 102]
    assert run.samples[0].temperature_celsius == {"skin": 31.5}
    assert run.is_complete


def test_the_name_sorts_by_time_and_is_safe_for_every_file_system(tmp_path: Path) -> None:
    with new_run_file(tmp_path, "../10.0.0.7:5555 ünï", "2026-11-30T12:00:01.250+00:00") as file:
        name = file.path.name
    assert name.startswith("20261130T120001-10.0.0.7-5555-n-")
    assert file.path.parent == tmp_path
    assert list_runs(tmp_path) == [file.path]


def test_two_runs_of_one_second_do_not_meet(tmp_path: Path) -> None:
    paths = {written(tmp_path) for _ in range(20)}
    assert len(paths) == 20


def test_every_cut_of_a_file_reads_up_to_its_last_whole_line(tmp_path: Path) -> None:
    data = written(tmp_path).read_bytes()
    first = len(encode_record(HELLO))
    cut = tmp_path / "cut.jsonl"
    for size in range(first, len(data)):
        cut.write_bytes(data[:size])
        run = read_run(cut)
        assert len(run.latency_ns) == data[:size].count(b'"type":"run"') - (
            data[:size].rpartition(b"\n")[2].count(b'"type":"run"')
        )
        assert not run.is_complete


def test_the_comparison_is_kept_with_the_run(tmp_path: Path) -> None:
    figures = ErrorFigures(samples=4, snr_db=31.0, cosine=0.99, max_abs_error=0.5, nonfinite=1)
    with new_run_file(tmp_path, "d", HELLO.wall_time) as file:
        file.append(HELLO)
        file.append(Compared(figures=figures, reference="float.onnx"))
    compared = read_run(file.path).compared
    assert compared is not None and compared.figures == figures


def test_a_failed_run_is_not_complete(tmp_path: Path) -> None:
    with new_run_file(tmp_path, "d", HELLO.wall_time) as file:
        file.append(HELLO)
        file.append(End(t_ns=1, reason="failed", runs=0))
    assert not read_run(file.path).is_complete


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a run file"),
        (b"\x89PNG\r\n", "not a run file"),
        (b'{"type":"hello"', "not a run file"),
        (encode_record(HELLO) + b'{"type":"run","i":true}\n' + encode_record(RECORDS[-1]), "line 2"),
        (encode_record(HELLO) + b'{"type":"teleport"}\n', "line 2"),
    ],
)
def test_a_broken_file_is_told_by_name_and_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as raised:
        read_run(path)
    assert "broken.jsonl" in str(raised.value)


def test_a_missing_file_and_a_bad_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read"):
        read_run(tmp_path / "absent.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot create"):
        new_run_file(tmp_path / "file" / "runs", "d", HELLO.wall_time)
    assert list_runs(tmp_path / "nowhere") == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told_in_words_whether_on_writing_or_on_closing(tmp_path: Path) -> None:
    buffered = RunFile(tmp_path / "a.jsonl", Path("/dev/full").open("wb"))  # noqa: SIM115
    buffered._file.write(b"a line that is still in the buffer\n")
    with pytest.raises(InputError, match=r"Cannot write the run file .*a\.jsonl: No space left"):
        buffered.close()
    with (
        pytest.raises(InputError, match=r"b\.jsonl: No space left") as raised,
        RunFile(tmp_path / "b.jsonl", Path("/dev/full").open("wb")) as file,
    ):
        file.append(HELLO)
    assert raised.value.__context__ is None or isinstance(raised.value.__context__, OSError)
