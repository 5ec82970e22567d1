# Everything a fresh machine with Python >= 3.11 and make needs.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
MINOR  ?= 1.36
NEIGHBOURS = .cache/neighbours

.PHONY: demo test lint types schemas golden reference docs man control-plane bench clean

demo: $(VENV)/.installed ## compile this repository's catalog and tenants, show the tree
	@$(BIN)/dracfg compile
	@echo
	@find out -type d | LC_ALL=C sort | sed -e "s|[^/]*/|  |g"
	@echo
	@$(BIN)/dracfg check

test: $(VENV)/.test ## run all tests
	@$(BIN)/python -m pytest

lint: $(VENV)/.lint ## style
	@$(BIN)/ruff check dracfg tests docs .ci
	@$(BIN)/ruff format --check dracfg tests docs .ci

types: $(VENV)/.lint ## types
	@$(BIN)/mypy

schemas: $(VENV)/.installed ## write schemas/ anew
	@$(BIN)/dracfg schema --out schemas
	@$(BIN)/dracfg schema DiffPlan --out schemas
	@$(BIN)/dracfg schema Report --out schemas

golden: $(VENV)/.test ## write the golden trees anew; review them as output
	@$(BIN)/python -m pytest tests/golden --update-golden

reference: $(VENV)/.installed ## write the generated pages of docs/ anew; review them as output
	@$(BIN)/python -m docs.generator

docs: $(VENV)/.docs ## build the site of docs/ into .cache/site, without the network
	@$(BIN)/sphinx-build -q -W --keep-going -d .cache/site.doctrees -c docs . .cache/site

man: $(VENV)/.installed ## write build/man/dracfg.1
	@mkdir -p build/man
	@$(BIN)/dracfg man > build/man/dracfg.1

control-plane: ## build Kubernetes' own programs of one minor for tests/cluster, once; needs Go
	@tests/cluster/build.sh $(MINOR)

bench: $(VENV)/.test $(NEIGHBOURS)/.installed ## measure fleets, growth and the allocator beside other tools
	@$(BIN)/python .ci/fetch-kubectl.py .cache/bin helm kubectl
	@$(BIN)/python -m pip install -q --disable-pip-version-check orjson
	@$(BIN)/python -m tests.bench.compile --tenants 1000 --programs .cache/bin \
	  --python $(NEIGHBOURS)/bin/python --json .cache/bench.json
	@$(BIN)/python -m tests.bench.growth --tenants 100 1000 --json .cache/growth.json
	@$(BIN)/python -m tests.bench.allocator

clean:
	rm -rf $(VENV) .cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dracfg needs Python 3.11 or newer; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,lint]'
	@touch $@

# In an environment of their own: what they need may differ from what dracfg needs. One that can't be
# installed on this machine is left out.
$(NEIGHBOURS)/.installed: $(VENV)/bin/python
	@$(BIN)/python -m venv $(NEIGHBOURS)
	@for package in gojsonnet rjsonnet kcl-lib cdk8s; do \
	  $(NEIGHBOURS)/bin/python -m pip install -q --disable-pip-version-check $$package || echo "left out: $$package"; \
	done
	@touch $@
