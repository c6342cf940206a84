"""Faults by machine: every write fails once, and the process is killed at every one, in turn."""
