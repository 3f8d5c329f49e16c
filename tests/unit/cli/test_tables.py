from __future__ import annotations

import pytest

from studio.cli import tables


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
