# `make help` lists what there is. Needed: Python 3.11 or later, make, and the package registry that pip is set up for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PLOTS := $(VENV)/.plots
# Two processes at a time; the tests of one file share what they start, so they stay together.
TWO := --numprocesses=2 --dist=loadfile

.DEFAULT_GOAL := help
.PHONY: help up test test-all fuzz lint format bench compare mutate transcripts protos lock lock-plots wheel dist clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(READY) ## The whole system on this machine, with a story in it; Ctrl-C ends it (ARGS=--once: the story only)
	@$(BIN)/podstrat up $(ARGS)

test: lint ## Lint, types, import contracts, tests with the coverage of strategy/
	$(BIN)/python -m pytest $(TWO) --cov --cov-report=term

test-all: lint ## The same, with the tests that take long
	$(BIN)/python -m pytest $(TWO) --cov --cov-report=term -m ""

fuzz: $(READY) ## 200,000 generated bodies through the webhook; PODSTRAT_FUZZ=N for another number
	$(BIN)/python -m pytest -m long -q tests/webhook/test_fuzz.py

lint: $(READY) ## Lint, formatting, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY) ## Format the code and mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) $(PLOTS) ## Measure everything as ratios within one run: table, docs/performance.md; ONLY=engine, STRICT=1
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(STRICT),--strict)

compare: $(READY) ## Compare offline checks with the recorded answers of a real server
	$(BIN)/python tools/compare_validators.py

mutate: $(READY) ## Take out every error and warning in turn, and name those that no test misses
	$(BIN)/python tools/mutate.py

transcripts: $(READY) ## Run the commands of docs/transcripts and of the pages again, and keep what they print
	$(BIN)/python tools/make_transcripts.py

protos: $(READY) ## Make node/generated from node/protos
	$(BIN)/python -m grpc_tools.protoc -Inode/generated=node/protos --python_out=. --pyi_out=. \
		$(patsubst node/protos/%,node/generated/%,$(wildcard node/protos/*.proto))

lock: $(READY) ## Bring requirements.lock up to pyproject.toml; UPGRADE=1 takes newer versions too
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade) --quiet --output-file requirements.lock

lock-plots: $(READY) ## The same for bench/plots.lock, what `make bench` draws with
	$(BIN)/uv pip compile --group plots --constraints requirements.lock --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate $(if $(UPGRADE),--upgrade) --quiet --output-file bench/plots.lock

wheel: $(READY) ## Build the wheel into dist/
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

dist: wheel ## The wheel, and podstrat.pyz: the offline commands in one file for machines with nothing but Python
	$(BIN)/python tools/make_zipapp.py

clean: ## Remove caches and build output (the environment stays: it is .venv)
	rm -rf dist .coverage htmlcov .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# The environment, made again when what it is made from changes.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("podstrat needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What only `make bench` needs: no test and no door pays for it.
$(PLOTS): bench/plots.lock | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement bench/plots.lock
	@touch $@
