"""Reads a request of Chat Completions, for whoever converts it into another protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from omoide.wire.fields import Fields, refuse

NO_EFFECT = (
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
)
"""Fields that are accepted and change no answer of another vendor. Usage is always reported."""
_ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, kw_only=True)
class ChatCall:
    """A tool call of an earlier answer."""

    id: str
    name: str
    arguments: str
    where: str


@dataclass(frozen=True, kw_only=True)
class ChatMessageFields:
    """A message of a chat, its content as parts that are still to be read."""

    role: str
    parts: list[Fields]
    calls: list[ChatCall]
    call_id: str
    """The call that a tool's message answers."""
    reasoning: str

    @classmethod
    def of(cls, fields: Fields) -> ChatMessageFields:
        """Read a message."""
        role = fields.one_of("role", *_ROLES) or "user"
        content, where = fields.take("content"), fields.path("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        if content is not None and not isinstance(content, list):
            refuse(where, "it must be a string or an array of parts")
        refusal = fields.text("refusal")
        reasoning = fields.text("reasoning_content") or fields.text("reasoning") or ""
        message = cls(
            role=role,
            parts=[
                *(Fields(p, where=f"{where}[{i}]") for i, p in enumerate(content or ())),
                *([Fields({"type": "text", "text": refusal}, where=where)] if refusal else ()),
            ],
            calls=[_call(call) for call in fields.items("tool_calls")],
            call_id=fields.needed("tool_call_id") if role == "tool" else "",
            reasoning=reasoning,
        )
        fields.refuse("function_call", "use tools: functions are their older form")
        fields.refuse("audio", "the other protocol has no audio")
        fields.ignore("name", "annotations", "reasoning_content", "reasoning", "reasoning_details")
        fields.close()
        return message

    def plain_text(self) -> str:
        """The content, which must be text."""
        texts = []
        for part in self.parts:
            kind = part.needed("type")
            if kind not in ("text", "refusal"):
                refuse(part.path("type"), f"only text can stand here, not {kind[:40]!r}")
            texts.append(part.needed(kind))
            part.ignore("cache_control")
            part.close()
        return "\n\n".join(texts)


def _call(call: Fields) -> ChatCall:
    call.one_of("type", "function")
    call.ignore("index")
    function = call.nested("function")
    made = ChatCall(
        id=call.needed("id"),
        name=function.needed("name"),
        arguments=function.text("arguments") or "{}",
        where=function.path("arguments"),
    )
    function.close()
    call.close()
    return made


def arguments_of(call: ChatCall) -> dict[str, Any]:
    """A call's arguments as an object."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        refuse(call.where, "it must be a JSON object")
    return value


def data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 data of a `data:` URL; None for any other.

    >>> data_url("data:image/png;base64,iVBOR")
    ('image/png', 'iVBOR')
    """
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head[5:].partition(";")[0], data


def refuse_what_only_openai_has(fields: Fields) -> None:
    """Refuse the options of OpenAI's that no other protocol has, unless they ask for nothing."""
    fields.refuse("n", "only one answer can be had", unless=(1,))
    fields.refuse("logprobs", "it is not passed on", unless=(False,))
    fields.refuse("top_logprobs", "it is not passed on", unless=(0,))
    fields.refuse("logit_bias", "tokens are counted otherwise there", unless=({},))
    fields.refuse("modalities", "only text can be had", unless=(["text"],))
    fields.refuse("verbosity", "only the usual can be had", unless=("medium",))
    for name in ("functions", "function_call"):
        fields.refuse(name, "use tools: this is their older form", unless=([], "none", "auto"))
    fields.ignore(*NO_EFFECT)
