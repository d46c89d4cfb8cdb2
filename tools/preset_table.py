"""Generates docs/presets.md: the presets, their numbers and departures, and a run of each.

    python tools/preset_table.py                       the page, from the code and the stored runs
    python tools/preset_table.py --data ../shared/data [--only wang2023,hou2024]    run them first
    python tools/preset_table.py --data ../shared/data --msc test_100 [--only …]    on two people

The dialogue is the one of docs/mechanisms.md, in which a model plays the user; with `--msc` one of
two people of Multi-Session Chat. Each run is kept as JSON in docs/presets/, those of MSC in
docs/presets/msc/ without the words of the dialogue, which may not be redistributed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

from omoide.presets import PRESETS, Departure, Preset
from omoide.settings import Settings

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "presets.md"
RUNS = ROOT / "docs" / "presets"
MSC = RUNS / "msc"


def page() -> str:
    """The whole page."""
    rows = [
        f"| [`{p.name}`](#{p.name}) | {p.paper} | {mechanisms(p)} | {len(p.departures) or 'ours'} |"
        for p in PRESETS.values()
    ]
    sections = [shared_section(), *(section(preset) for preset in PRESETS.values())]
    head = (RUNS / "head.md").read_text(encoding="utf-8")
    return head + "\n".join(rows) + "\n\n" + "\n".join(sections).rstrip() + "\n"


def shared() -> list[Departure]:
    """The departures that at least three presets have, each once."""
    counted = Counter(d for preset in PRESETS.values() for d in preset.departures)
    return [departure for departure, count in counted.items() if count >= 3]


def shared_section() -> str:
    """Those departures, with the presets that have them."""
    lines = [
        "## Departures that several have",
        "",
        "| departure | why | presets |",
        "|---|---|---|",
    ]
    for d in shared():
        names = [f"`{p.name}`" for p in PRESETS.values() if d in p.departures]
        all_of_them = len(names) == sum(bool(p.departures) for p in PRESETS.values())
        lines.append(
            f"| {d.what} | {d.why} | {'all papers' if all_of_them else ', '.join(names)} |"
        )
    return "\n".join([*lines, ""])


def mechanisms(preset: Preset) -> str:
    """The mechanisms of a preset, as code."""
    return ", ".join(f"`{name}`" for name in Settings.of(preset.name).mechanisms)


def section(preset: Preset) -> str:
    """What is to be said about one preset."""
    lines = [f"## {preset.name}", "", preset.about, ""]
    lines += [f"{preset.paper}. Prompts: {', '.join(f'`{name}`' for name in preset.prompts)}.", ""]
    if preset.settings:
        lines += ["```text", *preset.variables, "```", ""]
    if preset.numbers:
        lines += ["| number | value | where |", "|---|---|---|"]
        lines += [f"| {n.what} | {n.value} | {n.where} |" for n in preset.numbers] + [""]
    if own := [d for d in preset.departures if d not in shared()]:
        lines += ["| departure of its own | why |", "|---|---|"]
        lines += [f"| {d.what} | {d.why} |" for d in own] + [""]
    for heading, kept in (("", RUNS), ("On a dialogue of two people (MSC):", MSC)):
        if (path := kept / f"{preset.name}.json").exists():
            from mechanism_gallery import shown

            lines += [heading, ""] if heading else []
            lines += shown(json.loads(path.read_text(encoding="utf-8")))
    return "\n".join(lines)


async def run_presets(data: Path, names: list[str], *, msc: str | None) -> None:
    """Run the presets over the dialogue of the gallery, or over one of MSC, with the model of the
    settings."""
    from mechanism_gallery import bank, of_msc, redistributable, run_with

    folder, dialogue = (MSC, of_msc(data, msc)) if msc else (RUNS, bank(data))
    folder.mkdir(exist_ok=True)
    for name in names:
        settings = replace(Settings.read(os.environ, preset=name), timezone="UTC")
        made = await run_with(settings, dialogue)
        made = redistributable(name, made, dialogue) if msc else made
        text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}: {made['calls']} calls, {made['seconds']} s", flush=True)


def main() -> None:
    """Run the presets if there is data, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--msc", metavar="ID", help="a dialogue of MSC's test part instead")
    parser.add_argument("--only", default=",".join(PRESETS))
    args = parser.parse_args()
    if args.data:
        asyncio.run(run_presets(args.data, args.only.split(","), msc=args.msc))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
