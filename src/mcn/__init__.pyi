# fmt: off
"""Written by `python docs/make_stubs.py`: change the names in __init__.py, and run it again."""

from mcn import data as data
from mcn import experiments as experiments
from mcn import matrices as matrices
from mcn import motifs as motifs
from mcn import nn as nn
from mcn import paper as paper
from mcn import store as store
from mcn import train as train
from mcn import viz as viz
from mcn.data import load_dataset as load_dataset
from mcn.data import load_graph as load_graph
from mcn.matrices import MotifStack as MotifStack
from mcn.matrices import apply_psi as apply_psi
from mcn.matrices import stack_size as stack_size
from mcn.motifs import ARC_ORBITS as ARC_ORBITS
from mcn.motifs import AddMotifs as AddMotifs
from mcn.motifs import DIRECTED_GRAPHLETS as DIRECTED_GRAPHLETS
from mcn.motifs import DIRECTED_NODE_ORBITS as DIRECTED_NODE_ORBITS
from mcn.motifs import DirectedCounts as DirectedCounts
from mcn.motifs import EDGE_ORBITS as EDGE_ORBITS
from mcn.motifs import GRAPHLETS as GRAPHLETS
from mcn.motifs import MotifCounts as MotifCounts
from mcn.motifs import NODE_ORBITS as NODE_ORBITS
from mcn.motifs import count_motifs as count_motifs
from mcn.motifs import motif_clusters as motif_clusters
from mcn.motifs import motif_significance as motif_significance
from mcn.nn import MCN as MCN
from mcn.nn import MCNConv as MCNConv
from mcn.store import GraphStore as GraphStore
from mcn.train import AutoClassifier as AutoClassifier
from mcn.train import AutoRegressor as AutoRegressor
from mcn.train import MCNClassifier as MCNClassifier
from mcn.train import MCNRegressor as MCNRegressor
from mcn.train import PaperClassifier as PaperClassifier
from mcn.train import PaperRegressor as PaperRegressor
from mcn.train import TreesClassifier as TreesClassifier
from mcn.train import TreesRegressor as TreesRegressor
from mcn.train import ViewsClassifier as ViewsClassifier
from mcn.train import ViewsRegressor as ViewsRegressor
from mcn.train import cross_validate as cross_validate
from mcn.train.estimator import load as load
from mcn.train.estimator import load_run as load_run

__version__: str
