"""A demo: an invented conversation of five sessions, with its summaries, memos and events.

It lets a newcomer see everything at once, without a model. The story is the same in each language:
`story.json` has the dates and the sources, `<language>.json` has the texts.
"""

from omoide.demo.loading import LANGUAGES, LoadedDemo, load

__all__ = ["LANGUAGES", "LoadedDemo", "load"]
