"""The methods of `Memory` that correct what is remembered, or take it over from elsewhere."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from omoide.domain import FactMarks, Note
from omoide.domain.text import checked_name, checked_text, normal_tags, several
from omoide.domain.time import aware
from omoide.engine.reader import Reader
from omoide.engine.titles import add_imported, set_title, with_titles
from omoide.engine.versions import When
from omoide.errors import BadInput
from omoide.transfer import export_contents, import_conversations, import_memories, restore

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
    from datetime import datetime

    from omoide.domain import Fact, Summary
    from omoide.engine.file_history import FileVersion
    from omoide.ports import Progress
    from omoide.transfer import (
        ExportContents,
        ForeignConversation,
        ForeignMemories,
        ImportResult,
        MemoriesImportResult,
        Record,
        RestoreResult,
    )

MAX_TAGS = 100
"""Most tags of one fact."""
APPLICATION = "app."
"""How the kinds of an application's own notes begin."""
MAX_NOTE = 1_000_000
"""Most characters of an application's note."""


class Editor(Reader):
    """Corrects summaries and facts, for the users of one tenant."""

    async def choose_preset(self, user: str, preset: str, *, at: datetime | None = None) -> None:
        """Let the user's memory work by a preset, such as a paper's, from now on. What it remembers
        already stays, though another method may not use it. Raises `BadInput` for an unknown
        preset, or if this memory was opened as a paper's for everybody."""
        await self._services.methods.choose(self._owner(user), preset, now=self._now(at))

    async def rollback(self, user: str, to: When | int, *, at: datetime | None = None) -> Summary:
        """Bring an old version, named by its number or a `When`, back as a new version, and with it
        the facts that held then: what was learned since ends, and what ended since comes back as
        new facts."""
        corrections = self._services.corrections
        return await corrections.rollback(self._owner(user), When.of(to), now=self._now(at))

    async def amend(
        self, user: str, sentence: str, text: str, *, at: datetime | None = None, said: str = ""
    ) -> Summary:
        """Correct a sentence of the newest version, as a new version that cites the user. The fact
        that it states is corrected too. `said` are the user's own words, if they are not `text`."""
        text = checked_text(text, max_chars=self._settings.max_turn_chars)
        corrections = self._services.corrections
        return await corrections.amend(
            self._owner(user), sentence, text, now=self._now(at), said=said
        )

    async def correct(
        self, user: str, fact: str, text: str, *, at: datetime | None = None, said: str = ""
    ) -> Fact:
        """Replace a fact, named by its id, by what the user says instead. Returns the new fact,
        which cites the user and is trusted most. The same text confirms the fact. `said` are the
        user's own words, if they are not `text`."""
        text = checked_text(text, max_chars=self._settings.max_turn_chars)
        corrections = self._services.corrections
        return await corrections.correct(
            self._owner(user), fact, text, now=self._now(at), said=said
        )

    async def rename(self, user: str, session: int, title: str) -> None:
        """Give a session a title, which the page shows; an empty one removes it. Raises
        `NoSuchSession`."""
        now = self._now(None)
        await set_title(self._store, self._owner(user), session, title, now=now)

    async def restore(
        self,
        user: str,
        contents: ExportContents | Iterable[Record] | AsyncIterable[Record],
        *,
        at: datetime | None = None,
    ) -> RestoreResult:
        """Restore an export: its records, as `export` gives them and its file has them line by
        line, or what `omoide.transfer.read` read from a file."""
        owner, contents = self._owner(user), await export_contents(contents)
        restored = await restore(self._store, owner, contents, at=self._now(at))
        self._services.worker.wake()
        return restored

    async def import_conversations(
        self,
        user: str,
        conversations: Iterable[ForeignConversation],
        *,
        digest: bool = True,
        progress: Progress | None = None,
        at: datetime | None = None,
    ) -> ImportResult:
        """Record conversations from another product's export, each once, with their titles."""
        noted, by_key = with_titles(conversations)
        result = await import_conversations(
            self._store,
            self._owner(user),
            noted,
            at=self._said_at(at),
            digest=digest,
            progress=progress,
        )
        await add_imported(self._store, self._owner(user), by_key, now=self._now(at))
        self._services.worker.wake()
        return result

    async def import_memories(
        self,
        user: str,
        memories: ForeignMemories,
        *,
        digest: bool = True,
        progress: Progress | None = None,
        at: datetime | None = None,
    ) -> MemoriesImportResult:
        """Take over what another memory product has stored about the user (as read from a file by
        `omoide.transfer.read`), each item once."""
        result = await import_memories(
            self._store,
            self._owner(user),
            memories,
            at=self._said_at(at),
            digest=digest,
            progress=progress,
        )
        self._services.worker.wake()
        return result

    async def pin(self, user: str, fact: str) -> Fact:
        """Keep a fact in every version of the summary from the next one on. It does not expire."""
        return await self.mark(user, fact, FactMarks(pinned=True))

    async def unpin(self, user: str, fact: str) -> Fact:
        """Let a fact be chosen for the summary like any other. With `Settings.retention`, it
        expires so many days from now."""
        return await self.mark(user, fact, FactMarks(pinned=False))

    async def expire(self, user: str, fact: str, when: datetime | None) -> Fact:
        """Set when a fact stops being remembered; None for never. A pinned fact with such a time is
        no longer pinned. It stays in the timeline; `erase` removes it."""
        if when is None:
            return await self.mark(user, fact, FactMarks(forever=True))
        return await self.mark(user, fact, FactMarks(expires=aware(when, "when")))

    async def tag(self, user: str, fact: str, tags: Sequence[str]) -> Fact:
        """Set the tags of a fact; none removes them."""
        return await self.mark(user, fact, FactMarks(tags=normal_tags(tags)))

    async def mark(self, user: str, fact: str, marks: FactMarks) -> Fact:
        """Set several marks on a fact at once. A fact that is pinned no longer expires, and one
        that gets a time is no longer pinned, unless both are given. One that is unpinned and has
        no time expires as `Settings.retention` says. Returns the fact as it is now. Raises
        `NoSuchFact`."""
        if marks.tags is not None:
            marks = replace(marks, tags=normal_tags(marks.tags))
        if len(marks.tags or ()) > MAX_TAGS:
            raise BadInput(f"a fact may have at most {MAX_TAGS} tags, not {len(marks.tags or ())}")
        for tag in marks.tags or ():
            checked_name(tag, "a tag")
        if marks.expires is not None:
            aware(marks.expires, "expires")
        if marks.pinned and marks.expires is None:
            marks = replace(marks, forever=True)
        elif marks.pinned is None and marks.expires is not None and not marks.forever:
            marks = replace(marks, pinned=False)
        elif marks.pinned is False and marks.expires is None and not marks.forever:
            days = self._settings.retention
            old = await self._services.facts.find(self._owner(user), fact)
            if days and old.pinned and old.expires is None:
                marks = replace(marks, expires=self._now(None) + timedelta(days=days))
        return await self._services.facts.mark(self._owner(user), fact, marks)

    async def put_note(
        self, user: str, *, kind: str, key: str, text: str, at: datetime | None = None
    ) -> Note:
        """Keep a text of the application's own about the user, such as the state of an agent; it
        replaces the one with the same kind and key. `kind` begins with `app.`. Notes are not
        recalled. They are exported with the rest, and all of them are erased with any turn of the
        user, since they may quote it."""
        note = Note(
            kind=application_kind(kind),
            key=checked_name(key, "a note's key"),
            text=checked_text(text, max_chars=MAX_NOTE),
            time=self._now(at),
        )
        await self._store.notes.put(self._owner(user), note)
        return note

    async def remove_notes(self, user: str, *, kind: str, keys: Sequence[str] | None = None) -> int:
        """Remove notes of the application's own: those with these keys, or all of the kind. Returns
        how many there were."""
        return await self._store.notes.remove(
            self._owner(user),
            kind=application_kind(kind),
            keys=None if keys is None else several(keys),
        )

    async def memory_tool(self, user: str, command: Mapping[str, Any], *, by: str = "") -> str:
        """Do a command of Anthropic's memory tool (`memory_20250818`) in the user's folder; durable
        on return. `command` is the tool's input, such as `{"command": "view", "path":
        "/memories"}`; the result is for the model to read. `by` is whom the new version of the file
        names. Raises `BadCommand`, whose message is for the model too."""
        return await self._services.folders.run(self._owner(user), command, by=by)

    async def restore_file(
        self, user: str, path: str, version: int, *, by: str = ""
    ) -> FileVersion:
        """Give a file of the memory tool the text of one of its versions again, as a new version;
        durable on return. Raises `NoSuchVersion`."""
        return await self._services.folders.restore(self._owner(user), path, version, by=by)


def application_kind(kind: str) -> str:
    """The kind, if an application may use it: others are those of mechanisms."""
    if not kind.startswith(APPLICATION):
        raise BadInput(f"the kind of an application's note begins with app., not {kind[:40]!r}")
    return checked_name(kind, "a note's kind")
