"""Texts: marking, translating and filling in what the window says.

Static texts go through `self.tr("…")` in a QObject, or `translate("Context", "…")` elsewhere;
`lupdate` collects both. Values are put in afterwards with `fill`, by name, so that a translation
may change their order. Tables of texts mark each with QT_TRANSLATE_NOOP, a typed stand-in for
PySide6's, whose annotation says it returns an object.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """The text itself; marks it for lupdate."""
    return text


def translate(context: str, text: str) -> str:
    """The text in the language of the window."""
    return QCoreApplication.translate(context, text)


def fill(text: str, **values: object) -> str:
    """The text with `{name}` replaced by each value; braces that name nothing stay."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text
