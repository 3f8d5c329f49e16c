"""The records behind `--json` are a contract: fields may be added to contract.json, never taken out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from studio.cli.demo import DemoAnswer
from studio.cli.devices import DevicesAnswer
from studio.cli.diff import DiffAnswer
from studio.cli.doctor import DoctorAnswer
from studio.cli.edit import EditAnswer
from studio.cli.journey import JourneyAnswer
from studio.cli.new import NewAnswer
from studio.cli.output import ErrorAnswer
from studio.cli.render import RenderAnswer
from studio.cli.single_step import StepsAnswer
from studio.cli.support_answer import SupportAnswer
from studio.cli.virtual_phone import PhoneAnswer
from studio.graph.summary import GraphSummary
from studio.jobs.deploy import DeployResult
from studio.jobs.write_report import ReportWritten
from studio.measure.layer_errors import LayerErrors
from studio.measure.node_profile import NodeProfile
from studio.recipes.fixes import FixOutcome

ANSWERS: dict[str, Any] = {
    "error": ErrorAnswer,
    "demo": DemoAnswer,
    "inspect": GraphSummary,
    "support": SupportAnswer,
    "diff": DiffAnswer,
    "render": RenderAnswer,
    "new": NewAnswer,
    "run": JourneyAnswer,
    "export quantize convert verify": StepsAnswer,
    "fix": FixOutcome,
    "edit": EditAnswer,
    "devices": DevicesAnswer,
    "bench": DeployResult,
    "profile": NodeProfile,
    "compare-layers": LayerErrors,
    "report": ReportWritten,
    "doctor": DoctorAnswer,
    "virtual-phone": PhoneAnswer,
}
KEPT = json.loads((Path(__file__).parent / "contract.json").read_text())


def fields_of(kind: Any) -> dict[str, Any]:
    """record name → its fields and their JSON types, of a record and all that it holds."""
    found = msgspec.json.schema(kind)["$defs"]
    return {
        name: {field: sorted(_types(spec)) for field, spec in record.get("properties", {}).items()}
        for name, record in found.items()
        if "properties" in record
    }


def _types(spec: dict[str, Any]) -> set[str]:
    if "anyOf" in spec:
        return set().union(*map(_types, spec["anyOf"]))
    if "$ref" in spec:
        return {spec["$ref"].rsplit("/", 1)[-1]}
    kinds = spec.get("type", "any")
    return {kinds} if isinstance(kinds, str) else set(kinds)


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_keep_every_field(name: str) -> None:
    now = fields_of(ANSWERS[name])
    for record, fields in KEPT[name].items():
        for field, types in fields.items():
            assert field in now[record], f"{name}: {record}.{field} is gone"
            assert now[record][field] == types, f"{name}: {record}.{field} changed its type"


def test_the_contract_names_every_command() -> None:
    from studio.cli.main import COMMANDS

    named = {word for name in KEPT for word in name.split()}
    assert named == {*COMMANDS, "error"}


if __name__ == "__main__":  # python -m tests.unit.cli.test_contract: writes today's fields
    text = json.dumps({name: fields_of(kind) for name, kind in ANSWERS.items()}, indent=1, sort_keys=True)
    (Path(__file__).parent / "contract.json").write_text(text + "\n")
