"""Light edits of an ONNX graph: rename, remove, set an attribute, cut out, choose outputs, freeze a dim.

An edit is plain data and always part of a recipe's edit step, so that it can be undone and is done
again on the next export. Unlike a fix it may change what the model computes: nothing is proven,
the result is only checked to be a valid model. Nodes are named by their name or, where that is
missing or doubled, by a tensor that they make.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.onnx_inference import inferred
from studio.recipes.edit_records import (
    AttributeSetting,
    CutOut,
    Edit,
    FreezeDim,
    RemoveNode,
    RenameNode,
    RenameTensor,
    SetAttribute,
)
from studio.recipes.fixes.made_inputs import dim_name, open_dims
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import label


def apply_edits(path: Path, edits: tuple[Edit, ...], out: Path) -> tuple[str, ...]:
    """Writes the edited model to `out` and returns a sentence per edit.

    Raises InputError for a name that is not there, a value that does not fit, or a result that is
    no valid model; nothing is written then.
    """
    import onnx

    from studio.records import write_atomically

    edit = OnnxEdit.load(path)
    done = [_apply(edit, one) for one in edits]
    try:
        onnx.checker.check_model(edit.model, full_check=True)
    except Exception as error:  # the checker and shape inference raise their own families
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"After these edits {path.name} is no valid model: {first}", hint="Undo the last edit."
        ) from None
    write_atomically(out, edit.model.SerializeToString())
    return tuple(done)


def _apply(edit: OnnxEdit, one: Edit) -> str:
    if isinstance(one, RenameNode):
        return _rename_node(edit, one)
    if isinstance(one, RenameTensor):
        return _rename_tensor(edit, one)
    if isinstance(one, RemoveNode):
        return _remove(edit, one)
    if isinstance(one, SetAttribute):
        return _set_attribute(edit, one)
    if isinstance(one, CutOut):
        return _cut_out(edit, one)
    return _freeze(edit, one)


def _rename_node(edit: OnnxEdit, one: RenameNode) -> str:
    node = edit.find(one.node)
    if not one.name or any(n.name == one.name for n in edit.nodes):
        raise InputError(f"A node cannot be called “{one.name}”.", hint="Choose a name that is not taken.")
    node.name = one.name
    return f"{one.node} is called {one.name}"


def _rename_tensor(edit: OnnxEdit, one: RenameTensor) -> str:
    graph = edit.model.graph
    names = {n for node in graph.node for n in [*node.input, *node.output]}
    names |= {v.name for v in [*graph.input, *graph.output, *graph.initializer]}
    if one.tensor not in names:
        raise InputError(f"There is no tensor {one.tensor}.", hint="Name one of the main graph.")
    if not one.name or one.name in names:
        raise InputError(f"A tensor cannot be called “{one.name}”.", hint="Choose a name that is not taken.")
    if any(one.tensor not in reader.input for reader in edit.readers(one.tensor)):
        raise InputError(
            f"{one.tensor} is read inside a subgraph.", hint="Only tensors of the main graph can be renamed."
        )
    for node in graph.node:
        for names_of in (node.input, node.output):
            for position, name in enumerate(names_of):
                if name == one.tensor:
                    names_of[position] = one.name
    for value in [*graph.input, *graph.output, *graph.initializer, *graph.value_info]:
        if value.name == one.tensor:
            value.name = one.name
    edit.refresh()
    return f"{one.tensor} is called {one.name}"


def _remove(edit: OnnxEdit, one: RemoveNode) -> str:
    node = edit.find(one.node)
    used = [out for out in node.output if out and (edit.readers(out) or edit.is_output(out))]
    if used and (used != [node.output[0]] or not node.input or not node.input[0]):
        raise InputError(
            f"{label(node)} cannot be removed: {used[-1]} is still needed.",
            hint="Remove what reads it first.",
        )
    before = edit.shape(node.input[0]) if node.input else None
    after = edit.shape(node.output[0]) if node.output else None
    if used and _are_different(before, after):
        raise InputError(
            f"{label(node)} cannot be removed: it turns {before} into {after}.",
            hint="Only a node that keeps the shape can be taken out.",
        )
    if used and edit.is_output(node.output[0]):
        # the model's output keeps its name: an Identity carries it
        edit.replace([node], [edit.make("Identity", [node.input[0]], [node.output[0]], "kept_output")])
    elif used:
        edit.rename_reads(node.output[0], node.input[0])
    name = label(node)
    edit.prune()
    return f"{name} is removed"


def _are_different(before: list[int | str | None] | None, after: list[int | str | None] | None) -> bool:
    """Whether two shapes surely differ; names that inference invents say nothing."""
    if before is None or after is None:
        return False
    if len(before) != len(after):
        return True
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(before, after))


def _set_attribute(edit: OnnxEdit, one: SetAttribute) -> str:
    from onnx import helper

    node = edit.find(one.node)
    if node.domain in ("", "ai.onnx"):
        schema = _schema_of(edit, node)
        if one.attribute not in schema.attributes:
            raise InputError(
                f"{node.op_type} has no attribute {one.attribute}.",
                hint=f"It has: {', '.join(schema.attributes) or 'none'}.",
            )
    for position, item in enumerate(node.attribute):
        if item.name == one.attribute:
            del node.attribute[position]
            break
    if one.value is not None:
        try:
            node.attribute.append(helper.make_attribute(one.attribute, _typed(edit, node, one)))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{one.attribute} cannot be {one.value}: {error}", hint="Give another value."
            ) from None
    edit.forget_shapes()
    edit.refresh()
    return f"{label(node)}: {one.attribute} = {'its default' if one.value is None else one.value}"


def _schema_of(edit: OnnxEdit, node: Any) -> Any:
    """The operator's definition in the model's opset. Raises InputError when there is none."""
    import onnx

    try:
        return onnx.defs.get_schema(node.op_type, edit.opset, "")
    except onnx.defs.SchemaError:
        raise InputError(
            f"ONNX has no {node.op_type} in opset {edit.opset}, so its attributes are not known.",
            hint="Mend the model first.",
        ) from None


def _typed(edit: OnnxEdit, node: Any, one: SetAttribute) -> AttributeSetting:
    """The value in the type that the operator wants: 1 for a float attribute is 1.0."""
    import onnx

    if node.domain not in ("", "ai.onnx") or one.value is None:
        return one.value if one.value is not None else 0
    wanted = _schema_of(edit, node).attributes[one.attribute].type
    kinds = onnx.defs.OpSchema.AttrType
    value = one.value
    if wanted == kinds.FLOAT and isinstance(value, int):
        return float(value)
    if wanted == kinds.FLOATS and isinstance(value, list):
        return [float(v) for v in value]
    fits = {
        kinds.INT: isinstance(value, int),
        kinds.FLOAT: isinstance(value, float),
        kinds.STRING: isinstance(value, str),
        kinds.INTS: isinstance(value, list) and all(isinstance(v, int) for v in value),
        kinds.FLOATS: isinstance(value, list),
        kinds.STRINGS: isinstance(value, list) and all(isinstance(v, str) for v in value),
    }
    if not fits.get(wanted, False):
        raise InputError(
            f"{node.op_type}.{one.attribute} wants {str(wanted).rpartition('.')[2].lower()}, not {value!r}.",
            hint="Give a value of that type.",
        )
    return value


def _cut_out(edit: OnnxEdit, one: CutOut) -> str:
    import onnx

    graph = edit.model.graph
    made = set(edit.producer) | {v.name for v in graph.input}
    for name in (*one.inputs, *one.outputs):
        if name not in made:
            raise InputError(
                f"There is no tensor {name}.", hint="Name one that a node makes or the model takes."
            )
    inputs = list(one.inputs) or [v.name for v in graph.input]
    outputs = list(one.outputs) or [v.name for v in graph.output]
    if not one.inputs and not one.outputs:
        raise InputError("Nothing was chosen to cut out.", hint="Name inputs or outputs.")
    shaped = inferred(edit.model, data_prop=False)
    try:
        part = onnx.utils.Extractor(shaped).extract_model(inputs, outputs)
    except Exception as error:  # bare ValueErrors and KeyErrors of the extractor
        raise InputError(f"That part cannot be cut out: {error}", hint="Choose other tensors.") from None
    lost = [o for o in outputs if not any(v.name == o for v in part.graph.output)]
    if lost or not part.graph.node:
        raise InputError("No node lies between those tensors.", hint="Choose inputs above the outputs.")
    edit.model.CopyFrom(part)
    edit.refresh()
    return f"cut out: {len(part.graph.node)} nodes from {', '.join(inputs)} to {', '.join(outputs)}"


def _freeze(edit: OnnxEdit, one: FreezeDim) -> str:
    dims = open_dims(edit.model)
    if one.dim not in dims or one.size < 1:
        raise InputError(
            f"The dim {one.dim} cannot be {one.size}.", hint=f"Open dims: {', '.join(dims) or 'none'}."
        )
    graph = edit.model.graph
    for position, axis in dims[one.dim]:
        value = graph.input[position].type.tensor_type.shape.dim[axis]
        value.Clear()
        value.dim_value = one.size
    for output in graph.output:
        for axis, dim in enumerate(output.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and dim_name(output.name, axis, dim) == one.dim:
                dim.Clear()
                dim.dim_value = one.size
    edit.forget_shapes()
    edit.refresh()
    return f"{one.dim} = {one.size}"
