"""The torch source as something that can be called and exported: a module, a program or a script.

Python runs here and nowhere else, and only when the caller says that the folder is trusted.
Weights are read without pickle, or with `weights_only=True`; a `.pt2` of a folder that is not
trusted is checked before torch loads it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.paths import cache_dir
from studio.recipes.check_program import check_program, only_tensors
from studio.recipes.fingerprint import resolve
from studio.recipes.recipe import InputSpec
from studio.recipes.source import SourceModel

_EXAMPLE_DIM = 2  # for symbolic dims: 1 would be taken for a constant by torch.export (facts: broadcast)


@dataclass(frozen=True)
class TorchSource:
    """`call` is an eval-mode module; `program` is set for `.pt2`, `is_script` for TorchScript."""

    call: Any
    examples: tuple[Any, ...]
    input_names: tuple[str, ...]
    input_shapes: tuple[tuple[int | str, ...], ...]
    program: Any = None
    is_script: bool = False


def load_torch(
    source: SourceModel, folder: Path, *, trusted: bool, free_dim: int = _EXAMPLE_DIM
) -> TorchSource:
    """The source with example inputs whose free dims have the size `free_dim`.

    Raises InputError for everything its owner can mend.
    """
    path = resolve(folder, source.path)
    if path.suffix == ".py" and not trusted:
        raise InputError(
            f"{path.name} is Python code, and its folder is not trusted yet.",
            hint=f"Read it, then trust {path.parent} (in the window, or with --trust).",
        )
    import torch

    torch.set_num_threads(1)  # two threads were six times slower than one on a busy machine
    if path.suffix == ".py":
        module = _from_python(path, source, folder)
        return _with_examples(module, source, free_dim)
    if path.suffix == ".pt2":
        return _from_program(path, trusted)
    return _from_script(path, source, free_dim)


def _from_python(path: Path, source: SourceModel, folder: Path) -> Any:
    if not source.factory:
        raise InputError(
            f"The project does not say which function of {path.name} makes the model.",
            hint="Set the source's factory, for example “build”.",
        )
    module = _call_factory(path, source.factory)
    if source.weights:
        _load_weights(module, resolve(folder, source.weights))
    return module.eval()


def _call_factory(path: Path, factory: str) -> Any:
    """Imports the file with its own folder on the path and calls the factory."""
    import torch

    sys.pycache_prefix = str(cache_dir() / "pycache")  # a foreign __pycache__ is not part of the trust
    _forget_modules(path.parent)
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise InputError(f"{path} cannot be imported.", hint="Check the file.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        build = getattr(module, factory, None)
        if not callable(build):
            raise InputError(f"{path.name} has no function “{factory}”.", hint="Correct the factory's name.")
        torch.manual_seed(0)  # a factory without weights makes the same network every time
        made = build()
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path.name} failed at {_user_line(error, path.parent)}: {type(error).__name__}: {error}.",
            hint=f"Correct the code; {factory}() must run without arguments.",
        ) from None
    finally:
        sys.path.remove(str(path.parent))
    if not isinstance(made, torch.nn.Module):
        raise InputError(
            f"{factory}() of {path.name} returned {type(made).__name__}, not a torch.nn.Module.",
            hint="Return the network.",
        )
    return made


def _forget_modules(folder: Path) -> None:
    """Drops modules of this folder from an earlier load, and those that hide its files' names."""
    names = {file.stem for file in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/*.py")}
    for name in [n for n in sys.modules if n.split(".")[0] in names]:
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith(("torch", "studio")):
            del sys.modules[name]


def _user_line(error: BaseException, folder: Path) -> str:
    """“file:line” of the innermost frame in the user's folder."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(folder)]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}"
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "its first line"


def _load_weights(module: Any, path: Path) -> None:
    """Fills the module. Batch counters may be absent; anything else must match exactly."""
    import torch

    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            state = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        said = (str(error) or "damaged").splitlines()[0][:200].rstrip(".")
        if "weights only" in said.lower():  # torch goes on to advise loading it unsafely
            said = "it holds more than tensors, and may hold code"
        raise InputError(
            f"{path.name} is not a readable weights file: {said}.",
            hint="Save it with safetensors.torch.save_file(model.state_dict(), path).",
        ) from None
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict) or not all(isinstance(k, str) for k in state):
        raise InputError(f"{path.name} holds no state dict.", hint="Save model.state_dict().")
    try:
        missing, unexpected = module.load_state_dict(state, strict=False)
    except RuntimeError as error:  # shapes differ
        raise InputError(
            f"{path.name} does not fit the model: {str(error).splitlines()[-1].strip()}",
            hint="Use the weights of this very network.",
        ) from None
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unexpected:
        what = f"lacks “{missing[0]}”" if missing else f"has “{unexpected[0]}”, which the model lacks"
        more = len(missing) + len(unexpected) - 1
        raise InputError(
            f"{path.name} {what}" + (f" (and {more} more)." if more else "."),
            hint="Use the weights of this very network.",
        )


def _from_program(path: Path, trusted: bool) -> TorchSource:
    import torch

    if not trusted:
        check_program(path)

    try:
        with contextlib.nullcontext() if trusted else only_tensors():
            program = torch.export.load(path)
    except Exception as error:
        raise InputError(
            f"{path.name} is not a readable .pt2 program: {str(error).splitlines()[0][:200]}.",
            hint="Save it with torch.export.save(torch.export.export(model, args), path).",
        ) from None
    if program.example_inputs is None or program.example_inputs[1]:
        raise InputError(
            f"{path.name} carries no positional example inputs.",
            hint="Export it with positional arguments.",
        )
    examples = tuple(program.example_inputs[0])
    names = tuple(program.graph_signature.user_inputs)
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    shapes = tuple(
        tuple(d if isinstance(d, int) else str(d) for d in nodes[name].meta["val"].shape) for name in names
    )
    return TorchSource(
        call=program.module(), examples=examples, input_names=names, input_shapes=shapes, program=program
    )


def _from_script(path: Path, source: SourceModel, free_dim: int) -> TorchSource:
    import torch

    from studio.graph.torch_archive import refuse_file_operators

    refuse_file_operators(path)
    try:
        script = torch.jit.load(str(path), map_location="cpu")
    except Exception as error:
        text = str(error)
        if "constants.pkl" in text or "PytorchStreamReader" in text or "pickle" in text.lower():
            raise InputError(
                f"{path.name} is not a TorchScript program; it may be weights or a pickled module.",
                hint="Name the Python file that builds the network as the source, and this as its weights.",
            ) from None
        raise InputError(
            f"{path.name} cannot be loaded as TorchScript: {text.splitlines()[0][:200]}.",
            hint="Check that the file is complete.",
        ) from None
    made = _with_examples(script.eval(), source, free_dim)
    return TorchSource(
        call=made.call, examples=made.examples, input_names=made.input_names,
        input_shapes=made.input_shapes, is_script=True,
    )  # fmt: skip


def _with_examples(module: Any, source: SourceModel, free_dim: int) -> TorchSource:
    if not source.inputs:
        raise InputError(
            f"The project does not say which inputs {source.path} takes.",
            hint="Add the source's inputs: name, dtype and shape.",
        )
    return TorchSource(
        call=module,
        examples=tuple(example_input(spec, free_dim) for spec in source.inputs),
        input_names=tuple(spec.name for spec in source.inputs),
        input_shapes=tuple(spec.shape for spec in source.inputs),
    )


def example_input(spec: InputSpec, free_dim: int = _EXAMPLE_DIM) -> Any:
    """A tensor of the declared dtype and shape: reproducible random floats, integers 0 or 1."""
    import torch

    dtype = getattr(torch, spec.dtype, None)
    if not isinstance(dtype, torch.dtype):
        raise InputError(
            f"The input “{spec.name}” has the unknown dtype “{spec.dtype}”.", hint="For example float32."
        )
    shape = [dim if isinstance(dim, int) else free_dim for dim in spec.shape]
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        return torch.rand(shape, generator=generator).to(dtype)
    return torch.randint(0, 2, shape, generator=generator).to(dtype)


def dynamic_shapes(source: TorchSource, *, dynamic_batch: bool = False) -> tuple[dict[int, Any], ...] | None:
    """torch.export's description of the free dims, None when every dim is fixed.

    Equal names are one dimension. A batch asked for by the step is called “batch”.
    """
    import torch

    dims: dict[str, Any] = {}
    described = []
    for shape in source.input_shapes:
        free = {i: dim for i, dim in enumerate(shape) if isinstance(dim, str)}
        if dynamic_batch and shape:
            free.setdefault(0, "batch")
        described.append(
            {i: dims.setdefault(name, torch.export.Dim(_identifier(name))) for i, name in free.items()}
        )
    return tuple(described) if any(described) else None


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name)
    return made if made and not made[0].isdigit() else f"dim_{made}"
