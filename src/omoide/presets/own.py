"""The default preset: omoide's own way."""

from __future__ import annotations

from omoide.presets.preset import Preset

OMOIDE = Preset(
    name="omoide",
    about="From Wang et al. 2023 it takes the short memory that is renewed after every session and "
    "stands in every prompt, from Hou et al. 2024 how events fade and are strengthened, and from "
    "Taniguchi & Minami 2025 memos by topic with compressed dialogue; the last two are written for "
    "everyone (`layers`), and enter prompts only if `mechanisms` names them, except the topics "
    "that a large model gets. It changes how they are written and found: one call a session "
    "writes dated facts that are never overwritten and from which the rest is made, guards check "
    "each answer, and recall asks no model.",
    paper="omoide",
    prompts=("facts_write", "facts_retry", "facts_small", "reply", "reply_small"),
)
