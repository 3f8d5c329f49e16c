"""The application: translator, theme, excepthook, session, main window. `run` is the window's entry."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTimer, QTranslator
from PySide6.QtWidgets import QApplication

from studio import __version__, paths
from studio.jobs.job import Failed
from studio.ui import device_jobs, domain_texts, theme
from studio.ui.icons import icon
from studio.ui.main_window import MainWindow
from studio.ui.preferences import load_preferences
from studio.ui.session import Session
from studio.ui.translations import qm_file

_log = logging.getLogger("studio.ui")
_AUTO_CHECK_MS = 200  # Python sees Ctrl+C only between its own instructions


class Studio(QObject):
    """Holds what lives as long as the application: session, translators, the window of this language."""

    def __init__(self, app: QApplication, session: Session | None = None) -> None:
        super().__init__(app)
        self._app = app
        self._translators: list[QTranslator] = []
        preferences = load_preferences()
        self._choice = preferences.theme
        theme.apply(app, self._choice)
        self._install_language(preferences.language)
        self.session = session or Session(self)
        self.session.preferences_changed.connect(self._on_preferences)
        app.styleHints().colorSchemeChanged.connect(lambda _scheme: self._wear(self._choice))
        self.window = self._make_window()

    def start(self, argv_paths: Sequence[str]) -> None:
        """Shows the window, opens the first path, then does what can wait until it is painted."""
        self.window.show()
        if argv_paths:
            self.window.files.open_path(Path(argv_paths[0]))
        QTimer.singleShot(0, self._after_first_paint)

    def _after_first_paint(self) -> None:
        device_jobs.watch_devices(self.session)
        self.session.runner.prewarm()
        if self.session.project is None:
            self._offer_recovery()

    def _offer_recovery(self) -> None:
        from studio.project.recovery import find_recoverable

        found = find_recoverable()
        if found:
            from studio.ui.views.recovery_dialog import RecoveryDialog

            RecoveryDialog(self.session, found, self.window).open()

    def _make_window(self) -> MainWindow:
        window = MainWindow(self.session)
        window.rebuild_requested.connect(self._rebuild)
        return window

    def _rebuild(self) -> None:
        """Another language: a new window over the same session."""
        old = self.window
        old.save_layout()
        self._install_language(self.session.preferences.language)
        self.window = self._make_window()
        self.window.show()
        old.hide()
        old.deleteLater()

    def _on_preferences(self) -> None:
        if self.session.preferences.theme is not self._choice:
            self._wear(self.session.preferences.theme)

    def _wear(self, choice: theme.ThemeChoice) -> None:
        self._choice = choice
        theme.apply(self._app, choice)
        for widget in self._app.allWidgets():
            widget.update()

    def _install_language(self, language: str) -> None:
        for old in self._translators:
            self._app.removeTranslator(old)
        self._translators = []
        if language == "system":
            language = domain_texts.system_language()
        domain_texts.set_language(language)
        QLocale.setDefault(QLocale(language))
        if language == "en":
            return
        qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        for path in (Path(qt_folder) / f"qtbase_{language}.qm", qm_file(language)):
            translator = QTranslator(self)
            if path is not None and translator.load(str(path)):
                self._app.installTranslator(translator)
                self._translators.append(translator)


class ExceptionHook:
    """Shows and logs what nobody caught; the window stays."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._studio.window.close()
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        _log.error("Uncaught exception\n%s", text)
        failed = Failed(
            error="bug",
            message=f"The studio made a mistake: {kind.__name__}: {error}",
            hint=f"Your project is kept. Please report it with the details, which {log_file()} keeps too.",
            detail=text[-20_000:],
        )
        QTimer.singleShot(0, self._studio.session, lambda: self._studio.session.failed.emit(failed))


def log_file() -> Path:
    """Where the window writes what went wrong."""
    return paths.data_dir() / "window.log"


def _start_log() -> None:
    handler = RotatingFileHandler(log_file(), maxBytes=1 << 20, backupCount=2, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger("studio").addHandler(handler)


def make_application() -> QApplication:
    """The QApplication with its name; the existing one when there is one already."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("deployment-studio")
    app.setApplicationDisplayName("Deployment Studio")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("deployment-studio")
    app.setWindowIcon(icon("app", "#2563c9"))
    return app


def run(argv_paths: Sequence[str] = ()) -> int:
    """Shows the window until it is closed, and returns the exit code. Opens the first of the paths."""
    _start_log()
    app = make_application()
    studio = Studio(app)
    sys.excepthook = ExceptionHook(studio)
    ticker = QTimer()
    if os.name == "posix":
        signal.signal(signal.SIGINT, lambda *_: studio.window.close())
        signal.signal(signal.SIGTERM, lambda *_: studio.window.close())
        ticker.timeout.connect(lambda: None)
        ticker.start(_AUTO_CHECK_MS)
    studio.start(argv_paths)
    try:
        return int(app.exec())
    finally:
        sys.excepthook = sys.__excepthook__
