"""The small parts keep their place whatever a stranger's model calls its things."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from studio.ui.session import Session
from studio.ui.views.recipe_panel import RecipePanel
from studio.ui.widgets.parts import breakable, label


def test_a_long_name_never_widens_a_panel(qtbot: QtBot) -> None:
    text = label("float32 [" + "DynamicDimension" * 40 + "]", wrap=True)
    qtbot.addWidget(text)
    assert max(text.minimumWidth(), 1) == 1


def test_long_words_may_end_a_line_and_short_ones_stay() -> None:
    assert breakable("float32 [1, 3]") == "float32 [1, 3]"
    assert breakable("floor(DynamicDimension.0/2)").replace("\u200b", "") == "floor(DynamicDimension.0/2)"
    assert "\u200b" in breakable("floor(DynamicDimension.0/2)")


def test_what_is_copied_from_a_wrapped_label_is_the_name_as_it_is(qtbot: QtBot) -> None:
    name = "model.encoder.layers.0.attention.self.query.weight"
    text = label(name, wrap=True, selectable=True)
    qtbot.addWidget(text)
    assert text.text() == name
    qtbot.keyClick(text, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(text, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == name


def test_a_wrapped_text_asks_for_the_height_of_a_sentence_not_of_a_column_of_letters(qtbot: QtBot) -> None:
    for words in (
        "Made from the torch source itself; this export does not touch it.",
        "直接由 torch 源模型生成；不受此导出影响。",
    ):
        wrapped = label(words, "small", wrap=True)
        qtbot.addWidget(wrapped)
        assert wrapped.sizeHint().height() <= 4 * wrapped.fontMetrics().lineSpacing()


def test_the_ending_of_a_file_stays_with_its_name() -> None:
    assert "NOTICES.md" in breakable("LICENCES_OF_OTHERS_IN_THIRD_PARTY_NOTICES.md.").replace("_\u200b", "_")
    assert ".\u200b" not in breakable("ONNX、TFLite、ExecuTorch、.ort、.studio")


def test_a_long_name_of_a_phone_gives_way_to_its_figure(qtbot: QtBot) -> None:
    panel = RecipePanel(Session())
    qtbot.addWidget(panel)
    panel.resize(232, 500)
    panel.show()
    panel._show_figures([("Google Virtual Pixel 8 of the lab", "p50 0.53 ms (simulated)")])
    QApplication.processEvents()
    figure = next(w for w in panel.findChildren(QLabel) if "(simulated)" in w.text())
    assert panel.width() <= 240 and figure.width() >= figure.sizeHint().width()
