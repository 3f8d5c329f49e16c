"""Whether a `.pt2` program only computes: read from its JSON before torch touches it.

*Why:* `torch.export.load` resolves any name below `torch` as a function to call (so also
`torch.os.system`), evaluates shape expressions and guards as Python, and unpickles weights. A file
from a stranger is therefore loaded only when its nodes call known tensor operators, its
expressions are arithmetic, and unpickling is limited to tensors. What this refuses can still be
loaded after the user has trusted the folder. (Read in torch 2.13, `_export/serde/serialize.py`.)
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from studio.errors import InputError

_LARGEST_JSON = 512 << 20
_OPERATOR = re.compile(
    r"torch\.ops\.(aten|prims?|quantized|quantized_decomposed|torchao|torchvision|rnn|executorch|dim_order_ops)"
    r"\.\w+\.\w+$|torch\.ops\.higher_order\.\w+$|torch\.sym_\w+$|math\.\w+$"
    r"|_operator\.(?!methodcaller|attrgetter|itemgetter|call)\w+$"
)
_WORD = re.compile(r"\w*$")
_CALLS = frozenset(
    (
        "Symbol", "Integer", "Float", "Rational", "Add", "Mul", "Pow", "Mod", "Max", "Min", "Abs", "And",
        "Or", "Not", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Equality", "Unequality", "StrictLessThan",
        "LessThan", "StrictGreaterThan", "GreaterThan", "Piecewise", "ExprCondPair", "Where", "PythonMod",
        "CleanDiv", "CeilDiv", "CeilToInt", "FloorToInt", "FloorDiv", "ModularIndexing", "IntTrueDiv",
        "FloatTrueDiv", "TruncToInt", "TruncToFloat", "RoundToInt", "RoundDecimal", "ToFloat",
        "IsNonOverlappingAndDenseIndicator", "PowByNatural", "FloatPow", "LShift", "RShift", "Identity",
        "ceiling", "floor", "sqrt", "OpaqueUnaryFn_sqrt", "len", "size", "dim",
    )
)  # fmt: skip
_EXPRESSION_NODES = (
    ast.Expression, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp,
    ast.BoolOp, ast.Compare, ast.Subscript, ast.Attribute, ast.Tuple, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop,
)  # fmt: skip


@contextlib.contextmanager
def only_tensors() -> Iterator[None]:
    """Within it, torch unpickles tensors and nothing else, also where torch itself asks for more."""
    name = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def check_program(path: Path) -> None:
    """Raises InputError when a `.pt2` file is damaged or asks for more than tensor operators."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if re.search(r"(^|/)models/[^/]+\.json$", n)]
            if not names:
                raise _refused(path, "it is of an older kind that cannot be checked")
            for name in names:
                if archive.getinfo(name).file_size > _LARGEST_JSON:
                    raise InputError(
                        f"The program in {path.name} is too large to check.", hint="Trust the folder."
                    )
                _check(json.loads(archive.read(name)), path)
    except (OSError, zipfile.BadZipFile, ValueError, RecursionError) as error:
        raise InputError(
            f"{path.name} is not a readable .pt2 program: {str(error)[:200] or type(error).__name__}.",
            hint="Save it with torch.export.save(torch.export.export(model, args), path).",
        ) from None


def _check(value: object, path: Path, key: str = "") -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "as_custom_obj" or (name == "custom_obj_values" and inner):
                raise _refused(path, "it holds a custom object")
            _check(inner, path, name)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, path, key)
    elif isinstance(value, str):
        if key in ("target", "as_operator") and not _OPERATOR.match(value):
            raise _refused(path, f"it calls “{value[:80]}”, which is no tensor operator")
        if key in ("expr_str", "as_expr", "guards_code") and not _is_arithmetic(value):
            raise _refused(path, f"it holds the expression “{value[:80]}”")
        if key in ("in_spec", "out_spec") and "default_factory" in value:
            raise _refused(path, "its inputs or outputs are of a foreign type")


def _is_arithmetic(text: str) -> bool:
    """Whether an expression has only numbers, plain names, comparisons and known functions."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _EXPRESSION_NODES):
            return False
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name not in _CALLS:
                return False
        if isinstance(node, ast.Attribute) and node.attr not in ("shape", "size", "dim"):
            return False
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            return False
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _WORD.match(node.value):
            return False
    return True


def _refused(path: Path, why: str) -> InputError:
    return InputError(
        f"{path.name} could run code of its own: {why}.",
        hint=f"Load it only if you know who made it: trust {path.parent} first.",
    )
