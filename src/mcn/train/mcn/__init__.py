"""The recipes `mcn` and `paper`: every node chooses, layer by layer, a motif and a step.

Both train the paper's network. `paper` does it by the paper's rule (eq:att_loss) and with the paper's
settings, `mcn` by a rule of its own unless told otherwise.
"""
