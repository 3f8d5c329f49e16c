"""What a torch node became in a `.tflite` file: by module and kind, left out where that is not certain."""

from __future__ import annotations

import pytest

from studio.graph.graph import Graph
from studio.support.converted import converted_parts, taken_of
from tests.unit.support.conftest import Sketch

Step = tuple[str, str]  # operator, module path in the program or tensor name in the file


def program(*steps: Step) -> Graph:
    """A `.pt2` graph of unary operators in a row, each in a module of class Block."""
    s = Sketch("pt2")
    tensor = s.input(1, 4)
    for op, _ in steps:
        tensor = s.node(f"aten.{op}.default", [tensor], (1, 4))
    scopes = [s.builder.scope((path,), ("Block",)) if path else 0 for _, path in steps]
    graph = s.graph(tensor)
    graph.node_scope[:] = scopes
    return graph


def made(*steps: Step, fused: str = "") -> Graph:
    """A `.tflite` graph whose tensors have these names; `fused` is the activation of the first operator."""
    s = Sketch("tflite")
    tensor = s.input(1, 4)
    names = []
    for number, (op, name) in enumerate(steps):
        attributes = {"fused_activation_function": fused} if fused and not number else None
        tensor = s.node(op, [tensor], (1, 4), attributes=attributes)
        names.append((tensor, name))
    graph = s.graph(tensor)
    for tensor, name in names:
        graph.tensor_name[tensor] = name
    return graph


def fates(source: Graph, file: Graph, *taken: bool) -> dict[int, bool]:
    fate = dict(enumerate(taken))
    found = {n: taken_of(parts, fate) for n, parts in converted_parts(source, file).items()}
    return {n: answer for n, answer in found.items() if answer is not None}


def test_equal_operators_of_one_module_count_only_with_one_fate() -> None:
    source = program(("exp", ""), ("tanh", ""), ("exp", ""))
    file = made(("EXP", "app.Net;"), ("TANH", "app.Net;1"), ("EXP", "app.Net;2"))
    assert fates(source, file, True, False, True) == {0: True, 1: False, 2: True}
    assert fates(source, file, True, True, False) == {1: True}


def test_the_operator_of_an_output_is_the_one_of_its_node() -> None:
    source = program(("exp", ""), ("tanh", ""), ("exp", ""))
    file = made(("EXP", "app.Net;"), ("TANH", "app.Net;1"), ("EXP", "serving_default_output_0_output"))
    assert fates(source, file, True, True, False)[2] is False


def test_modules_are_told_apart_and_fused_activations_are_found() -> None:
    source = program(("exp", "a"), ("relu", ""), ("exp", "b"))
    file = made(("EXP", "app.Net;;app.Net/app.Block_a;1"), ("EXP", "app.Net/app.Block_b;"), fused="RELU")
    assert fates(source, file, True, False) == {0: True, 1: True, 2: False}


def test_fewer_operators_than_nodes_is_no_match() -> None:
    source = program(("exp", ""), ("tanh", ""), ("exp", ""))
    file = made(("EXP", "app.Net;"), ("TANH", "app.Net;1"))
    assert fates(source, file, True, True) == {1: True}


def test_operators_of_an_unknown_node_may_be_anybodys() -> None:
    source = program(("exp", ""), ("strange", ""), ("tanh", ""))
    file = made(("EXP", "app.Net;"), ("EXP", "app.Net;1"), ("TANH", "app.Net;2"))
    assert fates(source, file, True, True, True) == {2: True}
    last = program(("exp", ""), ("strange", ""))
    file = made(("EXP", "app.Net;"), ("WHERE", "serving_default_output_0_output"))
    assert fates(last, file, True, True) == {0: True}  # WHERE may be a part among others
    assert fates(last, file, True, False) == {0: True, 1: False}


def test_a_module_with_one_node_needs_one_fate_of_all_that_names_it() -> None:
    source = program(("strange", "a"), ("exp", "b"))
    file = made(
        ("ADD", "app.Net/app.Block_a;"), ("MUL", "app.Net/app.Block_a;1"), ("EXP", "app.Net/app.Block_b;")
    )
    assert fates(source, file, True, True, True) == {0: True, 1: True}
    assert fates(source, file, True, False, True) == {1: True}


@pytest.mark.parametrize("name", ["other.Net;", "pseudo", "", "app.Net/app.Block_c;"])
def test_names_of_other_programs_say_nothing(name: str) -> None:
    source = program(("exp", "a"), ("tanh", "b"))
    file = made(("EXP", name), ("TANH", "app.Net/app.Block_b;"))
    assert 0 not in fates(source, file, True, True)
