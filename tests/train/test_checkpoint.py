from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from mcn.nn import MCN
from mcn.train.checkpoint import load_tensors, load_weights, save_tensors
from tests.train.graphs import same_tensors

TENSORS = {
    "weight": torch.arange(6, dtype=torch.float32).reshape(2, 3).T,  # not contiguous
    "step": torch.tensor(5.0),
    "count": torch.tensor([1, 2], dtype=torch.int64),
    "nothing": torch.empty(0, 3),
}
STATE = {"epoch": 3, "rule": {"best": 0.1 + 0.2}, "names": ["ä", 'with "quotes"'], "none": None}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "one.safetensors"
    save_tensors(path, TENSORS, STATE)
    return path


def test_round_trip(saved: Path) -> None:
    tensors, state = load_tensors(saved)
    assert same_tensors(tensors, TENSORS)
    assert state == STATE
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_saving_again_replaces(saved: Path) -> None:
    save_tensors(saved, {"other": torch.ones(1)}, {})
    assert same_tensors(load_tensors(saved)[0], {"other": torch.ones(1)})


def test_any_altered_byte_is_noticed(saved: Path) -> None:
    content = saved.read_bytes()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        saved.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"one\.safetensors: "):
            load_tensors(saved)


def test_an_altered_weight(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-1] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ValueError, match="the checksum does not fit; the file was damaged or altered"):
        load_tensors(saved)


@pytest.mark.parametrize("length", [0, 3, 8, 40, -1])
def test_truncated(saved: Path, length: int) -> None:
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(ValueError, match="not a checkpoint, or truncated"):
        load_tensors(saved)


def test_a_file_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "foreign.safetensors"
    save_file({"weight": torch.ones(2)}, path)
    with pytest.raises(ValueError, match="a safetensors file, but not a checkpoint of this program"):
        load_tensors(path)


class Bomb:
    """Unpickled, it would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_nothing_in_a_checkpoint_can_run(tmp_path: Path, kind: str) -> None:
    path, mark = tmp_path / "evil.safetensors", tmp_path / "ran"
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Bomb(mark)))
    else:
        torch.save(Bomb(mark), path)
    with pytest.raises(ValueError, match="not a checkpoint, or truncated"):
        load_tensors(path)
    assert not mark.exists()


def test_weights_of_another_architecture(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    narrow, wide, deep = MCN(5, 4, 2, heads=2), MCN(5, 8, 2, heads=2), MCN(5, 4, 2, 3, heads=2)
    with pytest.raises(ValueError, match="weights of another architecture") as caught:
        load_weights(narrow, dict(wide.state_dict()), path)
    assert "'convs.0.att_dst' has shape (2, 8) in the file and (2, 4) in the network" in str(caught.value)
    with pytest.raises(ValueError, match=r"'convs\.1\.att_dst' has shape \(2, 4\) in the file and \(1, 2\)"):
        load_weights(narrow, dict(deep.state_dict()), path)
    chooses = MCN(5, 4, 2, heads=2, motifs=2)
    with pytest.raises(ValueError, match=r"selector\.motif_bias' has shape \(2,\) in the file and None"):
        load_weights(narrow, dict(chooses.state_dict()), path)
    other = MCN(5, 4, 2, heads=2)
    load_weights(narrow, dict(other.state_dict()), path)
    assert same_tensors(dict(narrow.state_dict()), dict(other.state_dict()))
