"""What kind of file it is, and the sentences for files that are none of ours."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from studio.errors import InputError
from studio.graph import detect_format, open_graph
from studio.graph.read_weights import read_gguf


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (b"\x1c\0\0\0TFL3" + b"\0" * 32, "tflite"),
        (b"\x1c\0\0\0ORTM" + b"\0" * 32, "ort"),
        (b"\x1c\0\0\0ET12" + b"\0" * 32, "pte"),
        (b"GGUF" + b"\0" * 32, "gguf"),
        (b"\x02\0\0\0\0\0\0\0{}", "safetensors"),
    ],
)
def test_content_tells_the_format_whatever_the_name(tmp_path: Path, content: bytes, format_: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert detect_format(path) == format_


def test_torch_archives_are_told_apart_by_their_members(tmp_path: Path) -> None:
    for format_, members in {
        "pt": ["m/data.pkl", "m/constants.pkl", "m/code/__torch__.py"],
        "ptl": ["m/data.pkl", "m/constants.pkl", "m/bytecode.pkl"],
        "pt2": ["m/archive_format", "m/models/model.json"],
    }.items():
        path = tmp_path / f"{format_}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for member in members:
                archive.writestr(member, b"")
        assert detect_format(path) == format_


def test_a_state_dict_says_how_to_give_the_code(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights/data.pkl", b"")
    with pytest.raises(InputError, match="weights") as caught:
        detect_format(path)
    assert "module.py:factory" in caught.value.hint
    path.write_bytes(pickle.dumps({"a": 1}, protocol=2))
    with pytest.raises(InputError, match="pickle"):
        detect_format(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"hello, I am a text", "not a model"),
        (b"\x89HDF\r\n\x1a\n", "Keras"),
        (b"\x89PNG\r\n", "picture"),
        (b"PK\x03\x04broken", "archive"),
        (bytes(range(7, 200, 3)), "not a model"),
    ],
)
def test_anything_else_is_one_sentence_with_a_next_step(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        open_graph(path)
    assert str(path) in caught.value.message and caught.value.hint


def test_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        open_graph(tmp_path)
    with pytest.raises(InputError, match="There is no file"):
        open_graph(tmp_path / "no.onnx")


def test_safetensors_are_tensors_without_nodes(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    from studio.graph.weights import read_tensor

    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    save_file({"layer.weight": values, "layer.bias": np.ones(3, np.float16)}, str(tmp_path / "w.safetensors"))
    graph = open_graph(tmp_path / "w.safetensors")
    assert graph.node_count == 0 and sorted(graph.tensor_name) == ["layer.bias", "layer.weight"]
    index = graph.tensor_name.index("layer.weight")
    np.testing.assert_array_equal(read_tensor(graph, index), values)


@pytest.mark.parametrize(
    "header",
    [
        b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,4]}}',
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4000]}}',
        b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[4,0]}}',
        b'{"a":{"shape":"x"}}',
        b"[" * 2000,
    ],
)
def test_safetensors_that_do_not_fit_are_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(InputError):
        open_graph(path)


def gguf(tensors: int = 1, dims: tuple[int, ...] = (32, 2), kind: int = 2, data: int = 36) -> bytes:
    """A GGUF file with one metadata entry and one tensor; counts and sizes as told."""

    def text(value: str) -> bytes:
        return len(value).to_bytes(8, "little") + value.encode()

    head = b"GGUF" + (3).to_bytes(4, "little") + tensors.to_bytes(8, "little") + (1).to_bytes(8, "little")
    head += text("general.architecture") + (8).to_bytes(4, "little") + text("llama")
    head += text("w") + len(dims).to_bytes(4, "little") + b"".join(d.to_bytes(8, "little") for d in dims)
    head += kind.to_bytes(4, "little") + (0).to_bytes(8, "little")
    return head + b"\0" * (-len(head) % 32) + b"\1" * data


def test_gguf_shapes_run_from_the_slowest_dim_and_blocks_have_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf())
    graph = open_graph(path)
    assert (graph.tensor_shape, graph.tensor_dtype) == ([(2, 32)], ["q4_0"])
    assert graph.tensor_bytes.tolist() == [36]
    assert graph.producer == "llama"


@pytest.mark.parametrize("bad", [{"tensors": 1 << 60}, {"dims": (1 << 40, 1 << 40)}, {"data": 3}])
def test_gguf_that_claims_more_than_it_has_is_refused(tmp_path: Path, bad: dict[str, object]) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(**bad))  # type: ignore[arg-type]
    with pytest.raises(InputError):
        read_gguf(path)
