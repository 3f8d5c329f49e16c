"""MainWindow: docks, tabs, menus and status bar round one Session; it turns wishes into calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QPoint, QSettings, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QDragEnterEvent,
    QDropEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QStatusBar,
    QVBoxLayout,
    QWidget,
)

from studio.jobs.job import Failed
from studio.paths import config_dir
from studio.project.places import SUFFIX
from studio.ui import device_jobs, look_jobs, measured_jobs, recipe_jobs
from studio.ui.docks import Docks
from studio.ui.graph_tools import GraphTools
from studio.ui.icons import icon
from studio.ui.menus import Menus
from studio.ui.session import Session
from studio.ui.views.devices import DevicePanel
from studio.ui.views.job_bar import JobBar
from studio.ui.views.log_panel import LogPanel
from studio.ui.views.node_panel import NodePanel
from studio.ui.views.problem_panel import ProblemPanel
from studio.ui.views.questions import ask_to_save
from studio.ui.views.recipe_panel import RecipePanel
from studio.ui.views.stage_area import StageArea
from studio.ui.views.start_page import StartPage
from studio.ui.views.target_bar import TargetBar
from studio.ui.widgets.banner import Banner

_LAYOUT_VERSION = 1
_FIRST_SIZE = (1440, 900)
_OPENABLE = (
    SUFFIX, ".onnx", ".ort", ".tflite", ".pte", ".pt", ".pt2", ".ptl", ".jit", ".pth", ".py",
    ".safetensors", ".gguf",
)  # fmt: skip


def _show_file(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class MainWindow(QMainWindow):
    """See the module. `rebuild_requested`: the language changed, make me anew."""

    rebuild_requested = Signal()

    session: Session
    target_bar: TargetBar
    stage_area: StageArea
    start_page: StartPage
    recipe_panel: RecipePanel
    node_panel: NodePanel
    problem_panel: ProblemPanel
    device_panel: DevicePanel
    log_panel: LogPanel
    job_bar: JobBar
    graph_tools: GraphTools
    banner: Banner

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setWindowIcon(icon("app", "accent"))
        self.resize(*_FIRST_SIZE)
        self._make_views()
        self._menus = Menus(self, self._menu_bar)
        self._connect()
        self._first_state = self.saveState(_LAYOUT_VERSION)
        self._restore_layout()
        self._refresh()

    # --- making ------------------------------------------------------------------------------

    def _make_views(self) -> None:
        session = self.session
        self.target_bar = TargetBar(session)
        self.stage_area = StageArea(session)
        self.start_page = StartPage(session)
        self.recipe_panel = RecipePanel(session)
        self.node_panel = NodePanel(session)
        self.problem_panel = ProblemPanel(session)
        self.graph_tools = GraphTools(session, self, lambda: self.stage_area.graph_view)
        self.device_panel = DevicePanel(session)
        self.log_panel = LogPanel(session)
        self.job_bar = JobBar(session)
        self.banner = Banner()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self.stage_area)
        centre = QWidget()
        centre.setObjectName("Canvas")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self._pages, 1)
        self.setCentralWidget(centre)
        top = QWidget()
        outer = QVBoxLayout(top)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._menu_bar = self.menuBar()
        outer.addWidget(self._menu_bar)
        outer.addWidget(self.target_bar)
        self.setMenuWidget(top)
        status = QStatusBar()
        status.setSizeGripEnabled(False)
        status.addWidget(self.job_bar, 1)
        self.setStatusBar(status)
        self.dock_layout = Docks(self)
        self.docks = self.dock_layout.all

    def _connect(self) -> None:
        session = self.session
        for signal in (session.project_changed, session.stages_changed, session.selection_changed,
                       session.run_started, session.run_finished):  # fmt: skip
            signal.connect(self._refresh)
        session.failed.connect(self._on_failed)
        session.trust_needed.connect(self._on_trust_needed)
        session.project_opened.connect(self._on_project_opened)
        session.stage_opened.connect(self._on_stage_opened)
        session.run_finished.connect(lambda *_: measured_jobs.apply_measured_everywhere(session))
        session.preferences_changed.connect(self._on_preferences)
        self._language = session.preferences.language
        self.start_page.open_requested.connect(self.open_dialog)
        self.start_page.sample_requested.connect(self.open_sample)
        self.start_page.path_chosen.connect(lambda p: self.open_path(Path(p)))
        self.target_bar.depth_chosen.connect(self._on_depth)
        self.target_bar.targets_requested.connect(self.choose_targets)
        self.recipe_panel.wizard_requested.connect(self.show_wizard)
        self.recipe_panel.deploy_requested.connect(self.show_deploy)
        self.recipe_panel.save_requested.connect(self.save)
        self.stage_area.wizard_requested.connect(self.show_wizard)
        self.stage_area.run_requested.connect(lambda step: self.run_steps((step,)))
        self.stage_area.beside_requested.connect(self.open_beside_dialog)
        self.stage_area.netron_requested.connect(self.open_in_netron)
        self.stage_area.menu_requested.connect(self.show_graph_menu)
        self.node_panel.source_requested.connect(self._show_source)
        self.node_panel.tensor_requested.connect(self._show_tensor)
        self.node_panel.fix_requested.connect(self._show_fix)
        self.problem_panel.fix_requested.connect(self._show_fix)
        self.node_panel.nodes_requested.connect(self.stage_area.mark_nodes)
        self.problem_panel.count_changed.connect(
            lambda n: self.dock_layout.show_problem_count(n if session.opened else None)
        )
        self.device_panel.run_requested.connect(
            lambda device, stage, settings: device_jobs.deploy(session, device, stage, settings)
        )
        self.device_panel.stop_requested.connect(lambda device: device_jobs.stop(session, device))
        self.device_panel.connect_requested.connect(self.connect_device)
        self.device_panel.add_virtual_phone_requested.connect(self.add_virtual_phone)
        self.job_bar.log_requested.connect(self.show_log)

    # --- files -------------------------------------------------------------------------------

    def open_dialog(self) -> None:
        """Asks for a model or project and opens it."""
        known = " ".join(f"*{suffix}" for suffix in _OPENABLE)
        kinds = self.tr("Models and projects"), self.tr("All files")
        filters = f"{kinds[0]} ({known});;{kinds[1]} (*)"
        start = str(self.session.folder or Path.home())
        title = self.tr("Open a model or a project")
        path, _ = QFileDialog.getOpenFileName(self, title, start, filters)
        if path:
            self.open_path(Path(path))

    def open_beside_dialog(self) -> None:
        """Asks for another model file and opens it in a tab of its own."""
        path, _ = QFileDialog.getOpenFileName(
            self, self.tr("Open beside"), str(self.session.folder or Path.home())
        )
        if path:
            self.session.open_beside(Path(path))

    def open_path(self, path: Path) -> None:
        """Opens a file, after asking about unsaved changes; Python sources ask for their details."""
        if not self._may_leave_project():
            return
        self.banner.close_banner()
        if path.suffix == ".py":
            from studio.ui.views.python_source_dialog import PythonSourceDialog

            with self.session.telling_failures():
                dialog = PythonSourceDialog(path.absolute(), self)
                dialog.accepted.connect(lambda: self.session.open_python(path.absolute(), dialog.project()))
                dialog.open()
            return
        self.session.open_path(path)

    def open_sample(self) -> None:
        """Copies the sample project to a folder of the person's choice and opens it."""
        if not self._may_leave_project():
            return
        from studio.ui.sample import sample_folder

        with self.session.telling_failures():
            self.session.open_path(sample_folder() / "digits.studio")

    def save(self) -> bool:
        """Saves the project where it is, or asks for a place; returns whether it is on disk."""
        if self.session.project_path is None:
            return self.save_as()
        return self.session.save()

    def save_as(self) -> bool:
        """Asks for a place and saves there; returns whether it is on disk."""
        project, folder = self.session.project, self.session.folder
        if project is None or folder is None:
            return False
        first = self.session.project_path or folder / f"{project.name}{SUFFIX}"
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save the project"), str(first), self.tr("Projects") + f" (*{SUFFIX})"
        )
        if not path:
            return False
        return self.session.save(Path(path) if path.endswith(SUFFIX) else Path(path + SUFFIX))

    def close_project(self) -> None:
        """Back to the start page, after asking about unsaved changes."""
        if self._may_leave_project():
            self.session.close_project()

    def write_report(self) -> None:
        """Asks for a place and writes the report there."""
        from studio.ui.report_jobs import write_report

        project, folder = self.session.project, self.session.folder
        if project is None or folder is None:
            return
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Write report"), str(folder / f"{project.name}.html"), "HTML (*.html)"
        )
        if path:
            write_report(self.session, Path(path), _show_file)

    def save_picture(self) -> None:
        """Asks for part, format and place, and saves the graph as a picture."""
        from studio.ui.views.picture_dialog import PictureDialog

        view = self.stage_area.graph_view
        if view is not None:
            PictureDialog(self.session, view.canvas, self).open()

    def open_in_netron(self) -> None:
        """Shows the current file in Netron, in the person's browser."""
        look_jobs.open_in_netron(self.session, lambda url: QDesktopServices.openUrl(QUrl(url)))

    def _may_leave_project(self) -> bool:
        """Whether nothing would be lost, or the person says so."""
        if not self.session.is_modified:
            return True
        answer = ask_to_save(self, self.session.project.name if self.session.project else "")
        return self.save() if answer == "save" else answer == "discard"

    # --- doing -------------------------------------------------------------------------------

    def run_steps(self, only: tuple[str, ...] = (), *, force: bool = False) -> None:
        """Runs the recipe or some of its steps."""
        recipe_jobs.run_steps(self.session, only=only, force=force)

    def show_wizard(self, kind: str) -> None:
        """Opens the wizard, at the page of a kind of step when one is named."""
        from studio.ui.views.wizard import DeployWizard

        if self.session.project is not None:
            wizard = DeployWizard(self.session, self, start=kind)
            wizard.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            wizard.open()

    def show_deploy(self) -> None:
        """Brings the device panel into sight, with the button that starts a run."""
        self.dock_layout.devices.show()
        self.dock_layout.devices.raise_()
        self.device_panel.bar.setFocus(Qt.FocusReason.OtherFocusReason)

    def stop_runs(self) -> None:
        """Stops every run; what was measured is kept."""
        for device_id in list(self.session.run_jobs):
            device_jobs.stop(self.session, device_id)

    def connect_device(self) -> None:
        """Asks for an address and connects adb to it."""
        from studio.ui.views.questions import ask_for_address

        address = ask_for_address(self)
        if address:
            device_jobs.connect(self.session, address)

    def add_virtual_phone(self) -> None:
        """Starts a simulated phone."""
        device_jobs.add_virtual_phone(self.session)

    def choose_targets(self) -> None:
        """Asks which targets the project is for."""
        from studio.ui.views.target_dialog import TargetDialog

        if self.session.project is not None:
            TargetDialog(self.session, self).open()

    def ask_tools(self) -> None:
        """Asks the real partitioners and compilers about the graph in sight."""
        look_jobs.ask_tools(self.session)

    def compare_layers(self) -> None:
        """Shows the overlay of errors, with the stages that can be compared with."""
        self.stage_area.show_tab(self.session.current_stage_id)
        self.session.set_overlay("error")
        if self.stage_area.graph_view is not None:
            self.stage_area.graph_view.offer_measuring()

    def next_target(self) -> None:
        """Looks with the next target's eyes."""
        project = self.session.project
        if project is not None and project.targets:
            targets = project.targets
            at = targets.index(self.session.target_id) if self.session.target_id in targets else -1
            self.session.set_target(targets[(at + 1) % len(targets)])

    def find_in_graph(self) -> None:
        """Puts the cursor into the search field of the graph."""
        self.stage_area.show_tab(self.session.current_stage_id)
        if self.stage_area.graph_view is not None:
            self.stage_area.graph_view.focus_search()

    def on_canvas(self, method: str, *arguments: Any) -> None:
        """Calls a method of the canvas that is in sight."""
        view = self.stage_area.graph_view
        if view is not None:
            getattr(view.canvas, method)(*arguments)

    def on_graph(self, method: str, *arguments: Any) -> None:
        """Calls a method of the graph view that is in sight."""
        view = self.stage_area.graph_view
        if view is not None:
            getattr(view, method)(*arguments)

    def show_graph_menu(self, place: QPoint) -> None:
        """The context menu of what is selected in the graph."""
        from studio.ui.views.graph_menu import graph_menu

        self._menus.refresh()
        graph_menu(self.session, self.graph_tools, self._menus.action, self).popup(place)

    # --- showing -----------------------------------------------------------------------------

    def show_palette(self) -> None:
        """Opens the command palette."""
        from studio.ui.views.command_palette import CommandPalette

        self._menus.refresh()
        CommandPalette([made for _, made in self._menus.actions.values()], self).open()

    def show_settings(self) -> None:
        """Opens the settings."""
        from studio.ui.views.settings_dialog import SettingsDialog

        SettingsDialog(self.session, self).open()

    def show_help(self, page: str = "start") -> None:
        """Opens a page of the help."""
        from studio.ui.views.help_window import show_help

        show_help(self, page)

    def show_about(self) -> None:
        """Says what this is, which version, under which licence."""
        from studio.ui.views.about_dialog import AboutDialog

        AboutDialog(self).open()

    def show_log(self) -> None:
        """Shows or hides the log."""
        self.dock_layout.log.setVisible(self.dock_layout.log.isHidden())

    def reset_layout(self) -> None:
        """Puts every dock back to where it was on the first day."""
        self.restoreState(self._first_state, _LAYOUT_VERSION)
        self.dock_layout.set_sizes()

    # --- following ---------------------------------------------------------------------------

    def _refresh(self, *_: object) -> None:
        session = self.session
        has_project = session.project is not None
        self._pages.setCurrentWidget(self.stage_area if has_project else self.start_page)
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

    def _show_source(self, file: str, line: int) -> None:
        from studio.ui.editor import show_in_editor

        with self.session.telling_failures():
            show_in_editor(self.session.preferences, file, line, self.session.folder)

    def _show_tensor(self, tensor: int) -> None:
        from studio.ui.views.tensor_dialog import TensorDialog

        TensorDialog(self.session, tensor, self).open()

    def _show_fix(self, fix_id: str, node: int) -> None:
        from studio.ui.views.fix_dialog import FixDialog

        dialog = FixDialog(self.session, fix_id, node, self)
        dialog.step_made.connect(self.graph_tools.light_edits.add_fix)
        dialog.open()

    # --- window ------------------------------------------------------------------------------

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
        if not self._may_leave_project():
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
                self.open_path(Path(url.toLocalFile()))
                return
