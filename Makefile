# Every target makes the environment it needs by itself; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test campaign check format bench docs golden lock browser astronomy debian clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/ \t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,check]'
	@touch $@

install: $(STAMP) ## the virtual environment, with all that tests and checks need

demo: $(STAMP) ## what provenn does, on real stars; leaves an archive in provenn-demo
	@$(BIN)/provenn demo

test: $(STAMP) ## the test suite
	$(BIN)/python -m pytest -q -n auto -m "not campaign" --durations 30

campaign: $(STAMP) ## the long random runs that `make test` leaves out
	$(BIN)/python -m pytest -q -n auto -m campaign

check: $(STAMP) ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## let ruff put the code in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

browser: ## Debian's Chromium, for the tests in a real browser; nothing where there is one
	@for one in $$PROVENN_CHROMIUM chromium chromium-browser google-chrome; do \
	    if command -v $$one >/dev/null; then exit 0; fi; done; $(MAKE) --no-print-directory debian \
	    PACKAGES="chromium fonts-dejavu-core" OTHERWISE="Chromium, or let PROVENN_CHROMIUM say where it is"

astronomy: ## Debian's STILTS and TOPCAT, which tests compare with; nothing where they are
	@if ! (command -v stilts && command -v topcat && command -v xvfb-run) >/dev/null; then \
	    $(MAKE) --no-print-directory debian PACKAGES="stilts topcat xvfb xauth" OTHERWISE="STILTS, TOPCAT and Xvfb"; fi

debian:
	@if ! command -v apt-get >/dev/null; then echo "install as your system does: $(OTHERWISE)" >&2; exit 1; fi; \
	if [ "$$(id -u)" = 0 ]; then as=; elif command -v sudo >/dev/null; then as=sudo; else \
	    echo "as root: apt-get install $(PACKAGES)" >&2; exit 1; fi; \
	$$as apt-get update -qq && \
	$$as env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(PACKAGES)

bench: $(STAMP) ## the benchmarks, as ratios in one run
	@$(BIN)/python -c 'import cvc5, dd' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks

docs: $(STAMP) ## the documentation, into docs/_build/html
	@$(BIN)/python -c 'import furo, myst_parser' 2>/dev/null || $(BIN)/python -m pip install --quiet \
	    --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

golden: $(STAMP) ## regenerate golden files and the pictures in docs/
	$(BIN)/python -m pytest -q -n auto -m "not campaign" --regenerate

lock: $(STAMP) ## regenerate constraints.txt from pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --no-header --no-annotate --universal --all-extras \
	    --python-version 3.11 --upgrade pyproject.toml -o constraints.txt

clean: ## remove what the targets above made
	rm -rf $(VENV) docs/_build .benchmarks .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis \
	    .screenshots provenn-demo
