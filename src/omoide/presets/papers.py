"""The methods of the three papers that omoide makes real."""

from __future__ import annotations

from omoide.presets.preset import Departure, Number, Preset

WORDS = Departure(
    what="The prompts have the paper's structure in words of our own, in five languages.",
    why="The paper's sentences are not ours to copy, and it has them in one language.",
)
SOURCES = Departure(
    what="Everything remembered cites the turns that support it, and is flagged where none does.",
    why="Erasure and corrections need the sources. What the model is shown does not change.",
)
PARTS = Departure(
    what="A session too long for the model's window is digested in parts, in order.",
    why="The papers' sessions are short; a real one would fail otherwise.",
)

MODEL = Departure(
    what="The models are the configured ones: by default one of 1.5 B parameters with our LoRA "
    "adapters.",
    why="The papers' are too large for most machines or can no longer be asked. `model`, "
    "`summary_model` (for the memory alone) and `adapter=none` choose others.",
)

BUDGET = Departure(
    what="What is chosen shares the room of `memory_tokens` in the prompt; what is worth least for "
    "its length is left out beyond that.",
    why="The prompt must fit the window. A larger `memory_tokens` makes more room.",
)

PENALTY = Departure(
    what="Replies are asked for with a frequency penalty of 0.4.",
    why="The papers name none; without it small models at temperature 0 fall into loops. Wang et "
    "al.'s own prompts are sent without.",
)

TRIGGER = Number(
    what="tokens of dialogue after which memos are written",
    value="1024",
    where="a set length that the paper does not give",
)

WANG2023 = Preset(
    name="wang2023",
    about="A memory of both speakers in natural sentences. After each session the model rewrites "
    "it from the previous memory and the whole session; a reply sees it and the current session.",
    paper="Wang et al. 2023, Recursively Summarizing Enables Long-Term Dialogue Memory in Large "
    "Language Models (arXiv 2308.15022)",
    settings={
        "mechanisms": ("summary",),
        "writer": "separate",
        "form": "paper",
        "reply_form": "paper",
        "guards": "flag",
        "max_sentences": 20,
        "repeated_sentences": 0,
    },
    prompts=("memory_paper", "reply_paper"),
    numbers=(
        Number(what="sentences of a memory, at most", value="20", where="Table 1, step 4"),
        Number(what="temperature", value="0", where="section 5.4"),
        Number(what="steps of the memory prompt", value="4", where="Table 1"),
        Number(what="steps of the reply prompt", value="5", where="Table 2"),
        Number(what="model calls a session", value="1", where="section 4.1"),
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="An answer without a sentence in it leaves the previous memory in place, and the "
            "session is reported as not digested.",
            why="The paper does not say; an empty memory would lose everything.",
        ),
        SOURCES,
        PARTS,
    ),
)

HOU2024 = Preset(
    name="hou2024",
    about="Events with topics and keywords. The one that comes to mind enters the prompt if its "
    "recall probability, from relevance, elapsed time and earlier recalls, exceeds a threshold.",
    paper="Hou et al. 2024, “My agent understands me better” (arXiv 2404.00573)",
    settings={
        "mechanisms": ("human-recall",),
        "writer": "separate",
        "reply_form": "agent+clock",
        "guards": "flag",
        "event_fading": 1.1e7,
        "event_spacing": 1.1e7,
        "event_threshold": 0.86,
        "event_items": 1,
        "event_emotion": 0.0,
        "event_labels": True,
        "retire_events": False,
    },
    prompts=("event_write", "event_agent", "reply_recalled"),
    numbers=(
        Number(what="threshold k", value="0.86", where="section 3.1"),
        Number(what="events in a prompt, at most", value="1", where="section 3.1"),
        Number(what="consolidation of a new event, g_0", value="1", where="equation 9"),
        Number(
            what="unit of time, in seconds",
            value="1.1e7",
            where="never stated; 1.01e7 to 1.21e7 give Table 1, no unit gives Tables 3 and 4 too",
        ),
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="The cosine is mapped to relevance by a calibration of the embedder.",
            why="The threshold presumes an embedder whose cosines of related texts are 0.7 to 0.9; "
            "with others nothing would ever be recalled. `event_relevance=cosine` is the paper's.",
        ),
        Departure(
            what="Where an event has no vector, word overlap with its text, topics and keywords "
            "stands in for the cosine.",
            why="Recall works before vectors are there and without an embedder.",
        ),
        Departure(
            what="Events are single sentences written after each session.",
            why="The paper does not say how events are made from the history.",
        ),
        Departure(
            what="Events and vectors are in omoide's store instead of Firestore and Qdrant.",
            why="Every preset runs on every store; Qdrant can be one (`vectors`).",
        ),
        PENALTY,
        SOURCES,
        PARTS,
    ),
)

TANIGUCHI2025 = Preset(
    name="taniguchi2025",
    about="Memos: topic, summary and compressed dialogue. When a dialogue grows long its earlier "
    "part becomes memos and leaves the prompt; for each message the model chooses those that are "
    "related, any number or none (NOTO).",
    paper="Taniguchi & Minami 2025, memos and compression (NLP 2025, Japan)",
    settings={
        "mechanisms": ("compressed-memos",),
        "writer": "separate",
        "reply_form": "chat",
        "guards": "flag",
        "compression": "function-words",
        "compression_percent": 25,
        "keep_negation": False,
        "window": 4096,
    },
    prompts=("memo_write", "memo_choose", "reply", "reply_recalled"),
    numbers=(
        Number(
            what="particles and auxiliaries dropped, in percent",
            value="25",
            where="Table 4: of 25, 50, 75 and 100 the best mean; `compression_percent` sets it",
        ),
        Number(what="context window, in tokens", value="4096", where="section 3.1"),
        Number(what="turns that stay in the prompt, at least", value="2", where="MemoChat"),
        TRIGGER,
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="Memos are also written when a session ends, not only when it has grown long.",
            why="A short session would otherwise never be remembered.",
        ),
        Departure(
            what="Line ranges that leave gaps or overlap are repaired, and lines that no memo of "
            "the answer covers are kept word for word.",
            why="Nothing that was said may be lost because of a model's slip.",
        ),
        Departure(
            what="An unreadable choice falls back to a search; if the memos do not fit half the "
            "window, the model chooses among those that a search ranks best.",
            why="Memos only grow, and the window does not.",
        ),
        Departure(
            what="Names, numbers and particles between two numbers are never dropped as function "
            "words.",
            why="The particles hold a date or a range together. Negation goes as in the paper, "
            "though without ない a memo says the opposite of what was said; `keep_negation` keeps "
            "it.",
        ),
        Departure(
            what="In other languages than Japanese the words of the same use are dropped; negation "
            "stays there.",
            why="Particles and auxiliaries in the paper's sense are Japanese.",
        ),
        Departure(
            what="The reply prompt is the product's, with the related memos beside the message.",
            why="The paper gives the parts of the prompt, not its text.",
        ),
        PENALTY,
        BUDGET,
        SOURCES,
    ),
)
