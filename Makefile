# `make demo` and `make test` are all a fresh clone needs. `make help` lists the rest.
#
# Wanted beforehand: Rust 1.95 or later (cargo on the path), Python 3.11 or later, a C compiler.
# Everything Python goes to .venv/, everything built to target/ (or $CARGO_TARGET_DIR).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The interpreter that .venv is made with: say PYTHON=... to choose.
PYTHON ?= $(firstword $(shell for p in python3.11 python3 python3.12 python3.13 python3.14 python; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p; done) python3)
VENV := .venv
BIN := $(VENV)/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)
CARGO ?= cargo
export PYTHON VENV TARGET CARGO

# A rustup installed for another home than the present one has to be told where its toolchains are.
ifneq ($(shell $(CARGO) --version >/dev/null 2>&1 && echo ok),ok)
ifneq ($(wildcard $(dir $(shell command -v $(CARGO)))../../.rustup),)
export RUSTUP_HOME := $(abspath $(dir $(shell command -v $(CARGO)))../../.rustup)
endif
endif

# What the wheel is made of; anything newer than the stamp means a new one.
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md LICENSE \
	$(shell find crates python -type f \( -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi' \) \
	-not -path '*/tests/*' -not -path '*/examples/*' -not -path '*/benches/*')

FILE ?= tests/data/zmumu.root

.PHONY: help setup demo capi test test-fast test-rust test-python test-goldens docs lint fmt bench fuzz clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: $(VENV)/.installed ## .venv/ with the package as a release build

demo: $(VENV)/.installed ## the Python example, then the command's demo; FILE=path[:tree] for another file
	@echo '$$ python examples/quickstart.py'
	@$(BIN)/python examples/quickstart.py
	@echo
	@echo '$$ forthwith demo $(FILE)'
	@$(BIN)/forthwith demo '$(FILE)'

test: $(VENV)/.installed $(VENV)/.test-needs ## everything: Rust, Python, goldens
	@scripts/test

test-fast: $(VENV)/.installed $(VENV)/.test-needs ## less than two minutes: Python tests that are not slow, bundled goldens
	@scripts/test fast

test-rust: ## cargo test alone
	@scripts/test rust

test-python: $(VENV)/.installed $(VENV)/.test-needs ## pytest alone
	@scripts/test python

test-goldens: $(VENV)/.installed $(VENV)/.test-needs ## golden values alone: bundled files and, where present, the corpus
	@scripts/test goldens

docs: $(VENV)/.installed $(VENV)/.docs-needs ## the guide, as a site in target/docs; every example is run
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs $(TARGET)/docs
	@echo 'open $(TARGET)/docs/index.html'

capi: ## the C library and its header, in target/capi
	@scripts/capi

lint: $(VENV)/.installed $(VENV)/.lint-needs ## formatting, clippy, ruff, mypy, stubs, repository rules
	@scripts/lint

fmt: $(VENV)/.lint-needs ## formats Rust and Python in place
	$(CARGO) fmt
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: ## how the figures are made
	@cat benches/README.md 2>/dev/null || cat benches/*/README.md

fuzz: ## five minutes of each fuzz target (nightly compiler and cargo-fuzz)
	@scripts/fuzz

clean: ## removes .venv/ and build products
	rm -rf $(VENV) fuzz/target .ruff_cache .mypy_cache .pytest_cache
	$(CARGO) clean

# ---- what the above stand on; each leaves a stamp

$(VENV)/.made:
	@scripts/make-venv '$(PYTHON)' $(VENV)
	@touch $@

$(VENV)/.build-needs: pyproject.toml | $(VENV)/.made
	@echo 'installing the build tool'
	@$(BIN)/python -m pip install --quiet 'maturin>=1.9,<2'
	@touch $@

$(VENV)/.test-needs: pyproject.toml | $(VENV)/.made
	@echo 'installing what the tests need'
	@$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.docs-needs: pyproject.toml | $(VENV)/.made
	@echo 'installing what the guide needs'
	@$(BIN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.lint-needs: pyproject.toml | $(VENV)/.made
	@echo 'installing what the checks need'
	@$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(VENV)/.installed: $(SOURCES) $(VENV)/.build-needs
	@echo 'building the package with all optimisations, as wheels are: 8 to 10 minutes on two cores, most of it for other crates'
	@rm -rf $(VENV)/wheels
	@$(BIN)/maturin build --release --locked --interpreter $(BIN)/python --out $(VENV)/wheels
	@$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheels/*.whl
	@$(BIN)/python -m pip install --quiet 'forthwith[awkward]'
	@touch $@
