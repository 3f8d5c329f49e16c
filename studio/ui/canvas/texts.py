"""CardTexts: the texts of the boxes, shortened to their width and laid out once."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText, QTextOption

from studio.graph.labels import nodes_text
from studio.graph.layout import ItemKind
from studio.ui.canvas.labels import (
    alike_text,
    node_name,
    node_title,
    output_text,
    scope_title,
    tensor_name,
    tensor_text,
)
from studio.ui.canvas.scene import Scene

TITLE_PX = 12.5
DETAIL_PX = 10.5
COMPACT_PX = 19.0  # the title alone, when the card is small
LINE = 1.17  # height of a line in font sizes
TEXT_LEFT = 14.0
ICON_ROOM = 27.0


@dataclass(frozen=True, slots=True)
class CardText:
    """Texts of one box, ready to draw; widths in layout pixels."""

    title: QStaticText
    title_width: float
    name: QStaticText | None
    detail: QStaticText | None
    compact: QStaticText


def name_left(text: CardText, title_font: QFont, scale: float) -> float:
    """Where the name begins, in pixels from the box: after the title as it is drawn, in whole pixels."""
    return (TEXT_LEFT + 7) * scale + text.title_width * title_font.pixelSize() / TITLE_PX


def plain(text: str) -> QStaticText:
    """One line of text that is never taken for HTML and always runs left to right as a whole."""
    result = QStaticText(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.LeftToRight)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    result.setTextOption(option)
    return result


def sized(font: QFont, pixels: float, *, bold: bool = False) -> QFont:
    """The font at a size in pixels, without hinting, so that its widths scale with the zoom."""
    result = QFont(font)
    result.setPixelSize(max(round(pixels), 1))
    result.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    result.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return result


_ROUNDED_UP = 1.06  # fonts have whole pixels: texts may be this much wider than measured
_LEAST_NAME = 40.0
_LEAST_DETAIL = 24.0  # less than this shows no letter worth reading


class CardTexts:
    """Texts of the boxes of a scene, made when first asked for."""

    def __init__(self, scene: Scene, font: QFont, limit: int = 20_000) -> None:
        self._scene = scene
        self._limit = limit
        self._made: dict[int, CardText] = {}
        self._beside: dict[tuple[int, str], QStaticText] = {}
        self._title = QFontMetricsF(sized(font, TITLE_PX * 4, bold=True))
        self._detail = QFontMetricsF(sized(font, DETAIL_PX * 4))
        self._compact = QFontMetricsF(sized(font, COMPACT_PX * 4))

    def get(self, item: int) -> CardText:
        """The texts of a box."""
        found = self._made.get(item)
        if found is None:
            if len(self._made) > self._limit:
                self._made.clear()
            found = self._made[item] = self._make(item)
        return found

    def detail_beside(self, item: int, words: str) -> QStaticText:
        """The second line of a box, cut so that `words` at its right end (8 from the rim) have their room."""
        key = (item, words)
        found = self._beside.get(key)
        if found is None:
            if len(self._beside) > self._limit:
                self._beside.clear()
            width = float(self._scene.right[item] - self._scene.left[item])
            room = width - TEXT_LEFT - 8 - 6 - self._detail.horizontalAdvance(words) / 4
            detail = self.lines_of(item)[2]
            short = self._detail.elidedText(detail, Qt.TextElideMode.ElideRight, max(room, 0) * 4)
            found = self._beside[key] = plain(short if room >= _LEAST_DETAIL else "")
        return found

    def lines_of(self, item: int) -> tuple[str, str, str]:
        """Title, name and detail of a box in full (but cut to a sane length)."""
        layout, graph = self._scene.layout, self._scene.graph
        kind, ref = int(layout.item_kind[item]), int(layout.item_ref[item])
        if kind == ItemKind.NODE:
            return node_title(graph, ref), node_name(graph, ref), output_text(graph, ref)
        if kind == ItemKind.SCOPE:
            count = int(layout.item_nodes[item])
            name, kind_of_scope = scope_title(graph, ref)
            nodes = nodes_text(count)
            detail = f"{kind_of_scope} · {nodes}" if kind_of_scope else nodes
            return name, alike_text(graph, ref), detail
        name = tensor_name(graph, ref)
        return name or ("input" if kind == ItemKind.INPUT else "output"), tensor_text(graph, ref), ""

    def _make(self, item: int) -> CardText:
        title, name, detail = self.lines_of(item)
        width = float(self._scene.right[item] - self._scene.left[item])
        is_card = self._scene.layout.item_kind[item] in (ItemKind.NODE, ItemKind.SCOPE)
        room = max(width - TEXT_LEFT - (ICON_ROOM if is_card else 12.0), 10.0)
        elide = Qt.TextElideMode.ElideRight if is_card else Qt.TextElideMode.ElideMiddle
        # metrics are taken at four times the size: glyph widths are whole pixels there as well
        title_room = room
        if not is_card:
            room = min(room, max((width - TEXT_LEFT - 2) / _ROUNDED_UP, 10.0))
            beside = room - self._detail.horizontalAdvance(name) / 4 - 8 if name else 0.0
            title_room = beside if beside >= _LEAST_NAME else room  # a long name gives way to the shape
        short = self._title.elidedText(title, elide, title_room * 4)
        title_width = self._title.horizontalAdvance(short) / 4
        left = room - title_width - 8
        named = None
        # a name may lose its beginning; a shape or a count is shown whole or not at all
        is_whole = self._detail.horizontalAdvance(name) <= left * 4
        if name and (is_whole or (left > 28 and self._scene.layout.item_kind[item] == ItemKind.NODE)):
            named = plain(self._detail.elidedText(name, Qt.TextElideMode.ElideLeft, left * 4))
        return CardText(
            plain(short),
            title_width,
            named,
            plain(self._detail.elidedText(detail, elide, room * 4)) if detail else None,
            plain(self._compact.elidedText(title, elide, (room + (8 if is_card else 0)) * 4)),
        )
