"""Actions: everything that can be done, as one table. Menus, toolbar and palette are made from it.

A row is frozen data; `run` gets the window, `enabled_when` and `checked_when` the session. Titles
are English source, marked for translation here and translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.ui.session import Session
from studio.ui.texts import QT_TRANSLATE_NOOP, translate

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow


def _always(session: Session) -> bool:
    return True


def _has_project(session: Session) -> bool:
    return session.project is not None


def _has_graph(session: Session) -> bool:
    return session.opened is not None


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done. `menu` is the id of a row of MENUS, "" = palette only."""

    id: str
    menu: str
    title: str
    run: Callable[[MainWindow], object]
    shortcut: str = ""
    icon: str = ""
    enabled_when: Callable[[Session], bool] = _always
    checked_when: Callable[[Session], bool] | None = None
    starts_group: bool = False

    def text(self) -> str:
        """The title in the language of the window."""
        return translate("actions", self.title)


MENUS: tuple[tuple[str, str], ...] = (
    ("file", QT_TRANSLATE_NOOP("actions", "&File")),
    ("edit", QT_TRANSLATE_NOOP("actions", "&Edit")),
    ("view", QT_TRANSLATE_NOOP("actions", "&View")),
    ("model", QT_TRANSLATE_NOOP("actions", "&Model")),
    ("run", QT_TRANSLATE_NOOP("actions", "&Run")),
    ("device", QT_TRANSLATE_NOOP("actions", "&Device")),
    ("help", QT_TRANSLATE_NOOP("actions", "&Help")),
)
