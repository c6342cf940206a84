"""Training: recipes and their settings, the resumable loop, runs on disk, the estimators.

Each name is loaded when it is first used: the command line needs the settings, but not torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcn._lazy import lazy

if TYPE_CHECKING:
    from mcn.train.callbacks import TensorBoard as TensorBoard
    from mcn.train.estimator import AutoClassifier as AutoClassifier
    from mcn.train.estimator import MCNClassifier as MCNClassifier
    from mcn.train.estimator import ViewsClassifier as ViewsClassifier
    from mcn.train.estimator import cross_validate as cross_validate
    from mcn.train.estimator import load as load
    from mcn.train.loop import Epoch as Epoch
    from mcn.train.loop import fit as fit
    from mcn.train.predictions import Predictions as Predictions
    from mcn.train.predictions import accuracy_on_test as accuracy_on_test
    from mcn.train.presets import load_preset as load_preset
    from mcn.train.problem import Problem as Problem
    from mcn.train.problem import prepare as prepare
    from mcn.train.recipes import RECIPES as RECIPES
    from mcn.train.recipes import Recipe as Recipe
    from mcn.train.run import Run as Run
    from mcn.train.run import load_run as load_run
    from mcn.train.run import train as train

_HOME = {
    "RECIPES": ".recipes",
    "AutoClassifier": ".estimator",
    "Epoch": ".loop",
    "MCNClassifier": ".estimator",
    "Predictions": ".predictions",
    "Problem": ".problem",
    "Recipe": ".recipes",
    "Run": ".run",
    "TensorBoard": ".callbacks",
    "ViewsClassifier": ".estimator",
    "accuracy_on_test": ".predictions",
    "cross_validate": ".estimator",
    "fit": ".loop",
    "load": ".estimator",
    "load_preset": ".presets",
    "load_run": ".run",
    "prepare": ".problem",
    "train": ".run",
}

__all__ = list(_HOME)
__getattr__, __dir__ = lazy(__name__, _HOME)
