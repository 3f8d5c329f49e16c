"""OnnxEdit: an ONNX model in memory with the few questions and edits that rewrites need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from studio.errors import InputError, UnsupportedError
from studio.graph.formats import TITLES, detect_format
from studio.graph.onnx_calls import refuse_expansion
from studio.graph.onnx_inference import inferred
from studio.recipes.fixes.protos import (
    Array,
    array_of,
    captured,
    copy_of,
    is_meant,
    names_in,
    needed_by,
    raise_ir,
)

_LARGEST_BYTES = 1_900_000_000  # protobuf ends at 2 GiB


class OnnxEdit:
    """The main graph of a model: who makes a tensor, who reads it, its shape, its value.

    Edits keep output names, so nothing downstream has to be renamed. Replacements are collected and
    carried out together by `prune`, which also asks for shapes again.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        raise_ir(model)
        self._names = names_in(model.graph)
        self._gone: set[int] = set()
        self._after: dict[int, list[Any]] = {}
        self.refresh()

    @staticmethod
    def load(path: Path) -> OnnxEdit:
        """The model of a file with its weights. Raises InputError, UnsupportedError over 2 GB."""
        import onnx

        if (found := detect_format(path)) != "onnx":
            raise InputError(f"{path} is {TITLES[found]}, not ONNX.", hint="Give an .onnx file.")
        try:
            bare = onnx.load(str(path), load_external_data=False)
            refuse_expansion(bare, path.name)
            size = path.stat().st_size + sum(
                int(entry.value)
                for tensor in bare.graph.initializer
                for entry in tensor.external_data
                if entry.key == "length"
            )
            if size > _LARGEST_BYTES:
                raise UnsupportedError(
                    f"{path.name} holds {size / 1e9:.1f} GB; rewrites work up to 1.9 GB.",
                    hint="Apply the fix in the Python source and export again.",
                )
            return OnnxEdit(onnx.load(str(path)))
        except (OSError, ValueError, onnx.checker.ValidationError) as error:
            raise InputError(f"Cannot read {path} as ONNX: {error}", hint="Check the file.") from None
        except (AttributeError, TypeError, KeyError) as error:  # external data described wrongly
            raise InputError(
                f"Cannot read the weights of {path}: {error}", hint="Check the file and the data beside it."
            ) from None
        except Exception as error:
            if type(error).__module__.startswith("google.protobuf"):
                raise InputError(f"{path} is not an ONNX file.", hint="Give an .onnx file.") from None
            raise

    def refresh(self) -> None:
        """Infers shapes anew and rebuilds the maps."""
        shaped = inferred(self.model)  # a rewrite that needs a shape that is not there asks and refuses
        graph = self.model.graph
        self._info = {v.name: v.type.tensor_type for v in shaped.graph.value_info}
        for value in [*shaped.graph.input, *shaped.graph.output]:
            self._info[value.name] = value.type.tensor_type
        self.initializers = {t.name: t for t in graph.initializer}
        self.producer = {out: node for node in graph.node for out in node.output if out}
        readers: dict[str, list[Any]] = defaultdict(list)
        for node in graph.node:
            for name in {*node.input, *captured(node)}:
                if name:
                    readers[name].append(node)
        self._readers = readers

    # Questions

    @property
    def nodes(self) -> list[Any]:
        """The nodes of the main graph, a copy of the list."""
        return list(self.model.graph.node)

    @property
    def opset(self) -> int:
        """The version of the default domain."""
        return next((o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx")), 0)

    def named(self, op: str, only: Collection[str] = ()) -> list[Any]:
        """Nodes of the default domain with that operator; only those that `only` refers to, if it does."""
        return [
            n
            for n in self.model.graph.node
            if n.op_type == op and n.domain in ("", "ai.onnx") and (not only or is_meant(n, only))
        ]

    def find(self, reference: str) -> Any:
        """The node of that name, or the one that makes that tensor. Raises InputError."""
        named = [n for n in self.model.graph.node if n.name == reference]
        if len(named) == 1:
            return named[0]
        if reference in self.producer:
            return self.producer[reference]
        if named:
            raise InputError(
                f"{len(named)} nodes are called {reference}.", hint="Name one by a tensor that it makes."
            )
        raise InputError(
            f"There is no node {reference}.", hint="Name it as `inspect --csv` and the graph do."
        )

    def readers(self, tensor: str) -> list[Any]:
        """The nodes that read a tensor, subgraph captures included."""
        return self._readers.get(tensor, [])

    def is_output(self, tensor: str) -> bool:
        """Whether the model returns it."""
        return any(o.name == tensor for o in self.model.graph.output)

    def is_captured(self, tensor: str) -> bool:
        """Whether some node's body reads it: names inside bodies are not rewritten."""
        return any(tensor not in reader.input for reader in self.readers(tensor))

    def only_reader(self, tensor: str) -> Any | None:
        """The one node that reads it, None when there are others or it is returned."""
        readers = self.readers(tensor)
        return readers[0] if len(readers) == 1 and not self.is_output(tensor) else None

    def constant(self, tensor: str) -> Array | None:
        """The value of an initializer or Constant node, None otherwise."""
        if tensor in self.initializers:
            return array_of(self.initializers[tensor])
        node = self.producer.get(tensor)
        if node is not None and node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    return array_of(attribute.t)
                if attribute.name in ("value_float", "value_int"):
                    is_float = attribute.name == "value_float"
                    return np.asarray(attribute.f, np.float32) if is_float else np.asarray(attribute.i)
                if attribute.name == "value_ints":
                    return np.asarray(list(attribute.ints), np.int64)
                if attribute.name == "value_floats":
                    return np.asarray(list(attribute.floats), np.float32)
        return None

    def shape(self, tensor: str) -> list[int | str | None] | None:
        """Dims of a tensor: int, name, or None; None when the rank is unknown."""
        if tensor in self.initializers:
            return list(self.initializers[tensor].dims)
        info = self._info.get(tensor)
        if info is None or not info.HasField("shape"):
            return None
        return [d.dim_value if d.HasField("dim_value") else (d.dim_param or None) for d in info.shape.dim]

    def static_shape(self, tensor: str) -> list[int] | None:
        """The shape when every dim is a number."""
        shape = self.shape(tensor)
        if shape is None:
            return None
        dims = [d for d in shape if isinstance(d, int)]
        return dims if len(dims) == len(shape) else None

    def element_type(self, tensor: str) -> int:
        """The TensorProto data type, 0 when unknown."""
        if tensor in self.initializers:
            return int(self.initializers[tensor].data_type)
        info = self._info.get(tensor)
        return int(info.elem_type) if info is not None else 0

    # Edits

    def fresh(self, base: str) -> str:
        """A name that nobody uses."""
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name

    def add_constant(self, value: Array, base: str) -> str:
        """Adds an initializer and returns its name."""
        from onnx import numpy_helper

        name = self.fresh(base)
        tensor = numpy_helper.from_array(np.asarray(value, order="C"), name)
        self.model.graph.initializer.append(tensor)
        self.initializers[name] = self.model.graph.initializer[-1]
        return name

    def make(
        self, op: str, inputs: Sequence[str], outputs: Sequence[str], base: str, **attributes: Any
    ) -> Any:
        """A node with a fresh name; not yet in the graph."""
        from onnx import helper

        return helper.make_node(op, list(inputs), list(outputs), name=self.fresh(base), **attributes)

    def replace(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        """Will put `new` where the last of `old` stands and drop `old`; carried out by `prune`.

        The metadata of the last one is kept, so that its line of Python is not lost.
        """
        for node in new:
            if not node.metadata_props:
                node.metadata_props.extend(old[-1].metadata_props)
        self._after[id(old[-1])] = list(new)
        self._gone.update(id(n) for n in old)

    def insert_after(self, node: Any, new: Any) -> None:
        """Will put a node behind another; carried out by `prune`."""
        new.metadata_props.extend(node.metadata_props)
        self._after.setdefault(id(node), []).append(new)

    def is_replaced(self, node: Any) -> bool:
        """Whether a node is already on its way out."""
        return id(node) in self._gone

    def rename_reads(self, old: str, new: str, *, within: Iterable[Any] | None = None) -> None:
        """Every reader of `old` (or those given) reads `new` instead."""
        for node in list(within) if within is not None else self.readers(old):
            for position, name in enumerate(node.input):
                if name == old:
                    node.input[position] = new

    def prune(self) -> None:
        """Carries the replacements out and drops what nothing needs any more."""
        graph = self.model.graph
        standing = list(graph.node)
        placed: list[Any] = []
        for node in standing:
            if id(node) not in self._gone:
                placed.append(node)
            placed.extend(self._after.get(id(node), ()))
        needed = needed_by(placed, [o.name for o in graph.output])
        kept = [copy_of(node) for node in placed if any(out in needed for out in node.output if out)]
        tensors = [copy_of(t) for t in graph.initializer if t.name in needed]
        dropped = {t.name for t in graph.initializer} - needed
        inputs = [copy_of(v) for v in graph.input if v.name not in dropped]
        self._gone, self._after = set(), {}
        del graph.node[:], graph.initializer[:], graph.input[:]
        graph.node.extend(kept)
        graph.initializer.extend(tensors)
        graph.input.extend(inputs)
        made = {out for node in kept for out in node.output}
        self.forget_shapes([v.name for v in graph.value_info if v.name not in made])
        self.refresh()

    def forget_shapes(self, names: Collection[str] | None = None) -> None:
        """Drops recorded shapes of intermediates (all of them by default) that a rewrite made untrue.

        The others stay: of operators that onnx does not know, only the file says what they return.
        """
        gone = None if names is None else set(names)
        kept = [copy_of(v) for v in self.model.graph.value_info if gone is not None and v.name not in gone]
        del self.model.graph.value_info[:]
        self.model.graph.value_info.extend(kept)
