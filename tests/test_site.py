"""The documentation as a site: it builds without a warning, and its pages load nothing from the network."""

import html
import importlib
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from mcn.paper.baselines import METHODS
from mcn.train import RECIPES
from mcn.train.settings import declared
from tests.conftest import docs_script, python

pytest.importorskip("zensical", reason="zensical is not installed (dependency group docs)")


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `make docs` makes it: a warning ends the build, and with it the test."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(repository / "mkdocs.yml", folder)
    shutil.copytree(repository / "docs", folder / "docs")
    for name in ("src", "graphmotifs"):
        (folder / name).symlink_to(repository / name)
    search = {"PYTHONPATH": os.pathsep.join([str(repository / "docs"), *sys.path])}
    python("-m", "zensical", "build", "--strict", cwd=folder, env=os.environ | search)
    return folder / "site"


class Loaded(HTMLParser):
    """Addresses that a browser would fetch to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(values.get("src") or "")
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.addresses.append(values.get("href") or "")


def test_every_page_is_built_and_in_the_navigation(site: Path, repository: Path) -> None:
    pages = {path.relative_to(repository / "docs") for path in (repository / "docs").rglob("*.md")}
    for page in pages:
        assert (site / page.with_suffix(".html")).is_file(), page
    assert not list(site.rglob("*.py"))
    listed = set(re.findall(r"[\w/-]+\.md", (repository / "mkdocs.yml").read_text(encoding="utf-8")))
    docs = repository / "docs"
    assert listed == {str(path.relative_to(docs)) for path in docs.rglob("*.md")}


PACKAGES = ["mcn"] + [f"mcn.{name}" for name in ("data", "store", "motifs", "matrices", "nn", "train", "viz")]
PACKAGES += ["mcn.experiments", "mcn.experiments.search", "mcn.paper", "mcn.paper.baselines"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(site: Path, package: str) -> None:
    pages = [page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html")]
    headings = {
        match[1] for page in pages for match in re.finditer(r'<h2 id="((?:mcn|graphmotifs)\.[\w.]+)"', page)
    }
    documented = {heading.rpartition(".")[2] for heading in headings}
    names = set(importlib.import_module(package).__all__) - {"__version__"}
    assert names <= documented


def test_tables_are_made_from_the_declarations(site: Path) -> None:
    page = (site / "settings.html").read_text(encoding="utf-8")
    for recipe in RECIPES.values():
        for one in declared(recipe.config).values():
            assert f"<code>{one.name}</code>" in page
            assert html.escape(one.sentence, quote=False) in page, one.name
    methods = (site / "baselines.html").read_text(encoding="utf-8")
    homes = {name: getattr(method, "function", method).__module__ or "" for name, method in METHODS.items()}
    ours = [name for name in homes if "-paper" not in name and homes[name].startswith("mcn.")]
    assert all(f"<code>{name}</code>" in methods for name in ours)  # other tests register studies'
    assert {"mcn", "gat", "deepwalk", "monet"} <= set(ours)


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(page.read_text(encoding="utf-8"))
        assert parser.addresses
        for address in parser.addresses:
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", text), sheet.name


def test_formulas_are_drawn_and_studies_are_named_and_not_linked(site: Path) -> None:
    page = (site / "motifs.html").read_text(encoding="utf-8")
    assert 'aria-label="\\sqrt{2M}"' in page
    words = re.sub(r"<(pre|code|script|svg).*?</\1>|<[^>]+>", "", page, flags=re.DOTALL)
    assert "$" not in words
    # They are outside the site; in a clone the same words are a link.
    page = (site / "views.html").read_text(encoding="utf-8")
    assert "The study (<code>studies/beyond</code>)" in page
    assert 'href="../studies' not in page


@pytest.fixture(scope="module")
def maths() -> ModuleType:
    return docs_script("site_maths")


def test_code_keeps_its_dollars_and_a_formula_becomes_a_picture(maths: ModuleType) -> None:
    draw = maths.Formulas().run
    page = "<p><code>$HOME</code> and <code>$A</code></p><pre>$ mcn train</pre>"
    assert draw(page) == page
    drawn = draw("<p>so $a &lt; b_1$ holds</p>")
    assert drawn.startswith('<p>so <svg role="img" aria-label="a &lt; b_1"')
    assert drawn.endswith("</svg> holds</p>")
    width = float(re.search(r"width:([\d.]+)em", drawn)[1])
    assert 1.0 < width < 4.0
    wider = draw("<p>$a + b + c + d + e + f$</p>")
    assert float(re.search(r"width:([\d.]+)em", wider)[1]) > width
