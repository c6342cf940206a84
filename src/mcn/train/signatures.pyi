# ruff: noqa: E501
# fmt: off
"""Written by `python docs/make_stubs.py`: change the settings of a recipe, and run it again."""

from collections.abc import Sequence

from numpy.random import Generator, RandomState

from mcn.train.parameters import Parameters


class MCNParameters(Parameters):
    def __init__(
        self,
        *,
        motifs: Sequence[str] = ("edge", "triangle"),
        scope: str = "edges",
        features: str = "given",
        hidden: int = 8,
        num_layers: int = 2,
        dropout: float = 0.6,
        lr: float = 0.005,
        weight_decay: float = 0.0005,
        consistency: float | None = None,
        consistency_ramp: int = 100,
        temperature: float = 0.5,
        max_epochs: int = 5000,
        patience: int = 100,
        stopping: str = "gat",
        metric: str = "accuracy",
        class_weight: str = "none",
        device: str = "cpu",
        random_state: int | RandomState | Generator | None = 0,
        batch_size: int | None = None,
        neighbours: int | Sequence[int] = (10,),
        loader_workers: int = 0,
        steps: int = 1,
        psi: str = "unweighted",
        add_edges: bool = False,
        materialize: bool = True,
        heads: int = 8,
        output_heads: int = 1,
        self_attention: bool = True,
        motif_attention: bool = True,
        self_weights: bool = False,
        sum_motifs: bool = False,
        norm: str = "none",
        residual: bool = False,
        psi_prior: str = "softmax",
        attention: str = "gated",
        epsilon: float | None = None,
        advantage: str | None = None,
        gate: bool | None = None,
        policy_weight: float = 1.0,
        policy_grad: bool = False,
        policy_lr: float | None = None,
        policy_decay: float | None = None,
        init_bias: float = 0.0,
        class_priors: str = "none",
    ) -> None:
        """Make an estimator of the recipe mcn; nothing is trained yet.

        Args:
            motifs: Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.
            scope: Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an edge.
            features: Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, standardised) or both.
            hidden: Hidden units (per head).
            num_layers: Number of layers.
            dropout: Dropout probability.
            lr: Learning rate: of Adam, or what a tree adds is multiplied by.
            weight_decay: L2 regularisation of every parameter.
            consistency: Weight of the agreement between several passes over the same nodes.
            consistency_ramp: Epochs (steps, with views) until consistency has its full weight.
            temperature: Sharpness of what the passes are to agree on; smaller is sharper.
            max_epochs: Stop after so many epochs at the latest.
            patience: Stop after so many epochs without progress.
            stopping: What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or loss.
            metric: Validation score to stop and to choose by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, r2, mae, mse, macro-ap, micro-ap, macro-auc, micro-auc. The recipe auto, if not told, takes roc-auc where one of two classes has 3 times as many nodes as the other, and accuracy elsewhere.
            class_weight: Weight of a training node in the loss: none, or balanced (every class weighs the same in all).
            device: Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.
            random_state: Seed that decides everything random.
            batch_size: Training nodes per step, with neighbours drawn at random; all of them at once if not given.
            neighbours: Neighbours that a node draws in a batch: one number, or one per layer from the last to the first, separated by commas; -1 for all of them.
            loader_workers: Processes that draw batches ahead of training; 0 for none.
            steps: K: the longest walk a node may listen along.
            psi: Matrix function by name: unweighted, row-max, transition, laplacian or symmetric.
            add_edges: Give every motif's neighbourhood the plain neighbours as well.
            materialize: Store the powers of motif matrices; false computes their rows when chosen, where they do not fit.
            heads: Attention heads of the hidden layers.
            output_heads: Attention heads of the last layer; their mean is taken.
            self_attention: Weigh neighbours by attention as GAT does; false sums them as GCN does.
            motif_attention: Let nodes choose; false uses the first motif and one step for all.
            self_weights: Give a node's own features weights of their own in every layer, beside those of what it hears.
            sum_motifs: Sum over all motifs and steps, with weights of their own for each, in place of choosing one of them (needs self_attention false).
            norm: What hidden layers normalise of what they give on: none, layer (the units of a node) or batch (the nodes of a unit).
            residual: Add the input of a hidden layer to what it gives on, where both are equally wide.
            psi_prior: How Ψ enters self-attention: softmax (its logarithm is added to the logits) or product (it multiplies the coefficients).
            attention: Rule by which motif attention is trained: gated (rewards less their running mean; choices are followed while validation nodes prefer them to none) or paper (eq:att_loss to the letter).
            epsilon: Share of random actions in training; the rule of attention decides if not given.
            advantage: What is subtracted from the reward: none, its running mean, or a learned value; the rule of attention decides if not given.
            gate: Let validation nodes decide between the learned choices and none; the rule of attention decides if not given.
            policy_weight: Weight of the attention loss.
            policy_grad: Let the attention loss reach the layers' W as well.
            policy_lr: Learning rate of the selectors; that of the network if not given.
            policy_decay: L2 of the selectors; that of the network if not given.
            init_bias: Bias towards the first motif and one step to start with.
            class_priors: Correction of the predicted probabilities: none, or validation (multiply by how frequent each class is among validation nodes, divide by how frequent it is among training nodes).
        """

class PaperParameters(Parameters):
    def __init__(
        self,
        *,
        motifs: Sequence[str] = ("edge", "triangle"),
        scope: str = "edges",
        features: str = "given",
        hidden: int = 8,
        num_layers: int = 2,
        dropout: float = 0.6,
        lr: float = 0.005,
        weight_decay: float = 0.0005,
        consistency: float | None = None,
        consistency_ramp: int = 100,
        temperature: float = 0.5,
        max_epochs: int = 5000,
        patience: int = 100,
        stopping: str = "gat",
        metric: str = "accuracy",
        class_weight: str = "none",
        device: str = "cpu",
        random_state: int | RandomState | Generator | None = 0,
        batch_size: int | None = None,
        neighbours: int | Sequence[int] = (10,),
        loader_workers: int = 0,
        steps: int = 1,
        psi: str = "unweighted",
        add_edges: bool = False,
        materialize: bool = True,
        heads: int = 8,
        output_heads: int = 1,
        self_attention: bool = True,
        motif_attention: bool = True,
        self_weights: bool = False,
        sum_motifs: bool = False,
        norm: str = "none",
        residual: bool = False,
        psi_prior: str = "softmax",
        attention: str = "paper",
        epsilon: float | None = None,
        advantage: str | None = None,
        gate: bool | None = None,
        policy_weight: float = 1.0,
        policy_grad: bool = False,
        policy_lr: float | None = None,
        policy_decay: float | None = None,
        init_bias: float = 0.0,
        class_priors: str = "none",
    ) -> None:
        """Make an estimator of the recipe paper; nothing is trained yet.

        Args:
            motifs: Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.
            scope: Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an edge.
            features: Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, standardised) or both.
            hidden: Hidden units (per head).
            num_layers: Number of layers.
            dropout: Dropout probability.
            lr: Learning rate: of Adam, or what a tree adds is multiplied by.
            weight_decay: L2 regularisation of every parameter.
            consistency: Weight of the agreement between several passes over the same nodes.
            consistency_ramp: Epochs (steps, with views) until consistency has its full weight.
            temperature: Sharpness of what the passes are to agree on; smaller is sharper.
            max_epochs: Stop after so many epochs at the latest.
            patience: Stop after so many epochs without progress.
            stopping: What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or loss.
            metric: Validation score to stop and to choose by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, r2, mae, mse, macro-ap, micro-ap, macro-auc, micro-auc. The recipe auto, if not told, takes roc-auc where one of two classes has 3 times as many nodes as the other, and accuracy elsewhere.
            class_weight: Weight of a training node in the loss: none, or balanced (every class weighs the same in all).
            device: Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.
            random_state: Seed that decides everything random.
            batch_size: Training nodes per step, with neighbours drawn at random; all of them at once if not given.
            neighbours: Neighbours that a node draws in a batch: one number, or one per layer from the last to the first, separated by commas; -1 for all of them.
            loader_workers: Processes that draw batches ahead of training; 0 for none.
            steps: K: the longest walk a node may listen along.
            psi: Matrix function by name: unweighted, row-max, transition, laplacian or symmetric.
            add_edges: Give every motif's neighbourhood the plain neighbours as well.
            materialize: Store the powers of motif matrices; false computes their rows when chosen, where they do not fit.
            heads: Attention heads of the hidden layers.
            output_heads: Attention heads of the last layer; their mean is taken.
            self_attention: Weigh neighbours by attention as GAT does; false sums them as GCN does.
            motif_attention: Let nodes choose; false uses the first motif and one step for all.
            self_weights: Give a node's own features weights of their own in every layer, beside those of what it hears.
            sum_motifs: Sum over all motifs and steps, with weights of their own for each, in place of choosing one of them (needs self_attention false).
            norm: What hidden layers normalise of what they give on: none, layer (the units of a node) or batch (the nodes of a unit).
            residual: Add the input of a hidden layer to what it gives on, where both are equally wide.
            psi_prior: How Ψ enters self-attention: softmax (its logarithm is added to the logits) or product (it multiplies the coefficients).
            attention: Rule by which motif attention is trained: gated (rewards less their running mean; choices are followed while validation nodes prefer them to none) or paper (eq:att_loss to the letter).
            epsilon: Share of random actions in training; the rule of attention decides if not given.
            advantage: What is subtracted from the reward: none, its running mean, or a learned value; the rule of attention decides if not given.
            gate: Let validation nodes decide between the learned choices and none; the rule of attention decides if not given.
            policy_weight: Weight of the attention loss.
            policy_grad: Let the attention loss reach the layers' W as well.
            policy_lr: Learning rate of the selectors; that of the network if not given.
            policy_decay: L2 of the selectors; that of the network if not given.
            init_bias: Bias towards the first motif and one step to start with.
            class_priors: Correction of the predicted probabilities: none, or validation (multiply by how frequent each class is among validation nodes, divide by how frequent it is among training nodes).
        """

class ViewsParameters(Parameters):
    def __init__(
        self,
        *,
        motifs: Sequence[str] = ("edge", "triangle", "4-cycle"),
        scope: str = "edges",
        features: str = "given",
        hidden: int = 64,
        num_layers: int = 2,
        dropout: float = 0.7,
        lr: float = 0.01,
        weight_decay: float = 0.001,
        consistency: float = 1.5,
        consistency_ramp: int = 500,
        temperature: float = 0.1,
        max_epochs: int = 250,
        patience: int = 100,
        stopping: str = "loss",
        metric: str = "accuracy",
        class_weight: str = "none",
        device: str = "cpu",
        random_state: int | RandomState | Generator | None = 0,
        walk_length: int = 8,
        stop_probability: float | None = None,
        max_neighbours: int = 64,
        tolerance: float = 0.0001,
        symmetric: bool = True,
        drop_neighbours: float = 0.5,
        input_dropout: float = 0.5,
        batch_norm: bool = False,
        row_norm: bool = False,
        smooth_predictions: bool = False,
        full_batch: bool = False,
        labelled_batch: int = 50,
        unlabelled_batch: int = 100,
        passes: int = 2,
        min_confidence: float = 0.0,
        clip_gradient: float = 0.0,
        ema_decay: float = 0.99,
        steps_per_epoch: int = 10,
    ) -> None:
        """Make an estimator of the recipe views; nothing is trained yet.

        Args:
            motifs: Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.
            scope: Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an edge.
            features: Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, standardised) or both.
            hidden: Hidden units (per head).
            num_layers: Number of layers.
            dropout: Dropout probability.
            lr: Learning rate: of Adam, or what a tree adds is multiplied by.
            weight_decay: L2 regularisation of every parameter.
            consistency: Weight of the agreement between several passes over the same nodes.
            consistency_ramp: Epochs (steps, with views) until consistency has its full weight.
            temperature: Sharpness of what the passes are to agree on; smaller is sharper.
            max_epochs: Stop after so many epochs at the latest.
            patience: Stop after so many epochs without progress.
            stopping: What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or loss.
            metric: Validation score to stop and to choose by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, r2, mae, mse, macro-ap, micro-ap, macro-auc, micro-auc. The recipe auto, if not told, takes roc-auc where one of two classes has 3 times as many nodes as the other, and accuracy elsewhere.
            class_weight: Weight of a training node in the loss: none, or balanced (every class weighs the same in all).
            device: Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.
            random_state: Seed that decides everything random.
            walk_length: The longest walk along which features are mixed.
            stop_probability: The chance that a walk stops after each step; walks of all lengths count alike if not given.
            max_neighbours: Neighbours kept per node and view, the heaviest ones.
            tolerance: Walks less likely than this are not followed.
            symmetric: Hear nodes of high degree less.
            drop_neighbours: Share of its neighbours that a node does not hear in a view.
            input_dropout: Dropout of the mixed features.
            batch_norm: Batch normalisation before each layer.
            row_norm: Scale mixed features to length 1.
            smooth_predictions: Average the predictions of a node's neighbourhood, in validation and after training.
            full_batch: Look at all nodes in every step, and drop a neighbour for everyone who hears it; the first layer then comes before the mixing.
            labelled_batch: Training nodes per step.
            unlabelled_batch: Other nodes per step.
            passes: Views drawn of each node in a step.
            min_confidence: Nodes have to agree only if their likeliest class has more than this many times the chance level 1/C; 0 for all nodes.
            clip_gradient: Longest gradient; longer ones are shortened, 0 for no limit.
            ema_decay: Memory of the running mean of the weights, which is what is validated and kept; 0 keeps the weights themselves.
            steps_per_epoch: Steps per epoch; an epoch ends with a look at the validation nodes.
        """

class TreesParameters(Parameters):
    def __init__(
        self,
        *,
        motifs: Sequence[str] = ("edge", "triangle"),
        scope: str = "edges",
        features: str = "given",
        hidden: int = 8,
        num_layers: int = 2,
        dropout: float = 0.6,
        lr: float = 0.05,
        weight_decay: float = 0.0005,
        consistency: float | None = 0.0,
        consistency_ramp: int = 100,
        temperature: float = 0.5,
        max_epochs: int = 100,
        patience: int = 5,
        stopping: str = "loss",
        metric: str = "accuracy",
        class_weight: str = "none",
        device: str = "cpu",
        random_state: int | RandomState | Generator | None = 0,
        walk_length: int = 2,
        components: int = 64,
        max_leaves: int = 31,
        smallest_leaf: int = 5,
        leaf_l2: float = 10.0,
        column_share: float = 0.2,
    ) -> None:
        """Make an estimator of the recipe trees; nothing is trained yet.

        Args:
            motifs: Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.
            scope: Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an edge.
            features: Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, standardised) or both.
            hidden: Hidden units (per head).
            num_layers: Number of layers.
            dropout: Dropout probability.
            lr: Learning rate: of Adam, or what a tree adds is multiplied by.
            weight_decay: L2 regularisation of every parameter.
            consistency: Weight of the agreement between several passes over the same nodes.
            consistency_ramp: Epochs (steps, with views) until consistency has its full weight.
            temperature: Sharpness of what the passes are to agree on; smaller is sharper.
            max_epochs: Stop after so many epochs at the latest.
            patience: Stop after so many epochs without progress.
            stopping: What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or loss.
            metric: Validation score to stop and to choose by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, r2, mae, mse, macro-ap, micro-ap, macro-auc, micro-auc. The recipe auto, if not told, takes roc-auc where one of two classes has 3 times as many nodes as the other, and accuracy elsewhere.
            class_weight: Weight of a training node in the loss: none, or balanced (every class weighs the same in all).
            device: Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.
            random_state: Seed that decides everything random.
            walk_length: The longest walk along which features are mixed.
            components: Components that more than 200 columns of words are reduced to.
            max_leaves: Leaves of a tree at most.
            smallest_leaf: Training nodes in a leaf at least; no more than a tenth of them all.
            leaf_l2: L2 regularisation of the leaves.
            column_share: Share of the columns, drawn at random, that a split chooses among.
        """

class AutoParameters(Parameters):
    def __init__(
        self,
        *,
        motifs: Sequence[str] | None = None,
        scope: str | None = None,
        features: str = "given",
        hidden: int | None = None,
        num_layers: int | None = None,
        dropout: float | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        consistency: float | None = None,
        consistency_ramp: int | None = None,
        temperature: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        stopping: str | None = None,
        metric: str | None = None,
        class_weight: str = "none",
        device: str = "cpu",
        random_state: int | RandomState | Generator | None = 0,
        batch_size: int | None = None,
        neighbours: int | Sequence[int] | None = None,
        loader_workers: int = 0,
        candidates: Sequence[str] = ("mlp", "counts", "trees", "motif-trees", "gcn", "sage", "gat", "triangle-sum", "triangle", "mcn", "sage-3", "sage-8", "mcn-3", "views", "linear-views"),
        minutes: float = 5.0,
        repeats: int | None = None,
        schedule: str | None = None,
        cross_fit: bool = True,
        propagate: bool = True,
    ) -> None:
        """Make an estimator of the recipe auto; nothing is trained yet.

        Args:
            motifs: Motifs whose neighbourhoods the network uses, separated by commas: edge,triangle.
            scope: Pairs of nodes that motif counts are about: edges, or pairs for nodes that a motif joins without an edge.
            features: Input of the first layer: given (the graph's own features), motifs (15 motif counts per node, log, standardised) or both.
            hidden: Hidden units (per head).
            num_layers: Number of layers.
            dropout: Dropout probability.
            lr: Learning rate: of Adam, or what a tree adds is multiplied by.
            weight_decay: L2 regularisation of every parameter.
            consistency: Weight of the agreement between several passes over the same nodes.
            consistency_ramp: Epochs (steps, with views) until consistency has its full weight.
            temperature: Sharpness of what the passes are to agree on; smaller is sharper.
            max_epochs: Stop after so many epochs at the latest.
            patience: Stop after so many epochs without progress.
            stopping: What counts as progress on validation nodes: gat (the metric and the loss), gat-accuracy (the metric alone, as good as the best will do), accuracy (the metric alone, better than the best) or loss.
            metric: Validation score to stop and to choose by: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision, log-loss, r2, mae, mse, macro-ap, micro-ap, macro-auc, micro-auc. The recipe auto, if not told, takes roc-auc where one of two classes has 3 times as many nodes as the other, and accuracy elsewhere.
            class_weight: Weight of a training node in the loss: none, or balanced (every class weighs the same in all).
            device: Where the network is trained: cpu, cuda or mps. Predictions are made on the CPU.
            random_state: Seed that decides everything random.
            batch_size: Training nodes per step, with neighbours drawn at random; all of them at once if not given.
            neighbours: Neighbours that a node draws in a batch: one number, or one per layer from the last to the first, separated by commas; -1 for all of them.
            loader_workers: Processes that draw batches ahead of training; 0 for none.
            candidates: What is tried, separated by commas: mlp (features alone), counts (motif counts alone), trees, motif-trees, gcn, sage, gat, mcn, deeper ones (sage-3, sage-8, mcn-3), views, linear-views, and attention over a motif (triangle) or its sum (triangle-sum). Where direction is used also dir-trees, dir-sage, dir-sage-3 and mcn-dir, which tell the nodes that a node points to from those that point to it.
            minutes: Minutes of one core's processor time to train in; by the clock it ends after 1.5 times as long.
            repeats: Runs of each candidate at most, but for those that are clearly behind; if not given, as many as the minutes allow. The first 16 predict together, further ones help to choose.
            schedule: Folder of a finished run of auto: train its candidates for as many epochs as they had there, whatever the time. With the same graph, settings and seed that gives the same bits again.
            cross_fit: Let validation nodes teach too, where chance drew the split and training nodes are not the fewer: further runs train on four fifths of both, and are judged by the last fifth.
            propagate: Let known labels nearby correct predictions where held-out nodes confirm that it helps.
        """
