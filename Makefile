# Every target makes the virtual environment it needs; nothing but python3 and make is assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
APP_STAMP := $(VENV)/.app
STAMP := $(VENV)/.dev
BENCH_STAMP := $(VENV)/.bench
# tests run on all cores side by side, each on one
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: setup demo test test-all lint bench docs clean

setup: $(STAMP)

# the package alone, for those who only want to use it
$(APP_STAMP): pyproject.toml | $(BIN)/python
	@echo "installing relscape into $(VENV), about a minute ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "relscape needs Python 3.11 or newer; $(PYTHON) is older. Try: make setup PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments (ensurepip is missing)."; \
	    echo "Install your distribution's venv package, e.g. on Debian or Ubuntu:"; \
	    $(PYTHON) -c 'import sys; print("  apt install python%d.%d-venv" % sys.version_info[:2])'; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "installing relscape and what its development needs into $(VENV), a minute or two ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

demo: $(APP_STAMP)
	$(BIN)/relscape demo

test: $(STAMP) lint
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal -m 'not long' --durations=15

test-all: $(STAMP) lint
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/reproduction.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) build dist docs/_build docs/api .mypy_cache .pytest_cache .ruff_cache
