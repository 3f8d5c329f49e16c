from __future__ import annotations

from pathlib import Path

import pytest

from studio.cli import tables
from studio.cli.main import main
from tests.unit.cli.tiny_models import conv_net


@pytest.mark.parametrize(
    ("number", "size", "count"),
    [
        (None, "–", "–"),
        (-1, "–", "–"),
        (0, "0 B", "0"),
        (999, "999 B", "999"),
        (1_000, "1.00 kB", "1.00 k"),
        (585_532, "586 kB", "586 k"),
        (999_600, "1.00 MB", "1.00 M"),
        (21_234_383, "21.2 MB", "21.2 M"),
        (10**10, "10.0 GB", "10.0 G"),
    ],
)
def test_sizes_and_counts_have_three_digits(number: int | None, size: str, count: str) -> None:
    assert tables.size(number) == size
    assert tables.count(number) == count


def test_columns_line_up_for_wide_and_combining_characters() -> None:
    text = tables.table(("a", "b"), [("数字", "1"), ("e\u0301", "22"), ("long name", "3")], right="lr")
    ends = {tables._width(line) for line in text.splitlines()}
    assert len(ends) == 1


def test_names_do_not_steer_the_terminal() -> None:
    name = "a\x1b[31mred\u202e\x9b2J\r\nb 层 👩\u200d👧"
    said = tables.table(("node", "op"), [(name, "Relu"), ("short", "Neg")])
    assert said.count("\n") == 3, "a newline in a name is no line of the table"
    assert r"a\x1b[31mred\u202e\x9b2J\r\nb 层" in said and "👩\u200d👧" in said
    assert not set(said) & set("\x1b\u202e\x9b\r")
    places = {line.index(op) for line, op in zip(said.splitlines()[3:], ["Neg"])}
    assert places and tables.visible("one\n\ttwo") == "one\n\ttwo"


def test_errors_and_answers_do_not_steer_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    onnx = pytest.importorskip("onnx")
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="\x1b]0;owned\x07")
    ends = [onnx.helper.make_tensor_value_info(n, 1, [1, 4]) for n in ("x\x1b[2J", "y")]
    node.input[0] = "x\x1b[2J"
    path = tmp_path / "odd.onnx"
    graph = onnx.helper.make_graph([node], "\x1b[5mg", ends[:1], ends[1:])
    onnx.save(onnx.helper.make_model(graph), path)
    for command in (
        ("inspect", str(path)),
        ("support", str(path), "--target", "ort/nnapi", "--nodes"),
        ("diff", str(path), str(conv_net(tmp_path / "net.onnx"))),
        ("inspect", str(tmp_path / "ab\x1b[2Jsent.onnx")),
    ):
        main(list(command))
        said = "".join(capfd.readouterr())
        assert said and "\x1b" not in said and "\x07" not in said, command
