"""The blocks of a report, as Markdown and as one HTML page without scripts."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide_bench.reports.drawing import Drawing


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """A table with a header row."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False
    """Whether the page shows it only when it is asked for."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart and its file name."""

    name: str
    of: Drawing


Block = str | ReportTable | Picture
_LONG = 26
"""Characters of a cell that may wrap."""
_NUMBER = re.compile(r"^[+−-]?[\d.,]+( \[.*\])?%?$")
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:88rem;margin:2rem auto;padding:0 1rem;color:#222}
nav{columns:16rem;font-size:14px;margin:1rem 0 2rem}
nav a{display:block;break-inside:avoid}
section{content-visibility:auto;contain-intrinsic-size:auto 60rem;border-top:1px solid #ccc}
p{max-width:50rem}
.wide{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:14px}
td,th{border-bottom:1px solid #ddd;padding:.2rem .6rem;text-align:left;vertical-align:top}
td{white-space:nowrap}
th{vertical-align:bottom}
td.long{white-space:normal;min-width:9rem;overflow-wrap:anywhere}
td.number{text-align:right;font-variant-numeric:tabular-nums}
img{width:40rem;max-width:100%;height:auto;vertical-align:top;margin:1rem 1rem 0 0}
summary{cursor:pointer}
@media (prefers-color-scheme:dark){
body{background:#16181c;color:#ddd}a{color:#8ab4f8}td,th,section{border-color:#444}
}
"""


def markdown(sections: Sequence[tuple[str, Sequence[Block]]]) -> str:
    """The report as Markdown; charts are files beside it."""
    lines = ["# Results", "", "Written by `omoide bench report`.", ""]
    for name, blocks in sections:
        lines += [f"## {name}", ""]
        for block in blocks:
            if isinstance(block, ReportTable):
                lines.append("| " + " | ".join(_escaped(c) for c in block.head) + " |")
                lines.append("|" + "---|" * len(block.head))
                lines += ["| " + " | ".join(_escaped(c) for c in row) + " |" for row in block.rows]
            elif isinstance(block, Picture):
                lines.append(f"![{block.name}]({block.name}.svg)")
            else:
                lines.append(block)
            lines.append("")
    return "\n".join(lines)


def html(sections: Sequence[tuple[str, Sequence[Block]]], drawings: Mapping[str, str]) -> str:
    """The report as one page; a browser lays out a section, and reads a picture, only when it comes
    into view. A cell that names a section links to it, and the navigation has the others."""
    places = {name: f"s{number}" for number, (name, _) in enumerate(sections)}
    tables = [block for _, blocks in sections for block in blocks if isinstance(block, ReportTable)]
    linked = {row[0] for table in tables for row in table.rows}
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        "<title>Results of omoide bench</title>",
        f"<style>{_STYLE}</style></head><body><h1>Results</h1>",
        "<p>Written by <code>omoide bench report</code>.</p><nav>",
        *(_link(name, at) for name, at in places.items() if name not in linked),
        "</nav>",
    ]
    for name, blocks in sections:
        parts.append(f'<section id="{places[name]}"><h2>{escape(name)}</h2>')
        for block in blocks:
            if isinstance(block, ReportTable):
                parts.append(_table(block, places))
            elif isinstance(block, Picture):
                parts.append(_picture(block, drawings[block.name]))
            else:
                parts.append(f"<p>{escape(block)}</p>")
        parts.append("</section>")
    return "\n".join([*parts, "</body></html>", ""])


def _link(name: str, place: str) -> str:
    return f'<a href="#{place}">{escape(name)}</a>'


def _table(table: ReportTable, places: Mapping[str, str]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(_cell(cell, places) for cell in row) + "</tr>" for row in table.rows
    )
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    wide = f'<div class="wide">{inside}</div>'
    if not table.folded:
        return wide
    return f"<details><summary>{len(table.rows):,} rows</summary>{wide}</details>"


def _picture(picture: Picture, svg: str) -> str:
    """The picture as an image: as elements of the page, hundreds of them take a second to read."""
    size = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    wide, high = (float(points) * 4 / 3 for points in size.groups()) if size else (0, 0)
    room = f' width="{wide:.0f}" height="{high:.0f}"' if size else ""
    data = b64encode(re.sub(r"\s+", " ", svg).encode()).decode()
    alt = escape(picture.of.title)
    return f'<img loading="lazy"{room} alt="{alt}" src="data:image/svg+xml;base64,{data}">'


def _cell(text: str, places: Mapping[str, str]) -> str:
    kind = "long" if len(text) > _LONG else "number" if _NUMBER.match(text) else ""
    inside = _breakable(_link(text, places[text]) if text in places else escape(text))
    return f'<td class="{kind}">{inside}</td>' if kind else f"<td>{inside}</td>"


def _breakable(text: str) -> str:
    """Long names, such as a preset with its settings, may break after a comma or a plus."""
    return re.sub(r"([,+])(?=[^\s\d])", r"\1<wbr>", text)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
