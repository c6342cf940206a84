"""Training: losses, stopping rules, the resumable loop, runs on disk, the estimator."""

from __future__ import annotations

from mcn.train.callbacks import Checkpoints, JSONLines, TensorBoard
from mcn.train.classifier import MCNClassifier
from mcn.train.compare import compare, result_row
from mcn.train.config import Config
from mcn.train.evaluate import Predictions, accuracy_on_test, predict
from mcn.train.fit import Epoch, FitResult, Trainer, build_model, fit
from mcn.train.losses import attention_loss, classification_loss
from mcn.train.methods import METHODS, configure, dataset_config
from mcn.train.problem import Problem, prepare
from mcn.train.recipes import RECIPES, best_recipe, recipe_config, recipe_of
from mcn.train.run import Run, check_free, load_run, protocol, train_run
from mcn.train.stopping import AccuracyRule, GATRule, LossRule
from mcn.train.table import in_classes, prediction_rows, predictions_csv
from mcn.train.views_classifier import ViewsClassifier
from mcn.train.views_config import ViewsConfig

__all__ = [
    "METHODS",
    "RECIPES",
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
    "ViewsClassifier",
    "ViewsConfig",
    "accuracy_on_test",
    "attention_loss",
    "best_recipe",
    "build_model",
    "check_free",
    "classification_loss",
    "compare",
    "configure",
    "dataset_config",
    "fit",
    "in_classes",
    "load_run",
    "predict",
    "prediction_rows",
    "predictions_csv",
    "prepare",
    "protocol",
    "recipe_config",
    "recipe_of",
    "result_row",
    "train_run",
]
