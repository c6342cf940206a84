"""What this project found out beyond the paper; each study can be run: ``python -m studies.choice --help``.

Studies use the package's public front only, and nothing imports them.
"""
