"""The catalogue of messages: every entry finds its own example, causes come before wrappers."""

from __future__ import annotations

import time

from studio.backends.explain import catalogue, explain, plain_text, tool_error


def test_every_entry_finds_its_example_and_says_what_to_do() -> None:
    for pattern, entry in catalogue():
        assert pattern.search(entry.example), entry.id
        assert entry.cause and entry.fix and entry.source, entry.id


def test_ids_are_unique() -> None:
    ids = [entry.id for _, entry in catalogue()]
    assert len(ids) == len(set(ids))


def test_the_cause_comes_before_the_wrapper() -> None:
    by_id = {entry.id: entry for _, entry in catalogue()}
    wrapper, cause = by_id["or-node-failed"], by_id["te-data-dependent-branch"]
    found = explain(f"{wrapper.example}\n{cause.example}")
    assert [entry.id for entry in found][:2] == [cause.id, wrapper.id]


def test_the_tool_that_was_run_is_preferred() -> None:
    by_id = {entry.id: entry for _, entry in catalogue()}
    one, other = by_id["te-data-dependent-branch"], by_id["or-node-failed"]
    text = f"{one.example}\n{other.example}"
    assert explain(text, tools=[one.where])[0].id == one.id


def test_colour_codes_do_not_hide_a_message() -> None:
    assert plain_text("\x1b[0;93mUnsupported: \x1b[mData-dependent branching") == (
        "Unsupported: Data-dependent branching"
    )
    assert explain("\x1b[31mUnsupported: Data-dependent\x1b[0m branching")


def test_an_unknown_message_is_quoted_by_its_telling_line() -> None:
    error = tool_error("It failed.", "start\nValueError: seven is odd\n  at line 3\n", hint="Try again.")
    assert error.hint == "Try again. The tool said: ValueError: seven is odd"
    assert error.last_lines == ("start", "ValueError: seven is odd", "  at line 3")


def test_a_known_message_gives_cause_and_first_fix() -> None:
    error = tool_error("It failed.", "Unsupported: Data-dependent branching")
    assert error.hint.startswith("forward() contains an if/while")
    assert "Try: Rewrite the branch" in error.hint


def test_a_name_of_a_megabyte_in_a_message_costs_no_time() -> None:
    text = f"[ONNXRuntimeError] : 10 : INVALID_GRAPH : In Node, {'R' * 1_000_000} Error: it is no op."
    started = time.monotonic()
    error = tool_error("It cannot be loaded.", text, tools=("ort",))
    assert time.monotonic() - started < 5  # by the square of its length it took hours
    assert sum(map(len, error.last_lines)) < 3000
    assert error.last_lines[-1].endswith("Error: it is no op.")
