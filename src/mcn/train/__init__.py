"""Training: losses, stopping rules, the resumable loop, runs on disk, the estimator."""

from __future__ import annotations

from mcn.train.callbacks import Checkpoints, JSONLines, TensorBoard
from mcn.train.classifier import MCNClassifier
from mcn.train.compare import compare
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, predict, accuracy_on_test
from mcn.train.fit import Epoch, FitResult, Trainer, build_model, fit
from mcn.train.losses import attention_loss, classification_loss
from mcn.train.methods import METHODS, configure, dataset_config
from mcn.train.problem import Problem, prepare
from mcn.train.run import Run, load_run, train_run
from mcn.train.stopping import AccuracyRule, GATRule, LossRule

__all__ = [
    "METHODS",
    "AccuracyRule",
    "Checkpoints",
    "Config",
    "Epoch",
    "FitResult",
    "GATRule",
    "JSONLines",
    "LossRule",
    "MCNClassifier",
    "Predictions",
    "Problem",
    "Run",
    "TensorBoard",
    "Trainer",
    "attention_loss",
    "build_model",
    "classification_loss",
    "compare",
    "configure",
    "dataset_config",
    "fit",
    "load_run",
    "predict",
    "prepare",
    "accuracy_on_test",
    "train_run",
]
