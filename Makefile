# Every target works on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
export LANGGRAPH_STRICT_MSGPACK := true
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes of the tests import what one of them compiled

.PHONY: demo test soak coverage install format lint types imports unit wheel lowest bench docs clean

demo: .venv/.installed  ## the four patterns, offline
	@$(BIN)/guardgraph demo

test: .venv/.dev  ## what every change must pass; what has one process runs beside another
	$(MAKE) -j2 types wheel lint imports build/lowest/.installed
	$(MAKE) unit
	$(MAKE) lowest

soak: .venv/.dev  ## what takes minutes: killed processes, many that write into one store, a cluster, each benchmark once
	$(UNIT) tests/soak

install: .venv/.dev

.venv/.pip:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is required: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

.venv/.installed: .venv/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

format: .venv/.dev
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

imports: .venv/.dev
	$(BIN)/lint-imports

UNIT := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

COUNTED := --cov --cov-report=term --cov-fail-under=97

unit: .venv/.dev  ## the tests; ROOM=guards runs those of one room of the package, COUNT=1 counts lines and branches
	$(UNIT) $(if $(ROOM),tests/$(ROOM)) $(if $(COUNT),$(COUNTED))

coverage: .venv/.dev  ## the tests, with their lines and branches counted
	$(MAKE) unit COUNT=1

wheel: .venv/.dev  ## the built wheel in empty environments, by pip and by uv
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel . > build/wheel/build.log || (cat build/wheel/build.log; exit 1)
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/*.whl
	$(BIN)/uv venv --quiet --python $(PYTHON) build/wheel/uv
	$(BIN)/uv pip install --quiet --python build/wheel/uv build/wheel/*.whl
	cp tests/smoke.py build/wheel/ && cd build/wheel && venv/bin/python -I -W error smoke.py && uv/bin/python -I -W error smoke.py

LOWEST := rag_runs research_runs self_critique_runs cli models knowledge_base recording settings draw_runs packaging

lowest: build/lowest/.installed  ## the lowest versions that pyproject.toml allows, on the lowest Python
	@if [ -x build/lowest/bin/python ]; then set -ex; \
		build/lowest/bin/python -W error tests/smoke.py; \
		build/lowest/bin/python -m pytest -n auto -p no:anyio $(LOWEST:%=tests/*/test_%.py) \
			--deselect tests/evidence/test_recording.py::test_the_schema_in_the_docs_is_that_of_the_code; \
	else echo "skip lowest: the lowest versions are tried on Python 3.11"; fi

build/lowest/.installed: .venv/.dev pyproject.toml tests/lowest_versions.py
	rm -rf build/lowest && mkdir -p build/lowest
	if $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then \
		$(PYTHON) -m venv build/lowest && build/lowest/bin/python -m pip install --quiet --disable-pip-version-check \
			--editable '.[draw,audit]' $$($(BIN)/python tests/lowest_versions.py draw audit) \
			'click<8.4' hypothesis jsonschema pytest pytest-socket pytest-xdist; fi  # later clicks warn of what typer 0.19 imports
	@touch $@

bench: .venv/.dev build/bench-peers/.tried  ## docs/benchmarks.md, in about ten minutes; let the machine rest meanwhile
	$(BIN)/python benchmarks $(BENCH)

build/bench-peers/.tried: pyproject.toml
	$(PYTHON) -m venv build/bench-peers
	build/bench-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1" \
		&& build/bench-peers/bin/python -m pip install --quiet --editable . --group peers \
		|| (rm -rf build/bench-peers && mkdir -p build/bench-peers && echo "skip peers: they cannot be installed here")
	@touch $@

docs: .venv/.dev  ## the pages of docs/ as a site in build/docs, with search; a warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs

clean:
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
