"""FileCommands: opening, saving and closing, each with the question that it needs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from studio.project.places import SUFFIX
from studio.ui import look_jobs
from studio.ui.texts import fill
from studio.ui.views.questions import ask_to_save
from studio.ui.window_panels import WindowPanels

_OPENABLE = (
    SUFFIX, ".onnx", ".ort", ".tflite", ".pte", ".pt", ".pt2", ".ptl", ".jit", ".pth", ".py",
    ".safetensors", ".gguf", ".etrecord", "etrecord.bin",
)  # fmt: skip

_NETRON = (
    ".param", ".mnn", ".ms", ".mindir", ".dlc", ".om", ".rknn", ".dla", ".nb", ".circle", ".kmodel",
    ".espdl", ".tmfile", ".tnnproto", ".tnnmodel", ".armnn", ".hn", ".har", ".xmodel", ".h5", ".hdf5",
    ".keras", ".mlmodel", ".pb", ".pbtxt", ".prototxt", ".caffemodel", ".pdmodel", ".xml", ".json", ".cfg",
    ".litertlm", ".uff", ".mlir", ".nnef", ".nn", ".t7", ".pkl", ".joblib", ".npz", ".npy", ".msgpack",
    ".onnxtxt", ".bin",
)  # fmt: skip
"""What Netron 9 may read beyond the studio's own formats: its list of extensions, the common ones."""


def _open_url(url: str) -> None:
    QDesktopServices.openUrl(QUrl(url))


def _show_file(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class FileCommands(QObject):
    """What can be done with files; dialogs belong to the window."""

    def __init__(self, window: WindowPanels) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session

    def open_dialog(self) -> None:
        """Asks for a model or project and opens it."""
        known = " ".join(f"*{suffix}" for suffix in _OPENABLE)
        other = " ".join(f"*{suffix}" for suffix in _NETRON)
        kinds = self.tr("Models and projects"), self.tr("Models that Netron shows"), self.tr("All files")
        filters = f"{kinds[0]} ({known});;{kinds[1]} ({other});;{kinds[2]} (*)"
        start = str(self._session.folder or Path.home())
        title = self.tr("Open a model or a project")
        path, _ = QFileDialog.getOpenFileName(self._window, title, start, filters)
        if path:
            self.open_path(Path(path))

    def open_beside_dialog(self) -> None:
        """Asks for another model file and opens it in a tab of its own."""
        path, _ = QFileDialog.getOpenFileName(
            self._window, self.tr("Open beside"), str(self._session.folder or Path.home())
        )
        if path:
            self._session.open_beside(Path(path))

    def open_etrecord_dialog(self) -> None:
        """Asks for the ETRecord of the current `.pte` file and opens it again with what it says."""
        stage = self._session.current_stage
        if stage is None or stage.path is None:
            return
        kinds = self.tr("ETRecords"), self.tr("All files")
        path, _ = QFileDialog.getOpenFileName(
            self._window,
            fill(self.tr("Open the ETRecord of {file}"), file=stage.path.name),
            str((stage.etrecord or stage.path).parent),
            f"{kinds[0]} (*.etrecord *.bin);;{kinds[1]} (*)",
        )
        if path:
            self._session.open_etrecord(Path(path))

    def open_path(self, path: Path) -> None:
        """Opens a file, after asking about unsaved changes; Python sources ask for their details."""
        if not self.may_leave_project():
            return
        self._window.banner.close_banner()
        if path.suffix == ".py":
            from studio.ui.views.python_source_dialog import PythonSourceDialog

            with self._session.telling_failures():
                dialog = PythonSourceDialog(path.absolute(), self._window)
                dialog.accepted.connect(lambda: self._session.open_python(path.absolute(), dialog.project()))
                dialog.open()
            return
        self._session.open_path(path)
        if self._window.banner.failed is not None and path.is_file() and path.suffix.lower() in _NETRON:
            from studio.jobs.serve_netron import ServeNetron

            spec = ServeNetron(path=str(path.absolute()))
            self._window.banner.offer(
                self.tr("Open in Netron"), lambda: look_jobs.show_in_netron(self._session, spec, _open_url)
            )

    def open_sample(self) -> None:
        """Copies the sample project to a folder of the person's choice and opens it."""
        if not self.may_leave_project():
            return
        from studio.ui.sample import sample_folder

        with self._session.telling_failures():
            self._session.open_path(sample_folder() / "digits.studio")

    def save(self) -> bool:
        """Saves the project where it is, or asks for a place; returns whether it is on disk."""
        if self._session.project_path is None:
            return self.save_as()
        return self._session.save()

    def save_as(self) -> bool:
        """Asks for a place and saves there; returns whether it is on disk."""
        project, folder = self._session.project, self._session.folder
        if project is None or folder is None:
            return False
        first = self._session.project_path or folder / f"{project.name}{SUFFIX}"
        path, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Save the project"), str(first), self.tr("Projects") + f" (*{SUFFIX})"
        )
        if not path:
            return False
        return self._session.save(Path(path) if path.endswith(SUFFIX) else Path(path + SUFFIX))

    def close_project(self) -> None:
        """Back to the start page, after asking about unsaved changes."""
        if self.may_leave_project():
            self._session.close_project()

    def write_report(self) -> None:
        """Asks for a place and writes the report there."""
        from studio.ui.report_jobs import write_report

        project, folder = self._session.project, self._session.folder
        if project is None or folder is None:
            return
        path, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Write report"), str(folder / f"{project.name}.html"), "HTML (*.html)"
        )
        if path:
            write_report(self._session, Path(path), _show_file)

    def save_picture(self) -> None:
        """Asks for part, format and place, and saves the graph as a picture."""
        from studio.ui.views.picture_dialog import PictureDialog

        view = self._window.stage_area.graph_view
        if view is not None:
            PictureDialog(self._session, view.canvas, self._window).open()

    def open_in_netron(self) -> None:
        """Shows the current file in Netron, in the person's browser."""
        look_jobs.open_in_netron(self._session, _open_url)

    def may_leave_project(self) -> bool:
        """Whether nothing would be lost, or the person says so."""
        if not self._session.is_modified:
            return True
        answer = ask_to_save(self._window, self._session.project.name if self._session.project else "")
        return self.save() if answer == "save" else answer == "discard"
