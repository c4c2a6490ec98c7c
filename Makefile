# `make up` and `make test` set up everything that they need; `make help` lists the rest.
# Variables: PYTHON (the Python to build on), VLLMWATCH_STATE (where programs, data and logs lie), UP (options of
# `vllmwatch up`), TESTS (what pytest is given), TORCH_INDEX_URL (PyTorch's index of CPU wheels, for the tests).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# Set to nothing it must not come to mean the root of the file system, for `make clean` least of all.
ifeq ($(VLLMWATCH_STATE),)
override VLLMWATCH_STATE := $(CURDIR)/.vllmwatch
endif
export VLLMWATCH_STATE
UP ?=
TESTS ?= tests

VENV := .venv
BIN := $(VENV)/bin
# Errors alone are shown: warnings (another index, root, retries) would bury them.
PIP_INSTALL := $(BIN)/python -m pip --no-color install -q -q --disable-pip-version-check --require-virtualenv \
	--root-user-action ignore
RUN_STAMP := $(VENV)/installed-run
TEST_STAMP := $(VENV)/installed-test

# The newest pip resolver is not needed: every package and its hash is in the lock.
UV := 0.13.9
UV_COMPILE := $(VLLMWATCH_STATE)/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --custom-compile-command 'make lock'

.PHONY: help up test test-all check peers bench lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: $(RUN_STAMP) ## Set up, then run exporter and Prometheus for the GPUs and vLLM servers of this host
	@VLLMWATCH_CALLER=make exec $(BIN)/vllmwatch up $(UP)

test: $(TEST_STAMP) peers ## Set up everything, check the code, run all tests but the long ones
	@$(MAKE) check
	$(BIN)/vllmwatch generate --check
	$(BIN)/python -m pytest -m "not long" $(TESTS)

test-all: $(TEST_STAMP) peers ## As test, with the long tests
	@$(MAKE) check
	$(BIN)/vllmwatch generate --check
	$(BIN)/python -m pytest $(TESTS)

check: $(TEST_STAMP) ## Lint, format and types alone
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# What cannot be had is said here and again as the reason of each skipped test (a failure in CI).
peers: $(TEST_STAMP) ## Set up the real vLLM, Prometheus and Alertmanager of the tests
	@$(BIN)/python -m tests.real.prometheus_programs || true
	@$(BIN)/python -m tests.real.alertmanager_programs || true
	@$(BIN)/python -m tests.real.vllm_environment || true

bench: $(TEST_STAMP) ## Measure the exporter's budgets
	$(BIN)/python -m tests.bench

lock: $(VLLMWATCH_STATE)/lock/bin/uv ## Pin the newest allowed version of every dependency with its hashes
	$(UV_COMPILE) requirements/build.in -o requirements/build.txt
	$(UV_COMPILE) pyproject.toml -o requirements/run.txt
	$(UV_COMPILE) pyproject.toml --group test -c requirements/run.txt -o requirements/test.txt
	$(UV_COMPILE) requirements/vllm.in --override requirements/vllm-override.in -o requirements/vllm.txt

clean: ## Remove environments, caches and programs that were fetched; data and logs of `make up` stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	if cd "$(VLLMWATCH_STATE)" 2>/dev/null; then rm -rf test bench lock prometheus; fi
	rmdir "$(VLLMWATCH_STATE)" 2>/dev/null || true
	find vllmwatch tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@bash scripts/require $(PYTHON)
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(RUN_STAMP): requirements/run.txt requirements/build.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing vllmwatch and what it needs into $(VENV)"
	@$(PIP_INSTALL) --require-hashes -r requirements/build.txt
	@$(PIP_INSTALL) --require-hashes -r requirements/run.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(TEST_STAMP): requirements/test.txt $(RUN_STAMP)
	@bash scripts/require $(PYTHON) git compiler
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP_INSTALL) --require-hashes -r requirements/test.txt
	@touch $@

$(VLLMWATCH_STATE)/lock/bin/uv:
	@bash scripts/require $(PYTHON)
	$(PYTHON) -m venv $(VLLMWATCH_STATE)/lock
	$(VLLMWATCH_STATE)/lock/bin/pip install -q -q --disable-pip-version-check uv==$(UV)
