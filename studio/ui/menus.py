"""Menus: the menu bar made from the table of actions, kept in step with the session."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from studio.ui.actions import ACTIONS, MENUS, Action
from studio.ui.commands import Commands
from studio.ui.icons import icon
from studio.ui.preferences import existing_recent
from studio.ui.texts import translate


class Menus(QObject):
    """One QAction per row of ACTIONS, the recent files, and a switch per dock."""

    def __init__(self, commands: Commands, bar: QMenuBar) -> None:
        window = commands.window
        super().__init__(window)
        self._commands = commands
        self.actions: dict[str, tuple[Action, QAction]] = {}
        menus = {id_: bar.addMenu(translate("actions", title)) for id_, title in MENUS}
        for action in ACTIONS:
            made = self._made(action)
            if action.starts_group:
                menus[action.menu].addSeparator()
            menus[action.menu].addAction(made)
            self.actions[action.id] = (action, made)
        self._recent = QMenu(self.tr("Open &recent"), window)
        self._recent.aboutToShow.connect(self._fill_recent)
        menus["file"].insertMenu(self.actions["file.sample"][1], self._recent)
        bookmarks = QMenu(self.tr("&Go to bookmark"), window)
        bookmarks.aboutToShow.connect(lambda: commands.graph_tools.fill_bookmarks(bookmarks))
        menus["graph"].insertMenu(self.actions["graph.follow"][1], bookmarks)
        panels = QMenu(self.tr("Pan&els"), window)
        for dock in commands.docks.all:
            panels.addAction(dock.toggleViewAction())
        menus["view"].insertMenu(self.actions["view.reset"][1], panels)
        for menu in menus.values():
            menu.aboutToShow.connect(self.refresh)

    def refresh(self) -> None:
        """Enables what can be done now, and names what undo and redo would do."""
        session = self._commands.session
        for action, made in self.actions.values():
            made.setEnabled(action.enabled_when(session))
            if action.checked_when is not None:
                made.setChecked(action.checked_when(session))
        history = session.history
        for id_, said in (
            ("edit.undo", history.undo_label if history else ""),
            ("edit.redo", history.redo_label if history else ""),
        ):
            action, made = self.actions[id_]
            made.setText(f"{action.text()} {said}".strip())

    def action(self, action_id: str) -> QAction:
        """What was made of a row of ACTIONS."""
        return self.actions[action_id][1]

    def _made(self, action: Action) -> QAction:
        made = QAction(action.text(), self._commands.window)
        made.setCheckable(action.checked_when is not None)
        if action.shortcut:
            made.setShortcut(QKeySequence(action.shortcut))
        if action.icon:
            made.setIcon(icon(action.icon, "quiet"))
        made.triggered.connect(lambda: action.run(self._commands))
        return made

    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in existing_recent(self._commands.session.preferences):
            made = self._recent.addAction(str(path))
            made.triggered.connect(lambda _=False, p=path: self._commands.files.open_path(p))
        if self._recent.isEmpty():
            self._recent.addAction(self.tr("Nothing yet")).setEnabled(False)
