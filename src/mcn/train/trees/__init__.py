"""Boosted decision trees on the columns of a node and of its neighbours."""
