"""`new PROJECT --model FILE`: a project file with the default recipe for the wanted targets.

The model and its data must be in the project's folder, so that the project works wherever the
folder goes; what is elsewhere is copied in, and said. Nothing is executed and nothing overwritten.

JSON: `{"project", "source", "format", "targets": [id], "steps": [{"id", "kind", "after"}], "copied": []}`.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli.data_options import add_data, evaluation_of, parse_input, preprocessing_of, split_factory
from studio.cli.options import Parser, add_targets, targets_of
from studio.cli.output import Output
from studio.errors import InputError
from studio.project import DataSet, Project
from studio.project.create import copy_into, new_project, source_format_of
from studio.project.places import SUFFIX, relative_to_folder
from studio.project.store import save_project
from studio.recipes.fingerprint import source_files
from studio.records import Record
from studio.targets import DEFAULT_TARGETS


class StepLine(Record):
    """A step of the recipe in short."""

    id: str
    kind: str
    after: str


class NewAnswer(Record):
    """What `new --json` prints. Paths are absolute."""

    project: str
    source: str
    format: str
    targets: tuple[str, ...]
    steps: tuple[StepLine, ...]
    copied: tuple[str, ...]


def parser() -> Parser:
    """The options of `new`."""
    result = Parser(
        "new",
        summary="Make a project from a model, with a recipe for the wanted targets.",
        example="deployment-studio new digits.studio --model digits.onnx --target ort/cpu\n"
        "deployment-studio new net.studio --model net.py:build --weights net.safetensors \\\n"
        "    --input image:float32:1,3,224,224 --calibration photos --size 224x224",
    )
    result.add_argument("project", help=f"the file to make, NAME{SUFFIX}")
    result.add_argument(
        "--model", required=True, metavar="FILE", help="ONNX, .pt2, TorchScript, or FILE.py:FUNCTION"
    )
    result.add_argument("--weights", default="", metavar="FILE", help="state dict for a Python model")
    result.add_argument(
        "--input", action="append", default=[], metavar="NAME:DTYPE:SHAPE",
        help="an input of a torch model, e.g. image:float32:1,3,224,224",
    )  # fmt: skip
    add_targets(result, text=f"a target, repeatable; default {' '.join(DEFAULT_TARGETS)}")
    add_data(result)
    result.add_argument("--soc", default="", metavar="SOC", help="the phone's SoC, e.g. SM8650")
    return result


def run(options: Namespace, output: Output) -> int:
    """Makes the project file; 0."""
    path = Path(options.project).absolute()
    if path.suffix != SUFFIX:
        path = path.with_name(path.name + SUFFIX)
    if path.exists():
        raise InputError(f"{path} is there already.", hint="Choose another name; nothing was changed.")
    model, factory = split_factory(options.model)
    project = new_project(
        model,
        targets_of(options.target, default=DEFAULT_TARGETS),
        name=path.stem,
        factory=factory,
        weights=_beside(options.weights, model),
        inputs=tuple(map(parse_input, options.input)),
        calibration=DataSet(path=options.calibration) if options.calibration else None,
        evaluation=evaluation_of(options),
    )
    project = _with_settings(project, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    project, copied = _bring_inside(project, model, path.parent)
    save_project(project, path)
    for file in copied:
        output.note(f"copied {file.relative_to(path.parent)} into {path.parent}")
    answer = NewAnswer(
        project=str(path),
        source=str(path.parent / project.source.path),
        format=source_format_of(model),
        targets=project.targets,
        steps=tuple(
            StepLine(id=s.id, kind=str(s.__struct_config__.tag), after=s.after) for s in project.recipe.steps
        ),
        copied=tuple(map(str, copied)),
    )
    output.result(answer, _text(answer))
    return 0


def _with_settings(project: Project, options: Namespace) -> Project:
    from studio.project.edit import set_preprocessing, set_soc

    return set_soc(set_preprocessing(project, preprocessing_of(options)), options.soc)


def _beside(weights: str, model: Path) -> str:
    return relative_to_folder(Path(weights), model.parent) if weights else ""


def _bring_inside(project: Project, model: Path, folder: Path) -> tuple[Project, list[Path]]:
    """The project with paths relative to `folder`; what lies elsewhere is copied there."""
    from msgspec.structs import replace

    copied: list[Path] = []
    source = project.source
    root = model.absolute().parent
    if _is_inside(model, folder):
        source = replace(source, path=relative_to_folder(model, folder))
        if source.weights:
            source = replace(source, weights=relative_to_folder(root / project.source.weights, folder))
    else:
        copied += copy_into(source_files(source, root), root, folder)
    data = {
        name: _data_inside(getattr(project, name), folder, copied) for name in ("calibration", "evaluation")
    }
    return replace(project, source=source, **data), copied


def _data_inside(data: DataSet | None, folder: Path, copied: list[Path]) -> DataSet | None:
    if data is None:
        return None
    found = []
    for text in (data.path, data.labels):
        path = Path(text)
        if not text or _is_inside(path, folder):
            found.append(relative_to_folder(path, folder) if text else "")
            continue
        if not path.exists():
            raise InputError(f"There is no data at {path}.", hint="Check the path.")
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        copied += copy_into(files, path.absolute().parent, folder)
        found.append(path.absolute().name)
    return DataSet(path=found[0], labels=found[1])


def _is_inside(path: Path, folder: Path) -> bool:
    return folder.resolve() in path.resolve().parents


def _text(answer: NewAnswer) -> str:
    steps = " → ".join(["source", *(s.id for s in answer.steps)])
    return (
        f"Made {answer.project}\n"
        f"  source   {answer.source} ({answer.format})\n"
        f"  targets  {', '.join(answer.targets)}\n"
        f"  recipe   {steps}\n"
        f"Next: deployment-studio run {answer.project}"
    )
