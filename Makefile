# Everything a checkout needs, on a machine with Python 3.11+, make and a package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check browser bench attackers attacks frontier names suppression pictures site presets credibility reproduction wheelhouse clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## publish a synthetic city and show what happened
	$(BIN)/shoal demo

test: $(READY) ## run all tests
	$(BIN)/python -m pytest -n auto tests

check: $(READY) ## lint, formatting, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(READY) ## measure speed, half an hour: benchmarks/results.md
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python -m pytest -q --benchmark-only --benchmark-columns=min,median,ops benchmarks/kernels

browser: $(READY) ## have a browser for the tests of the report: the system's, or one that playwright installs
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	  command -v $$name > /dev/null && exit 0; done; \
	  $(BIN)/playwright install --with-deps chromium > /dev/null 2>&1 || $(BIN)/playwright install chromium > /dev/null 2>&1 || \
	  echo "No browser could be installed: the tests that need one will be skipped, and say so."

frontier: $(READY) ## what knowing the method achieves against what it costs, a quarter of an hour: docs/frontier.md
	$(BIN)/python benchmarks/frontier.py

names: $(READY) ## what new names buy, parts kept in benchmarks/names: docs/names-frontier.md
	$(BIN)/python benchmarks/names_frontier.py

suppression: $(READY) ## what a budget and limits buy, parts kept in benchmarks/suppression: docs/suppression-frontier.md
	$(BIN)/python benchmarks/suppression_frontier.py

attackers: $(READY) ## learn, on synthetic cities, what attackers look for: auditing/attacks/weights.json
	$(BIN)/python tools/train_attackers.py

attacks: $(READY) ## attack raw data, pseudonyms, a static grid and shoal's output: docs/attacks.md
	$(BIN)/python benchmarks/attacks_table.py

pictures: $(READY) ## the README's pictures of the report, in a real browser: docs/images
	$(BIN)/python benchmarks/pictures.py

site: $(READY) ## the docs as a small site in site/, built offline
	@rm -rf site
	@$(BIN)/python tools/site.py site

presets: $(READY) ## make every synthetic preset in full and hold it to the paper's table
	$(BIN)/python benchmarks/presets.py

credibility: $(READY) ## hold the synthetic subscribers to real people's statistics: docs/credibility.md
	$(BIN)/python benchmarks/credibility_page.py

reproduction: $(READY) ## the paper's evaluation on the presets, an hour and a half: docs/reproduction.md
	$(BIN)/python benchmarks/reproduction.py

wheelhouse: $(READY) ## collect wheels for a machine without a network
	@echo "Collecting shoal and what it needs into wheelhouse/ ..."
	@rm -rf wheelhouse
	@$(BIN)/python -m pip wheel --quiet -c constraints.txt --wheel-dir wheelhouse .
	@echo "$$(ls wheelhouse | wc -l | tr -d ' ') wheels, $$(du -sh wheelhouse | cut -f1). They fit this kind of" \
	  "machine: $$($(BIN)/python -c 'import platform, sysconfig as s; print("Python " + s.get_python_version(), s.get_platform())')."
	@echo "Copy wheelhouse/ there, and install with:"
	@echo "  pip install --no-index --find-links wheelhouse shoal"

clean: ## remove the environment and everything that was built
	rm -rf $(VENV) site wheelhouse build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache .benchmarks
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Made once; made again when the dependencies change.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "shoal needs Python 3.11 or newer, '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | tail -n 1):" \
	    "call make with PYTHON=python3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@
	@echo "$(VENV) is ready."
