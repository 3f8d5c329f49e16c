"""MainWindow: puts panels, docks, commands and menus together round one Session, and follows it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QPoint, QSettings, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent

from studio.jobs.job import Failed
from studio.paths import config_dir
from studio.ui import device_jobs, look_jobs, measured_jobs, recipe_jobs
from studio.ui.commands import Commands
from studio.ui.docks import Docks
from studio.ui.icons import icon
from studio.ui.menus import Menus
from studio.ui.session import Session
from studio.ui.window_panels import WindowPanels

_LAYOUT_VERSION = 1
_FIRST_SIZE = (1440, 900)


class MainWindow(WindowPanels):
    """See the module. `rebuild_requested`: the language changed, make me anew."""

    rebuild_requested = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setWindowIcon(icon("app", "accent"))
        self.resize(*_FIRST_SIZE)
        self.dock_layout = Docks(self)
        self.docks = self.dock_layout.all
        self.commands = Commands(self, self.dock_layout)
        self.files, self.graph_tools = self.commands.files, self.commands.graph_tools
        self._menus = Menus(self.commands, self.menu_bar)
        self._language = session.preferences.language
        self._connect()
        self._first_state = self.saveState(_LAYOUT_VERSION)
        self._restore_layout()
        self._refresh()

    def _connect(self) -> None:
        session, commands, files = self.session, self.commands, self.files
        for signal in (session.project_changed, session.stages_changed, session.selection_changed,
                       session.run_started, session.run_finished):  # fmt: skip
            signal.connect(self._refresh)
        session.failed.connect(self._on_failed)
        session.failure_outdated.connect(self.banner.close_banner)
        session.trust_needed.connect(self._on_trust_needed)
        session.project_opened.connect(self._on_project_opened)
        session.stage_opened.connect(self._on_stage_opened)
        session.run_finished.connect(self._on_run_finished)
        for grown in (session.run_started, session.devices_changed):
            grown.connect(self.dock_layout.make_room_for_devices)
        session.preferences_changed.connect(self._on_preferences)
        self._language = session.preferences.language
        self.start_page.open_requested.connect(files.open_dialog)
        self.start_page.sample_requested.connect(files.open_sample)
        self.start_page.path_chosen.connect(lambda p: files.open_path(Path(p)))
        self.target_bar.depth_chosen.connect(self._on_depth)
        self.target_bar.targets_requested.connect(commands.choose_targets)
        self.recipe_panel.wizard_requested.connect(commands.show_wizard)
        self.recipe_panel.deploy_requested.connect(commands.show_deploy)
        self.recipe_panel.save_requested.connect(files.save)
        self.stage_area.wizard_requested.connect(commands.show_wizard)
        self.stage_area.run_requested.connect(lambda step: commands.run_steps((step,)))
        self.stage_area.beside_requested.connect(files.open_beside_dialog)
        self.stage_area.tensor_requested.connect(commands.show_tensor)
        self.stage_area.netron_requested.connect(files.open_in_netron)
        self.stage_area.menu_requested.connect(self.show_graph_menu)
        self.node_panel.source_requested.connect(commands.show_source)
        self.node_panel.tensor_requested.connect(commands.show_tensor)
        self.node_panel.fix_requested.connect(commands.show_fix)
        self.problem_panel.fix_requested.connect(commands.show_fix)
        self.node_panel.nodes_requested.connect(self.stage_area.mark_nodes)
        self.problem_panel.count_changed.connect(
            lambda n: self.dock_layout.show_problem_count(n if session.opened else None)
        )
        self.device_panel.run_requested.connect(
            lambda device, stage, settings: device_jobs.deploy(session, device, stage, settings)
        )
        self.device_panel.stop_requested.connect(lambda device: device_jobs.stop(session, device))
        self.device_panel.connect_requested.connect(commands.connect_device)
        self.device_panel.add_virtual_phone_requested.connect(commands.add_virtual_phone)
        self.job_bar.log_requested.connect(commands.show_log)
        commands.palette_requested.connect(self.show_palette)
        commands.reset_requested.connect(self.reset_layout)

    # --- showing -----------------------------------------------------------------------------

    def show_graph_menu(self, place: QPoint) -> None:
        """The context menu of what is selected in the graph."""
        from studio.ui.views.graph_menu import graph_menu

        self._menus.refresh()
        graph_menu(self.session, self.graph_tools, self._menus.action, self).popup(place)

    def show_palette(self) -> None:
        """Opens the command palette."""
        from studio.ui.views.command_palette import CommandPalette

        self._menus.refresh()
        CommandPalette([made for _, made in self._menus.actions.values()], self).open()

    def reset_layout(self) -> None:
        """Puts every dock back to where it was on the first day."""
        self.restoreState(self._first_state, _LAYOUT_VERSION)
        self.dock_layout.set_sizes()

    def _refresh(self, *_: object) -> None:
        session = self.session
        has_project = session.project is not None
        self.pages.setCurrentWidget(self.stage_area if has_project else self.start_page)
        name = ""
        if session.project is not None:
            name = session.project_path.name if session.project_path else session.project.source.path
        mark = "*" if session.is_modified else ""
        self.setWindowTitle(f"{name}{mark} — Deployment Studio" if name else "Deployment Studio")
        self._menus.refresh()

    def _on_failed(self, failed: Failed) -> None:
        self.banner.show_failure(failed)

    def _on_stage_opened(self, stage_id: str) -> None:
        look_jobs.read_docs(self.session, stage_id)
        measured_jobs.apply_measured(self.session, stage_id)

    def _on_run_finished(self, *_: object) -> None:
        measured_jobs.apply_measured_everywhere(self.session)

    def _on_project_opened(self) -> None:
        self.banner.close_banner()
        look_jobs.close_netron(self.session)
        recipe_jobs.find_artifacts(self.session)

    def _on_trust_needed(self, folder: str) -> None:
        from studio.ui.views.trust_dialog import TrustDialog

        TrustDialog(self.session, Path(folder), self).open()

    def _on_preferences(self) -> None:
        if self.session.preferences.language != self._language:
            self._language = self.session.preferences.language
            QTimer.singleShot(0, self, self.rebuild_requested.emit)

    def _on_depth(self, depth: int) -> None:
        if self.stage_area.graph_view is not None:
            self.stage_area.graph_view.show_depth(depth)

    def _settings(self) -> QSettings:
        return QSettings(str(config_dir() / "window.ini"), QSettings.Format.IniFormat)

    def _restore_layout(self) -> None:
        settings = self._settings()
        geometry, state = settings.value("geometry"), settings.value("state")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        if not (isinstance(state, QByteArray) and self.restoreState(state, _LAYOUT_VERSION)):
            QTimer.singleShot(0, self, self.dock_layout.set_sizes)

    def save_layout(self) -> None:
        """Remembers where the docks are."""
        settings = self._settings()
        settings.setValue("geometry", self.saveGeometry())
        settings.setValue("state", self.saveState(_LAYOUT_VERSION))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Asks about unsaved changes, remembers the layout, ends all jobs."""
        if not self.files.may_leave_project():
            event.ignore()
            return
        self.save_layout()
        self.session.shut_down()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Takes files anywhere on the window."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Opens the first file."""
        for url in event.mimeData().urls():
            if url.isLocalFile():
                event.acceptProposedAction()
                self.files.open_path(Path(url.toLocalFile()))
                return
