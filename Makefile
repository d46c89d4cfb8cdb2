# Everything a fresh machine needs, in two commands: `make chat` and `make test`.

VENV   := .venv
PYTHON := $(VENV)/bin/python
CHAT   := $(VENV)/.chat
READY  := $(VENV)/.ready
PIP    := $(PYTHON) -m pip install --quiet --disable-pip-version-check
export OMP_WAIT_POLICY ?= passive

.PHONY: chat test lint types unit model clean size screenshots

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
	$(PIP) --editable ".[local,onnx,server,mcp,compress,plot]" --group dev --group examples
	@touch $(READY)

clean:
	rm -rf $(VENV) dist build
