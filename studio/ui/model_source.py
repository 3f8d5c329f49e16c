"""From a model file to a project that is not saved yet: what can be known without running anything."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec.structs import replace

from studio.artifact import hash_file
from studio.devices import RunSettings
from studio.errors import InputError
from studio.project import Project, SourceModel
from studio.recipes.recipe import InputSpec
from studio.targets import DEFAULT_TARGETS, TARGETS

_WEIGHTS = (".safetensors", ".pt", ".pth", ".bin")


def project_of_model(path: Path) -> Project:
    """A project for a model file with the default recipe; without steps for a file that is only looked at.

    Raises InputError when the file is no model at all.
    """
    from studio.graph import detect_format
    from studio.project.create import new_project
    from studio.support.lowered_file import lowered_targets

    file_format = detect_format(path)
    compiled = lowered_targets(path, file_format)  # what takes the file comes first: it is looked at for it
    if file_format in ("onnx", "pt2", "pt"):
        project = new_project(path, (*compiled, *DEFAULT_TARGETS))
        return project if not compiled else replace(project, run_settings=RunSettings(target=compiled[0]))
    fitting = tuple(t.id for t in TARGETS.values() if file_format in t.formats and not t.needs_soc)
    wanted = tuple(dict.fromkeys((*compiled, *fitting)))
    return Project(
        name=path.stem,
        source=SourceModel(path=path.name, sha256=hash_file(path)),
        targets=wanted[:4] or DEFAULT_TARGETS,
        run_settings=RunSettings(target=wanted[0] if wanted else "ort/cpu"),
    )


def python_project(path: Path, factory: str, weights: str, inputs: tuple[InputSpec, ...]) -> Project:
    """A project for a Python source. Raises InputError when the file cannot be read."""
    from studio.project.create import new_project

    return new_project(path, DEFAULT_TARGETS, factory=factory, weights=weights, inputs=inputs)


def factories_in(path: Path) -> list[str]:
    """Functions of a Python file that can be called without arguments; the file is parsed, never run.

    Raises InputError when it is not Python.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{path.name} is not Python that can be read: {error}.", hint="Mend it.") from None
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            needed = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
            needed += sum(default is None for default in node.args.kw_defaults)
            if needed == 0:
                found.append(node.name)
    return found


def weights_beside(path: Path) -> list[str]:
    """Names of files in the same folder that may hold the state dict."""
    try:
        return sorted(f.name for f in path.parent.iterdir() if f.suffix in _WEIGHTS and f.is_file())
    except OSError:
        return []


def parse_inputs(text: str) -> tuple[InputSpec, ...]:
    """Inputs written as `name dtype 1x3x224x224`, one per line; `dtype` may be left out.

    Raises InputError naming the line.
    """
    result = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if not 2 <= len(words) <= 3:
            raise InputError(
                f"Line {number}: “{line}” is not an input.", hint="Write: image float32 1x3x224x224"
            )
        dims = tuple(int(d) if d.isdigit() else d for d in words[-1].replace("×", "x").split("x"))
        if not all((isinstance(d, int) and d > 0) or (isinstance(d, str) and d.isidentifier()) for d in dims):
            raise InputError(f"Line {number}: “{words[-1]}” is not a shape.", hint="Write: 1x3x224x224")
        result.append(InputSpec(name=words[0], dtype=words[1] if len(words) == 3 else "float32", shape=dims))
    return tuple(result)
