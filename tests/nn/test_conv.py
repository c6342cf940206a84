"""The motif convolution, f and f' in it, and GCN and GAT as special cases (tab:gen), against PyG itself."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv

from mcn.motifs import NODE_ORBITS
from mcn.nn import MCN, Choices, MCNConv, Selector, ops
from mcn.nn.selector import epsilon_greedy
from tests.conftest import refuses
from tests.nn.graphs import dense_rows, edge_index, grads, random_features, random_stack

Array = NDArray[np.float64]


def test_state_is_the_neighbourhood_and_the_counts_and_rows_are_those_chosen() -> None:
    stack = random_stack(motifs=2, psi="transition")
    conv = MCNConv(7, 3, motifs=2)
    x = torch.randn(24, 7)
    state = conv(x, stack, return_choices=True)[1].state
    base = torch.from_numpy(dense_rows(stack.base, 24))
    expected = torch.cat([base @ (x @ conv.weight), torch.from_numpy(stack.node_counts)], 1)
    assert torch.allclose(state, expected, atol=1e-5)
    stack = random_stack(motifs=3, steps=2, psi="row-max")
    conv = MCNConv(5, 4, motifs=3, steps=2, epsilon=1.0)
    _, choices = conv(torch.randn(24, 5), stack, return_choices=True)
    dense = dense_rows(choices.rows, 24)
    assert len(set(zip(choices.motif.tolist(), choices.step.tolist(), strict=True))) > 3
    for i in range(24):
        matrix = stack.matrix(stack.motifs[int(choices.motif[i])], int(choices.step[i])).toarray()
        assert np.allclose(dense[i], matrix[i])


def test_log_probabilities_reach_the_selector_and_w_only_when_asked() -> None:
    stack, x = random_stack(motifs=2, steps=2), torch.randn(24, 5)
    for policy_grad in (False, True):
        conv = MCNConv(5, 4, motifs=2, steps=2, policy_grad=policy_grad)
        _, choices = conv(x, stack, return_choices=True)
        (choices.log_motif + choices.log_step).sum().backward()
        assert all(p.grad is not None for p in conv.selector.parameters())
        assert (conv.weight.grad is not None) is policy_grad


@pytest.mark.parametrize("self_attention", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("prior", ["softmax", "product"])
def test_plain_path_gives_the_same_layer(
    self_attention: bool, sparse: bool, prior: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = random_stack(motifs=2, steps=2, psi="transition")
    torch.manual_seed(1)
    conv = MCNConv(
        9, 4, 2, 2, heads=3, self_attention=self_attention, prior=prior, policy_grad=True,
        dropout=0.5, feature_dropout=0.4, input_dropout=0.3,
    )  # fmt: skip
    x: Any = random_features(24, 9, 0) if sparse else torch.randn(24, 9)
    learned = [parameter for parameter in conv.parameters() if parameter.requires_grad]
    results = []
    for fused in (True, False):
        monkeypatch.setattr(ops, "fused", lambda _x, fused=fused: fused)
        out, choices = conv(x, stack, key=77, return_choices=True)
        total = torch.cat([out.flatten(), choices.log_motif, choices.log_step])
        results.append((choices.motif, choices.step, total, grads(total, *learned)))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])
    assert torch.allclose(results[0][2], results[1][2], atol=1e-5)
    for mine, theirs in zip(results[0][3], results[1][3], strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)


def _dense_layer(conv: MCNConv, x: Array, a: Array) -> tuple[Array, Array]:
    """The layer's output and its coefficients [N, N, heads] when Â is `a`, by the formulas of the paper."""
    z = (x @ _numpy(conv.weight)).reshape(len(x), conv.heads, conv.out_channels)
    alpha = np.empty((*a.shape, conv.heads))
    for h in range(conv.heads):
        if conv.att_src is None or conv.att_dst is None:
            d = a.sum(1)
            alpha[..., h] = a / np.sqrt(np.outer(d, d))
            continue
        logit = np.add.outer(z[:, h] @ _numpy(conv.att_dst)[h], z[:, h] @ _numpy(conv.att_src)[h])
        power = np.exp(np.where(logit > 0, logit, conv.negative_slope * logit))
        weight = (a if conv.prior == "softmax" else a > 0) * power
        weight /= weight.sum(1, keepdims=True)
        alpha[..., h] = weight if conv.prior == "softmax" else weight * a
    heads = np.einsum("ijh,jhd->ihd", alpha, z)
    out = heads.reshape(len(x), -1) if conv.concat else heads.mean(1)
    return out if conv.bias is None else out + _numpy(conv.bias), alpha


def _numpy(x: torch.Tensor) -> Array:
    return x.detach().double().numpy()


def _dense_coefficients(choices: Choices, num_src: int) -> Array:
    assert choices.coefficients.shape[0] == len(choices.rows.indices)
    columns = [choices.rows._replace(values=values.numpy()) for values in choices.coefficients.T]
    return np.stack([dense_rows(rows, num_src) for rows in columns], -1)


LAYERS = pytest.mark.parametrize("options", [
    {"heads": heads, "concat": concat, "self_attention": self_attention, "prior": prior, "bias": heads > 1}
    for heads, concat in ((1, True), (3, True), (3, False))
    for self_attention, prior in ((True, "softmax"), (True, "product"), (False, "softmax"))
])  # fmt: skip


def _layer(options: dict[str, Any]) -> tuple[MCNConv, torch.Tensor]:
    torch.manual_seed(2)
    conv = MCNConv(5, 4, motifs=2, steps=2, dropout=0.5, feature_dropout=0.4, input_dropout=0.3, **options)
    if conv.bias is not None:
        torch.nn.init.normal_(conv.bias)
    return conv.eval(), torch.randn(24, 5)


@LAYERS
@pytest.mark.parametrize("psi", ["unweighted", "row-max", "symmetric"])
def test_coefficients_by_brute_force(options: dict[str, Any], psi: str) -> None:
    stack, (conv, x) = random_stack(motifs=2, steps=2, psi=psi), _layer(options)
    out, choices = conv(x, stack, return_coefficients=True)
    expected, alpha = _dense_layer(conv, _numpy(x), dense_rows(choices.rows, 24).astype(float))
    np.testing.assert_allclose(_dense_coefficients(choices, 24), alpha, atol=1e-6)
    np.testing.assert_allclose(_numpy(out), expected, atol=1e-5)
    plain, chosen = conv(x, stack, return_choices=True)
    assert torch.equal(plain, out)
    assert torch.equal(chosen.motif, choices.motif)
    assert chosen.coefficients is None
    some = choices.take(np.array([7, 0, 23]))
    np.testing.assert_allclose(_dense_coefficients(some, 24), alpha[[7, 0, 23]], atol=1e-6)


@LAYERS
@pytest.mark.parametrize("fused", [True, False])
def test_training_returns_the_coefficients_it_used(
    options: dict[str, Any], fused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ops, "fused", lambda _x: fused)
    stack, (conv, x) = random_stack(motifs=2, steps=2, psi="row-max"), _layer(options)
    kept = _dense_coefficients(conv(x, stack, choice=1, return_coefficients=True)[1], 24)
    conv.train().feature_dropout = conv.input_dropout = 0.0
    out, choices = conv(x, stack, choice=1, key=5, return_coefficients=True)
    used = _dense_coefficients(choices, 24)
    stored = kept > 0
    assert 0.4 < (used[stored] == 0).mean() < 0.6
    np.testing.assert_allclose(used, np.where(used > 0, 2 * kept, 0), rtol=1e-5)
    z = _numpy(x @ conv.weight).reshape(24, conv.heads, 4)
    heads = np.einsum("ijh,jhd->ihd", used, z)
    expected = heads.reshape(24, -1) if conv.concat else heads.mean(1)
    bias = 0 if conv.bias is None else _numpy(conv.bias)
    np.testing.assert_allclose(_numpy(out), expected + bias, atol=1e-4)
    assert not choices.coefficients.requires_grad


@LAYERS
def test_what_if_each_node_alone_chose_otherwise(options: dict[str, Any]) -> None:
    stack, (conv, x) = random_stack(motifs=2, steps=2, psi="row-max"), _layer(options)
    rows = conv(x, stack, return_choices=True)[1].rows
    actual = dense_rows(rows, 24).astype(float)
    for choice in range(4):
        other = stack.matrix(stack.motifs[choice // 2], choice % 2 + 1).toarray()
        out, choices = conv.train().what_if(x, stack, choice, rows.sums())
        alpha = _dense_coefficients(choices, 24)
        for i in range(24):
            changed = actual.copy()
            changed[i] = other[i]
            expected, coefficients = _dense_layer(conv, _numpy(x), changed)
            np.testing.assert_allclose(_numpy(out[i]), expected[i], atol=1e-5)
            np.testing.assert_allclose(alpha[i], coefficients[i], atol=1e-6)
        assert (choices.motif * 2 + choices.step - 1).unique().tolist() == [choice]


@LAYERS
def test_what_if_with_pinned_degrees_and_on_a_block(options: dict[str, Any]) -> None:
    stack, (conv, x) = random_stack(motifs=2, steps=2, psi="row-max"), _layer(options)
    pins = np.arange(24) % 4
    out, choices = conv(x, stack, choice=pins, return_coefficients=True)
    degrees = choices.rows.sums()
    same, again = conv.what_if(x, stack, pins, degrees)
    assert torch.allclose(same, out, atol=1e-6)
    assert torch.allclose(again.coefficients, choices.coefficients, atol=1e-7)
    block = stack.block(np.array([20, 3, 11]))
    part, _ = conv.what_if(x[block.src], block, 3, degrees[block.src])
    assert torch.allclose(part, conv.what_if(x, stack, 3, degrees)[0][[20, 3, 11]], atol=1e-6)


def test_without_self_attention_a_block_needs_the_row_sums() -> None:
    stack, x = random_stack(n=40, motifs=1), torch.randn(40, 6)
    conv = MCNConv(6, 4, self_attention=False).eval()
    block = stack.block(np.array([5, 6]))
    refuses("row sums", conv, x[block.src], block)
    degrees = stack.select(None).sums()
    part = conv(x[block.src], block, degrees=degrees[block.src])
    assert torch.allclose(part, conv(x, stack)[[5, 6]], atol=1e-5)
    refuses(r"expected \d+ row sums", conv, x, stack, degrees=degrees[:3])


def test_choices_can_be_pinned_and_evaluation_takes_the_most_probable_action() -> None:
    stack, x = random_stack(motifs=2, steps=2), torch.randn(24, 5)
    conv = MCNConv(5, 4, motifs=2, steps=2).eval()
    wanted = np.random.default_rng(0).integers(0, 4, 24)
    for choice in (wanted, torch.from_numpy(wanted)):
        _, choices = conv(x, stack, choice=choice, return_choices=True)
        assert (choices.motif * 2 + choices.step - 1).tolist() == wanted.tolist()
        assert choices.log_motif.requires_grad
    _, choices = conv(x, stack, choice=3, return_choices=True)
    assert set(choices.motif.tolist()) == {1}
    assert set(choices.step.tolist()) == {2}
    stack, x = random_stack(motifs=3, steps=2), torch.randn(24, 5)
    conv = MCNConv(5, 4, motifs=3, steps=2, epsilon=1.0).eval()
    _, choices = conv(x, stack, return_choices=True)
    assert torch.equal(choices.motif, choices.motif_probs.argmax(1))
    assert torch.equal(choices.step, choices.step_probs.argmax(1) + 1)
    assert torch.equal(conv(x, stack), conv(x, stack))


def test_training_explores_as_told() -> None:
    stack, x = random_stack(n=300, motifs=3), torch.randn(300, 5)
    conv = MCNConv(5, 4, motifs=3, init_bias=9.0, epsilon=0.6)
    motif = conv(x, stack, key=1, return_choices=True)[1].motif
    assert 0.25 < (motif != 0).float().mean() < 0.55  # two thirds of 0.6
    assert (conv(x, stack, key=1, epsilon=0.0, return_choices=True)[1].motif == 0).all()


@pytest.mark.parametrize("several", [True, False])
def test_without_anything_to_choose_the_first_motif_is_used(several: bool) -> None:
    options: dict[str, Any] = {"motifs": 2, "steps": 2} if several else {"motifs": 1, "steps": 1}
    stack, x = random_stack(**options), torch.randn(24, 5)
    conv = MCNConv(5, 4, **options, motif_attention=not several)
    out, choices = conv(x, stack, return_choices=True)
    assert conv.selector is None
    assert choices.state is None
    assert torch.equal(out, conv(x, stack, choice=0))
    assert set(choices.motif.tolist()) == {0}
    assert set(choices.step.tolist()) == {1}
    assert choices.log_motif.tolist() == choices.log_step.tolist() == [0.0] * 24


def test_randomness_follows_the_key_or_torch_and_float64_is_taken() -> None:
    stack, x = random_stack(motifs=2), torch.randn(24, 5)
    conv = MCNConv(5, 4, motifs=2, dropout=0.5, feature_dropout=0.5, input_dropout=0.5)
    assert torch.equal(conv(x, stack, key=5), conv(x, stack, key=5))
    assert not torch.equal(conv(x, stack, key=5), conv(x, stack, key=6))
    torch.manual_seed(0)
    first, second = conv(x, stack), conv(x, stack)
    torch.manual_seed(0)
    assert torch.equal(conv(x, stack), first)
    assert not torch.equal(first, second)
    stack, conv = random_stack(motifs=2, steps=2), MCNConv(5, 4, 2, 2).double().eval()
    x = torch.randn(24, 5, dtype=torch.float64)
    assert conv(x, stack).dtype == torch.float64
    assert torch.allclose(conv(x, stack).float(), conv.float()(x.float(), stack), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 0}, "heads must be a positive integer, got 0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, got 1.0"),
        ({"input_dropout": -0.1}, "input_dropout"),
        ({"epsilon": 2.0}, "epsilon must be between 0 and 1, got 2.0"),
        ({"prior": "add"}, "prior must be one of softmax, product, got 'add'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    refuses(message, MCNConv, 5, 4, **options)


def test_bad_inputs() -> None:
    stack, conv = random_stack(motifs=2), MCNConv(5, 4, motifs=2)
    refuses(r"x has shape \(23, 5\), expected \(24, 5\)", conv, torch.randn(23, 5), stack)
    with pytest.raises(ValueError, match="2 motifs and 1 steps, but the layer was made for motifs=3"):
        MCNConv(5, 4, motifs=3)(torch.randn(24, 5), stack)
    refuses(r"choice = 2 is outside 0 … 1", conv, torch.randn(24, 5), stack, choice=2)
    refuses("24 integers", conv, torch.randn(24, 5), stack, choice=np.zeros(5, np.int64))
    assert "motifs=2" in repr(conv)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's compiler itself
def test_torch_compile_leaves_the_layers_as_they_are() -> None:
    stack, x = random_stack(motifs=2, psi="transition"), torch.randn(24, 7)
    for module in (MCNConv(7, 3, motifs=2), MCN(7, 4, 3, motifs=2)):
        compiled = torch.compile(module.eval())
        assert torch.equal(compiled(x, stack), module(x, stack))
        compiled.train()(x, stack).sum().backward()
        attention = [parameter for name, parameter in module.named_parameters() if "att" in name]
        assert all(parameter.grad is not None for parameter in attention)


CASES = [
    (GCNConv, {}),
    (GCNConv, {"bias": False}),
    (GATConv, {}),
    (GATConv, {"heads": 4}),
    (GATConv, {"heads": 4, "concat": False, "negative_slope": 0.05}),
    (GATConv, {"heads": 2, "bias": False}),
]


@pytest.mark.parametrize(("layer", "options"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_outputs_and_gradients_equal_pyg(layer: Any, options: dict[str, Any], seed: int) -> None:
    torch.manual_seed(seed)
    stack = random_stack(n=50, seed=seed, motifs=1)
    edges = edge_index(stack)
    theirs = layer(12, 5, **options).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(std=0.5)
    ours = MCNConv.from_pyg(theirs)
    assert not ours.training
    x = torch.randn(50, 12, requires_grad=True)
    expected, found = theirs(x, edges), ours(x, stack)
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.equal(ours(x, random_stack(n=50, seed=seed, motifs=3, steps=2)), found)  # the first motif's
    pairs = {"weight": theirs.lin.weight, "bias": theirs.bias}
    if layer is GATConv:
        pairs |= {"att_src": theirs.att_src, "att_dst": theirs.att_dst}
    pairs = {name: parameter for name, parameter in pairs.items() if parameter is not None}
    mine = grads(found, x, *(getattr(ours, name) for name in pairs))
    reference = grads(expected, x, *pairs.values())
    assert torch.allclose(mine[0], reference[0], atol=1e-5)
    for (name, _), a, b in zip(pairs.items(), mine[1:], reference[1:], strict=True):
        assert torch.allclose(a, b.T if name == "weight" else b.view_as(a), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (lambda: GCNConv(3, 2, improved=True), "improved=True"),
        (lambda: GCNConv(3, 2, normalize=False), "normalize=False"),
        (lambda: GCNConv(3, 2, add_self_loops=False), "add_self_loops=False"),
        (lambda: GATConv(3, 2, edge_dim=4), "edge_dim=4"),
        (lambda: GATConv(3, 2, residual=True), "residual=True"),
        (lambda: GATConv(3, 2, add_self_loops=False), "add_self_loops=False"),
        (lambda: GATConv((3, 3), 2), "bipartite"),
        (lambda: GATv2Conv(3, 2), "expected a torch_geometric GCNConv or GATConv, got GATv2Conv"),
    ],
)
def test_refuses_what_it_cannot_represent(layer: Any, message: str) -> None:
    refuses(message, MCNConv.from_pyg, layer())


NUM_COUNTS = len(NODE_ORBITS)


def test_second_layer_sees_the_state_and_the_probabilities_of_the_first() -> None:
    torch.manual_seed(0)
    selector = Selector(4, motifs=3, steps=2)
    state = torch.randn(5, 4 + NUM_COUNTS)
    motif, step = selector(state)
    probabilities = (state @ selector.motif_weight + selector.motif_bias).softmax(1)
    assert torch.allclose(motif.exp(), probabilities, atol=1e-6)
    seen = torch.cat([state, probabilities], 1)
    expected = (seen @ selector.step_weight + selector.step_bias).softmax(1)
    assert torch.allclose(step.exp(), expected, atol=1e-6)


def test_nothing_to_choose_and_a_biased_start() -> None:
    state = torch.randn(4, 3 + NUM_COUNTS)
    one_motif = Selector(3, motifs=1, steps=2)
    assert one_motif.motif_weight is None
    assert torch.equal(one_motif(state)[0], torch.zeros(4, 1))
    assert one_motif.step_weight.shape == (3 + NUM_COUNTS + 1, 2)
    one_step = Selector(3, motifs=2, steps=1)
    assert one_step.step_weight is None
    assert torch.equal(one_step(state)[1], torch.zeros(4, 1))
    assert not list(Selector(3, 1, 1).parameters())
    selector = Selector(3, motifs=2, steps=3, init_bias=4.0)
    motif, step = selector(torch.randn(6, 3 + NUM_COUNTS))
    expected = torch.tensor([4.0, 0.0]).log_softmax(0)
    assert torch.allclose(motif, expected.expand(6, 2))
    assert torch.allclose(step, torch.tensor([4.0, 0.0, 0.0]).log_softmax(0).expand(6, 3))


def test_epsilon_greedy_frequencies() -> None:
    n, epsilon = 60_000, 0.3
    motif = torch.tensor([0.1, 0.8, 0.1]).log().expand(n, 3)
    step = torch.tensor([0.9, 0.1]).log().expand(n, 2)
    t, k = epsilon_greedy(motif, step, epsilon, 5)
    joint = torch.bincount(t * 2 + k, minlength=6) / n
    expected = torch.full((6,), epsilon / 6)
    expected[1 * 2 + 0] += 1 - epsilon
    assert torch.allclose(joint, expected, atol=0.01)
    t, k = epsilon_greedy(motif, step, 0.0, 5)
    assert (t == 1).all()
    assert (k == 0).all()


@pytest.mark.parametrize(("options", "message"), [({"motifs": 0}, "motifs=0"), ({"init_bias": -1.0}, "-1.0")])
def test_bad_options_of_selectors(options: dict[str, float], message: str) -> None:
    refuses(message, Selector, 3, **{"motifs": 2, "steps": 1} | options)
