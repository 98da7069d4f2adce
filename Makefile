# `make help` lists what there is. Needed: Python 3.11 or later, make, and the package registry that pip is set up for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What runs the system needs less than what tests it: its own lock and stamp, unless the whole environment is there.
RUN := $(if $(wildcard $(VENV)/.ready),$(VENV)/.ready,$(VENV)/.run)
PLOTS := $(VENV)/.plots
VALIDATORS := $(VENV)/.validators
# Two processes at a time; the tests of one file share what they start, so they stay together.
TWO := --numprocesses=2 --dist=loadfile
COMPILED := build/compiled

.DEFAULT_GOAL := help
.PHONY: help up play browser images keystrokes test test-all test-compiled compiled fuzz floors lint format bench compare mutate soak drill-node drill-audit transcripts findings rules protos lock wheel dist sbom clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(RUN) ## The whole system on this machine, with a story in it; Ctrl-C ends it (ARGS=--once: the story only)
	@$(BIN)/podstrat up $(ARGS)

play: $(RUN) ## A playground in the browser, on this machine: what the API server says while one types (ARGS="--port 0 --open")
	@$(BIN)/podstrat play $(ARGS)

test: lint ## Lint, types, import contracts, spelling, tests
	$(BIN)/python -m pytest $(TWO)

test-all: lint ## The same with the tests that take long, and the coverage of every room held at its floor; the engine's on the compiled one
	$(BIN)/python -m pytest $(TWO) -m "" --cov --cov-report=json:.coverage.json
	$(BIN)/python -m tools.coverage_floors
	@if command -v $${CC:-cc} >/dev/null; then $(MAKE) test-compiled; else echo "no C compiler: the compiled engine is not tested"; fi

floors: $(READY) ## Raise the floors of coverage to what the last `make test-all` measured
	$(BIN)/python -m tools.coverage_floors --write

# PYTHONPATH comes before the editable installation: these tests import the compiled tree. The test of patterns looks for them in
# the sources' own modules.
test-compiled: compiled ## The engine's tests and conformance on the compiled engine
	PYTHONPATH=$(COMPILED)/tree $(BIN)/podstrat --version | grep compiled
	PYTHONPATH=$(COMPILED)/tree $(BIN)/python -m pytest $(TWO) -p no:cacheprovider tests/strategy tests/conformance tests/growth \
		--ignore=tests/growth/test_patterns.py
	$(BIN)/python -m pytest -m long tests/packaging/test_compiled.py

fuzz: $(READY) ## Mutated requests to engine, apply, patches, goyaml and webhook, a minute each; ARGS="engine --seconds 300 --seed 7"
	$(BIN)/python -m tests.fuzz $(ARGS)

lint: $(READY) ## Lint, formatting, types, import contracts, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

format: $(READY) ## Format the code and mend what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) $(PLOTS) ## Measure everything as ratios within one run: table, docs/performance.md; ONLY=engine, STRICT=1
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY)) $(if $(STRICT),--strict)

compare: $(READY) $(VALIDATORS) ## Compare offline checks with the recorded answers of a real server; minutes, for the others are slow
	$(BIN)/python -m tools.compare_validators

soak: $(READY) ## Every door under load for up to an hour: memory stays flat, nothing is lost; SHARE=0.1 for a tenth
	$(BIN)/python -m tools.soak $(if $(SHARE),--share $(SHARE))

drill-node: $(READY) ## The node writer under reports of 100,000 devices for a minute: peak memory, longest healthz
	$(BIN)/python -m tools.drill_node

drill-audit: $(READY) ## podstrat audit over 100,000 objects of a fake API server: memory along the way
	$(BIN)/python -m tools.drill_audit

browser: $(READY) ## Install what the browser tests need: Chromium
	$(BIN)/python -m tools.browser

images: $(READY) ## Make the screenshots of docs/images again, of the pages in a real browser
	$(BIN)/python -m tools.make_images

keystrokes: $(READY) ## Print the times from a keystroke to the server's words, in the editor and on the page
	$(BIN)/python -m tools.keystrokes

mutate: $(READY) ## Take out every error and warning in turn, and name those that no test misses
	$(BIN)/python -m tools.mutate

transcripts: $(READY) ## Run the commands of docs/transcripts and of the pages again, and keep what they print
	$(BIN)/python tools/make_transcripts.py

findings: $(READY) ## Make docs/findings.md from the recorded refusals
	$(BIN)/python -m tools.make_findings

rules: $(READY) ## Make docs/rules.md from the upstream references of the engine
	$(BIN)/python -m tools.make_rules

protos: $(READY) ## Make node/drivers/generated from node/drivers/protos
	$(BIN)/python -m grpc_tools.protoc -Ipodstrat/node/drivers/generated=node/drivers/protos --python_out=src --pyi_out=src \
		$(patsubst node/drivers/protos/%,podstrat/node/drivers/generated/%,$(wildcard node/drivers/protos/*.proto))

COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet
lock: $(READY) ## Bring every lock up to pyproject.toml; UPGRADE=1 takes newer versions too
	$(COMPILE) pyproject.toml --all-extras --group dev $(if $(UPGRADE),--upgrade) --output-file requirements.lock
	$(COMPILE) pyproject.toml --extra serve --extra node --group run --constraints requirements.lock --output-file requirements-run.lock
	$(COMPILE) --group plots --constraints requirements.lock --no-annotate $(if $(UPGRADE),--upgrade) --output-file bench/plots.lock
	$(COMPILE) --group validators --constraints requirements.lock --no-annotate $(if $(UPGRADE),--upgrade) --output-file tools/validators.lock

wheel: $(READY) ## Build the wheel into dist/
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

compiled: $(READY) ## Compile the engine's hot modules (a C compiler, two minutes): build/compiled, and a wheel for this platform in dist/
	rm -rf $(COMPILED)
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(COMPILED)/pure .
	$(BIN)/python -m tools.compile_wheel $(COMPILED)/pure/*.whl --build $(COMPILED) --wheel-dir dist

dist: wheel ## The wheel, and podstrat.pyz: the offline commands in one file for machines with nothing but Python
	$(BIN)/python tools/make_zipapp.py

sbom: $(READY) ## Bills of materials (CycloneDX) of every way to install podstrat, into dist/
	$(BIN)/python -m tools.make_sbom

clean: ## Remove caches and build output (the environment stays: it is .venv)
	rm -rf build dist .coverage .coverage.* htmlcov .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# The environment, made again when what it is made from changes.
define ENVIRONMENT
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("podstrat needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11 ...")'
	@$(PYTHON) hatch_build.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
endef

$(READY): requirements.lock pyproject.toml
	$(ENVIRONMENT)

$(VENV)/.run: requirements-run.lock pyproject.toml
	$(ENVIRONMENT)

# What only `make bench` and `make compare` need: no test and no door pays for it.
$(PLOTS): bench/plots.lock
$(VALIDATORS): tools/validators.lock
$(PLOTS) $(VALIDATORS): | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $<
	@touch $@
