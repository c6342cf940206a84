# Two commands for a fresh machine with Python >= 3.11: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all bench docs lint types warm wheel lowest fuzz faults bounds clean

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml graphmotifs/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ./graphmotifs -e .
	@touch $@

$(VENV)/.dev: pyproject.toml graphmotifs/pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --upgrade pip  # a new environment may have one that knows no dependency groups
	$(PIP) -e ./graphmotifs -e '.[viz,search,cluster]' --group dev
	@touch $@ $(VENV)/.core

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) -e ./graphmotifs -e '.[viz]' --group bench
	@touch $@

demo: $(VENV)/.core
	$(BIN)/mcn train

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Kernels are compiled once, beside the types, and not by every process of the tests.
warm: $(VENV)/.dev
	$(BIN)/mcn train --max-epochs 2 --out $$(mktemp -d)/run

# Without coverage, which makes the tests take half as long again; `make test-all` measures it. Many tests start
# the program: it need not be compiled each time, whatever the environment says.
test: $(VENV)/.dev
	$(MAKE) --jobs=2 lint types warm
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(JOBS) --dist worksteal

test-all: lint types
	$(BIN)/pytest -m '' -n $(JOBS) --cov --cov-report=term

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/motifs.py
	$(BIN)/python benchmarks/epoch.py
	$(BIN)/python benchmarks/first_minute.py
	$(BIN)/python benchmarks/budgets.py --minutes 1
	$(BIN)/python benchmarks/checks.py

docs: $(VENV)/.dev
	PYTHONPATH=docs $(BIN)/zensical build --clean --strict  # docs/ has two extensions of Markdown

# Both packages as a user gets them: built, installed with their constraints into empty environments, tried;
# the engine alone first, with its tests.
wheel:
	rm -rf dist && mkdir dist
	$(PYTHON) -m venv dist/venv && $(PYTHON) -m venv dist/engine
	dist/venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./graphmotifs .
	dist/engine/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/graphmotifs-*.whl
	cd dist && engine/bin/python ../graphmotifs/tests/installed.py
	dist/engine/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pytest
	cd graphmotifs && ../dist/engine/bin/python -m pytest -p no:cacheprovider
	dist/venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt twine dist/*.whl
	dist/venv/bin/python -m twine check --strict dist/*.whl
	cd dist && venv/bin/python ../tests/installed.py

# The tests of what leans most on other packages, with the lowest versions that the two pyproject.toml allow, and
# today's tools. Left out: what NumPy 2 prints, what newer versions import, the last bit of NumPy's exponential.
# Old packages may warn.
LOWEST := dist/lowest/bin/python
lowest:
	rm -rf dist/lowest
	$(PYTHON) -m venv dist/lowest
	$(LOWEST) -m pip install --quiet --disable-pip-version-check -c constraints.txt --upgrade pip uv
	$(LOWEST) -m uv pip install --quiet --python $(LOWEST) --resolution lowest-direct ./graphmotifs '.[viz]'
	$(LOWEST) -m uv pip freeze --python $(LOWEST) | grep '==' > dist/lowest/versions.txt
	$(LOWEST) -m pip install --quiet --disable-pip-version-check -c dist/lowest/versions.txt pytest pytest-xdist hypothesis pandas polars igraph
	$(LOWEST) -m pytest -W default -n $(JOBS) -p no:cacheprovider \
		--ignore graphmotifs/tests/test_package.py --deselect tests/nn/test_attend.py::test_the_exponential \
		graphmotifs/tests tests/data tests/nn tests/train/test_trees.py tests/cli/test_check.py

# Mutated files and arrays into every reader and kernel, each in a guarded process.
MINUTES ?= 5
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --jobs $(JOBS)

# Every write of the commands fails in turn, and they are killed at every one.
faults: $(VENV)/.dev
	$(BIN)/python -m tests.faults

# The tests of every kernel with bounds checks; a cache of their own, as numba's does not tell the two apart.
bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$$(mktemp -d) $(BIN)/pytest -q -n $(JOBS) \
		graphmotifs/tests tests/data tests/store tests/matrices tests/nn tests/paper \
		tests/train/test_trees.py tests/viz/test_force_layout.py

clean:
	rm -rf $(VENV) dist site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
