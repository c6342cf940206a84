"""A Markdown extension for the site: formulas between dollar signs become inline SVG, without a script."""

from __future__ import annotations

import html
import re

from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

# Code, and formulas: what is inside code is left alone.
_PARTS = re.compile(r"(?P<code><pre.*?</pre>|<code.*?</code>)|\$(?P<tex>[^$<>\n]+)\$", re.DOTALL)
_COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}  # matplotlib's path codes as SVG's
_SIZE = 100.0  # units per em


class Formulas(Postprocessor):
    """Draw the formulas of a page."""

    def run(self, text: str) -> str:
        """Called with the HTML of every page."""
        return _PARTS.sub(lambda found: found["code"] or picture(html.unescape(found["tex"])), text)


class SiteMaths(Extension):
    """The extension `site_maths` of mkdocs.yml."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run last, when code is in its place again."""
        md.postprocessors.register(Formulas(md), "site_maths", 0)


def makeExtension() -> Extension:
    """The name that Markdown looks for."""
    return SiteMaths()


def picture(tex: str) -> str:
    """A formula as SVG in the colour, size and base line of the text around it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family="DejaVu Sans", math_fontfamily="cm")
    braced = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", tex)  # matplotlib wants what TeX can do without
    outline = TextPath((0, 0), f"${braced}$", size=_SIZE, prop=font)
    box = outline.get_extents()
    width, height = max(box.x1, 1.0), max(box.y1, 0.0) - min(box.y0, 0.0)
    steps = [
        _COMMANDS[int(code)] + ("" if code == 79 else " ".join(f"{value:.1f}" for value in points))
        for points, code in outline.iter_segments(curves=True, simplify=False)
    ]
    return (
        f'<svg role="img" aria-label="{html.escape(tex)}" viewBox="0 {-max(box.y1, 0.0):.1f} {width:.1f} '
        f'{height:.1f}" style="width:{width / _SIZE:.3f}em;height:{height / _SIZE:.3f}em;'
        f'vertical-align:{min(box.y0, 0.0) / _SIZE:.3f}em;fill:currentColor;overflow:visible">'
        f'<path transform="scale(1,-1)" d="{"".join(steps)}"/></svg>'
    )
