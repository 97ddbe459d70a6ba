# Everything here needs only git, make and Python 3.12 or newer: .venv is made when it is missing or out of date.
# Arguments go through ARGS, for example: make chat ARGS='--as ana'

PY := .venv/bin/python
ROOTS := agent plugins bridges migrations tests benchmarks
UV_COMPILE := $(PY) -m uv pip compile --quiet --generate-hashes --universal --python-version 3.12 \
	--no-emit-index-url --no-header

.PHONY: help chat test lint fmt pytest docs-check bench soak lock clean runtime dev
.NOTPARALLEL:

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

chat: runtime ## talk with the agent in this terminal
	@$(PY) -m agent chat $(ARGS)

test: lint pytest ## everything that CI checks

lint: dev ## ruff, the format, the types and the direction of imports
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy $(ROOTS)
	.venv/bin/lint-imports --no-logo

fmt: dev ## format, and mend what ruff can mend
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

pytest: dev ## the test suite
	@scripts/synapse >/dev/null || [ -z "$$CI" ]
	$(PY) -m pytest -n 2 --dist worksteal $(ARGS)

docs-check: dev ## the documentation's links, and that it says what the code does
	$(PY) -m pytest tests/docs $(ARGS)

bench: dev ## measure, and print the figures as JSON
	@$(PY) -m benchmarks $(ARGS)

soak: dev ## the long load and chaos tests; their figures are kept in build/soak
	ISTHMUS_SOAK=1 $(PY) -m pytest tests/soak --timeout 7200 $(ARGS)

lock: dev ## resolve the requirements anew; UPGRADE=--upgrade takes newer releases
	$(UV_COMPILE) $(UPGRADE) requirements/bootstrap.in -o requirements/bootstrap.txt
	$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra build -o requirements/runtime.txt
	$(UV_COMPILE) $(UPGRADE) pyproject.toml --extra build --extra dev -c requirements/runtime.txt -o requirements/dev.txt

clean: ## remove what was made here
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(ROOTS) -name __pycache__ -type d -prune -exec rm -rf {} +

runtime dev:
	@scripts/venv $@ </dev/null
