"""LiteLLM: a callback that remembers.

    litellm.callbacks = [OmoideCallback(memory)]
    await litellm.acompletion(model=..., messages=[...], user="ana")

For the asynchronous calls (`acompletion`) and for LiteLLM's proxy; LiteLLM has no hook that may
change the messages of a blocking `completion`. The user is `user` of the call, the conversation
`metadata["session_id"]`. A call without a user is passed on as it is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from omoide.errors import OmoideError
from omoide_frameworks.bridge import AnyMemory, Begun, begin
from omoide_frameworks.extras import extra

with extra("litellm"):
    from litellm.integrations.custom_logger import CustomLogger

if TYPE_CHECKING:
    from litellm.types.utils import CallTypes

log = logging.getLogger(__name__)

MOST = 1000
"""Most calls whose answers are awaited: nobody tells of a stream that its reader left."""


class OmoideCallback(CustomLogger):
    """Adds what memory knows to each call, and records both sides. Memory never fails a call."""

    def __init__(self, memory: AnyMemory) -> None:
        super().__init__()
        self._memory = memory
        self._begun: dict[str, Begun] = {}

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: CallTypes | None
    ) -> dict[str, Any] | None:
        """Add memory to the messages."""
        user, messages = kwargs.get("user"), kwargs.get("messages")
        if not user or not messages:
            return None
        session = (kwargs.get("metadata") or {}).get("session_id")
        try:
            begun = await begin(self._memory, user, messages, session=session, tolerant=True)
        except OmoideError as error:  # such as a name that no user can have
            log.warning("a call goes on without memory: %s", error)
            return None
        self._begun[kwargs["litellm_call_id"]] = begun
        while len(self._begun) > MOST:
            del self._begun[next(iter(self._begun))]
        return {**kwargs, "messages": begun.messages}

    async def async_post_call_success_deployment_hook(
        self,
        request_data: dict[str, Any],
        response: Any,  # noqa: ANN401 - one of LiteLLM's responses
        call_type: CallTypes | None,
    ) -> None:
        """Record an answer that came in one piece, before the caller gets it."""
        await self._finish(request_data, response)

    async def async_log_success_event(
        self,
        kwargs: dict[str, Any],
        response_obj: Any,  # noqa: ANN401 - one of LiteLLM's responses
        start_time: object,
        end_time: object,
    ) -> None:
        """Record an answer that was streamed, once it has ended."""
        whole = kwargs.get("async_complete_streaming_response") or response_obj
        await self._finish(kwargs, whole)
        self._begun.pop(kwargs.get("litellm_call_id", ""), None)  # an answer without text

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: object, start_time: object, end_time: object
    ) -> None:
        """There is no answer to record."""
        self._begun.pop(kwargs.get("litellm_call_id", ""), None)

    async def _finish(self, kwargs: dict[str, Any], response: Any) -> None:  # noqa: ANN401
        choices = getattr(response, "choices", None) or ()
        message = getattr(choices[0], "message", None) if choices else None
        text = getattr(message, "content", None)
        if not isinstance(text, str) or not text.strip():
            return
        begun = self._begun.pop(kwargs.get("litellm_call_id", ""), None)
        if begun is not None:
            await begun.finish(text.strip())
