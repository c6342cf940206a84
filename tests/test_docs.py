"""The README, the pages of `docs` and the examples in docstrings say what is there, and run."""

import ast
import doctest
import importlib
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import mcn
from mcn.cli.main import main
from mcn.motifs import MOTIFS, picture
from tests.conftest import REPOSITORY, docs_script, refuses

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What makes a command short: it must run, how well it trains is not the matter here. The last of two counts.
SHORT = {"view": ["--no-open"], "train": ["--max-epochs", "20"], "compare": ["--max-epochs", "20"]}


class Block(NamedTuple):
    language: str
    text: str
    line: int


class Command(NamedTuple):
    words: list[str]
    output: str


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(text)]


def _commands(block: Block) -> list[Command]:
    """The `$ mcn …` lines of a console block, each with the lines below it."""
    if block.language != "console":
        return []
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    lines = [part.partition("\n") for part in parts]
    return [Command(shlex.split(line), output) for line, _, output in lines]


def write_graph(folder: Path) -> None:
    """Write edges.csv and nodes.csv, the names that pages use: 40 people in groups of four, in a ring."""
    groups = [range(4 * number, 4 * number + 4) for number in range(10)]
    edges = [(a, b) for group in groups for a in group for b in group if a < b]
    edges += [(group[-1], (group[-1] + 1) % 40) for group in groups]
    nodes = [(f"p{i}", ("red", "blue")[i // 4 % 2], 20 + i % 7, i % 3) for i in range(40)]
    lines = [f"p{a},p{b}" for a, b in edges]
    (folder / "edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
    rows = [",".join(map(str, node)) for node in nodes]
    (folder / "nodes.csv").write_text("\n".join(["id,label,age,visits", *rows]) + "\n")


def run_in_process(command: Command) -> None:
    """Run a command of a page in this process; a page to look at is written and not opened."""
    program, verb, *words = command.words
    assert program == "mcn", command
    of_auto = ["--set", "repeats=1"] if verb == "train" and "--graph" in words else []
    assert main([verb, *words, *SHORT.get(verb, []), *of_auto]) == 0, command


def run_examples(path: Path, shell: Callable[[Command], None] | None = None) -> None:
    """Run the Python blocks of a file in one namespace.

    Blocks with prompts must print what they show; the others must run. Commands of console blocks are given
    to `shell`, in their place among the other blocks.
    """
    names: dict[str, object] = {}
    for block in blocks(path):
        if block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.text, names, path.name, str(path), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.REPORT_ONLY_FIRST_FAILURE)
            report: list[str] = []
            runner.run(test, out=report.append, clear_globs=False)
            assert runner.failures == 0, "".join(report)
            names = test.globs
        elif block.language == "python":
            exec(compile(block.text, f"{path.name}:{block.line}", "exec"), names)
        elif block.language == "console" and shell is not None:
            for command in _commands(block):
                shell(command)


DOCS, README = REPOSITORY / "docs", REPOSITORY / "README.md"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_examples_run(page: Path, here: Path, monkeypatch: Any, request: pytest.FixtureRequest) -> None:
    if any('load_dataset("cora")' in block.text for block in blocks(page)):
        monkeypatch.setenv("MCN_DATA", str(request.getfixturevalue("data_root")))
    write_graph(here)
    # Pages outside the guides show commands with real data sets and long runs.
    run_examples(page, run_in_process if page.parent.name == "guide" else None)


def test_the_motif_page_has_examples_and_its_pictures_are_up_to_date(repository: Path) -> None:
    """Each file is what `mcn.motifs.picture` gives for its name."""
    assert len([b for b in blocks(repository / "docs" / "motifs.md") if b.language == "pycon"]) >= 5
    for name, motifs in {"motifs": MOTIFS, "directed": mcn.DIRECTED_GRAPHLETS}.items():
        folder = repository / "docs" / "img" / name
        assert sorted(path.stem for path in folder.iterdir()) == sorted(motifs)
        for motif in motifs:
            assert (folder / f"{motif}.svg").read_text(encoding="utf-8") == picture(motif) + "\n", motif


def test_examples_and_commands_of_the_readme_run(here: Path) -> None:
    write_graph(here)
    assert {block.language for block in blocks(README)} & {"python", "pycon"}
    found = [command for block in blocks(README) for command in _commands(block)]
    assert {command.words[1] for command in found} >= {"check", "train", "predict", "compare"}
    run_examples(README, run_in_process)
    assert (here / "predictions.csv").is_file()


def test_readme_and_docs_stay_short_and_links_and_commands_lead_somewhere(repository: Path) -> None:
    """What was cut does not grow back; `studies/` have pages of their own."""
    pages = (repository / "docs").rglob("*.md")
    assert len((repository / "README.md").read_text(encoding="utf-8").split()) <= 1_100
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 30_000
    for page in [repository / "README.md", *(repository / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "test-all", "bench", "lint"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    return docs_script("make_tables")


def test_the_tables_are_those_of_the_kept_runs(tables: ModuleType) -> None:
    """After new runs: python docs/make_tables.py."""
    made = tables.blocks()
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        assert "<!-- begin " in text
        assert tables.filled(text, made) == text


def test_a_number_that_no_run_gave_is_noticed_and_cells_by_hand(tables: ModuleType, tmp_path: Path) -> None:
    made = {"results": "| MCN | 93.3 |"}
    page = "before\n<!-- begin results -->\n{}\n<!-- end results -->\nafter\n"
    assert tables.filled(page.format("| MCN | 99.9 |"), made) == page.format("| MCN | 93.3 |")
    refuses("table9", tables.filled, "<!-- begin table9 -->\n<!-- end table9 -->", made, error=KeyError)
    rows = "g,a,0,0.1,1\ng,a,1,0.3,1\ng,b,0,0.0,1\ng,b,1,0.1,1\n"
    (tmp_path / "runs.csv").write_text("dataset,method,seed,test_accuracy,version\n" + rows)
    runs = tables.Runs(tmp_path / "runs.csv")
    assert runs.cell("g", "a") == "20.0 ± 14.1"
    assert runs.cell("g", "c") == "–"
    assert runs.difference("g", "a", "b") == "+15.00 ± 5.00"  # 10 and 20: deviation 7.07 over the root of 2


def test_the_results_are_one_table_without_comments(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"<!-- begin results -->\n(.*?)<!-- end results -->", readme, re.DOTALL)
    assert len(re.findall(r"^\|---", block, re.MULTILINE)) == 1
    assert readme.count("<!--") == 2


PAPER_MAP = REPOSITORY / "docs" / "paper-map.md"
LABELS = """
eq:gcn eq:gcn-integrate eq:gat-integrate eq:k1 eq:k2 eq:k3 eq:k4 eq:k5 eq:kstep1 eq:kstep2 eq:state
eq:att_matrix eq:xent_loss eq:att_loss eq:loss tab:gen tab:acc tab:DD
fig:butterfly fig:motiv fig:model fig:vis
"""
PLACE = re.compile(r"`(\w[\w/]*\.py)`(?:: (`[\w.]+`(?:, `[\w.]+`)*))?")
PLACES = [
    (m[1], name) for m in PLACE.finditer(PAPER_MAP.read_text()) for name in re.findall(r"[\w.]+", m[2] or "")
]


def names(path: Path) -> set[str]:
    """The functions and classes of a file, and their methods as Class.method."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("label", LABELS.split())
def test_every_label_of_the_paper_is_there(label: str) -> None:
    assert re.search(rf"^\| {re.escape(label)} ", PAPER_MAP.read_text(), re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), PLACES)
def test_every_name_is_where_it_says(file: str, name: str) -> None:
    assert name in names(REPOSITORY / file)


def test_every_file_is_there() -> None:
    files = {m[1] for m in PLACE.finditer(PAPER_MAP.read_text())}
    assert len(files) > 20
    assert [file for file in sorted(files) if not (REPOSITORY / file).is_file()] == []


SOURCE = Path(mcn.__file__).parent


def _modules() -> list[str]:
    paths = sorted(SOURCE.rglob("*.py"))
    with_examples = [path for path in paths if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in with_examples]


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    # numba's kernels are no functions to doctest's eye; ours of the public API are plain ones.
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
