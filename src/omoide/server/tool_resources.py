"""What a desktop client can attach to a chat by hand: the memory as resources and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from omoide.engine.memory import Memory

MARKDOWN = "text/markdown"


def add_resources(server: MCPServer, memory: Memory, *, user: str) -> None:
    """Add resources of the default user, and of any user by name."""

    @server.resource("memory://summary", title="What is known about me", mime_type=MARKDOWN)
    async def summary() -> str:
        """The summary of what is known about the person, with its version."""
        return await summary_text(memory, user)

    @server.resource("memory://facts", title="Facts about me", mime_type=MARKDOWN)
    async def facts() -> str:
        """The facts that hold now, with their ids and dates."""
        return await facts_text(memory, user)

    @server.resource("memory://users/{name}/summary", mime_type=MARKDOWN)
    async def summary_of(name: str) -> str:
        """The summary of what is known about another user."""
        return await summary_text(memory, name)

    @server.resource("memory://users/{name}/facts", mime_type=MARKDOWN)
    async def facts_of(name: str) -> str:
        """The facts that hold about another user."""
        return await facts_text(memory, name)


def add_prompts(server: MCPServer, memory: Memory, *, user: str) -> None:
    """Add prompts that a person chooses from a menu."""

    @server.prompt(title="What do you know about me?")
    async def about_me() -> str:
        """Show what memory knows, and ask what is wrong or missing."""
        known = await summary_text(memory, user)
        return (
            f"{known}\n\nThis is what your memory has about me. Tell it to me in your own words, "
            "and ask what is wrong or missing. If I correct something, use the tools `facts` and "
            "`correct`; if I want something gone, use `forget` and show me first what would go."
        )

    @server.prompt(title="Answer with memory")
    async def with_memory(
        question: Annotated[str, Field(description="What you want to know.")],
    ) -> str:
        """A question together with what memory has on it."""
        context = await memory.context(user, question)
        return f"{context.text}\n\n{question}".strip()


async def summary_text(memory: Memory, user: str) -> str:
    """The newest summary as Markdown."""
    summary = await memory.summary(user)
    if not summary.sentences:
        return "Nothing is known yet."
    lines = [f"- {sentence.text}" for sentence in summary.sentences]
    return "\n".join([f"# What is known (version {summary.number})", "", *lines])


async def facts_text(memory: Memory, user: str) -> str:
    """The facts that hold, as Markdown."""
    facts = await memory.facts(user)
    if not facts:
        return "No facts are known yet."
    lines = [
        f"- {fact.text} (about {fact.about}, {fact.said:%Y-%m-%d}, {fact.id})" for fact in facts
    ]
    return "\n".join(["# Facts", "", *lines])
