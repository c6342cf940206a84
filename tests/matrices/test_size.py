"""Sizes stated before building, and the limit."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mcn
from graphmotifs._memory import total_bytes
from mcn._memory import free_bytes, human_bytes
from mcn.matrices import MotifStack, StackSize, StackTooLarge, stack_size
from mcn.matrices.size import default_memory_limit
from tests.matrices.dense import adjacencies, edge_index, random_adjacency, triangles

A = random_adjacency(40, 0.15, seed=5)
OWN = {"edge": A, "triangle": triangles(A)}


def size_of(matrices, steps: int = 1, exact: bool = True) -> StackSize:
    return MotifStack.from_adjacencies(matrices, steps=steps, materialize=False).size(exact)


@settings(max_examples=25, deadline=None)
@given(A=adjacencies(), steps=st.integers(1, 4))
def test_size_is_the_true_number_of_entries(A, steps):
    own = {"edge": A, "triangle": triangles(A)}
    stack = MotifStack.from_adjacencies(own, steps=steps)
    true = [[stack.matrix(m, k).nnz for k in range(1, steps + 1)] for m in own]
    for size in (stack.size(), size_of(own, steps)):
        assert size.exact
        assert size.entries.tolist() == true
    bound = size_of(own, steps, exact=False)
    assert not bound.exact
    assert (bound.entries >= true).all()


def test_size_of_counts_is_that_of_their_adjacencies():
    counts = mcn.count_motifs(edge_index(A), 40)
    assert stack_size(counts, steps=2).entries.tolist() == size_of(OWN, steps=2).entries.tolist()
    with_edges = stack_size(counts, ["triangle"], add_edges=True)
    assert with_edges.entries[0, 0] == A.sum() + 40
    pairs = stack_size(counts, ["2-star"], scope="pairs")
    assert pairs.entries[0, 0] > stack_size(counts, ["2-star"]).entries[0, 0]


def test_bytes_are_those_of_the_arrays_and_the_table_says_them():
    stack = MotifStack.from_adjacencies(OWN, steps=2)
    pointer_of_the_end = 8
    assert stack.size().total_bytes == sum(a.nbytes for a in stack._stored) - pointer_of_the_end
    size = size_of({"edge": [[0, 1], [1, 0]]}, steps=2)
    assert str(size).splitlines()[1].split() == ["edge", "1", "4", "48", "B"]
    assert str(size).splitlines()[2].split() == ["edge", "2", "2", "32", "B"]
    assert str(size).splitlines()[3].split() == ["total", "6", "80", "B"]
    assert repr(size) == str(size)
    assert str(size_of(OWN, exact=False)).endswith("(upper bounds)")


def test_too_large_names_motif_step_size_and_ways_out_and_the_limit_is_met_to_the_byte():
    largest = size_of(OWN, steps=3)
    assert largest.entries.argmax() == 2  # edge, step 3
    with pytest.raises(StackTooLarge) as caught:
        MotifStack.from_adjacencies(OWN, steps=3, memory_limit=10_000)
    text = str(caught.value)
    assert "motif 'edge' at step 3" in text
    assert f"{largest.entries[0, 2]:,} entries" in text
    assert "memory_limit=9.77 KiB" in text
    ways = "fewer steps (steps=2 leaves it out)", "fewer motifs", "materialize=False", "higher memory_limit"
    assert [way for way in ways if way not in text] == []
    assert isinstance(caught.value, ValueError)
    with pytest.raises(StackTooLarge) as caught:  # step one alone gets no advice about steps
        MotifStack.from_adjacencies(OWN, memory_limit=100)
    assert "fewer steps" not in str(caught.value)
    need = size_of(OWN, steps=2).total_bytes
    assert MotifStack.from_adjacencies(OWN, steps=2, memory_limit=need).materialized
    with pytest.raises(StackTooLarge):
        MotifStack.from_adjacencies(OWN, steps=2, memory_limit=need - 1)
    assert not MotifStack.from_adjacencies(OWN, steps=2, memory_limit=1, materialize=False).materialized


def test_counting_stops_early_and_says_between_what():
    big = random_adjacency(3000, 0.003, seed=1)
    true = size_of({"edge": big}, steps=3).entries[0, 2]
    with pytest.raises(StackTooLarge, match="motif 'edge' at step 3 with between") as caught:
        MotifStack.from_adjacencies({"edge": big}, steps=3, memory_limit=1_000_000)
    between = re.search(r"between (\S+) and (\S+) entries", str(caught.value)).groups()
    low, high = (int(number.replace(",", "")) for number in between)
    assert 0 < low < true <= high


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, "2"])
def test_bad_steps(steps):
    with pytest.raises(ValueError, match="expected an integer of at least 1"):
        size_of(OWN, steps=steps)


def test_the_default_limit_is_at_most_half_of_the_memory_and_bytes_read_well():
    assert 0 < default_memory_limit() <= min(8 * 2**30, total_bytes() / 2)
    assert 0 < free_bytes() <= total_bytes()
    sizes = ("12 B", "2 KiB", "5 MiB", "3 GiB", "2 TiB")
    assert tuple(map(human_bytes, (12, 2048, 5 * 2**20, 3 * 2**30, 2**41))) == sizes
