from __future__ import annotations

import pytest

from mcn.experiments import Source
from mcn.experiments.paper.plan import TABLES, plan, unit_for
from mcn.train import MCNConfig, ViewsConfig, load_preset
from mcn.train.mcn.special import CHANGES
from mcn.train.presets import dataset_config

DATASETS = [*TABLES["table2"].paper.datasets, *TABLES["table3"].paper.datasets]


def test_table2_has_all_rows_of_the_paper_and_five_more() -> None:
    table = TABLES["table2"]
    more = {"majority", "gcn-ensemble", "mcn-paper", "gat-consistency", "gcn-consistency"}
    assert set(table.methods) - set(table.paper.rows) == more
    assert set(table.paper.rows) <= set(table.methods)
    entries = plan(table, range(15))
    assert len(entries) == 17 * 3
    assert all(len(entry.units) == 15 and not entry.note for entry in entries)
    assert {unit.seed for entry in entries for unit in entry.units} == set(range(15))
    assert all(unit.test for entry in entries for unit in entry.units)


def test_the_majority_stands_first_in_table3() -> None:
    table = TABLES["table3"]
    papers = ("gcn-paper", "gat-paper", "mcn-paper")
    assert table.methods == ("majority", *papers, "mlp", "gcn", "gat", "mcn", "twins")
    assert (table.seeds, TABLES["table2"].seeds) == (10, 15)


@pytest.mark.parametrize("dataset", DATASETS)
def test_mcn_has_the_presets(dataset: str) -> None:
    source = Source(dataset)
    assert unit_for(source, "mcn", 3).config() == load_preset(dataset).config.replace(seed=3)
    assert unit_for(source, "mcn-paper", 3).config() == load_preset(f"{dataset}-paper").config.replace(seed=3)


@pytest.mark.parametrize("dataset", ["dd6", "dd7"])
def test_gcn_and_gat_have_the_paper_s_size_on_dd(dataset: str) -> None:
    for method in ("gcn", "gat", "gcn-paper", "gat-paper"):
        config = unit_for(Source(dataset), method, 0).config()
        assert isinstance(config, MCNConfig)
        assert (config.hidden * config.heads, config.patience, config.motifs) == (32, 50, ("edge",))
        assert config.self_attention == method.startswith("gat")
        assert not config.chooses
        ours = not method.endswith("paper")
        assert (config.features, config.class_priors) == (
            ("motifs", "validation") if ours else ("given", "none")
        )


def test_rows_of_views_differ_in_what_they_draw_from() -> None:
    def names(method: str, dataset: str) -> tuple[str, ...]:
        config = unit_for(Source(dataset), method, 0).config()
        assert isinstance(config, ViewsConfig)
        assert config.replace(motifs=("edge",)) == dataset_config("views", dataset, motifs=("edge",))
        return config.motifs

    assert names("views", "cora") == dataset_config("views", "cora").motifs
    assert names("views-walks", "cora") == ("edge", "order=4", "order=16")
    assert names("views-walks", "pubmed") == ("edge", "alpha=0.9", "alpha=0.25")
    assert names("views-random", "citeseer") == ("edge", "random=1", "random=2")
    assert TABLES["beyond"].first_seed >= 200  # seeds below were looked at while settings were chosen


@pytest.mark.parametrize("dataset", TABLES["controls"].paper.datasets)
def test_controls_are_the_paper_s_rule_with_another_advantage(dataset: str) -> None:
    paper = dataset_config("paper", dataset).to_dict()
    assert paper["advantage"] == "none"
    for method, advantage in (("mcn-paper-mean", "mean"), ("mcn-paper-learned", "learned")):
        config = unit_for(Source(dataset), method, 3).config()
        assert config is not None
        assert config.to_dict() == paper | {"advantage": advantage, "seed": 3}


def test_gcn_and_gat_are_the_usual_ones_elsewhere() -> None:
    for method in ("gcn", "gat", "mlp"):
        config = unit_for(Source("citeseer"), method, 2).config()
        assert config == dataset_config("mcn", "citeseer").replace(**CHANGES[method], seed=2)


def test_every_cell_has_all_its_runs() -> None:
    for table in TABLES.values():
        seeds = range(table.first_seed, table.first_seed + table.seeds)
        for entry in plan(table, seeds):
            assert [unit.seed for unit in entry.units] == list(seeds)
            assert entry.note == ""


def test_quick_says_what_it_leaves_out() -> None:
    tables = [plan(TABLES[name], [0, 1], quick=True) for name in ("table2", "table3", "beyond")]
    assert all(len(entry.units) == 2 and not entry.note for entry in tables[0])
    entries = {(e.dataset, e.method): e for table in tables[1:] for e in table}
    assert entries["pubmed", "grand"].units == ()
    assert entries["pubmed", "grand"].note == "not run in a quick run"
    assert len(entries["dd6", "twins"].units) == 1
    assert entries["dd6", "twins"].note == "1 of 2 runs in a quick run"
    assert len(entries["citeseer", "grand"].units) == 2
    assert entries["citeseer", "grand"].note == ""


def test_some_rows_in_the_order_of_the_table() -> None:
    entries = plan(TABLES["table2"], [4], methods=["mcn", "lp"], datasets=["pubmed", "cora"], data_root=".")
    assert [(e.dataset, e.method) for e in entries] == [
        *[("cora", "lp"), ("cora", "mcn")],
        *[("pubmed", "lp"), ("pubmed", "mcn")],
    ]
    assert all(e.cost > 0 for e in entries)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["gta"]}, r"methods: expected some of .*, got 'gta'; did you mean 'gat'\?"),
        ({"datasets": ["dd6"]}, "datasets: expected some of cora, citeseer, pubmed, got 'dd6'"),
        ({"methods": []}, "methods: none given"),
    ],
)
def test_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(TABLES["table2"], [0], **options)
