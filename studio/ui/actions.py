"""Actions: everything that can be done, as one table. Menus, toolbar and palette are made from it.

A row is frozen data; `run` gets the commands, `enabled_when` and `checked_when` the session. Titles
are English source, marked for translation here and translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.ui import fact_jobs
from studio.ui.commands import Commands
from studio.ui.graph_overlays import OVERLAYS
from studio.ui.graph_tools import has_bodies
from studio.ui.job_runner import WATCH
from studio.ui.light_edits import can_edit, can_edit_node, can_rename
from studio.ui.session import Selection, Session
from studio.ui.texts import QT_TRANSLATE_NOOP, translate


def _always(session: Session) -> bool:
    return True


def _has_project(session: Session) -> bool:
    return session.project is not None


def _has_graph(session: Session) -> bool:
    return session.opened is not None


def _has_file(session: Session) -> bool:
    return session.current_stage is not None and session.current_stage.path is not None


def _has_pte(session: Session) -> bool:
    stage = session.current_stage
    return stage is not None and stage.path is not None and stage.path.suffix == ".pte"


def _has_steps(session: Session) -> bool:
    return session.project is not None and bool(session.project.recipe.steps)


def _can_undo(session: Session) -> bool:
    return session.history is not None and session.history.can_undo


def _can_redo(session: Session) -> bool:
    return session.history is not None and session.history.can_redo


def _has_node(session: Session) -> bool:
    return session.opened is not None and session.selection.node is not None


def _has_edge(session: Session) -> bool:
    return session.opened is not None and session.selection.tensor is not None


def _has_scope(session: Session) -> bool:
    return session.opened is not None and session.selection.scope is not None


def _has_selection(session: Session) -> bool:
    return session.opened is not None and session.selection != Selection()


def _hides_constants(session: Session) -> bool:
    return session.opened is not None and session.opened.view.hide_constants


def _hides_shapes(session: Session) -> bool:
    return session.opened is not None and session.opened.view.hide_shape_arithmetic


def _has_job(session: Session) -> bool:
    return any(job.lane != WATCH and not job.is_over for job in session.jobs)


def _is_running(session: Session) -> bool:
    return bool(session.run_jobs)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done. `menu` is the id of a row of MENUS."""

    id: str
    menu: str
    title: str
    run: Callable[[Commands], object]
    shortcut: str = ""
    icon: str = ""
    enabled_when: Callable[[Session], bool] = _always
    checked_when: Callable[[Session], bool] | None = None
    starts_group: bool = False
    context: str = "actions"

    def text(self) -> str:
        """The title in the language of the window."""
        return translate(self.context, self.title)


def _overlay_actions() -> tuple[Action, ...]:
    """One row per overlay, with the number keys."""
    return tuple(
        Action(
            f"overlay.{overlay}",
            "overlay",
            title,
            lambda c, o=overlay: c.session.set_overlay(o),  # type: ignore[misc]
            f"Alt+{number}",
            enabled_when=_has_graph,
            checked_when=lambda session, o=overlay: session.overlay == o,  # type: ignore[misc]
            context="TargetBar",
        )
        for number, (overlay, title) in enumerate(OVERLAYS, 1)
    )


MENUS: tuple[tuple[str, str], ...] = (
    ("file", QT_TRANSLATE_NOOP("actions", "&File")),
    ("edit", QT_TRANSLATE_NOOP("actions", "&Edit")),
    ("view", QT_TRANSLATE_NOOP("actions", "&View")),
    ("graph", QT_TRANSLATE_NOOP("actions", "&Graph")),
    ("overlay", QT_TRANSLATE_NOOP("actions", "&Overlay")),
    ("model", QT_TRANSLATE_NOOP("actions", "&Model")),
    ("run", QT_TRANSLATE_NOOP("actions", "&Run")),
    ("device", QT_TRANSLATE_NOOP("actions", "&Device")),
    ("help", QT_TRANSLATE_NOOP("actions", "&Help")),
)

ACTIONS: tuple[Action, ...] = (
    Action("file.open", "file", QT_TRANSLATE_NOOP("actions", "&Open…"), lambda c: c.files.open_dialog(),
           "Ctrl+O", "open"),
    Action("file.sample", "file", QT_TRANSLATE_NOOP("actions", "Tr&y the sample"),
           lambda c: c.files.open_sample(), icon="sample"),
    Action("file.beside", "file", QT_TRANSLATE_NOOP("actions", "Open &beside, to compare…"),
           lambda c: c.files.open_beside_dialog(), enabled_when=_has_project),
    Action("file.etrecord", "file", QT_TRANSLATE_NOOP("actions", "Open &ETRecord…"),
           lambda c: c.files.open_etrecord_dialog(), enabled_when=_has_pte),
    Action("file.save", "file", QT_TRANSLATE_NOOP("actions", "&Save"), lambda c: c.files.save(),
           "Ctrl+S", "save", _has_project, starts_group=True),
    Action("file.save_as", "file", QT_TRANSLATE_NOOP("actions", "Save &as…"), lambda c: c.files.save_as(),
           "Ctrl+Shift+S", enabled_when=_has_project),
    Action("file.report", "file", QT_TRANSLATE_NOOP("actions", "&Write report…"),
           lambda c: c.files.write_report(), enabled_when=_has_project),
    Action("file.close", "file", QT_TRANSLATE_NOOP("actions", "&Close project"),
           lambda c: c.files.close_project(), "Ctrl+W", enabled_when=_has_project, starts_group=True),
    Action("file.settings", "file", QT_TRANSLATE_NOOP("actions", "Se&ttings…"),
           lambda c: c.show_settings(), "Ctrl+,", "settings", starts_group=True),
    Action("file.quit", "file", QT_TRANSLATE_NOOP("actions", "&Quit"), lambda c: c.close(), "Ctrl+Q"),
    Action("edit.undo", "edit", QT_TRANSLATE_NOOP("actions", "&Undo"), lambda c: c.session.undo(),
           "Ctrl+Z", "undo", _can_undo),
    Action("edit.redo", "edit", QT_TRANSLATE_NOOP("actions", "&Redo"), lambda c: c.session.redo(),
           "Ctrl+Shift+Z", "redo", _can_redo),
    Action("edit.copy_node", "edit", QT_TRANSLATE_NOOP("actions", "&Copy node as text"),
           lambda c: c.window.node_panel.copy_node(), "Ctrl+Shift+C", "copy", _has_node, starts_group=True),
    Action("edit.copy_problems", "edit", QT_TRANSLATE_NOOP("actions", "Copy &problems as Markdown"),
           lambda c: c.window.problem_panel.copy_markdown(), enabled_when=_has_graph),
    Action("edit.copy_name", "edit", QT_TRANSLATE_NOOP("actions", "Copy its &name"),
           lambda c: c.graph_tools.copy_name(), enabled_when=_has_selection),
    Action("edit.rename", "edit", QT_TRANSLATE_NOOP("actions", "R&ename…"),
           lambda c: c.graph_tools.rename(), "F2", enabled_when=can_rename, starts_group=True),
    Action("edit.attribute", "edit", QT_TRANSLATE_NOOP("actions", "Set an &attribute…"),
           lambda c: c.graph_tools.set_attribute(), "Ctrl+Shift+A", enabled_when=can_edit_node),
    Action("edit.remove", "edit", QT_TRANSLATE_NOOP("actions", "Re&move the node"),
           lambda c: c.graph_tools.remove_node(), "Ctrl+Delete", enabled_when=can_edit_node),
    Action("edit.cut", "edit", QT_TRANSLATE_NOOP("actions", "Cu&t out, choose inputs and outputs…"),
           lambda c: c.graph_tools.cut_out(), "Ctrl+Shift+X", enabled_when=can_edit),
    Action("edit.freeze", "edit", QT_TRANSLATE_NOOP("actions", "Fix si&zes of dims…"),
           lambda c: c.graph_tools.freeze_dims(), enabled_when=can_edit),
    Action("edit.find", "edit", QT_TRANSLATE_NOOP("actions", "&Find in the graph"),
           lambda c: c.find_in_graph(), "Ctrl+F", "search", _has_graph, starts_group=True),
    Action("view.palette", "view", QT_TRANSLATE_NOOP("actions", "Command &palette…"),
           lambda c: c.palette_requested.emit(), "Ctrl+K"),
    Action("view.fit", "view", QT_TRANSLATE_NOOP("actions", "Show the whole &graph"),
           lambda c: c.on_canvas("fit"), "Ctrl+0", "fit", _has_graph, starts_group=True),
    Action("view.width", "view", QT_TRANSLATE_NOOP("actions", "Fit the &width"),
           lambda c: c.on_canvas("fit_width"), "Ctrl+9", enabled_when=_has_graph),
    Action("view.actual", "view", QT_TRANSLATE_NOOP("actions", "&Actual size"),
           lambda c: c.on_canvas("zoom_to_scale", 1.0), "Ctrl+1", enabled_when=_has_graph),
    Action("view.back", "view", QT_TRANSLATE_NOOP("actions", "&Back to the last place"),
           lambda c: c.on_canvas("go_back"), "Alt+Left", "previous", _has_graph),
    Action("view.forward", "view", QT_TRANSLATE_NOOP("actions", "&Forward"),
           lambda c: c.on_canvas("go_forward"), "Alt+Right", "next", _has_graph),
    Action("view.matrix", "view", QT_TRANSLATE_NOOP("actions", "Operators × targets &matrix"),
           lambda c: c.window.stage_area.show_tab("matrix"), "Ctrl+M", "matrix", _has_graph,
           starts_group=True),
    Action("view.compare", "view", QT_TRANSLATE_NOOP("actions", "&Compare stages"),
           lambda c: c.window.stage_area.show_tab("compare"), "Ctrl+D", "compare", _has_graph),
    Action("view.picture", "view", QT_TRANSLATE_NOOP("actions", "&Save picture…"),
           lambda c: c.files.save_picture(), "Ctrl+Shift+P", "picture", _has_graph),
    Action("view.table", "view", QT_TRANSLATE_NOOP("actions", "Save &table of nodes…"),
           lambda c: c.graph_tools.save_table(), enabled_when=_has_graph),
    Action("view.netron", "view", QT_TRANSLATE_NOOP("actions", "Open in &Netron"),
           lambda c: c.files.open_in_netron(), icon="link", enabled_when=_has_file),
    Action("view.reset", "view", QT_TRANSLATE_NOOP("actions", "&Reset layout of the window"),
           lambda c: c.reset_requested.emit(), starts_group=True),
    Action("graph.bookmark", "graph", QT_TRANSLATE_NOOP("actions", "Add a &bookmark"),
           lambda c: c.graph_tools.add_bookmark(), "Ctrl+B", enabled_when=_has_node),
    Action("graph.bookmarks", "graph", QT_TRANSLATE_NOOP("actions", "Boo&kmarks…"),
           lambda c: c.graph_tools.show_bookmarks(), "Ctrl+Shift+B", enabled_when=_has_project),
    Action("graph.follow", "graph", QT_TRANSLATE_NOOP("actions", "&Follow the edge to its other end"),
           lambda c: c.graph_tools.follow_edge(), "Ctrl+E", enabled_when=_has_edge, starts_group=True),
    Action("graph.start_path", "graph", QT_TRANSLATE_NOOP("actions", "&Start a path here"),
           lambda c: c.graph_tools.start_path(), "Ctrl+P", enabled_when=_has_node),
    Action("graph.show_path", "graph", QT_TRANSLATE_NOOP("actions", "Show the &path to here"),
           lambda c: c.graph_tools.show_path(), "Ctrl+Alt+P", enabled_when=_has_node),
    Action("graph.clear", "graph", QT_TRANSLATE_NOOP("actions", "Show &all at full strength"),
           lambda c: c.on_graph("clear_focus"), "Ctrl+Alt+A", enabled_when=_has_graph),
    Action("graph.collapse", "graph", QT_TRANSLATE_NOOP("actions", "&Close all scopes"),
           lambda c: c.on_graph("show_depth", 1), "Ctrl+Shift+Up", enabled_when=_has_graph,
           starts_group=True),
    Action("graph.depth2", "graph", QT_TRANSLATE_NOOP("actions", "Open scopes to depth &2"),
           lambda c: c.on_graph("show_depth", 2), "Ctrl+Alt+2", enabled_when=_has_graph),
    Action("graph.depth3", "graph", QT_TRANSLATE_NOOP("actions", "Open scopes to depth &3"),
           lambda c: c.on_graph("show_depth", 3), "Ctrl+Alt+3", enabled_when=_has_graph),
    Action("graph.expand", "graph", QT_TRANSLATE_NOOP("actions", "&Open all scopes"),
           lambda c: c.on_graph("show_depth", 0), "Ctrl+Shift+Down", enabled_when=_has_graph),
    Action("graph.scope", "graph", QT_TRANSLATE_NOOP("actions", "Open or close this scop&e"),
           lambda c: c.graph_tools.toggle_scope(), enabled_when=_has_scope),
    Action("graph.bodies", "graph", QT_TRANSLATE_NOOP("actions", "Open or close its bod&y in place"),
           lambda c: c.graph_tools.toggle_bodies(), enabled_when=has_bodies),
    Action("graph.blocks", "graph", QT_TRANSLATE_NOOP("actions", "Compare with the ne&xt block like it…"),
           lambda c: c.graph_tools.compare_block(), enabled_when=_has_scope),
    Action("graph.constants", "graph", QT_TRANSLATE_NOOP("actions", "&Hide constants"),
           lambda c: c.on_graph("toggle_hidden", "hide_constants"), enabled_when=_has_graph,
           checked_when=_hides_constants, starts_group=True),
    Action("graph.shapes", "graph", QT_TRANSLATE_NOOP("actions", "Hide shape arith&metic"),
           lambda c: c.on_graph("toggle_hidden", "hide_shape_arithmetic"), enabled_when=_has_graph,
           checked_when=_hides_shapes),
    *_overlay_actions(),
    Action("model.targets", "model", QT_TRANSLATE_NOOP("actions", "Choose &targets…"),
           lambda c: c.choose_targets(), "Ctrl+T", "plus", _has_project),
    Action("model.next_target", "model", QT_TRANSLATE_NOOP("actions", "&Next target"),
           lambda c: c.next_target(), "Ctrl+Tab", enabled_when=_has_project),
    Action("model.next_problem", "model", QT_TRANSLATE_NOOP("actions", "Next &problem"),
           lambda c: c.window.problem_panel.next_problem(), "F8", enabled_when=_has_graph),
    Action("model.ask", "model", QT_TRANSLATE_NOOP("actions", "&Ask the real tools"),
           lambda c: c.ask_tools(), enabled_when=_has_graph),
    Action("model.profile", "model", QT_TRANSLATE_NOOP("actions", "Pro&file the nodes on This computer"),
           lambda c: fact_jobs.profile_nodes(c.session), enabled_when=fact_jobs.can_profile),
    Action("model.layers", "model", QT_TRANSLATE_NOOP("actions", "Compare the &layers…"),
           lambda c: c.compare_layers(), enabled_when=_has_graph),
    Action("model.wizard", "model", QT_TRANSLATE_NOOP("actions", "&Wizard…"),
           lambda c: c.show_wizard(""), "Ctrl+Return", "wizard", _has_project, starts_group=True),
    Action("run.all", "run", QT_TRANSLATE_NOOP("actions", "&Run the recipe"),
           lambda c: c.run_steps(), "F5", "play", _has_steps),
    Action("run.again", "run", QT_TRANSLATE_NOOP("actions", "Run everything a&new"),
           lambda c: c.run_steps(force=True), "Shift+F5", enabled_when=_has_steps),
    Action("run.cancel", "run", QT_TRANSLATE_NOOP("actions", "&Cancel the running job"),
           lambda c: c.window.job_bar.cancel_shown(), "Ctrl+.", enabled_when=_has_job),
    Action("device.deploy", "device", QT_TRANSLATE_NOOP("actions", "&Deploy && run…"),
           lambda c: c.show_deploy(), "F6", "play", _has_project),
    Action("device.stop", "device", QT_TRANSLATE_NOOP("actions", "&Stop all runs"),
           lambda c: c.stop_runs(), "Shift+F6", "stop", _is_running),
    Action("device.connect", "device", QT_TRANSLATE_NOOP("actions", "&Connect over the network…"),
           lambda c: c.connect_device(), starts_group=True),
    Action("device.virtual", "device", QT_TRANSLATE_NOOP("actions", "Add a &virtual phone"),
           lambda c: c.add_virtual_phone()),
    Action("help.contents", "help", QT_TRANSLATE_NOOP("actions", "&Help"), lambda c: c.show_help(),
           "F1", "help"),
    Action("help.keys", "help", QT_TRANSLATE_NOOP("actions", "&Keyboard shortcuts"),
           lambda c: c.show_help("keys")),
    Action("help.about", "help", QT_TRANSLATE_NOOP("actions", "&About Deployment Studio"),
           lambda c: c.show_about(), icon="info", starts_group=True),
)  # fmt: skip
