# Twinspect's tasks. `make demo` and `make test` do all the set-up themselves; see README.md.
#
#   PYTHON=python3.12   the Python that makes the environment (3.11 or newer; default: python3)
#   VENV=folder         where the environment lies (default: .venv)

PYTHON ?= python3
VENV ?= .venv

RUN := $(VENV)/bin/python
MARK := $(VENV)/.installed
ASKED := $(if $(filter command environment override,$(origin PYTHON)),--asked)
HAVE_PYTHON := @command -v $(PYTHON) >/dev/null 2>&1 || { echo "twinspect: there is no $(PYTHON) here: install Python 3.11 or newer, or name one, as in: make test PYTHON=python3.12" >&2; exit 1; }

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo test check test-pipeline test-rest bench screenshots clean libraries window always

help:
	@echo "make demo         make the environment, install, and open the window on the built-in sample"
	@echo "make test         make the environment, install, and run every check and test"
	@echo "make check        style, types and import contracts only"
	@echo "make bench        measure against a plain pipeline, and print the figures"
	@echo "make screenshots  draw the window with the sample's questions into shots/"
	@echo "make clean        remove the environment and everything that the tools left"

demo: $(VENV)/.python window $(MARK)
	@$(RUN) packaging/preflight.py qt --window
	$(VENV)/bin/twinspect demo

test: $(VENV)/.python libraries check test-pipeline test-rest

# --- set-up ---

$(MARK): $(VENV)/.python pyproject.toml packaging/constraints.txt
	@$(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --disable-pip-version-check -c packaging/constraints.txt -e '.[dev]'
	@touch $@

# Written anew only when the environment has another Python than last time.
$(VENV)/.python: always
	$(HAVE_PYTHON)
	@$(PYTHON) packaging/preflight.py environment $(VENV) $(ASKED)

# Before the long download, so that nobody waits for it in vain.
libraries:
	$(HAVE_PYTHON)
	@$(PYTHON) packaging/preflight.py libraries

window:
	$(HAVE_PYTHON)
	@$(PYTHON) packaging/preflight.py libraries --window

always:

# --- checks and tests ---

check: $(MARK)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-logo

# The pipeline belongs to servers and scripts too: its tests run as if PySide6 were not installed, in this process and
# in every child process (see tests/support/no_qt.py).
test-pipeline: $(MARK)
	$(RUN) -m pytest -p tests.support.no_qt tests/pipeline

# The rest, with Qt, in windows that no display needs to show.
test-rest: $(MARK)
	@$(RUN) packaging/preflight.py qt
	$(RUN) -m pytest tests --ignore=tests/pipeline

bench: $(MARK)
	$(RUN) -m tests.bench

screenshots: $(MARK)
	@$(RUN) packaging/preflight.py qt
	$(RUN) packaging/screenshots.py shots

clean:
	rm -rf $(VENV) build dist twinspect.egg-info shots
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find app pipeline resources tests packaging -name __pycache__ -type d -prune -exec rm -rf {} +
