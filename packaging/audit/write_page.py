"""Runs the audit over named corpora and writes the page that Help shows.

Usage: write_page.py OUT.md SOC NAME=FOLDER[:TARGET,…] … [--held-out NAME=… --as-found NAME=FILE.json …]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from studio.jobs.audit import Audit, run
from studio.jobs.audit_table import Audited
from studio.records import from_json

INTRO = """# How often the rules are right

The studio's verdicts come first of all from *rules*: tables and conditions in code, which need no tool
chain. Where a real partitioner or compiler can be asked on a computer, rules and tool were compared, node by
node.

- **Claims confirmed**: of the nodes where the rule said *runs* or *not taken*, how many the tool confirms.
- **False yes**: the rule said *runs*, the tool does not take the node. This must be zero.
- **False no**: the rule said *not taken*, and the tool takes it.
- **Left open**: the rule said *conditional* or *unknown*; nothing was claimed.

*Asked on*: “tool's graph” is the rule alone, on the nodes that the tool saw; “source” is the exported
program, with the conversion predicted. For LiteRT a claim is about XNNPACK: *runs* outside of it is LiteRT's
own kernel. The NNAPI checker knows a list of operators and refuses dynamic shapes; it cannot confirm
attributes, so only its refusals are compared. For `litert/cpu`, “source” is the torch program, which
litert-torch converts before XNNPACK is asked. QNN was asked for SM8650; the fresh models also for SM8450,
SM8550 and SM8750, which answered the same on all 4,123 nodes. What cannot be asked is listed at the end.

How to read the figures: rules were corrected where these same corpora showed a disagreement, and the list of
what QNN takes was derived from its own answers. The first table therefore says that rules and tools agree
*here and for these versions*; for models never seen before see “As found” below. To ask about your own model,
use the tool itself (`support --tool`) or compare both (`support --audit FOLDER`).

"""


INTRO_ZH = """# 规则有多可靠

工作室的判定首先来自*规则*：表格和代码中的条件，不需要任何工具链。凡是能在电脑上询问真正的分区器或编译器的地方，
都把规则与工具逐个节点做了比较。

- **Confirmed（已证实）**：规则说“可运行”或“不接受”的节点中，工具证实的比例。
- **False yes（误判为可）**：规则说可运行，而工具不接受。这个数必须为零。
- **False no（误判为否）**：规则说不接受，而工具接受。
- **Left open（未下结论）**：规则说“有条件”或“未知”，没有作出断言。

*Asked on*：“tool's graph”表示只检验规则本身，对象是工具看到的节点；
“source”表示导出的程序，转换结果由预测得出。
对 LiteRT 而言，断言针对 XNNPACK：在它之外的“可运行”由 LiteRT 自己的内核执行。
NNAPI 检查器只认识算子清单，并拒绝动态形状，无法证实属性，因此只比较它的拒绝。
对 `litert/cpu`，“source”是 torch 程序，先由 litert-torch 转换，再询问 XNNPACK。QNN 按 SM8650 询问；
fresh 模型还按 SM8450、SM8550、SM8750 询问，全部 4,123 个节点回答相同。无法询问的目标列在最后。

如何解读：凡是在这些语料上发现不一致，规则都已作了更正；QNN 可接受的算子清单也来自它在这些语料上的回答。
因此，第一张表说明的是规则与工具*在这些语料和这些版本上*一致；从未见过的模型见下文“初次结果”。
要检验自己的模型，请直接询问工具（`support --tool`），或比较两者（`support --audit`）。

"""


WORDS = {
    "en": {
        "date": "Date of the comparison: ", "stop": ".",
        "held-out": """## Held out

Models and operators that no rule was made on before they were first asked; what they showed was mended since,
and QNN's lists were widened by the fresh models and seeds 202 and 303. All of the first set was asked
again. The *fresh* set was written afterwards: thirteen other architectures (RepVGG while
training, SE-ResNeXt, a depth decoder with aligned corners, Conformer, DETR, CRNN, a speech separator with
GRU, GhostNet with coordinate attention, NAFNet, PointNet, MLP-Mixer, a Whisper-like encoder and decoder step,
PAN) in float32, float16, unsigned, signed per-channel and 16-bit QDQ, and as LiteRT float, dynamic and static
int8; single ONNX operators of new seeds; and 320 programs of four aten operators each, with 160 traced alone.
These rows are today's rules; the section after them says what was found at first.""",
        "as-found": """## As found, before anything was mended

The fresh sets when they were first asked. Seed 404 of the ONNX operators was asked after QNN's rules were
widened by seeds 202 and 303, seed 505 (above) after what 404 found was mended; seed 707 of the aten operators
(above) after what seed 101 found was mended.""",
        "found": "What was found, and mended since by its kind:",
        "disagreements": "## Every disagreement that stands",
        "not-audited": "## Not audited",
        "not-asked": """| Target | Why no tool was asked |
|---|---|
| ort/xnnpack | no onnxruntime wheel for a computer has the provider; the rule quotes its source |
| ort/nnapi | the checker knows a list of operators; it cannot confirm attributes, so only refusals count |
| litert/gpu | the delegate needs a phone's OpenCL or OpenGL ES; the wheel's WebGPU accelerator needs a GPU |
| litert/nnapi, litert/npu, executorch/qnn, /mediatek, /samsung | needs the vendor's SDK or a phone |
| qualcomm, huawei, mediatek, mindspore-lite, ncnn, mnn | only lists of operators are public |""",
        "notes": "{} files that a tool could not load or a converter not convert, among them:",
    },
    "zh": {
        "date": "比较日期：", "stop": "。",
        "held-out": """## 留出集

第一次询问之前，没有任何规则依据这些模型和算子制定；发现的问题此后已更正，QNN 的清单也依据 fresh 模型和
种子 202、303 作了扩充。第一组留出集已全部重新询问。
*fresh* 一组是之后编写的：另外十三种网络结构
（RepVGG、SE-ResNeXt、深度解码器、Conformer、DETR、CRNN、语音分离、
GhostNet、NAFNet、PointNet、MLP-Mixer、类 Whisper、PAN），包括 float32、float16、各种 QDQ 量化以及 LiteRT 的
浮点、动态和静态 int8；新随机种子的单个 ONNX 算子；
以及 320 个各含四个 aten 算子的程序和 160 个单独跟踪的算子。这些行是当前规则的结果，初次结果见下一节。""",
        "as-found": """## 更正之前的初次结果

fresh 各组第一次询问时的结果。种子 404 是在 QNN 规则依据种子 202 和 303 扩充之后询问的，
种子 505（见上）是在更正 404 的发现之后询问的；
aten 算子的种子 707（见上）是在更正种子 101 的发现之后询问的。""",
        "found": "发现的问题（此后已按类别更正）：",
        "disagreements": "## 仍存在的每一处不一致",
        "not-audited": "## 未审计",
        "not-asked": """| 目标 | 没有询问工具的原因 |
|---|---|
| ort/xnnpack | 电脑版 onnxruntime 不含该提供程序；规则引用其源码 |
| ort/nnapi | 检查器只认识算子清单，无法证实属性，因此只计入拒绝 |
| litert/gpu | 委托需要手机的 OpenCL 或 OpenGL ES；安装包里只有 WebGPU 加速器，没有 GPU 无法创建 |
| litert/nnapi、litert/npu、executorch/qnn、/mediatek、/samsung | 需要厂商 SDK 或手机 |
| qualcomm、huawei、mediatek、mindspore-lite、ncnn、mnn | 只有算子清单是公开的 |""",
        "notes": "有 {} 个文件工具无法加载或转换，例如：",
    },
}  # fmt: skip


class Quiet:
    """Says on stderr which file is asked about."""

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        print(f"\r{done}/{total} {stage[:70]:70}", end="", file=sys.stderr, flush=True)

    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return False


def main() -> None:
    out, soc = Path(sys.argv[1]), sys.argv[2]
    sections: dict[str, list[tuple[str, Audited]]] = {"": []}
    current = sections[""]
    for argument in sys.argv[3:]:
        if argument.startswith("--"):
            current = sections.setdefault(argument[2:], [])
            continue
        name, _, rest = argument.partition("=")
        current.append((name, result_of(rest, soc)))
    everything = [pair for results in sections.values() for pair in results]
    date = max(result.date for _, result in everything)
    for language, path in (("en", out), ("zh", out.with_name(f"{out.stem}.zh_CN.md"))):
        path.write_text(page(sections, date, language), encoding="utf-8")
    print(f"\n{out}: {sum(len(r.rows) for _, r in everything)} rows", file=sys.stderr)


def result_of(text: str, soc: str) -> Audited:
    """An audit of `FOLDER[:TARGET,…]`, run now, or one that was kept in a `.json` file."""
    if text.endswith(".json"):
        return from_json(Path(text).read_bytes(), Audited, where=text)
    folder, _, targets = text.partition(":")
    return run(Audit(corpus=folder, targets=tuple(t for t in targets.split(",") if t), soc=soc), Quiet())


def page(sections: dict[str, list[tuple[str, Audited]]], date: str, language: str) -> str:
    """The page in one language: what was compared, the tables, what disagreed, what could not be asked."""
    words = WORDS[language]
    lines = [INTRO if language == "en" else INTRO_ZH, f"{words['date']}{date}{words['stop']}", ""]
    for name, results in sections.items():
        if name:
            lines += ["", words[name], ""]
        lines += table_of(results)
        if name == "as-found":
            lines += ["", words["found"], "", *kinds_of(results)]
    now = [pair for name, results in sections.items() if name != "as-found" for pair in results]
    lines += [
        "",
        words["disagreements"],
        "",
        *disagreements_of(now),
        "",
        words["not-audited"],
        "",
        words["not-asked"],
    ]
    notes = [note for _, result in now for note in result.notes]
    lines += ["", words["notes"].format(len(notes)), "", *(f"- {note}" for note in notes[:12])]
    return "\n".join(lines) + "\n"


def table_of(results: list[tuple[str, Audited]]) -> list[str]:
    """One row per corpus, target and level."""
    lines = [
        "| Corpus | Target | Asked on | Tool | Files | Nodes | Yes | No | Left open | Confirmed | False yes "
        "| False no |",
        "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, result in results:
        for row in result.rows:
            share = "–" if row.agreement is None else f"{100 * row.agreement:.2f} %"
            was_kept = row.agree and not row.yes + row.no  # an answer from before these were counted
            yes, no = ("–", "–") if was_kept else (row.yes, row.no)
            lines.append(
                f"| {name} | {row.target_id} | {row.level} | {row.tool} | {row.files} | {row.nodes} | {yes} "
                f"| {no} | {row.left_open} | {share} | {row.false_yes} | {row.false_no} |"
            )
    return lines


def kinds_of(results: list[tuple[str, Audited]]) -> list[str]:
    """How many nodes of which operator disagreed, as found."""
    counts = Counter((n, d.target_id, d.kind, d.op) for n, result in results for d in result.disagreements)
    lines = ["| Corpus | Target | Kind | Operator | Nodes |", "|---|---|---|---|--:|"]
    return lines + [f"| {' | '.join(key)} | {count} |" for key, count in sorted(counts.items())]


def disagreements_of(results: list[tuple[str, Audited]]) -> list[str]:
    """Every disagreement that stands, with both sides' words."""
    found = [d for _, result in results for d in result.disagreements]
    if not found:
        return ["None."]
    lines = ["| File | Target | Kind | Operator | The rule | The tool |", "|---|---|---|---|---|---|"]
    for d in found:
        rule = d.rule if len(d.rule) < 160 else d.rule[:157] + "…"
        lines.append(f"| {d.file} | {d.target_id} | {d.kind} | {d.op} | {rule} | {d.tool or '–'} |")
    return lines


if __name__ == "__main__":
    main()
