# fmt: off
"""Written by `python docs/make_stubs.py`: change the names in __init__.py, and run it again."""

from mcn.train.callbacks import TensorBoard as TensorBoard
from mcn.train.estimator import AutoClassifier as AutoClassifier
from mcn.train.estimator import AutoRegressor as AutoRegressor
from mcn.train.estimator import MCNClassifier as MCNClassifier
from mcn.train.estimator import MCNRegressor as MCNRegressor
from mcn.train.estimator import NodeClassifier as NodeClassifier
from mcn.train.estimator import NodeEstimator as NodeEstimator
from mcn.train.estimator import NodeRegressor as NodeRegressor
from mcn.train.estimator import PaperClassifier as PaperClassifier
from mcn.train.estimator import PaperRegressor as PaperRegressor
from mcn.train.estimator import TreesClassifier as TreesClassifier
from mcn.train.estimator import TreesRegressor as TreesRegressor
from mcn.train.estimator import ViewsClassifier as ViewsClassifier
from mcn.train.estimator import ViewsRegressor as ViewsRegressor
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
