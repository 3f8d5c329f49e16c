"""One file per command; every command runs its jobs in its own process and has `--json`.

What lives here: `main.py` (finds the command, turns every end into an exit code), `output.py` (results
on stdout, progress on stderr, what libraries print into a log), `options.py` and `data_options.py`
(shared arguments), `opening.py` (FILE → graph or project), `known_facts.py` (FILE → what was measured of
it), `tables.py` (texts), `steps.py`, `journey.py`
and `single_step.py` (what several commands share), and a module per command with `parser()` and
`run(options, output) -> exit code`. What does not: work. That is in the rooms below.

The contract of `--json`
------------------------
Exactly one JSON object on stdout, whatever happens; fields are only ever added. The record that is
printed is named in each command's module: `inspect` GraphSummary, `support` SupportAnswer, `render`
RenderAnswer, `new` NewAnswer, `run` JourneyAnswer, `demo` DemoAnswer, `export`, `quantize`, `convert` and
`verify` StepsAnswer, `fix` FixOutcome, `edit` EditAnswer, `devices` DevicesAnswer, `bench` DeployResult,
`profile` NodeProfile, `compare-layers` LayerErrors,
`report` ReportWritten, `doctor` DoctorAnswer, `virtual-phone` PhoneAnswer. `tests/unit/cli/contract.json`
holds their fields.
When a command fails the object is `{"error": {"kind", "message", "hint", "exit_code", "nodes", "detail"}}`
with `kind` one of "input", "unsupported", "device", "tool", "cancelled", "bug" (`output.ErrorAnswer`).
`bench --jsonl` is the exception: one record of the run per line, the answer on the last.

Exit codes
----------
0 done · 1 it ran, and the answer is no (a budget is broken, another target ran than was asked for) ·
2 wrong input (a file, a project, an argument) · 3 this target or tool cannot take it · 4 a device ·
5 an external tool or library failed · 70 a bug in the studio · 130 stopped by Ctrl+C · 141 the reader
of stdout left. An error is one line on stderr, `error: what and where. next step`; the last lines of a
failed tool follow it, indented. The traceback of a bug is in the log that the line names.
"""
