"""Training: recipes and their settings, the resumable loop, runs on disk, the estimators.

Each name is loaded when it is first used: the command line needs the settings, but not torch.
"""

from __future__ import annotations

from mcn._lazy import lazy

_NAMES = {
    ".callbacks": ("TensorBoard",),
    ".estimator": (
        *("MCNClassifier", "PaperClassifier", "ViewsClassifier", "TreesClassifier", "AutoClassifier"),
        *("MCNRegressor", "PaperRegressor", "ViewsRegressor", "TreesRegressor", "AutoRegressor"),
        *("NodeEstimator", "NodeClassifier", "NodeRegressor", "cross_validate", "load"),
    ),
    ".loop": ("Epoch", "fit"),
    ".predictions": ("Predictions", "accuracy_on_test"),
    ".presets": ("load_preset",),
    ".problem": ("Problem", "prepare"),
    ".recipes": ("RECIPES", "Recipe"),
    ".run": ("Run", "load_run", "train"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
