"""The report's style sheet: two themes from one palette, a narrow column, and paper."""

from __future__ import annotations

from studio.report.palette import DARK, LIGHT, Palette


def style_sheet() -> str:
    """The CSS of the page. Light on paper, else as the reader's system is set."""
    return (
        f":root{{{_variables(LIGHT)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
        f"@media print{{:root{{{_variables(LIGHT)}}}}}" + _RULES
    )


def _variables(palette: Palette) -> str:
    names = (
        "window", "panel", "canvas", "line", "text", "quiet", "accent", "selection",
        "runs", "conditional", "falls_back", "fails", "unknown",
    )  # fmt: skip
    return "".join(f"--{name}:{getattr(palette, name)};" for name in names)


_RULES = """
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--window);color:var(--text);
 font:14px/1.5 Inter,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans','Noto Sans CJK SC',
 'WenQuanYi Micro Hei',sans-serif;
 font-variant-numeric:tabular-nums}
main{max-width:960px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:12px;letter-spacing:.08em;text-transform:uppercase;color:var(--quiet);margin:40px 0 12px;
 font-weight:600}
h3{font-size:15px;margin:24px 0 8px}
p{margin:0 0 10px}
section>*:last-child{margin-bottom:0}
.quiet{color:var(--quiet)}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 12px}
.scroll{overflow-x:auto;margin:0 0 12px}
table{border-collapse:collapse;width:100%;background:var(--panel);border:1px solid var(--line)}
th{font-weight:600;color:var(--quiet);font-size:12px;text-align:left;white-space:nowrap}
th,td{padding:7px 10px;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;white-space:nowrap}
td.w{white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 16px;margin:0}
dt{color:var(--quiet)}
dd{margin:0;overflow-wrap:anywhere}
code,pre{font-family:'JetBrains Mono',Consolas,'DejaVu Sans Mono',monospace;font-size:12.5px}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.tag{display:inline-block;border:1px solid currentColor;border-radius:10px;padding:0 8px;font-size:12px;
 white-space:nowrap}
.simulated{--ink:var(--conditional);font-weight:600}
.good{--ink:var(--runs)}.bad{--ink:var(--fails)}
.runs{--ink:var(--runs)}.conditional{--ink:var(--conditional)}.falls_back{--ink:var(--falls_back)}
.fails{--ink:var(--fails)}.unknown{--ink:var(--unknown)}
.simulated,.good,.bad,.runs,.conditional,.falls_back,.fails,.unknown{color:var(--ink);
 color:color-mix(in srgb,var(--ink) 70%,var(--text))}
.sign{display:inline-block;width:12px;height:12px;vertical-align:-1px;margin-right:5px}
.sign path{stroke:currentColor;stroke-width:2;fill:none}.sign path.full{fill:currentColor}
.verdicts{width:100%;min-width:120px;height:10px;border-radius:5px;display:block;margin-top:5px}
.v-runs{fill:var(--runs)}.v-conditional{fill:var(--conditional)}.v-falls_back{fill:var(--falls_back)}
.v-fails{fill:var(--fails)}.v-unknown{fill:var(--unknown)}
.problem{border-left:3px solid var(--line);padding:2px 0 2px 12px;margin:0 0 14px;break-inside:avoid}
.problem p{margin:0}
.chart{width:100%;height:auto;display:block}
.chart text{font-size:11px;fill:var(--text)}
.chart text.quiet{fill:var(--quiet)}
.bar,.span{fill:var(--accent);opacity:.55}.span{opacity:.35}
.dot{fill:var(--accent)}
.axis{stroke:var(--quiet);stroke-width:1}.grid{stroke:var(--line);stroke-width:1}
.mark{stroke:var(--text);stroke-width:1;stroke-dasharray:3 3}
.line{fill:none;stroke:var(--accent);stroke-width:1.4;stroke-linejoin:round}
.band{fill:var(--accent);opacity:.22}
.s1{stroke:var(--runs)}.s2{stroke:var(--falls_back)}.s3{stroke:var(--conditional)}.s4{stroke:var(--unknown)}
.s5{stroke:var(--fails)}
.picture{max-height:min(75vh,820px);overflow:auto;background:var(--canvas);border:1px solid var(--line);
 border-radius:8px;text-align:center}
.picture img{max-width:none}
figure{margin:0 0 12px}
figcaption{color:var(--quiet);font-size:12px;margin-top:6px}
footer{margin-top:48px;color:var(--quiet);font-size:12px}
@media (max-width:640px){main{padding:20px 14px}dl{grid-template-columns:1fr}dt{margin-top:6px}}
@media print{body{background:#fff;font-size:11px}main{max-width:none;padding:0}footer{margin-top:12px}
 h2,h3{break-after:avoid}h2{margin-top:24px}tr,.card,figure{break-inside:avoid}
 .picture{max-height:none;overflow:visible;border:0}.picture img{max-width:100%;max-height:240mm}
 .scroll{overflow:visible}}
"""
