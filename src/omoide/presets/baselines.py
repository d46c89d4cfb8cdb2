"""The methods that the three papers are compared with."""

from __future__ import annotations

from omoide.presets.papers import (
    DATED,
    EVENTS,
    LENGTH,
    LISTED,
    MEMOS,
    MODEL,
    PARTS,
    PAUSE,
    PENALTY,
    SOURCES,
    TRIGGER,
    TURNS,
    WINDOW,
    WORDS,
)
from omoide.presets.preset import Departure, Number, Preset

REPLY = Departure(
    what="The reply prompt is the product's `chat` form.",
    why="What is compared is the memory; the same prompt around it makes the difference clear.",
)

MEMOCHAT = Preset(
    name="memochat",
    about="Memos by topic with the whole dialogue; the model chooses those that are related.",
    paper="Lu et al. 2023, MemoChat (arXiv 2308.08239)",
    settings={
        "mechanisms": ("memochat",),
        "writer": "separate",
        "reply_form": "chat",
        "guards": "flag",
        "compression": "none",
        "compression_percent": 0,
        "memory_tokens": -1,
        "reply_tokens": 400,
    },
    prompts=("memo_write", "memo_choose", "reply", "reply_recalled"),
    numbers=(
        Number(what="turns that stay in the prompt, at least", value="2", where="its code"),
        TRIGGER,
        TURNS,
        Number(what="dialogue dropped, in percent", value="0", where="there is no compression"),
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="Memos are also written when a session ends.",
            why="A short session would otherwise never be remembered.",
        ),
        Departure(
            what="A memo that cannot be parsed is kept word for word where a search finds it.",
            why="The original keeps it where nothing can retrieve it.",
        ),
        Departure(
            what="An unreadable choice falls back to a search.",
            why="The reply should not go without memory because of a slip of the model.",
        ),
        MEMOS,
        LISTED,
        DATED,
        REPLY,
        PENALTY,
        SOURCES,
        WINDOW,
        LENGTH,
        PAUSE,
    ),
)

MEMORYBANK = Preset(
    name="memorybank",
    about="Turn pairs and daily summaries as vectors that fade by Ebbinghaus' curve, an overall "
    "summary, and a portrait of the user.",
    paper="Zhong et al. 2024, MemoryBank (arXiv 2305.10250)",
    settings={
        "mechanisms": ("memory-bank",),
        "writer": "separate",
        "reply_form": "chat",
        "guards": "flag",
        "memory_tokens": -1,
        "reply_tokens": 400,
    },
    prompts=(
        "bank_day",
        "bank_day_portrait",
        "bank_events",
        "bank_portrait",
        "reply",
        "reply_recalled",
    ),
    numbers=(
        Number(what="strength of a new memory, S", value="1", where="section 2.3"),
        Number(what="strength added by a recall", value="1", where="section 2.3"),
        Number(what="unit of time, in days", value="1", where="section 2.3"),
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="The draw that forgets is seeded by the memory and the day.",
            why="The same question on the same day finds the same memories.",
        ),
        Departure(
            what="A forgotten memory is hidden for the day and never deleted.",
            why="Only erasure deletes what a user said.",
        ),
        Departure(
            what="The released code's e^(−t·S/5) is not followed.",
            why="By it stronger memories fade faster; the paper has e^(−t/S).",
        ),
        Departure(
            what="Of the pairs around the 30 nearest turns and of the days, the 3 nearest that are "
            "not forgotten enter the prompt, with how long ago they were.",
            why="The paper gives no number.",
        ),
        Departure(
            what="A summary has at most 300 tokens; the overall ones are made of as many of the "
            "latest days as fit the window.",
            why="A model that loops must end somewhere, and days only grow in number.",
        ),
        REPLY,
        PENALTY,
        PARTS,
        WINDOW,
        LENGTH,
        PAUSE,
    ),
)

GENERATIVE_AGENTS = Preset(
    name="generative-agents",
    about="A stream of events, scored by recency, importance (rated by the model) and relevance; "
    "insights from them once they are important enough.",
    paper="Park et al. 2023, Generative Agents (arXiv 2304.03442)",
    settings={
        "mechanisms": ("generative-agents",),
        "writer": "separate",
        "reply_form": "agent+clock",
        "guards": "flag",
        "memory_tokens": -1,
        "reply_tokens": 400,
    },
    prompts=(
        "event_write",
        "importance",
        "importance_reflection",
        "event_agent",
        "reply_recalled",
    ),
    numbers=(
        Number(what="decay an hour", value="0.995", where="section 4.1"),
        Number(what="importance, from", value="1", where="section 4.1"),
        Number(what="importance, to", value="10", where="section 4.1"),
        Number(what="weight of each factor", value="1", where="section 4.1"),
        Number(what="importance above which it reflects", value="150", where="section 4.2"),
        Number(what="latest memories that it reflects on", value="100", where="section 4.2"),
        Number(what="insights of a reflection, at most", value="5", where="section 4.2"),
    ),
    departures=(
        WORDS,
        MODEL,
        Departure(
            what="Memories are events of a conversation, written after each session.",
            why="The paper's agents live in a simulated world.",
        ),
        EVENTS,
        Departure(
            what="All new events are rated in one call; reflection is one call.",
            why="One call for each memory costs too much in a product; the scale is the paper's.",
        ),
        Departure(
            what="An insight has the importance 8 instead of a rating of its own, and at most 240 "
            "characters.",
            why="It saves a call; insights are what matters by definition.",
        ),
        Departure(
            what="Unreadable ratings leave the session undigested, after 3 tries.",
            why="The released code rates at random then.",
        ),
        Departure(
            what="The 5 memories with the highest scores enter the prompt.",
            why="The paper takes as many as fit; a reply needs few.",
        ),
        PENALTY,
        SOURCES,
        PARTS,
        WINDOW,
        LENGTH,
        PAUSE,
    ),
)
