"""The facts of the demo: the sentences of its memory, each with its life."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Fact, FactKind, Speaker, Trust
from omoide.mechanisms.facts.applying import UNSUPPORTED

if TYPE_CHECKING:
    from datetime import date

    from omoide.demo.story import DemoStory


class StoryFacts:
    """Makes facts of the sentences of a story."""

    def __init__(self, story: DemoStory) -> None:
        self._story = story
        self._known = story.story["sentences"]
        self._turns = {turn.id: turn for turns in story.sessions for turn in turns}
        self._successors = {
            known["replaces"]: name for name, known in self._known.items() if "replaces" in known
        }

    def facts(self) -> tuple[Fact, ...]:
        """One fact for each sentence, ended where another took its place or a turn says so."""
        return tuple(self._fact(name) for name in self._known)

    def _fact(self, name: str) -> Fact:
        story, known = self._story, self._known[name]
        session = story.learned(name)
        sources = tuple(f"demo-{source}" for source in known["sources"])
        cited = [self._turns[source] for source in sources]
        said = [turn.time for turn in cited if turn.session == session]
        by_assistant = cited and cited[0].speaker is Speaker.ASSISTANT
        successor = self._successors.get(name, "")
        end_sources = tuple(f"demo-{source}" for source in known.get("ended", ()))
        ended = None
        if successor:
            ended = story.ended(story.learned(successor))
        elif end_sources:
            ended = story.ended(self._turns[end_sources[0]].session)
        reasons = story.words["reasons"]
        return Fact(
            id=f"demo-{name}",
            about=known["about"],
            text=story.sentence(name),
            said=min(said, default=story.ended(session)),
            learned=story.ended(session),
            kind=FactKind(known["kind"]),
            language=story.language,
            session=session,
            until=self._until(name),
            sources=sources,
            trust=Trust.ASSISTANT if by_assistant else Trust.USER,
            supersedes=(f"demo-{known['replaces']}",) if "replaces" in known else (),
            reason=reasons[name] if "replaces" in known else "",
            ended=ended,
            ended_by=f"demo-{successor}" if successor else "",
            end_reason=reasons.get(successor or name, "") if ended else "",
            end_sources=end_sources,
            flags=() if sources else (UNSUPPORTED,),
        )

    def _until(self, name: str) -> date | None:
        """The next day after it was said that is the weekday it names."""
        if (weekday := self._known[name].get("weekday")) is None:
            return None
        day: date = self._story.starts[self._story.learned(name) - 1].date()
        return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)
