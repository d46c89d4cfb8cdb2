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
    "`summary_model` (for the memory alone), `adapter` (`none` for the bare weights) and "
    "`embedder` choose others.",
)

WINDOW = Departure(
    what="A reply's prompt is limited by the model's `window` alone: beyond it, what memory brings "
    "and is worth least for its length is left out, and the oldest turns of the session.",
    why="Nothing longer can be sent. `memory_tokens` is -1 for that; our own default is less.",
)

LENGTH = Departure(
    what="A reply has at most 400 tokens (`reply_tokens`).",
    why="The papers name no limit; a model that loops would never end.",
)

PAUSE = Departure(
    what="A session ends after a pause of 30 minutes (`idle`), or when the caller ends it.",
    why="In the papers the sessions come with the data, or it is not said.",
)

EVENTS = Departure(
    what="At most 10 events are written of a session, or of a part of a long one: sentences that "
    "begin with whom they are about, of 80 tokens on average, with at most 2 topics and 2 "
    "keywords of 30 characters. Sentences about the chat itself are left out.",
    why="The paper gives neither a prompt nor a number; small models do not stop by themselves.",
)

MEMOS = Departure(
    what="Memos are asked for 20 lines at a time, at most one for every 4 lines and 8 in all, in "
    "at most 1300 tokens. Where the model can be held to a grammar, ranges are right by "
    "construction and the length of topics and summaries is limited.",
    why="Small models lose count in longer lists and do not stop by themselves.",
)

LISTED = Departure(
    what="For the choice, a memo's topic and summary are listed with at most 240 characters, and "
    "the message with at most 2000.",
    why="A memo that could not be summarised has its dialogue as summary.",
)

DATED = Departure(
    what="A memo in the prompt begins with its date and how long ago that was.",
    why="Replies days later would take it for something of today.",
)

PENALTY = Departure(
    what="Replies of a small model (`profile`) are asked for with a frequency penalty of 0.4.",
    why="The papers name none; without it small models at temperature 0 fall into loops. Wang et "
    "al.'s own prompts are sent without.",
)

TRIGGER = Number(
    what="tokens of dialogue after which memos are written",
    value="1024",
    where="a set length that the paper does not give",
)

TURNS = Number(
    what="turns after which memos are written, if sooner",
    value="20",
    where="MemoChat has a number of its own",
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
        "memory_tokens": -1,
        "reply_tokens": 400,
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
        Departure(
            what="The answer is read sentence by sentence, without headings, bullets and numbers. "
            "It has room for 40 tokens a sentence, or for the old memory and 20 more a sentence.",
            why="Each sentence has its sources and can be shown and erased by itself; an answer "
            "that loops must end somewhere. More than 20 sentences are flagged and kept.",
        ),
        SOURCES,
        PARTS,
        WINDOW,
        LENGTH,
        PAUSE,
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
        "memory_tokens": -1,
        "reply_tokens": 400,
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
        EVENTS,
        Departure(
            what="An event's relevance is that of its text alone or with its topics and keywords, "
            "whichever is greater; an event without keywords gets some from its words.",
            why="The paper has topics and keywords and does not say how they count.",
        ),
        Departure(
            what="The 50 nearest events are weighed, and none of the current session.",
            why="Farther ones cannot reach the threshold; the session is in the prompt already.",
        ),
        Departure(
            what="Events and vectors are in omoide's store instead of Firestore and Qdrant.",
            why="Every preset runs on every store; Qdrant can be one (`vectors`).",
        ),
        PENALTY,
        SOURCES,
        PARTS,
        WINDOW,
        LENGTH,
        PAUSE,
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
        "memory_tokens": -1,
        "reply_tokens": 400,
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
        TURNS,
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
        MEMOS,
        LISTED,
        DATED,
        PENALTY,
        SOURCES,
        WINDOW,
        LENGTH,
        PAUSE,
    ),
)
