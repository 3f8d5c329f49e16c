"""Another opset: by ONNX's version converter, else by relabelling what is valid in both."""

from __future__ import annotations

from typing import Any

from studio.errors import InputError, UnsupportedError
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import keep_lines, label, nothing_to_do


def up(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """The model in the opset asked. Raises UnsupportedError when it is there or beyond."""
    wanted = options.opset
    if wanted < edit.opset:
        raise nothing_to_do(f"the model is in opset {edit.opset}, newer than {wanted}")
    return _change(edit, wanted)


def down(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """The model in the opset asked. Raises UnsupportedError when it is there or below."""
    wanted = options.opset
    if wanted > edit.opset:
        raise nothing_to_do(f"the model is in opset {edit.opset}, older than {wanted}")
    return _change(edit, wanted)


def _change(edit: OnnxEdit, wanted: int) -> Rewrite:
    """The model in another opset. Raises UnsupportedError naming the operator that cannot follow."""
    import onnx

    newest = onnx.defs.onnx_opset_version()
    if not 7 <= wanted <= newest:
        raise InputError(f"Opset {wanted} cannot be made here.", hint=f"Choose 7 to {newest}.")
    if wanted == edit.opset:
        raise nothing_to_do(f"the model is in opset {wanted} already")
    converted = _by_converter(edit.model, wanted) or _relabelled(edit, wanted)
    made = OnnxEdit(converted)
    if made.opset != wanted:
        raise UnsupportedError(
            f"The converter left the model in opset {made.opset}.", hint="Export from the source instead."
        )
    keep_lines(edit.model, converted)
    return Rewrite(models=[("", converted)], changed=(f"opset {edit.opset} → {wanted}",), tolerance=1e-5)


def _by_converter(model: Any, wanted: int) -> Any | None:
    """The converter's model, None when it has no way (it has few downwards)."""
    import onnx

    try:
        return onnx.version_converter.convert_version(model, wanted)
    except Exception:  # bare RuntimeErrors of the C++ side
        return None


def _relabelled(edit: OnnxEdit, wanted: int) -> Any:
    """The same nodes under another opset number, if every one of them is valid there.

    That the meaning stayed is not assumed but proven afterwards, as for every fix.
    """
    import onnx

    for node in edit.nodes:
        if node.domain not in ("", "ai.onnx"):
            continue
        try:
            schema = onnx.defs.get_schema(node.op_type, wanted, "")
        except onnx.defs.SchemaError:
            raise _cannot(edit, wanted, f"{node.op_type} does not exist there", node) from None
        unknown = [a.name for a in node.attribute if a.name not in schema.attributes]
        if unknown:
            raise _cannot(edit, wanted, f"{node.op_type} has no {unknown[0]} there", node)
        if len(node.input) > schema.max_input:
            raise _cannot(edit, wanted, f"{node.op_type} takes {schema.max_input} inputs there", node)
    model = type(edit.model)()
    model.CopyFrom(edit.model)
    for entry in model.opset_import:
        if entry.domain in ("", "ai.onnx"):
            entry.version = wanted
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # the checker and shape inference raise their own families
        raise _cannot(edit, wanted, str(error).strip().splitlines()[0]) from None
    return model


def _cannot(edit: OnnxEdit, wanted: int, reason: str, node: Any = None) -> UnsupportedError:
    return UnsupportedError(
        f"The model cannot go from opset {edit.opset} to {wanted}: {reason}.",
        hint="Export from the source with that opset instead.",
        nodes=(label(node),) if node is not None else (),
    )
