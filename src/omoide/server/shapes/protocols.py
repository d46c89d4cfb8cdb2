"""JSON schemas of the protocols that are converted. They name the fields that this server reads
itself; the converters check the rest and refuse what they do not know."""

from __future__ import annotations

from omoide.server.shapes.builders import (
    NAME,
    NUMBER,
    TEXT,
    WHOLE,
    YES_OR_NO,
    Shape,
    list_of,
    nullable,
    object_of,
)

_ANY: Shape = {"type": "object"}
_TEXT_OR_LIST: Shape = {"type": ["string", "array"]}


def _open(about: str, required: tuple[str, ...] = (), /, **fields: Shape) -> Shape:
    """An object with at least these fields; they may have others."""
    return {
        "type": "object",
        "description": about,
        "properties": fields,
        "required": list(required),
    }


PROTOCOLS: dict[str, Shape] = {
    "ResponsesRequest": _open(
        "OpenAI's request for a response.",
        model=nullable(TEXT),
        input={"type": ["string", "array", "null"]},
        instructions=nullable(TEXT),
        previous_response_id=nullable(TEXT),
        store=nullable(YES_OR_NO),
        stream=nullable(YES_OR_NO),
        user=nullable(NAME),
        tools=nullable(list_of(_ANY)),
    ),
    "ResponsesAnswer": _open(
        "OpenAI's response.",
        ("id", "object", "status", "output"),
        id=TEXT,
        object=TEXT,
        status=TEXT,
        output=list_of(_ANY),
    ),
    "ConversationRequest": _open(
        "OpenAI's request for a conversation.",
        items=nullable(list_of(_ANY, maxItems=20)),
        metadata=nullable(_ANY),
        user=nullable(NAME),
    ),
    "ItemsRequest": _open(
        "Items to add to a conversation.",
        ("items",),
        items=list_of(_ANY, maxItems=20),
        user=nullable(NAME),
    ),
    "Conversation": _open(
        "OpenAI's conversation.",
        ("id", "object", "created_at", "metadata"),
        id=TEXT,
        object=TEXT,
        created_at=WHOLE,
        metadata=_ANY,
    ),
    "ItemList": _open(
        "Items of a conversation or a response.",
        ("object", "data"),
        object=TEXT,
        data=list_of(_ANY),
    ),
    "Deleted": object_of("What was deleted.", id=TEXT, object=TEXT, deleted=YES_OR_NO),
    "CompletionsRequest": _open(
        "OpenAI's request for a text completion.",
        ("prompt",),
        model=nullable(TEXT),
        prompt=_TEXT_OR_LIST,
        stream=nullable(YES_OR_NO),
        user=nullable(NAME),
    ),
    "CompletionsAnswer": _open(
        "OpenAI's text completion.", ("id", "choices"), id=TEXT, choices=list_of(_ANY)
    ),
    "MessagesRequest": _open(
        "Anthropic's request for a message.",
        ("messages",),
        model=nullable(TEXT),
        messages=list_of(_ANY, minItems=1),
        max_tokens=nullable(WHOLE),
        stream=nullable(YES_OR_NO),
        metadata=nullable(_ANY),
        tools=nullable(list_of(_ANY)),
    ),
    "MessagesAnswer": _open(
        "Anthropic's message.",
        ("id", "type", "role", "content", "usage"),
        id=TEXT,
        type=TEXT,
        role=TEXT,
        content=list_of(_ANY),
        usage=_ANY,
    ),
    "TokenCount": object_of("An estimate.", input_tokens=WHOLE),
    "AnthropicError": _open("Anthropic's error.", ("type", "error"), type=TEXT, error=_ANY),
    "OllamaChat": _open(
        "Ollama's request for a chat.",
        ("messages",),
        model=nullable(TEXT),
        messages=list_of(_ANY),
        stream=nullable(YES_OR_NO),
        user=nullable(NAME),
        tools=nullable(list_of(_ANY)),
    ),
    "OllamaGenerate": _open(
        "Ollama's request for a prompt.",
        model=nullable(TEXT),
        prompt=nullable(TEXT),
        stream=nullable(YES_OR_NO),
        user=nullable(NAME),
    ),
    "OllamaAnswer": _open(
        "Ollama's answer.",
        ("model", "created_at", "done"),
        model=TEXT,
        created_at=TEXT,
        done=YES_OR_NO,
    ),
    "OllamaModels": _open("Ollama's list of models.", ("models",), models=list_of(_ANY)),
    "OllamaEmbed": _open(
        "Ollama's request for embeddings.",
        ("input",),
        model=nullable(TEXT),
        input=_TEXT_OR_LIST,
    ),
    "OllamaEmbeddings": _open(
        "Ollama's embeddings.",
        ("model", "embeddings"),
        model=TEXT,
        embeddings=list_of(list_of(NUMBER)),
    ),
    "OllamaVersion": object_of("The version of this server.", version=TEXT),
    "OllamaError": object_of("Ollama's error.", error=TEXT),
}
