# Needs Python 3.11+ and make; everything else is set up in .venv by the targets below.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The tests start hundreds of processes: where bytecode is not kept, each of them would compile moot again.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest
Q ?= Should we use Redis or PostgreSQL for caching?
ARGS ?=

.PHONY: help setup system web clients debate serve eval check test lint types layers house fast slow fuzz bench soak hostile clean

help:
	@echo 'make debate Q="…"   run a debate on the embedded model (no key, no service)'
	@echo 'make serve          the dashboard and the API on this machine'
	@echo 'make eval           does a council beat samples of the embedded model? A few items, some minutes'
	@echo 'make check          lint, types, layers and the fast tests'
	@echo 'make test           everything'
	@echo 'make house          how large the code is, room by room; ARGS=--accept stores it'
	@echo 'make bench          measure, as ratios within one run'
	@echo 'make soak           search for the unknown: more seeds, faults and clients, then the three below'
	@echo 'make fuzz           the property tests with examples never tried before'
	@echo 'make hostile        debates beside hostile clients, compared with debates alone'
	@echo 'make endurance      ten minutes of thousands of debates on PostgreSQL'
	@echo 'make clean          remove what the targets made'

setup: $(READY)

# What the tests need besides Python: PostgreSQL, Chromium, Firefox, bubblewrap, zsh and fish.
system:
	@scripts/system-packages

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "moot needs Python 3.11 or newer; this is `$(PYTHON) --version`. Set PYTHON=/path/to/python3.11."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The dashboard, from web/ into the package.
web: $(READY)
	@$(BIN)/python web/build.py

# Third-party clients for the slow tests, in an environment of their own.
clients: $(READY)
	@$(BIN)/python -m tests.clients.environment

debate: $(READY)
	@$(BIN)/moot debate "$(Q)" $(ARGS)

serve: $(READY)
	@$(MAKE) --no-print-directory web || true
	@$(BIN)/moot serve --open $(ARGS)

# So few items on a small model show next to nothing, and the report says so; it shows how an evaluation is made.
eval: $(READY)
	@$(BIN)/moot eval run reasoning --model local --limit 3 --pool 3 --arms single,sc,council --at-once 1 \
	  --html moot-eval.html $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright

layers: $(READY)
	$(BIN)/lint-imports --no-cache

house: $(READY)
	@$(BIN)/python -m tests.house.figures $(ARGS)

fast: $(READY) system web
	$(PYTEST) --workers -m "not slow"

slow: $(READY) system web clients
	$(PYTEST) --workers -m slow

check: lint types layers fast

test: system web clients lint types layers
	$(PYTEST) --workers

bench: $(READY)
	$(BIN)/python -m perf $(ARGS)

# Whatever fails here becomes a case of `make test`.
soak: $(READY) system web clients
	$(PYTEST) --workers -m soak
	@$(MAKE) --no-print-directory fuzz hostile endurance

fuzz: $(READY) system
	$(PYTEST) --workers -m hypothesis --hypothesis-profile fuzz $(ARGS)

hostile: $(READY)
	$(BIN)/python -m tests.security.hostile $(ARGS)

endurance: $(READY) system
	$(BIN)/python -m tests.workers.soak $(ARGS)

clean:
	rm -rf moot-eval.html $(VENV) .venv-clients .bench .artifacts build dist web/node_modules src/moot/server/static
