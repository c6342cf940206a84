"""Other devices: the plain path's numbers are the kernels', and an epoch on a device leaves it alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from mcn.train.devices import torch_device
from torch.utils._python_dispatch import TorchDispatchMode

from mcn.nn import ops
from mcn.train import MCNConfig, ViewsConfig, prepare
from mcn.train.loop import Scores, Trainer
from mcn.train.recipes import work_of
from mcn.train.settings import Settings
from tests.train.graphs import small_graph

NETWORKS: dict[str, dict[str, Any]] = {
    "gated": {"attention": "gated", "steps": 2},
    "paper, learned value": {"attention": "paper", "advantage": "learned", "psi": "transition"},
    "agreeing": {"attention": "gated", "consistency": 1.0},
    "gat": {"attention": "gated", "motifs": ("edge",), "class_weight": "balanced"},
    "gcn": {"attention": "gated", "motifs": ("edge",), "self_attention": False, "motif_attention": False},
    "gcn that chooses": {"attention": "gated", "self_attention": False},
    "own weights": {"attention": "gated", "self_weights": True, "norm": True, "residual": True},
}


def trainer_of(config: Settings) -> Trainer:
    return work_of(config).trainer(prepare(small_graph(), config), config)


def network(name: str, **more: Any) -> MCNConfig:
    return MCNConfig(**{"hidden": 4, "heads": 2, **NETWORKS[name], **more})


@pytest.mark.parametrize("more", [{}, {"batch_size": 7, "neighbours": (3,)}], ids=["full", "sampled"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_plain_path_trains_as_the_kernels_do(
    name: str, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if more and name in ("agreeing", "own weights"):
        pytest.skip("mini-batches do not have it")
    found = []
    for fused in (True, False):
        trainer = trainer_of(network(name, **more))
        if not fused:
            monkeypatch.setattr(ops, "fused", lambda _x: False)
        found.append((trainer.run_epoch(), trainer.model.state_dict()))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-5)
    for key, value in found[0][1].items():
        torch.testing.assert_close(found[1][1][key], value, atol=1e-5, rtol=1e-5, msg=key)


WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "is_nonzero", "equal")


class Watch(TorchDispatchMode):
    """Counts what makes the host wait for a device, and what goes from the host to the device."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self._device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, given = func.overloadpacket.__name__, [each for each in args if isinstance(each, torch.Tensor)]
        if name in WAITS and any(each.device.type == self._device for each in given):
            self.seen[name] += 1
        out = func(*args, **(kwargs or {}))
        devices = {each.device.type for each in given}
        if name == "_to_copy" and devices == {"cpu"} and out.device.type != "cpu":
            self.seen[name] += 1
        return out


@pytest.mark.parametrize("name", NETWORKS)
def test_no_look_from_the_host_while_the_weights_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forced on the CPU: the only numbers that are fetched are those for the log, through `host`."""
    monkeypatch.setattr(ops, "fused", lambda _x: False)
    fetched: list[Any] = []
    monkeypatch.setattr("mcn.train.mcn.objective.host", lambda values: fetched.append(values) or [0.0, 0.0])
    trainer: Any = trainer_of(network(name))
    trainer.model.train()
    with Watch("cpu") as watch:
        step = trainer.objective.step(trainer.model, 0, trainer.plain)
        step.loss.backward()
    assert not watch.seen
    trainer._learn()
    assert len(fetched) == 1


@pytest.mark.parametrize("name", NETWORKS)
def test_an_epoch_on_a_device_that_gives_nothing_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On torch's device without memory every fetch is an error, so an epoch that runs has none but two.

    From the second epoch on nothing is brought there either.
    """
    for place in ("mcn.train.loop", "mcn.train.mcn.trainer"):
        monkeypatch.setattr(f"{place}.torch_device", lambda _name: torch.device("meta"))
    monkeypatch.setattr("mcn.train.mcn.objective.host", lambda values: [float(values.numel()), 0.0])
    trainer: Any = trainer_of(network(name))
    judged: list[torch.Tensor] = []

    def judge(logits: torch.Tensor) -> Scores:
        judged.append(logits)
        return Scores(1.0, 0.5, 0.5)

    monkeypatch.setattr(trainer, "_judge", judge)
    trainer.run_epoch()
    judged.clear()
    with Watch("meta") as watch:
        trainer.run_epoch()
    assert not watch.seen
    problem = trainer.problem
    assert {(each.device.type, each.shape) for each in judged} == {
        ("meta", (len(problem.val), problem.num_classes))
    }
    assert len(judged) == (2 if trainer.config.gate and trainer.config.chooses else 1)


@pytest.mark.parametrize("whole", [False, True])
def test_views_without_kernels(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    config = ViewsConfig(hidden=4, full_batch=whole, walk_length=2, steps_per_epoch=3, motifs=("edge",))
    found = []
    for fused in (True, False):
        trainer = trainer_of(config)
        if not fused:
            monkeypatch.setattr(ops, "fused", lambda _x: False)
        found.append(trainer.run_epoch())
    assert found[0] == pytest.approx(found[1], abs=1e-5)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"device cuda: PyTorch .* finds no CUDA device on this machine"):
        torch_device("cuda")
    with pytest.raises(ValueError, match="device cuda"):
        trainer_of(network("gat", device="cuda"))
    with pytest.raises(ValueError, match="device must be one of cpu, cuda, mps, got 'tpu'"):
        network("gat", device="tpu")
