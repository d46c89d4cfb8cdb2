"""A conversation over five sessions, made up by us, with its memory, memos and events ready-made.

It lets a newcomer see everything at once, without a model. The same story is told in each language:
`story.json` says who speaks when and what rests on what, `<language>.json` holds the words.
"""

from omoide.demo.loading import LANGUAGES, Loaded, load

__all__ = ["LANGUAGES", "Loaded", "load"]
