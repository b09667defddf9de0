# Everything runs from .venv, which the first target that needs it sets up. PYTHON chooses the interpreter,
# VENV another folder: `make test PYTHON=python3.13 VENV=.venv-3.13`.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=

# What `make quick` draws from, and how many cases; and how many `make portable` draws.
ROOM ?= source ir compare tools convert emit scaffold validate cli laws runtime pair spec
AT_MOST ?= 250
PORTABLE ?= 1000

# What `make test` runs, by the marks of pyproject.toml.
USUAL := not long and not wide and not interop and (not sources or peers)

# What `make wide` runs. `WIDE=wide` leaves out what `make test` has run.
WIDE ?= wide or drawn or hypothesis

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SITE_STAMP := $(VENV)/.site-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check
BOTH := --editable ./runtime --editable ".[auth,dev,http,keyring,otel,pydantic,redis,schemas,tools]"
WRITTEN := $(wildcard codegen runtime tests bench docs examples)

# The tests start thousands of processes: without bytecode each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

MAKEFLAGS += --no-builtin-rules --no-print-directory --output-sync=target
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: help setup generate day docs site test quick wide long steady planted portable downloads check lint types drift laws pictures format ledger bench soak official adopt peers exactness interop conformance wheel pins clean

help: ## show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## install both distributions and their tools into .venv
	@:

generate: $(STAMP) ## write the bindings of every revision
	@$(BIN)/mcp-bindgen generate $(ARGS)

day: $(STAMP) ## play the day of a new revision to the end, or to where a person must decide (REVISION=… FROM=PATH|URL, ANSWERS=FILE)
	@$(BIN)/python -m tests.day $(REVISION) $(FROM:%=--from %) $(ANSWERS:%=--answers %) $(ARGS)

test: $(STAMP) ## run the tests (ARGS are passed to pytest)
	@$(BIN)/python -m pytest -q -m "$(USUAL)" -n auto --dist worksteal $(ARGS)

quick: $(STAMP) ## run some hundred tests in half a minute, of all rooms or of some (ROOM=compare, ROOM="ir runtime/core")
	@$(BIN)/python -m pytest -q -m "$(USUAL)" -n auto --dist worksteal --at-most $(AT_MOST) $(ROOM:%=tests/%) $(ARGS)

wide: $(STAMP) ## run the tests that make the same claims for more stores, revisions and kinds
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-wide} $(BIN)/python -m pytest -q -m "($(WIDE)) and not long and not interop" -n auto --dist worksteal $(ARGS)

long: $(STAMP) ## run the tests that take too long for `make test`
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-long} $(BIN)/python -m pytest -q -m long -n auto --dist worksteal $(ARGS)

planted: $(STAMP) ## plant forty faults, one after another, and say which test finds each (ARGS=--far runs all tests)
	@$(BIN)/python -m tests.planted_faults $(ARGS)

portable: $(STAMP) ## run tests that can depend on the Python that runs them, drawn from all such files (PORTABLE=1000 of them)
	@$(BIN)/python -m pytest -q -m "portable and $(USUAL)" -n auto --dist worksteal --at-most $(PORTABLE) $(ARGS)

steady: $(STAMP) ## run the tests beside busy loops and in asyncio's debug mode: does one fail by chance? (ARGS are passed to pytest)
	@$(BIN)/python -m tests.steady $(ARGS)

check: $(STAMP) ## lint, types, drift and laws, two at a time
	@$(MAKE) -j 2 types lint drift laws

lint: $(STAMP) ## ruff and black: rules, and the format of what is written by hand or generated; and can every test be imported?
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check $(WRITTEN)
	@$(BIN)/black --quiet --check --target-version py311 generated
	@$(BIN)/python -m tests.shape
	@$(BIN)/codespell codegen runtime bench docs examples templates *.md
	@$(BIN)/python -m tests.wording
	@said=$$($(BIN)/python -m pytest --collect-only -qq 2>&1) || { printf '%s\n' "$$said" | tail -n 40; exit 1; }

types: $(STAMP) ## mypy and pyright, both strict
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/mypy --no-error-summary examples
	@$(BIN)/python -m docs.typed
	@$(BIN)/basedpyright --pythonpath $(BIN)/python

drift: $(STAMP) ## are generated/ and docs/ what their sources make?
	@$(BIN)/mcp-bindgen generate --check
	@$(BIN)/python -m docs --check
	@$(BIN)/python -m tests.convert.conversion --check

laws: $(STAMP) ## do the sources, the tests and the pages keep the laws of the house?
	@$(BIN)/python -m pytest -q -m "sources and not wide and not peers" $(wildcard tests/test_*.py) $(ARGS)

docs: $(STAMP) ## write the pages that are made from the code
	@$(BIN)/python -m docs
	@$(BIN)/python -m tests.convert.conversion

site: $(STAMP) $(SITE_STAMP) ## build the documentation as a site, in build/site/html; a link that leads nowhere fails
	@$(BIN)/python -m docs.site

pictures: $(STAMP) ## draw the pictures of README, which needs Chromium
	@$(BIN)/python -m docs.pictures

format: $(STAMP) ## format what is written by hand
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet $(WRITTEN)
	@$(BIN)/black --quiet codegen/mcp_bindgen/emit/support

bench: $(STAMP) ## measure, beside the peers
	@$(BIN)/python -m bench $(ARGS)

soak: $(STAMP) ## let clients come and go for hours, and report the slope of the memory
	@$(BIN)/python -m bench.soak $(ARGS)

ledger: $(STAMP) ## which requirements of the protocol are held by a test
	@$(BIN)/python -m tests.spec

official: $(STAMP) ## fetch the official schema files at their pinned commits, for the tests that read them
	@$(BIN)/python -m tests.official

adopt: $(STAMP) ## load public servers with their own packages and with ours, and compare their tools
	@$(BIN)/python -m tests.adopt $(or $(FOLDER),build/adopt)

peers: $(STAMP) ## set up the environment of the peers, for bench and for the tests beside them
	@$(BIN)/python -m bench.peers

exactness: $(STAMP) peers ## count which random messages the two SDKs judge as the schema does not, and write it down
	@$(BIN)/python -m tests.interop.node
	@$(BIN)/python -m tests.interop.exactness

downloads: $(STAMP) peers ## install the packages of others, for interop and conformance
	@$(BIN)/python -m tests.interop.node
	@$(BIN)/python -m tests.interop.environments
	@$(BIN)/python -m tests.conformance.run --install

interop: $(STAMP) downloads ## run the tests beside others' packages, which are installed into .node-peers and .python-peers
	@$(BIN)/python -m pytest -q -m interop -n auto --dist worksteal $(ARGS)

conformance: $(STAMP) ## run the official conformance suite, which it installs into .conformance
	@$(BIN)/python -m tests.conformance.run

wheel: $(STAMP) ## build both wheels into dist/
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist runtime

pins: ## write constraints.txt anew, from the newest releases
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet $(BOTH)
	@$(PIP) freeze --exclude-editable > constraints.new
	@mv constraints.new constraints.txt
	@touch $(STAMP)

clean: ## remove .venv and all that the tools left behind
	@rm -rf $(VENV) dist build constraints.new .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Asked for together, also with -j: what writes goes before what reads.
WRITERS := $(filter generate docs format,$(MAKECMDGOALS))
ifneq ($(WRITERS),)
test quick long lint types drift bench soak interop conformance wheel: $(WRITERS)
endif

$(SITE_STAMP): $(STAMP) docs/constraints.txt
	@$(PIP) install --quiet --editable ./runtime --editable ".[docs]" --constraint constraints.txt --constraint docs/constraints.txt
	@touch $@

$(STAMP): $(filter clean pins,$(MAKECMDGOALS)) pyproject.toml runtime/pyproject.toml runtime/hatch_build.py constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is %d.%d: make PYTHON=..." % v[:2])'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet $(BOTH) --constraint constraints.txt
	@touch $@
