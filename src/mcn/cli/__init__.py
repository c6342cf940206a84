"""The command line: one file per verb, imported only when it is called."""
