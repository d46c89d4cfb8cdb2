"""The methods of a server's memory that correct and repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide.client.decoding import decode, decode_job
from omoide.client.encoding import UNLIMITED, iso
from omoide.client.reader import RemoteReader, stored_user
from omoide.domain import Fact, FactMarks, Note, Summary
from omoide.domain.text import checked_text, several
from omoide.domain.time import aware
from omoide.engine.editor import MAX_NOTE, application_kind
from omoide.mechanisms.events.calibration import Calibration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Job
    from omoide.engine import When


class RemoteEditor(RemoteReader):
    """Corrects summaries and facts, and queues work again."""

    async def rollback(self, user: str, to: When | int, *, at: datetime | None = None) -> Summary:
        """Bring an old version back, as a new version, and with it the facts that held then."""
        body = {"version": await self._number(user, to), "at": iso(at, "at")}
        return decode(Summary, await self._post("/api/memory/rollback", user, body))

    async def amend(
        self, user: str, sentence: str, text: str, *, at: datetime | None = None, said: str = ""
    ) -> Summary:
        """Correct a sentence of the newest version, as a new version that cites the user."""
        body = {
            "sentence": sentence,
            "text": checked_text(text, max_chars=UNLIMITED),
            "at": iso(at, "at"),
            "said": said or None,
        }
        return decode(Summary, await self._post("/api/memory/amend", user, body))

    async def correct(
        self, user: str, fact: str, text: str, *, at: datetime | None = None, said: str = ""
    ) -> Fact:
        """Replace a fact, named by its id, by what the user says instead."""
        body = {
            "id": fact,
            "text": checked_text(text, max_chars=UNLIMITED),
            "at": iso(at, "at"),
            "said": said or None,
        }
        return decode(Fact, await self._post("/api/facts/correct", user, body))

    async def pin(self, user: str, fact: str) -> Fact:
        """Keep a fact in every version of the summary from the next one on. It does not expire."""
        return await self.mark(user, fact, FactMarks(pinned=True))

    async def unpin(self, user: str, fact: str) -> Fact:
        """Let a fact be chosen for the summary like any other."""
        return await self.mark(user, fact, FactMarks(pinned=False))

    async def expire(self, user: str, fact: str, when: datetime | None) -> Fact:
        """Set when a fact stops being remembered; None for never."""
        marks = FactMarks(forever=True) if when is None else FactMarks(expires=aware(when, "when"))
        return await self.mark(user, fact, marks)

    async def tag(self, user: str, fact: str, tags: Sequence[str]) -> Fact:
        """Set the tags of a fact; none removes them."""
        return await self.mark(user, fact, FactMarks(tags=tuple(dict.fromkeys(several(tags)))))

    async def mark(self, user: str, fact: str, marks: FactMarks) -> Fact:
        """Set several marks on a fact at once."""
        body: dict[str, Any] = {"id": fact}
        if marks.pinned is not None:
            body["pinned"] = marks.pinned
        if marks.forever or marks.expires is not None:
            body["expires"] = None if marks.forever else iso(marks.expires, "expires")
        if marks.tags is not None:
            body["tags"] = several(marks.tags)
        return decode(
            Fact, await self._connection.patch("/api/facts", body, user=stored_user(user))
        )

    async def rename(self, user: str, session: int, title: str) -> None:
        """Give a session a title, which the page shows; an empty one removes it."""
        body = {"session": session, "title": title}
        await self._connection.patch("/api/sessions", body, user=stored_user(user))

    async def choose_preset(self, user: str, preset: str, *, at: datetime | None = None) -> None:
        """Let the user's memory work by a preset, such as a paper's, from now on."""
        body = {"preset": preset, "at": iso(at, "at")}
        await self._connection.patch("/api/presets", body, user=stored_user(user))

    async def put_note(
        self, user: str, *, kind: str, key: str, text: str, at: datetime | None = None
    ) -> Note:
        """Keep a text of the application's own about the user. See `omoide.Memory.put_note`."""
        body = {
            "kind": application_kind(kind),
            "key": key,
            "text": checked_text(text, max_chars=MAX_NOTE),
            "at": iso(at, "at"),
        }
        return decode(Note, await self._post("/api/notes", user, body))

    async def remove_notes(self, user: str, *, kind: str, keys: Sequence[str] | None = None) -> int:
        """Remove notes of the application's own: those with these keys, or all of the kind."""
        body = {"kind": application_kind(kind), "keys": None if keys is None else several(keys)}
        return int((await self._post("/api/notes/remove", user, body))["removed"])

    # ── Repairing ───────────────────────────────────────────────────────────────────────────

    async def retry(
        self, user: str, *, job: int | None = None, at: datetime | None = None
    ) -> tuple[Job, ...]:
        """Queue the user's dead jobs again, or one of them."""
        body = {"job": job, "at": iso(at, "at")}
        found = await self._post("/api/jobs/retry", user, body)
        return tuple(decode_job(item, tenant=self.tenant) for item in found["items"])

    async def digest(
        self, user: str, *, session: int, at: datetime | None = None
    ) -> tuple[Job, ...]:
        """Queue a session to be digested again."""
        body = {"session": session, "at": iso(at, "at")}
        found = await self._post("/api/jobs/digest", user, body)
        return tuple(decode_job(item, tenant=self.tenant) for item in found["items"])

    async def embed(self, user: str, *, at: datetime | None = None) -> None:
        """Queue a job that embeds everything of the user's that has no vector."""
        await self._post("/api/jobs/embed", user, {"at": iso(at, "at")})

    async def calibrate(self, user: str, *, at: datetime | None = None) -> Calibration:
        """Fit the calibration to the user's own turns and events; it is used from now on."""
        body = {"at": iso(at, "at")}
        return decode(Calibration, await self._post("/api/events/calibrate", user, body))

    async def _post(
        self, path: str, user: str, body: Mapping[str, Any], *, wait: float | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        return await self._connection.post(path, body, user=stored_user(user), wait=wait)
