"""The recipe `auto`: model selection.

Candidates of several kinds, the network `mcn` among them, are trained one after the other. Held-out nodes
decide whether one of them predicts, a blend of them, or for every node a candidate of its own.
"""
