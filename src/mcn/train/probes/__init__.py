"""Probes: one network per neighbourhood, their held-out rewards, and what nodes choose by them.

The recipe `auto` and the rule of attention `probed` are both this: candidates are trained one after the
other, the best for the whole graph is found on validation nodes, and nodes choose where that pays.
"""
