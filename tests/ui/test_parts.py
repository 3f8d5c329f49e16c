"""The small parts keep their place whatever a stranger's model calls its things."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.ui.widgets.parts import breakable, label


def test_a_long_name_never_widens_a_panel(qtbot: QtBot) -> None:
    text = label("float32 [" + "DynamicDimension" * 40 + "]", wrap=True)
    qtbot.addWidget(text)
    assert max(text.minimumWidth(), 1) == 1


def test_long_words_may_end_a_line_and_short_ones_stay() -> None:
    assert breakable("float32 [1, 3]") == "float32 [1, 3]"
    assert breakable("floor(DynamicDimension.0/2)").replace("\u200b", "") == "floor(DynamicDimension.0/2)"
    assert "\u200b" in breakable("floor(DynamicDimension.0/2)")
