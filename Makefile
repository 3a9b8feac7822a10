# Every target makes the environment it needs by itself; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PACKAGE := $(VENV)/.package
# One process more than there are cores: some tests wait. Tests of a file share what is made for them.
PARALLEL = -n $$(( $$(nproc 2>/dev/null || sysctl -n hw.ncpu) + 1 )) --dist loadfile --no-loadscope-reorder
INSTALL := $(BIN)/python supply_chain/installing.py

.DEFAULT_GOAL := help
.PHONY: help install demo test campaign check audit sbom format bench bench-quick docs golden lock browser astronomy debian clean

help: ## this list, with how long each takes on two quiet cores, besides installing
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/ \t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

$(PACKAGE): pyproject.toml constraints.txt | $(BIN)/python
	@$(INSTALL) "provenn, with Spark and Java, into $(VENV)" "one to two minutes on a fresh machine" \
	    --constraint constraints.txt --editable .
	@touch $@

$(STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@$(INSTALL) "provenn and all that its tests and checks need into $(VENV)" "two to four minutes on a fresh machine" \
	    --constraint constraints.txt --editable '.[test,check]'
	@$(BIN)/python -m tests.spark.javas
	@$(BIN)/python -m tests.dbt.real_dbt
	@$(BIN)/python -m tests.hats.real_lsdb
	@$(BIN)/python -m tests.tap.real_astroquery
	@touch $@ $(PACKAGE)

install: $(STAMP) ## the virtual environment, with all that tests and checks need: 3 to 5 minutes, once

demo: $(PACKAGE) ## what provenn does, on real stars; leaves an archive in provenn-demo: 1 minute
	@$(BIN)/provenn demo

test: $(STAMP) ## the test suite: some 28 minutes on two cores
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not campaign" --durations 30

campaign: $(STAMP) ## the long random runs that `make test` leaves out: many hours
	$(BIN)/python -m pytest -q $(PARALLEL) -m "campaign or random" --thorough

check: $(STAMP) audit ## format, lint, types, layers, and the audit of what is installed: 2 minutes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: $(STAMP) ## pins, files, licences and known vulnerabilities of what is installed, without a network: 30 s
	$(BIN)/python -m supply_chain audit

sbom: $(STAMP) ## the inventory of what is installed, in CycloneDX, into sbom.json: 10 s
	$(BIN)/python -m supply_chain sbom > sbom.json

format: $(STAMP) ## let ruff put the code in order: 2 s
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser: ## Debian's Chromium, for the tests in a real browser; nothing where there is one: 1 minute
	@for one in $$PROVENN_CHROMIUM chromium chromium-browser google-chrome; do \
	    if command -v $$one >/dev/null; then exit 0; fi; done; $(MAKE) --no-print-directory debian \
	    PACKAGES="chromium fonts-dejavu-core" OTHERWISE="Chromium, or let PROVENN_CHROMIUM say where it is"

astronomy: ## Debian's STILTS and TOPCAT, which tests compare with; nothing where they are: 1 minute
	@if ! (command -v stilts && command -v topcat && command -v xvfb-run) >/dev/null; then \
	    $(MAKE) --no-print-directory debian PACKAGES="stilts topcat xvfb xauth" OTHERWISE="STILTS, TOPCAT and Xvfb"; fi

debian:
	@if ! command -v apt-get >/dev/null; then echo "install as your system does: $(OTHERWISE)" >&2; exit 1; fi; \
	if [ "$$(id -u)" = 0 ]; then as=; elif command -v sudo >/dev/null; then as=sudo; else \
	    echo "as root: apt-get install $(PACKAGES)" >&2; exit 1; fi; \
	$$as apt-get update -qq && \
	$$as env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(PACKAGES)

bench: $(STAMP) ## the benchmarks, as ratios in one run: an hour
	@$(BIN)/python -c 'import cvc5, dd' 2>/dev/null || $(INSTALL) "the peers of the benchmarks" "a few seconds" \
	    --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks

bench-quick: $(STAMP) ## all ratios at small sizes, each with its aim: 2 minutes, estimated
	$(BIN)/python -m benchmarks.quick

docs: $(STAMP) ## the documentation, into docs/_build/html: 1 minute
	@$(BIN)/python -c 'import furo, myst_parser, sphinx_copybutton' 2>/dev/null || $(INSTALL) "Sphinx" "a few seconds" \
	    --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

golden: $(STAMP) ## regenerate golden files and the pictures in docs/: as `make test`
	$(BIN)/python -m pytest -q $(PARALLEL) -m "not campaign" --regenerate

lock: $(STAMP) ## regenerate constraints.txt from pyproject.toml: 10 s
	@$(INSTALL) "uv" "a few seconds" uv
	$(BIN)/uv pip compile --quiet --no-header --no-annotate --universal --all-extras \
	    --python-version 3.11 --upgrade pyproject.toml -o constraints.txt

clean: ## remove what the targets above made, and what killed tests left in memory: 2 s
	PYTHONPATH=src $(PYTHON) -m tests.leftovers
	rm -rf $(VENV) docs/_build .benchmarks .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis \
	    .screenshots provenn-demo sbom.json
