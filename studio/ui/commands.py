"""Commands: what the rows of `actions.py` do, beyond files, and what the panels' wishes lead to."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from studio.ui import device_jobs, look_jobs, recipe_jobs
from studio.ui.docks import Docks
from studio.ui.file_commands import FileCommands
from studio.ui.graph_tools import GraphTools
from studio.ui.window_panels import WindowPanels


class Commands(QObject):
    """Holds the window and its parts; what only the window itself can do is a signal."""

    palette_requested = Signal()
    """Open the command palette."""
    reset_requested = Signal()
    """Put every dock back to where it was on the first day."""

    def __init__(self, window: WindowPanels, docks: Docks) -> None:
        super().__init__(window)
        self.window, self.session, self.docks = window, window.session, docks
        self.files = FileCommands(window)
        self.graph_tools = GraphTools(self.session, window, lambda: window.stage_area.graph_view)

    def close(self) -> None:
        """Closes the window, which asks about unsaved changes."""
        self.window.close()

    def run_steps(self, only: tuple[str, ...] = (), *, force: bool = False) -> None:
        """Runs the recipe or some of its steps."""
        recipe_jobs.run_steps(self.session, only=only, force=force)

    def show_wizard(self, kind: str) -> None:
        """Opens the wizard, at the page of a kind of step when one is named."""
        from studio.ui.views.wizard import DeployWizard

        if self.session.project is not None:
            wizard = DeployWizard(self.session, self.window, start=kind)
            wizard.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            wizard.open()

    def show_deploy(self) -> None:
        """Brings the device panel into sight, with the button that starts a run."""
        self.docks.devices.show()
        self.docks.devices.raise_()
        self.window.device_panel.bar.setFocus(Qt.FocusReason.OtherFocusReason)

    def stop_runs(self) -> None:
        """Stops every run; what was measured is kept."""
        for device_id in list(self.session.run_jobs):
            device_jobs.stop(self.session, device_id)

    def connect_device(self) -> None:
        """Asks for an address and connects adb to it."""
        from studio.ui.views.questions import ask_for_address

        address = ask_for_address(self.window)
        if address:
            device_jobs.connect(self.session, address)

    def add_virtual_phone(self) -> None:
        """Starts a simulated phone."""
        device_jobs.add_virtual_phone(self.session)

    def choose_targets(self) -> None:
        """Asks which targets the project is for."""
        from studio.ui.views.target_dialog import TargetDialog

        if self.session.project is not None:
            TargetDialog(self.session, self.window).open()

    def ask_tools(self) -> None:
        """Asks the real partitioners and compilers about the graph in sight."""
        look_jobs.ask_tools(self.session)

    def compare_layers(self) -> None:
        """Shows the overlay of errors, with the stages that can be compared with."""
        self.window.stage_area.show_tab(self.session.current_stage_id)
        self.session.set_overlay("error")
        if self.window.stage_area.graph_view is not None:
            self.window.stage_area.graph_view.offer_measuring()

    def next_target(self) -> None:
        """Looks with the next target's eyes."""
        project = self.session.project
        if project is not None and project.targets:
            targets = project.targets
            at = targets.index(self.session.target_id) if self.session.target_id in targets else -1
            self.session.set_target(targets[(at + 1) % len(targets)])

    def find_in_graph(self) -> None:
        """Puts the cursor into the search field of the graph."""
        self.window.stage_area.show_tab(self.session.current_stage_id)
        if self.window.stage_area.graph_view is not None:
            self.window.stage_area.graph_view.focus_search()

    def on_canvas(self, method: str, *arguments: Any) -> None:
        """Calls a method of the canvas that is in sight."""
        view = self.window.stage_area.graph_view
        if view is not None:
            getattr(view.canvas, method)(*arguments)

    def on_graph(self, method: str, *arguments: Any) -> None:
        """Calls a method of the graph view that is in sight."""
        view = self.window.stage_area.graph_view
        if view is not None:
            getattr(view, method)(*arguments)

    def show_settings(self) -> None:
        """Opens the settings."""
        from studio.ui.views.settings_dialog import SettingsDialog

        SettingsDialog(self.session, self.window).open()

    def show_help(self, page: str = "start") -> None:
        """Opens a page of the help."""
        from studio.ui.views.help_window import show_help

        show_help(self.window, page)

    def show_about(self) -> None:
        """Says what this is, which version, under which licence."""
        from studio.ui.views.about_dialog import AboutDialog

        AboutDialog(self.window).open()

    def show_log(self) -> None:
        """Shows or hides the log."""
        log = self.docks.log
        if log.isVisible() and not log.visibleRegion().isEmpty():
            log.hide()
        else:
            log.show()
            log.raise_()

    def show_source(self, file: str, line: int) -> None:
        from studio.ui.editor import show_in_editor

        with self.session.telling_failures():
            show_in_editor(self.session.preferences, file, line, self.session.folder)

    def show_tensor(self, tensor: int) -> None:
        from studio.ui.views.tensor_dialog import TensorDialog

        TensorDialog(self.session, tensor, self.window).open()

    def show_fix(self, fix_id: str, node: int) -> None:
        from studio.ui.views.fix_dialog import FixDialog

        dialog = FixDialog(self.session, fix_id, node, self.window)
        dialog.step_made.connect(self.graph_tools.light_edits.add_fix)
        dialog.open()
