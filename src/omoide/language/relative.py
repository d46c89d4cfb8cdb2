"""The table `[relative]` of a language pack: how days are named from the day of speaking.

docs/languages.md shows how to write one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - read at run time by `reading`
from dataclasses import dataclass, field

from omoide.language.periods import unit_and_step
from omoide.language.tables import NEVER


@dataclass(frozen=True, kw_only=True)
class Written:
    """How a date is written. `{y}`, `{m}` and `{d}` are numbers, `{month}` and `{season}` names;
    `{day}` is a day written bare, `{part}` a part of the day. A week has its Monday, a weekend
    its Saturday; a winter begins in `{y}` and ends in `{next}`."""

    day: str = "{y}-{m:02}-{d:02}"
    week: str = "{y}-{m:02}-{d:02}"
    weekend: str = "{y}-{m:02}-{d:02}"
    month: str = "{y}-{m:02}"
    season: str = "{season} {y}"
    winter: str = "{season} {y}/{next}"
    year: str = "{y}"
    part: str = "{day} {part}"
    possessive: str = "{day}"
    """In the place of an expression with the group whose, such as "tomorrow's"."""
    before: str = "{vague} < {day}"
    """A vague time ago: `{vague}` is the words for how long."""
    after: str = "{vague} > {day}"
    either: str = " / "
    """Between two dates of which one is meant."""


@dataclass(frozen=True, kw_only=True)
class Relative:
    """How days are named from the day of speaking; used by `omoide.language.dates`. In the
    patterns `since`, `until` and `bare`, `⟨⟩` stands for the expression."""

    rules: tuple[re.Pattern[str], ...] = ()
    """Expressions, tried in order. Groups: period (a word of `periods`), way, weekday, m and d (d
    alone is the next or the last such day of a month, if its clause tells which), season, weekend,
    n and span (a day if left out) with ago or ahead, vague (how long) with ago or ahead; within
    marks what counts only in a clause about the future, as does close (the end of the month, or of
    the span), left what stays as it is; part (of the day or month), whose (a possessive) and tail
    (see `tails`) are written with the date."""
    absolute: tuple[re.Pattern[str], ...] = ()
    """Dates with a year: groups y, m, d, season. They stay."""
    fixed: re.Pattern[str] = NEVER
    """What only looks relative: habits, set phrases. It stays."""
    timeless: re.Pattern[str] = NEVER
    """Words of a sentence whose dates without a year come every year, or in a year told: a
    birthday, "in 2019"."""
    habit: re.Pattern[str] = NEVER
    """Words of a clause that is true every year if it has no tense: "is busiest in"."""
    recurring: re.Pattern[str] = NEVER
    """Words of a clause about what happens again and again, in which "tomorrow" is another day each
    time: "always", "every". They count only in texts whose writer was asked for dates."""
    once: re.Pattern[str] = NEVER
    """A clause in the present that tells of one day if it names a weekday, as "starts on ⟨⟩" where
    a habit is "on Mondays"."""
    periods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words for a unit counted from now: "day-1" are those for yesterday. The units are day,
    week, weekend, month and year."""
    ways: Mapping[str, int] = field(default_factory=dict)
    """-1 for last, 0 for this, 1 for next, -2 for the one just past, 2 for the coming one."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    spans: Mapping[str, str] = field(default_factory=dict)
    """The unit that a word means."""
    month_names: tuple[str, ...] = ()
    """Twelve strings, each with the names of a month; the first is written."""
    weekday_names: tuple[tuple[str, ...], ...] = ()
    """Seven lists, each with the names of a weekday, from Monday."""
    season_names: Mapping[str, int] = field(default_factory=dict)
    """The first month of each season."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """The part of the day that a word of `periods` means besides."""
    tails: Mapping[str, str] = field(default_factory=dict)
    """Particles (group tail) that have another form after a written date."""
    future: re.Pattern[str] = NEVER
    """Words of a clause about the future."""
    past: re.Pattern[str] = NEVER
    unsure: re.Pattern[str] = NEVER
    """Words of a clause whose tense does not tell when: "if", "would"."""
    boundary: re.Pattern[str] = re.compile(r"[.!?,;:。！？，；：、\n]")
    """Where a clause ends."""
    since: re.Pattern[str] = NEVER
    """What holds from the date on, such as "since ⟨⟩"."""
    until: re.Pattern[str] = NEVER
    bare: re.Pattern[str] = NEVER
    """Where a date is written without the word that it has alone, as in "for ⟨⟩"."""
    alone: Written = field(default_factory=Written)
    """How dates are written, such as "on {d} {month} {y}"."""
    beside: Written | None = None
    """How they are written where `bare` matches; as `alone` if left out."""

    def __post_init__(self) -> None:
        for key in self.periods:
            unit_and_step(key)
        for name, wanted in (("month_names", 12), ("weekday_names", 7)):
            if len(listed := getattr(self, name)) not in {0, wanted}:
                raise ValueError(f"{name}: wanted {wanted} entries, not {len(listed)}")
