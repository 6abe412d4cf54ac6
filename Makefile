# Every target that needs Python sets up .venv by itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
# Whether there is a newer pip is no business of a build.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help build test check lint demo serve bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@echo "Installing exactquote and what its tests need into $(VENV): some minutes and 550 MB, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $(STAMP)

build: $(STAMP) ## compile the handbook in corpus/ into dist/
	$(BIN)/exactquote build corpus --output dist

test: $(STAMP) ## run the tests
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(STAMP) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test ## everything that CI checks

demo: $(STAMP) ## show a made-up passage being refused
	$(BIN)/exactquote demo corpus

serve: build ## look at the built handbook
	$(BIN)/exactquote serve dist

bench: $(STAMP) ## run every benchmark in bench/
	@for run in bench/*/run.py; do \
	  if [ -f "$$run" ]; then echo "== $$run" && $(BIN)/python "$$run" || exit 1; fi; \
	done

clean: ## remove what was built and installed here
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find compiler site_templates tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
