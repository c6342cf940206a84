"""The recipe `auto`: model selection.

Candidates of several kinds, the network `mcn` among them, are trained within a budget of time. Held-out nodes
decide whether one of them predicts, or a blend of them.
"""
