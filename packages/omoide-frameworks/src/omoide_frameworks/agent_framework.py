"""Microsoft Agent Framework: a context provider.

agent = Agent(client, context_providers=[OmoideProvider(memory, user="ana")])
await agent.run("What is my cat called?", session=agent.create_session())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide_frameworks.bridge import AnyMemory, begin
from omoide_frameworks.extras import extra

with extra("agent-framework"):
    from agent_framework import ContextProvider

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_framework import AgentSession, Message, SessionContext, SupportsAgentRun


class OmoideProvider(ContextProvider):
    """Records what is said to an agent and by it, and adds what memory knows to its instructions.

    `user` is whose memory it is; with None, `omoide_user` of the session's state says it.
    """

    def __init__(
        self, memory: AnyMemory, *, user: str | None = None, source_id: str = "omoide"
    ) -> None:
        super().__init__(source_id)
        self._memory = memory
        self._user = user

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Record the user's messages, and add what memory knows."""
        said = _messages(context.get_messages(include_input=True))
        if not any(message["role"] == "user" for message in said):
            return
        user = self._user or session.state["omoide_user"]
        begun = await begin(self._memory, user, said, session=session.session_id)
        context.metadata[self.source_id] = begun
        if begun.added:
            context.extend_instructions(self.source_id, begun.added)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Record the reply."""
        begun = context.metadata.pop(self.source_id, None)
        if begun is not None and context.response is not None and context.response.text.strip():
            await begun.finish(context.response.text.strip())


def _messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [
        {"role": str(message.role), "content": message.text}
        for message in messages
        if str(message.role) in ("user", "assistant") and message.text.strip()
    ]
