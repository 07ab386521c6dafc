# Everything a person does with a checkout. Needs Python ≥ 3.11, git and make; the rest is installed into .venv.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CORPUS ?= $(wildcard ../shared/data/nl2bash.jsonl)
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:  # a .venv that was half made must not look like one
.PHONY: help run test demo setup bench lint readme live fuzz clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run  ## install into .venv, then run the daemon here and show every decision
	@$(VENV)/bin/latchd --log-format human

test: $(VENV)/.dev  ## every test, fast and slow
	@$(PY) -m pytest -q -m "not live"

demo: $(VENV)/.run  ## replay a session through the real shim and a private daemon
	@$(VENV)/bin/latchctl demo

setup: $(VENV)/.dev  ## the development tools as well

bench: $(VENV)/.run  ## the figures in docs/speed.md, measured here; CORPUS=FILE for commands of your own
	@$(VENV)/bin/latchctl bench $(if $(CORPUS),--corpus $(CORPUS))
	@PYTHONPATH=tests $(PY) tests/tools/store_bench.py 200000 300

lint: $(VENV)/.dev  ## format, lint and both type checkers
	@$(VENV)/bin/ruff format --check daemon client contracts tests
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/pyright --pythonpath $(PY)

readme: $(VENV)/.dev  ## write the README's printed blocks anew
	@$(PY) tests/architecture/readme.py

live: $(VENV)/.dev  ## drive the real agent CLIs in a namespace without a network
	@$(PY) -m pytest -q -m live tests/live

RUNS ?= 20000
FUZZ ?= /tmp/latchd-fuzz
fuzz: $(VENV)/.dev  ## fuzz the analyser with coverage as the guide: RUNS=… inputs, kept in FUZZ=…
	@$(PY) -m pip install -q --group fuzz
	@PYTHONPATH=tests $(PY) tests/shellfuzz/corpus.py $(FUZZ)
	@cd $(FUZZ) && PYTHONPATH=$(CURDIR)/tests $(CURDIR)/$(PY) $(CURDIR)/tests/shellfuzz/target.py -runs=$(RUNS) -max_len=96 -dict=tokens.dict corpus

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "latchd needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -q --upgrade "pip>=25.1"  # 25.1: dependency groups

$(VENV)/.run: pyproject.toml | $(PY)
	@$(PY) -m pip install -q -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(PY)
	@$(PY) -m pip install -q -e . --group dev
	@touch $@ $(VENV)/.run
