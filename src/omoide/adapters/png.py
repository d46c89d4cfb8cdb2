"""Converts SVG to PNG with resvg."""

from __future__ import annotations

from omoide.errors import BadInput, MissingExtra


def svg_to_png(svg: str, *, zoom: int = 2) -> bytes:
    """The picture as PNG, enlarged `zoom` times, with text in the system's fonts. Raises `BadInput`
    if none of the fonts it names is installed, since resvg would then leave out all text."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise MissingExtra(
            "PNG needs an extra: pip install 'omoide[plot]', or write .svg instead"
        ) from error
    textless = svg.replace("<text", "<desc").replace("</text", "</desc")
    picture, without_text = (bytes(svg_to_bytes(svg_string=s, zoom=zoom)) for s in (svg, textless))
    if picture == without_text and textless != svg:
        raise BadInput(
            "this machine has no font for the picture: install DejaVu Sans, or write .svg instead"
        )
    return picture
