# `make book` and `make test` work on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
INSTALL := $(BIN)/python -m pip install --quiet

.PHONY: book test lint format venv clean

book: $(READY)  ## execute every chapter, render the pages, print the one to open
	$(BIN)/cilbook book

test: $(READY)  ## run all tests; those of the pages need `make book` first
	$(BIN)/python -m pytest

lint: $(READY)  ## check style, and that notebooks are committed without outputs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/nbstripout --verify --keep-id book/*.ipynb

format: $(READY)  ## repair what `make lint` complains of, where a tool can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/nbstripout --keep-id book/*.ipynb

venv: $(READY)  ## make the virtual environment, or bring it up to date

# Of gigabytes a part may arrive damaged: a second try fetches all of it anew.
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "cilbook needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(INSTALL) -r requirements.txt || $(INSTALL) --no-cache-dir -r requirements.txt
	$(INSTALL) --no-deps --editable .
	touch $(READY)

clean:  ## remove what the other targets made, except the virtual environment
	rm -rf _build .pytest_cache .ruff_cache book/.ruff_cache
