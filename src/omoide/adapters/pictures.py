"""SVG to PNG, by resvg: the only place that knows it."""

from __future__ import annotations

from omoide.errors import BadInput, MissingExtra


def png(svg: str, *, zoom: int = 2) -> bytes:
    """The picture as PNG, so many times its size. Its words are set in the system's fonts; where
    there is none that it names, `BadInput` says so, since a picture without words says nothing."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise MissingExtra(
            "PNG needs an extra: pip install 'omoide[plot]'; SVG does not"
        ) from error
    wordless = svg.replace("<text", "<desc").replace("</text", "</desc")
    picture, bare = (bytes(svg_to_bytes(svg_string=s, zoom=zoom)) for s in (svg, wordless))
    if picture == bare and wordless != svg:
        raise BadInput(
            "this machine has no font for the picture: install DejaVu Sans, or draw .svg"
        )
    return picture
