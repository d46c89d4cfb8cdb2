# Everything a fresh machine needs, in two commands: `make chat` and `make test`.

VENV   := .venv
PYTHON := $(VENV)/bin/python
CHAT   := $(VENV)/.chat
READY  := $(VENV)/.ready
PIP    := $(PYTHON) -m pip install --quiet --disable-pip-version-check
export OMP_WAIT_POLICY ?= passive

.PHONY: chat test lint types unit model tuning torture encrypted clean size screenshots

chat: $(CHAT) ## Talk to a local model that remembers you
	@$(VENV)/bin/omoide models pull default
	@$(VENV)/bin/omoide chat $(ARGS)

test: lint types unit ## Everything that must hold

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy

unit: $(READY) model
	$(PYTHON) -m pytest $(ARGS)

model: $(READY) ## The small model that the tests talk to
	@$(VENV)/bin/omoide models pull tiny

TORTURE_MINUTES ?= 15
torture: $(READY) ## Kill, starve and mislead real processes on both stores; the tables go into docs/torture.md
	$(PYTHON) -m tests.torture --minutes $(TORTURE_MINUTES) --out docs/torture.md

# The encrypting SQLite installs the same module `apsw` as the plain one: it lies in a folder of
# its own that goes before the other packages.
encrypted: $(READY) ## The tests of an encrypted database
	$(PIP) --no-deps --upgrade --target $(VENV)/encrypted "apsw-sqlite3mc>=3.53"
	PYTHONPATH=$(VENV)/encrypted $(PYTHON) -m pytest tests/integration/test_sqlite_encryption.py $(ARGS)

# torch is too large for every test run, so it has an environment of its own. The version named
# here comes as a CPU build where a package index offers one. What cannot be installed is an error:
# with NEED_TUNING no test is skipped for want of a package.
TUNING := $(VENV)/tuning
tuning: $(TUNING)/.ready ## The tests of `omoide tune`, with torch on the CPU
	@$(TUNING)/bin/omoide models pull tiny
	NEED_TUNING=1 $(TUNING)/bin/python -m pytest tests/integration/test_tuning_lora.py \
	  tests/integration/test_tuning_run.py $(ARGS)

$(TUNING)/.ready: pyproject.toml
	python3 -m venv $(TUNING)
	$(TUNING)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  "torch==2.13.0" --editable ".[local,tune]" "pytest>=9.0" "pytest-asyncio>=1.3" \
	  "pytest-timeout>=2.4" "hypothesis>=6.150"
	@touch $@

size: $(READY) ## How large the core install is, and how long it takes to import
	$(PYTHON) tools/install_size.py

screenshots: $(READY) ## The pictures of the page; needs apt-get install chromium fonts-inter fonts-noto-cjk
	$(PYTHON) tools/screenshots.py docs/pictures

$(CHAT): pyproject.toml
	python3 -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --editable ".[local]"
	@touch $(CHAT)

$(READY): $(CHAT)
	$(PIP) --editable ".[local,onnx,server,mcp,postgres,qdrant,compress,plot]" --group dev --group examples
	@touch $(READY)

clean:
	rm -rf $(VENV) dist build
