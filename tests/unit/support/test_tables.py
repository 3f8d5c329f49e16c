"""The operator tables: one schema, each row with its source, each file with a date and an origin."""

from __future__ import annotations

import re

import pytest

from studio.support.tables import load_table, table_names
from studio.support.versions import since_version


@pytest.mark.parametrize("name", table_names())
def test_a_table_says_where_it_is_from(name: str) -> None:
    table = load_table(name).table
    assert table.table == name and table.rows and table.origins
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", table.collected)
    for row in table.rows:
        assert row.op and row.source, row


def test_since_versions_follow_the_standard() -> None:
    assert since_version("Conv", "", 10) == 1
    assert since_version("Conv", "", 21) == 11
    assert since_version("Conv", "", 22) == 22
    assert since_version("Nonsense", "", 22) == 0
