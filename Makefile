# Everything a fresh machine needs, in two commands: `make chat` and `make test`.

VENV   := .venv
PYTHON := $(VENV)/bin/python
CHAT   := $(VENV)/.chat
READY  := $(VENV)/.ready
ALL    := $(VENV)/.all
DOCS   := $(VENV)/.docs
EXTRAS := local,onnx,server,mcp,postgres,compress,plot
PACKAGES := $(foreach name,weights bench tune qdrant frameworks,--editable packages/omoide-$(name))
MANIFESTS := pyproject.toml $(wildcard packages/*/pyproject.toml)
PIP    := $(PYTHON) -m pip install --quiet --disable-pip-version-check
# Compiled files are kept from run to run, whatever the shell says, beside those that pip compiled:
# compiling everything takes a minute of CPU.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX= $(PYTHON) -m pytest
# pytest plugins of other packages that these tests do not need and that are slow to import.
LEAN   := -p no:schemathesis -p no:anyio
# Only files with examples in their docstrings: pytest imports every file that it is given.
DOCTESTS := $(shell grep -rlE '^ *>>> ' src packages --include='*.py')
export OMP_WAIT_POLICY ?= passive

.PHONY: frameworks crewai mutants mutants-random chat quick test test-all lint types types-core types-all unit light properties heavy model tuning torture \
  encrypted wheels installed clean size screenshots reference docs

chat: $(CHAT) ## Talk to a local model that remembers you
	@$(VENV)/bin/omoide models pull default
	@$(VENV)/bin/omoide chat $(ARGS)

quick: lint types-core unit ## While you work: about a minute of CPU, no weights

test: lint types light ## Before you push: no browser, no servers, the tiny model alone

# `test` comes first: it must pass on a machine that has nothing of what the rest installs.
test-all: test types-all heavy properties encrypted tuning frameworks ## Everything: servers, browser, kills, training

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types-core: $(READY)
	$(VENV)/bin/mypy src

types: $(READY)
	$(VENV)/bin/mypy src packages --exclude '^packages/omoide-frameworks/'

types-all: $(ALL)
	$(VENV)/bin/mypy

unit: $(READY)
	$(PYTEST) -q tests/unit --hypothesis-profile=quick $(LEAN) $(ARGS)

light: $(READY) model
	$(PYTEST) -m "not heavy" --hypothesis-profile=light --doctest-modules tests $(DOCTESTS) $(LEAN) $(ARGS)

# The tests with made-up examples again, with five times as many: `make test` has no time
# for all of them.
properties: $(READY)
	$(PYTEST) -m "hypothesis and not heavy" tests $(LEAN) $(ARGS)

heavy: $(ALL) model
	$(PYTEST) -m heavy tests $(ARGS)

model: $(READY) ## The small model that the tests talk to
	@$(VENV)/bin/omoide models pull tiny

TORTURE_MINUTES ?= 15
torture: $(ALL) ## Kill, starve and mislead real processes on both stores; the tables go into docs/torture.md
	$(PYTHON) -m tests.torture --minutes $(TORTURE_MINUTES) --out docs/torture.md

MUTANTS ?=
mutants: $(READY) ## Put kept faults into the code one at a time: every one must be noticed
	$(PYTHON) -m tests.mutants $(MUTANTS)

mutants-random: $(READY) ## Change random places of the code one at a time: the table goes into docs/mutants.md (MUTANTS="--each 8 --seed 27 --minutes 30" bounds it)
	$(PYTHON) -m tests.mutants.generated --out docs/mutants.md $(MUTANTS)

# The encrypting SQLite installs the same module `apsw` as the plain one, so it goes into a separate
# folder that comes first in PYTHONPATH.
encrypted: $(ALL) ## The tests of an encrypted database
	$(PIP) --no-deps --upgrade --target $(VENV)/encrypted "apsw-sqlite3mc>=3.53"
	PYTHONPATH=$(VENV)/encrypted $(PYTHON) -m pytest tests/heavy/test_sqlite_encryption.py \
	  tests/heavy/test_sqlite_kill.py tests/torture/test_torture.py $(ARGS)

# torch is too large for every test run, so it has its own environment. This version installs as a
# CPU build if the package index offers one. A package that cannot be installed is an error: with
# NEED_TUNING no test is skipped for a missing package.
TUNING := $(VENV)/tuning
tuning: $(TUNING)/.ready ## The tests of `omoide tune`, with torch on the CPU
	@$(TUNING)/bin/omoide models pull tiny
	NEED_TUNING=1 $(TUNING)/bin/python -m pytest tests/heavy/test_tuning_lora.py \
	  tests/heavy/test_tuning_run.py $(ARGS)

$(TUNING)/.ready: pyproject.toml
	python3 -m venv $(TUNING)
	$(TUNING)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(TUNING)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  "torch==2.13.0" --editable ".[local]" --editable packages/omoide-weights \
	  --editable "packages/omoide-tune[train]" "pytest>=9.0" "pytest-asyncio>=1.3" \
	  "pytest-timeout>=2.4" "hypothesis>=6.150"
	@touch $@

# These need openai 3, which langchain-openai and LlamaIndex's client refuse.
FRAMEWORKS := $(VENV)/frameworks
CREWAI := $(VENV)/crewai
frameworks: $(FRAMEWORKS)/.ready ## The tests of the adapters whose frameworks need their own environment
	$(FRAMEWORKS)/bin/python -m pytest tests/frameworks $(ARGS)

# CrewAI needs mcp 1, our server mcp 2: its example runs in an environment without the server. That
# is large and slow to import, so no other target waits for it.
crewai: $(FRAMEWORKS)/.ready $(CREWAI)/.ready ## The example of CrewAI, in its own environment
	$(FRAMEWORKS)/bin/python -m pytest tests/frameworks -k crewai $(ARGS)

$(CREWAI)/.ready: $(MANIFESTS)
	python3 -m venv $(CREWAI)
	$(CREWAI)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable . --editable "packages/omoide-frameworks[crewai]"
	@touch $@

$(FRAMEWORKS)/.ready: $(MANIFESTS)
	python3 -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --editable ".[server]" --editable packages/omoide-frameworks --group frameworks \
	  "langgraph>=1.0" "llama-index-core>=0.14" "pydantic-ai-slim[openai]>=2.30" \
	  "pytest>=9.0" "pytest-asyncio>=1.3" "pytest-timeout>=2.4" "hypothesis>=6.150"
	@touch $@

# Users install the wheels: only this run notices a file that a wheel lacks. The tests come from the
# checkout, the packages only from the wheels.
INSTALLED := $(VENV)/installed
wheels: $(READY) ## Build the wheels into dist/
	rm -rf dist
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist \
	  . $(dir $(wildcard packages/*/pyproject.toml))

installed: wheels ## The quick tests against the wheels, in a separate environment
	rm -rf $(INSTALLED)
	python3 -m venv $(INSTALLED)
	$(INSTALLED)/bin/python -m pip install --quiet --disable-pip-version-check --find-links dist \
	  "omoide[server,mcp,postgres,qdrant,plot,compress,contracts,otel]" dist/*.whl \
	  "pytest>=9.0" "pytest-asyncio>=1.3" "pytest-timeout>=2.4" "hypothesis>=6.150" "jsonschema-rs>=0.40" \
	  "opentelemetry-sdk>=1.30"
	cd $(INSTALLED) && bin/python -I ../../tools/check_wheels.py
	$(INSTALLED)/bin/python -m pytest -q tests/unit tests/server tests/bench tests/tune \
	  tests/integration/test_facts_*.py tests/integration/test_transfer_*.py -m "not heavy and not model" \
	  --hypothesis-profile=quick $(LEAN) $(ARGS)

size: wheels ## Check the size of the core install and its import time
	$(PYTHON) tools/install_size.py dist/omoide-*.whl

PICTURED ?= default
screenshots: $(ALL) ## The pictures of page and terminal; needs apt-get install chromium fonts-inter fonts-noto-cjk
	$(PYTHON) tools/screenshots.py docs/pictures $(PICTURED)
	$(PYTHON) tools/recording.py docs/pictures/chat.svg $(PICTURED)

reference: $(READY) ## docs/reference/, from the code
	$(PYTHON) tools/reference

docs: $(DOCS) ## The docs as a site in site/: open site/index.html, no server needed
	$(VENV)/bin/zensical build --clean --strict

$(CHAT): $(MANIFESTS)
	python3 -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --editable packages/omoide-weights --editable ".[local]"
	@touch $(CHAT)

$(READY): $(CHAT)
	$(PIP) $(PACKAGES) --editable ".[$(EXTRAS)]" --group dev
	@touch $(READY)

$(ALL): $(READY)
	$(PIP) --group dev --group heavy --group examples --group docs
	@touch $(ALL)

$(DOCS): pyproject.toml
	test -x $(PYTHON) || python3 -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --group docs
	@touch $(DOCS)

clean:
	rm -rf $(VENV) dist build site .cache
