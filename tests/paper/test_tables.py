"""The paper's tables: its numbers, the runs that fill them again, the file of runs, the report, table 1."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from mcn.data import load_dataset
from mcn.experiments import Ledger, Source
from mcn.nn import MCNConv
from mcn.paper import TABLES, SpecialCase, compare_special_cases, summary_table
from mcn.paper.baselines import METHODS
from mcn.paper.report import average_ranks, noise, ranks, table_report, table_results
from mcn.paper.reproduce import check_table, read_runs, read_table, reproduce_table, write_runs
from mcn.paper.special_cases import special_report
from mcn.paper.tables import LARGEST_CLASS, plan, unit_for
from mcn.train import load_preset
from mcn.train.presets import dataset_config
from tests.configs import MCNConfig
from tests.conftest import reference, refuses

TABLE2, TABLE3 = TABLES["table2"], TABLES["table3"]
QUICK: dict[str, Any] = {"methods": ["lp", "majority"], "datasets": ["cora"], "jobs": 1}


class TestThePapersNumbers:
    @pytest.mark.parametrize(
        ("name", "part"), [("table2", "table2_accuracy_percent"), ("table3", "table3_micro_f1_percent")]
    )
    def test_the_values(self, name: str, part: str) -> None:
        table, expected = TABLES[name], reference("paper-tables")[part]
        assert list(table.datasets) == expected["datasets"]
        assert list(table.paper) == list(expected["rows"])
        for method, row in expected["rows"].items():
            assert list(table.paper[method].mean) == row["mean"]
            assert table.paper[method].avg_rank == row.get("avg_rank")
            assert list(table.paper[method].std or ()) == row.get("std", [])
        assert table.paper["mcn"].runs == expected.get("runs_of_mcn", expected.get("runs"))

    def test_lookup_and_average_ranks_of_the_paper(self) -> None:
        assert TABLE2.value("citeseer", "monet") is None
        assert TABLE2.value("pubmed", "monet") == 78.8
        assert TABLE2.value("cora", "majority") is None
        assert TABLE2.value("cora", "mcn-paper") == TABLE2.value("cora", "mcn") == 83.5
        assert TABLE2.spread("pubmed", "mcn") == (0.3, 15)
        assert TABLE2.spread("cora", "gcn") is None
        # Equal to the printed ones but for the two methods that tie on Pubmed.
        columns = [{row: TABLE2.value(data, row) for row in TABLE2.paper} for data in TABLE2.datasets]
        computed = average_ranks(columns)
        for name, row in TABLE2.paper.items():
            shared = 0.5 / 3 if name in ("gcn", "gat") else 0.0  # rank 2.5 on one of three, where it prints 2
            assert computed[name] - shared == pytest.approx(row.avg_rank, abs=0.05), name

    @pytest.mark.parametrize("name", ["dd6", "dd7"])
    def test_share_of_the_largest_class(self, name: str, data_root: Path) -> None:
        data = load_dataset(name, root=data_root, seed=3)
        rest = data.y[~data.train_mask]
        share = 100 * float(rest.bincount().max()) / len(rest)
        assert share == pytest.approx(LARGEST_CLASS[name], abs=0.05)


class TestPlan:
    def test_table2_has_all_rows_of_the_paper_and_four_more_and_table3_the_majority_first(self) -> None:
        more = {"majority", "mcn-paper", "gat-consistency", "gcn-consistency"}
        assert set(TABLE2.rows) - set(TABLE2.paper) == more
        assert set(TABLE2.paper) <= set(TABLE2.rows)
        planned = plan(TABLE2)
        assert len(planned) == 16 * 3
        assert all([unit.seed for unit in one.units] == list(range(15)) for one in planned)
        assert all(unit.test for one in planned for unit in one.units)
        papers = ("gcn-paper", "gat-paper", "mcn-paper")
        assert TABLE3.rows == ("majority", *papers, "mlp", "gcn", "gat", "mcn")
        assert all(len(one.units) == 10 for one in plan(TABLE3))

    @pytest.mark.parametrize("dataset", [*TABLE2.datasets, *TABLE3.datasets])
    def test_mcn_has_the_presets(self, dataset: str) -> None:
        source = Source(dataset)
        assert unit_for(source, "mcn", 3).config() == load_preset(dataset).config.replace(seed=3)
        paper = load_preset(f"{dataset}-paper").config.replace(seed=3)
        assert unit_for(source, "mcn-paper", 3).config() == paper

    @pytest.mark.parametrize("dataset", TABLE3.datasets)
    def test_gcn_and_gat_have_the_papers_size_on_dd(self, dataset: str) -> None:
        for row in ("gcn", "gat", "gcn-paper", "gat-paper"):
            config = unit_for(Source(dataset), row, 0).config()
            assert isinstance(config, MCNConfig)
            assert (config.hidden * config.heads, config.patience, config.motifs) == (32, 50, ("edge",))
            assert config.self_attention == row.startswith("gat")
            assert not config.chooses
            theirs = ("given", "none") if row.endswith("paper") else ("motifs", "validation")
            assert (config.features, config.class_priors) == theirs

    def test_gcn_and_gat_are_the_usual_ones_elsewhere(self) -> None:
        for row in ("gcn", "gat", "mlp"):
            config = unit_for(Source("citeseer"), row, 2).config()
            assert config == METHODS[row].configure("citeseer", {}, {"seed": 2})
            assert config.stopping == dataset_config("mcn", "citeseer").stopping

    def test_some_rows_in_the_order_of_the_table_and_what_is_refused(self) -> None:
        planned = plan(TABLE2, [4], rows=["mcn", "lp"], datasets=["pubmed", "cora"], data_root=".")
        places = [(one.dataset, one.row) for one in planned]
        assert places == [("cora", "lp"), ("cora", "mcn"), ("pubmed", "lp"), ("pubmed", "mcn")]
        refuses("methods: none given", plan, TABLE2, [0], rows=[])
        refuses("table must be one of table2, table3, got 'table4'", reproduce_table, "table4", "out")


class TestRanks:
    def test_by_hand(self) -> None:
        assert ranks({"a": 1.0, "b": 3.0, "c": 2.0}) == {"a": 3, "b": 1, "c": 2}
        assert ranks({"a": 1.0, "b": 1.0, "c": 1.0}) == {"a": 2, "b": 2, "c": 2}
        assert ranks({"a": None, "b": 5.0}) == {}  # alone, it is the first of nobody
        assert ranks({"a": None, "b": 5.0, "c": 6.0}) == {"b": 2, "c": 1}
        assert ranks({"a": 0.1 + 0.2, "b": 0.3}) == {"a": 1.5, "b": 1.5}  # equal but for the last bits
        columns = [{"a": 1.0, "b": 2.0, "c": None}, {"a": 3.0, "b": 2.0, "c": 1.0}]
        assert average_ranks(columns) == {"a": 1.5, "b": 1.5, "c": 3.0}  # over those with a value

    @given(st.lists(st.integers(0, 5), min_size=2, max_size=12))
    def test_against_scipy(self, values: list[int]) -> None:
        found = ranks({str(i): float(v) for i, v in enumerate(values)})
        assert list(found.values()) == rankdata(-np.array(values), method="average").tolist()


def run(seed: int, test: float, val: float = 0.5, seconds: float = 2.0) -> dict[str, Any]:
    return {"seed": seed, "test_accuracy": test, "val_accuracy": val, "seconds": seconds}


def test_noise_with_and_without_the_papers_deviation() -> None:
    assert noise(2.0, 4, (3.0, 9)) == pytest.approx(2 * math.sqrt(4 / 4 + 9 / 9))
    assert noise(2.0, 4, None) == pytest.approx(2 * math.sqrt(4 / 4 + 4))
    assert noise(0.0, 2, None) == 0.05  # a method without chance is compared up to rounding
    assert noise(None, 1, (0.4, 15)) is None


class TestReport:
    """Of made-up runs whose ranks, means and differences are known."""

    ROWS = ("majority", "monet", "gcn", "gat", "mcn-paper", "mcn")
    TESTED = {  # noqa: RUF012
        ("cora", "majority"): (30.0, 30.0),
        ("cora", "monet"): (81.0,),
        ("cora", "gcn"): (81.0, 81.0),
        ("cora", "gat"): (82.0, 84.0),
        ("cora", "mcn-paper"): (90.0, 90.0),
        ("cora", "mcn"): (83.0, 86.0),
        ("citeseer", "majority"): (18.0, 18.0),
        ("citeseer", "monet"): (70.0, 71.0),
        ("citeseer", "gcn"): (69.0, 70.0),
        ("citeseer", "gat"): (),
        ("citeseer", "mcn-paper"): (60.0, 61.0),
        ("citeseer", "mcn"): (72.0, 73.0),
    }

    @pytest.fixture
    def results(self) -> dict[str, Any]:
        planned = plan(TABLE2, [0, 1], rows=self.ROWS, datasets=["cora", "citeseer"])
        runs = {
            place: [run(seed, test / 100, test / 100) for seed, test in enumerate(own)]
            for place, own in self.TESTED.items()
        }
        return table_results(TABLE2, planned, runs, "1.2")

    def test_results_are_plain(self, results: dict[str, Any]) -> None:
        found = json.loads(json.dumps(results, allow_nan=False))
        rows = {(row["dataset"], row["method"]): row for row in found["rows"]}
        assert len(rows) == 12
        ranked = [rows["cora", row]["rank"] for row in self.ROWS]
        assert ranked == [None, 3.5, 3.5, 2.0, None, 1.0]
        assert [rows["citeseer", row]["rank"] for row in self.ROWS] == [None, 2.0, 3.0, None, None, 1.0]
        mcn = rows["cora", "mcn"]
        assert (mcn["mean"], mcn["test"]) == (84.5, {"0": 83.0, "1": 86.0})
        # 2·sqrt(4.5/2 + 0.4²/15) = 3.0
        assert (mcn["difference"], mcn["within_noise"]) == (pytest.approx(1.0), True)
        # One run: a difference, but no word on noise. No deviation at all: beyond rounding is beyond noise.
        assert rows["cora", "monet"]["within_noise"] is None
        assert rows["cora", "gcn"]["within_noise"] is False
        # The paper's MCN row stands beside both of ours; 2·sqrt(0.4²/15) = 0.2 is less than 6.5.
        paper = rows["cora", "mcn-paper"]
        assert (paper["paper"], paper["within_noise"]) == (83.5, False)
        gat = rows["citeseer", "gat"]
        assert (gat["mean"], gat["runs"], gat["paper"]) == (None, 0, 72.5)
        assert found["average_rank"]["gat"] == 2.0
        gaps = {(gap["dataset"], gap["first"], gap["second"]): gap for gap in found["paired"]}
        assert ("citeseer", "mcn", "gat") not in gaps
        gap = gaps["cora", "mcn", "gat"]  # of 1 and 2
        assert (gap["mean"], gap["error"], gap["pairs"]) == (pytest.approx(1.5), pytest.approx(0.5), 2)

    def test_two_runs_of_a_seed(self) -> None:
        with pytest.raises(ValueError, match=r"cora, lp: every seed may be there once, got \[1, 1\]"):
            table_results(TABLE2, plan(TABLE2), {("cora", "lp"): [run(1, 0.5), run(1, 0.6)]}, "1.2")

    def test_the_summary_is_the_papers_table(self, results: dict[str, Any]) -> None:
        assert summary_table(results).splitlines() == [
            "| method | cora | citeseer | avg. rank | paper's avg. rank |",
            "|---|---:|---:|---:|---:|",
            "| majority | 30.0 ± 0.0 | 18.0 ± 0.0 | – | – |",
            "| monet | 81.0 (3.5) | 70.5 ± 0.7 (2) | 2.8 | 3.5 |",
            "| gcn | 81.0 ± 0.0 (3.5) | 69.5 ± 0.7 (3) | 3.2 | 3.0 |",
            "| gat | 83.0 ± 1.4 (2) | – | 2.0 | 2.0 |",
            "| mcn-paper | **90.0 ± 0.0** | 60.5 ± 0.7 | – | – |",
            "| mcn | 84.5 ± 2.1 (1) | **72.5 ± 0.7 (1)** | 1.0 | 1.0 |",
        ]

    def test_the_report_and_what_table3_says_of_the_largest_class(self, results: dict[str, Any]) -> None:
        text = table_report(results, "mcn reproduce table2 --seeds 2")
        assert text.startswith("# Table 2: accuracy on citation graphs (tab:acc)\n")
        assert "| monet | 81.7 | 3 | 81.0 | 1 | 3.5 | -0.7 | – | 81.0 | 2.0 |" in text
        assert "| gat | 83.0 ± 0.7 | 2 | 83.0 ± 1.4 | 2 | 2 | +0.0 | yes | 83.0 | 2.0 |" in text
        assert "| mcn − gat, cora | +1.50 ± 0.50 | 2 |" in text
        assert "```\nmcn reproduce table2 --seeds 2\n```\n\nVersion of mcn: 1.2." in text
        planned = plan(TABLE3, [0], rows=["majority"])
        results = table_results(TABLE3, planned, {("dd6", "majority"): [run(0, 0.1)]}, "1.2")
        text = table_report(results, "")
        assert "12.4 on dd6 is 1.6 points above 10.8; 13.1 on dd7 is 1.7 points above 11.4" in text
        assert "Paired differences" not in text


class TestReproducing:
    def test_two_rows_on_cora_resumed_read_and_checked(self, data_root: Path, tmp_path: Path) -> None:
        out, told = tmp_path / "out", list[tuple[int, int]]()
        options = QUICK | {"data_root": data_root}
        progress = {"progress": lambda *step: told.append(step)}
        found = reproduce_table("table2", out, seeds=[0, 1], **progress, **options)
        assert told == [(done, 4) for done in range(5)]
        data = load_dataset("cora", root=data_root)
        known = (data.train_mask | data.val_mask).numpy()
        largest = np.bincount(data.y.numpy()[known]).argmax()
        share = 100 * float((data.y.numpy()[data.test_mask.numpy()] == largest).mean())
        majority, lp = found["rows"]
        assert (majority["method"], lp["method"]) == ("majority", "lp")
        assert majority["mean"] == pytest.approx(share)
        assert (lp["paper"], lp["std"], lp["rank"]) == (68.0, 0.0, None)
        assert json.loads((out / "results.json").read_text()) == found
        ledger = Ledger(out / "ledger.sqlite")
        records = read_runs(out / "table2.csv")
        found_runs = [(one.method, one.seed) for one in records]
        assert found_runs == [("majority", 0), ("majority", 1), ("lp", 0), ("lp", 1)]
        for one in records:
            (row,) = ledger.rows(method=one.method, seed=one.seed)
            assert row["key"].startswith(one.key)
            assert (one.version, one.epochs) == (row["version"], row["epochs"])
            assert one.test_accuracy == pytest.approx(row["test_accuracy"], abs=1e-6)
            assert one.val_accuracy == pytest.approx(row["val_accuracy"], abs=1e-6)

        message = "out already holds results; choose another folder, or resume them"
        refuses(message, reproduce_table, "table2", out, seeds=[0, 1], **options)
        before = ledger.rows()
        again = reproduce_table("table2", out, seeds=[0, 1, 2], resume=True, **options)
        assert [row for row in ledger.rows() if row["seed"] < 2] == before
        assert [row["runs"] for row in again["rows"]] == [3, 3]

        shown = read_table("table2", out)
        rows = {(row["dataset"], row["method"]): row for row in shown["rows"]}
        for row in again["rows"]:
            kept = rows["cora", row["method"]]
            for figure in ("mean", "std", "val_mean", "difference", "paper"):
                assert kept[figure] == pytest.approx(row[figure], abs=1e-3), figure
            assert kept["test"] == pytest.approx(row["test"], abs=1e-3)
        assert rows["pubmed", "gat"]["runs"] == 0

    def test_nothing_to_run_again(self, tmp_path: Path) -> None:
        write_runs(tmp_path / "table2.csv", [])
        refuses("no kept run belongs to what was asked for", check_table, "table2", tmp_path, 1)

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ("a,b\n", "line 1 is a,b; expected dataset,method,seed"),
            ("", "line 1 is ; expected dataset,method"),
            ("HEADER\ncora,lp,0,0.5\n", "line 2 is cora,lp,0,0.5; expected a run"),
            ("HEADER\ncora,lp,0,0.5,1.5,,1,0.2.0,ab\n", "line 2 is cora,lp,0,0.5,1.5"),
        ],
        ids=str,
    )
    def test_a_file_that_is_none(self, lines: str, message: str, tmp_path: Path) -> None:
        path = tmp_path / "table2.csv"
        write_runs(path, [])
        path.write_text(lines.replace("HEADER\n", path.read_text()))
        refuses(message, read_table, "table2", tmp_path)


class TestTable1:
    def test_the_rows_on_a_graph(self) -> None:
        cases = compare_special_cases(load_dataset("karate"), seed=1)
        assert [case.against for case in cases] == ["PyG GCNConv", "PyG GATConv", "PyG GATConv"]
        gcn, gat, general = cases
        assert (gcn.motifs, gcn.psi, gcn.steps) == ("edge", "eq:k1", "K = 1")
        assert (gcn.self_attention, gcn.motif_attention) == (False, False)
        assert (gat.motifs, gat.self_attention, gat.motif_attention) == ("edge", True, False)
        assert (general.motifs, general.steps, general.motif_attention) == ("edge + triangle", "K = 2", True)
        assert all(case.holds for case in cases)
        assert all(0 <= case.network <= 1e-5 for case in cases)

    def test_a_wrong_layer_would_be_seen_and_the_report(self, monkeypatch: pytest.MonkeyPatch) -> None:
        forward = MCNConv.forward

        def shifted(*arguments: Any, **options: Any) -> Any:
            out = forward(*arguments, **options)
            return out + 1e-3 if isinstance(out, torch.Tensor) else (out[0] + 1e-3, *out[1:])

        monkeypatch.setattr(MCNConv, "forward", shifted)
        assert not any(case.holds for case in compare_special_cases(load_dataset("karate")))
        case = SpecialCase("GCN", "edge", "eq:k1", "K = 1", False, False, "PyG GCNConv", 2e-7, 2e-5)
        text = special_report({"karate": [case]}, "mcn reproduce table1")
        assert "| GCN | edge | eq:k1 | K = 1 | no | no | PyG GCNConv | 2.0e-07 | 2.0e-05 | no |" in text
        assert "```\nmcn reproduce table1\n```" in text
