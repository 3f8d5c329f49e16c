"""Runs the audit over named corpora and writes the page that Help shows.

Usage: write_page.py OUT.md SOC NAME=FOLDER[:TARGET,TARGET…] …
"""

from __future__ import annotations

import sys
from pathlib import Path

from studio.jobs.audit import Audit, Audited, run

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
attributes, so only its refusals are compared. ONNX Runtime's XNNPACK provider, LiteRT's GPU delegate and the
vendors' own converters cannot be asked on a computer; their rules quote the source and were not audited.

How to read the figures: rules were corrected where these same corpora showed a disagreement, and the list of
what QNN takes was derived from its own answers on them. The table therefore says that rules and tools agree
*here and for these versions*; it is no measurement on models never seen before. To ask about your own model,
use the tool itself (`support --tool`) or compare both (`support --audit`).

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
ONNX Runtime 的 XNNPACK 提供程序、LiteRT 的 GPU 委托以及各厂商的转换器无法在电脑上询问；
它们的规则引用了源码，但没有经过审计。

如何解读：凡是在这些语料上发现不一致，规则都已作了更正；QNN 可接受的算子清单也来自它在这些语料上的回答。
因此，表格说明的是规则与工具*在这些语料和这些版本上*一致，并不是在从未见过的模型上的测量。
要检验自己的模型，请直接询问工具（`support --tool`），或比较两者（`support --audit`）。

"""


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
    results: list[tuple[str, Audited]] = []
    for argument in sys.argv[3:]:
        name, _, rest = argument.partition("=")
        folder, _, targets = rest.partition(":")
        spec = Audit(corpus=folder, targets=tuple(t for t in targets.split(",") if t), soc=soc)
        results.append((name, run(spec, Quiet())))
    body = "\n".join(table_of(results))
    date = results[0][1].date
    out.write_text(f"{INTRO}Date of the comparison: {date}.\n\n{body}\n", encoding="utf-8")
    translated = out.with_name(f"{out.stem}.zh_CN.md")
    translated.write_text(f"{INTRO_ZH}比较日期：{date}。\n\n{body}\n", encoding="utf-8")
    print(f"\n{out}: {sum(len(r.rows) for _, r in results)} rows", file=sys.stderr)


def table_of(results: list[tuple[str, Audited]]) -> list[str]:
    """The table, the disagreements and what could not be asked, as Markdown lines."""
    lines = []
    lines.append(
        "| Corpus | Target | Asked on | Tool | Files | Nodes | Confirmed | False yes | False no | Left open |"
    )
    lines.append("|---|---|---|---|--:|--:|--:|--:|--:|--:|")
    for name, result in results:
        for row in result.rows:
            share = "–" if row.agreement is None else f"{100 * row.agreement:.2f} %"
            lines.append(
                f"| {name} | {row.target_id} | {row.level} | {row.tool} | {row.files} | {row.nodes} | "
                f"{share} | {row.false_yes} | {row.false_no} | {row.left_open} |"
            )
    lines.append("\n## Every disagreement\n")
    found = [(name, d) for name, result in results for d in result.disagreements]
    if not found:
        lines.append("None.")
    else:
        lines.append("| File | Target | Kind | Operator | The rule | The tool |\n|---|---|---|---|---|---|")
        for _, d in found:
            rule = d.rule if len(d.rule) < 160 else d.rule[:157] + "…"
            lines.append(f"| {d.file} | {d.target_id} | {d.kind} | {d.op} | {rule} | {d.tool or '–'} |")
    notes = [n for _, result in results for n in result.notes]
    lines.append(f"\n## Not asked\n\n{len(notes)} files that a tool could not load, among them:\n")
    lines += [f"- {note}" for note in notes[:12]]
    return lines


if __name__ == "__main__":
    main()
