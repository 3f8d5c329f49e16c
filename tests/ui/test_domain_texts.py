"""Sentences of the domain in Chinese: known ones are said anew, with their values; others stay."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from typing import cast

import pytest

from studio.paths import resources
from studio.project.project import Project, SourceModel
from studio.recipes.recipe import ExportStep, Recipe
from studio.support.rules import rule_for
from studio.targets import TARGETS
from studio.ui import domain_texts
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.stages import Stage
from studio.ui.views.step_texts import stage_text

PLACE = re.compile(r"\{\d*\}")


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    domain_texts.set_language("zh_CN")
    yield
    domain_texts.set_language("en")


@pytest.mark.parametrize(
    ("english", "chinese_text"),
    [
        ("There is no file /a/b.onnx.", "没有文件 /a/b.onnx。"),
        ("There is no file /a/b.onnx. Check the path.", "没有文件 /a/b.onnx。请检查路径。"),
        ("35 → 11 partitions if fixed", "修复后分区 35 → 11"),
        ("{weird} words that nobody translated", "{weird} words that nobody translated"),
        ("", ""),
    ],
)
def test_sentences(english: str, chinese_text: str) -> None:
    assert translate_sentence(english) == chinese_text


def test_values_keep_their_places_when_the_order_changes() -> None:
    said = translate_sentence("ONNX Runtime has Clip for opset 11, not for version 12.")
    assert said == "ONNX Runtime 有 opset 11 的 Clip，但没有版本 12 的。"


def test_a_sentence_in_a_sentence_is_translated_too() -> None:
    said = translate_sentence("Step “ort”: There is no file x.ort.")
    assert said == "步骤“ort”：没有文件 x.ort。"


@pytest.mark.parametrize("target_id", sorted(TARGETS))
def test_who_takes_a_node_is_said_in_chinese_too(target_id: str) -> None:
    rules = rule_for(target_id)
    said = translate_sentence(f"{rules.engine} could take it, but takes only the largest of 3 partitions.")
    assert said.endswith("可以接受它，但只取 3 个分区中最大的一个。")
    assert not re.search(r"The |'s | on | delegate| list", said)
    assert not re.search("[\u4e00-\u9fff] [\u4e00-\u9fff]", said)


def test_english_is_left_alone() -> None:
    domain_texts.set_language("en")
    assert translate_sentence("There is no file x.") == "There is no file x."


def test_every_template_keeps_its_places_and_finds_itself() -> None:
    path = resources() / "translations" / "domain_zh_CN.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    for english, text in table.items():
        assert english.count("{}") == len(PLACE.findall(text)), english
        example = english
        for letter in string.ascii_lowercase[: english.count("{}")]:
            example = example.replace("{}", letter * 3, 1)
        assert has_chinese(translate_sentence(example)) or not has_chinese(text), english


def has_chinese(text: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in text)


class _Recipe:
    """A session as far as `stage_text` looks at it: one step, which exports."""

    project = Project(
        name="p", source=SourceModel(path="m.py"), recipe=Recipe(steps=(ExportStep(id="first"),))
    )

    def stage(self, stage_id: str) -> Stage | None:
        return Stage(id="first", kind="export") if stage_id == "first" else None


def test_what_a_job_does_now_is_said_in_the_language_of_the_window() -> None:
    session = cast(Session, _Recipe())
    assert stage_text(session, "first: Loading the source") == "Export: 正在加载源模型"  # no translator here
    assert stage_text(session, "Exporting with the dynamo exporter") == "正在用 dynamo 导出器导出"
