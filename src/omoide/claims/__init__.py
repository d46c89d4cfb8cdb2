"""Checks what a model wrote against what was actually said.

Five questions, one module each: `support` (did the speaker say it?), `attribution` (whom is it
about?), `contradiction` (what does it make untrue?), `names` (what is the user's name?) and
`citation` (which turns support it?). `answers` checks a whole answer.
"""

from omoide.claims.answers import check as check_summary
from omoide.claims.answers import without_echoes, without_repeats
from omoide.claims.attribution import Partner, speaker_lines
from omoide.claims.citation import cite_sources
from omoide.claims.contradiction import retire
from omoide.claims.noted_facts import NotedFact, pack, phrasing, read_facts
from omoide.claims.overlap import coverage, rarity, stems
from omoide.claims.support import unsupported

__all__ = [
    "NotedFact",
    "Partner",
    "check_summary",
    "cite_sources",
    "coverage",
    "pack",
    "phrasing",
    "rarity",
    "read_facts",
    "retire",
    "speaker_lines",
    "stems",
    "unsupported",
    "without_echoes",
    "without_repeats",
]
