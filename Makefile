# make demo    install into .venv and run the demo
# make test    install what the tests need, the browser included, and run every check but long tests
#              (BROWSER=no skips what needs a browser; BROWSER=/path/to/chrome takes that one)
# make test-all  make test, and then the tests that take long and rarely fail
# make coverage  run the tests and count the lines that they reach; fails below the floor
# make bench   run us and our peers side by side (SECTIONS="rank read" for some, QUICK=1 for less,
#              PAGE=docs/background/performance.md to write the tables of that page)
# make docs    build the documentation into site/
# make wheel   build a wheel, install it into an empty environment and try it there
# make oldest  run the tests with the oldest dependencies that pyproject.toml allows
# make format  format the code and mend what the linter can
# make clean   remove what the others made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# the newest peers need a newer Python than Clearwood does, so benchmarks have an environment of their own
BENCH := .venv-bench
BUILT_FROM := pyproject.toml CMakeLists.txt src/clearwood/_version.py \
	$(shell find src/clearwood/kernels -name "*.[ch]pp")
# an editable install lists the modules: one that is new or moved needs it again
MODULES := $(VENV)/modules-$(shell find src/clearwood -name "*.py" | sort | cksum | cut -d " " -f 1)
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
PIP := $(BIN)/python $(INSTALL)
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2 --dist worksteal
# Modules are compiled when they are first imported, once for all processes, even where the environment
# says otherwise: tests start hundreds of processes, and compiling all libraries takes each 8 seconds.
export PYTHONDONTWRITEBYTECODE :=
# Desktops set BROWSER to a browser that cannot be driven, so from there only "no" is taken.
ifeq ($(origin BROWSER),command line)
export CLEARWOOD_BROWSER := $(BROWSER)
else ifeq ($(BROWSER),no)
export CLEARWOOD_BROWSER := no
endif

.PHONY: demo test test-all check-code check-docs coverage bench docs wheel oldest format clean
.DEFAULT_GOAL := demo

$(VENV)/made:
	@tools/prerequisites $(PYTHON)
	@echo "making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@# the pip of an older Python takes half as long again to unpack the dependencies
	@$(PIP) --upgrade pip
	@touch $@

# The kernels are compiled while pip unpacks what Clearwood, its tests or its documentation need.
$(VENV)/installed: WHAT = its dependencies (a minute or two)
$(VENV)/installed-test: WHAT = the dependencies of its tests (about three minutes)
$(VENV)/installed-docs: WHAT = the dependencies of its documentation (two minutes)

$(MODULES): | $(VENV)/made
	@rm -f $(VENV)/modules-*
	@touch $@

$(VENV)/installed $(VENV)/installed-test $(VENV)/installed-docs: $(VENV)/made $(BUILT_FROM) $(MODULES)
	@echo "installing Clearwood and $(WHAT)"
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/compiled $(subst installed,unpacked,$@)
	@touch $@

$(VENV)/compiled: $(VENV)/made $(BUILT_FROM) $(MODULES)
	@$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/unpacked-test: EXTRA = test
$(VENV)/unpacked-docs: EXTRA = docs

$(VENV)/unpacked $(VENV)/unpacked-test $(VENV)/unpacked-docs: $(VENV)/made pyproject.toml tools/requirements.py
	@$(BIN)/python tools/requirements.py $(EXTRA) >$@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

$(BENCH)/made:
	@python=$$(tools/newest-python $(PYTHON)) && tools/prerequisites $$python && \
	echo "making a virtual environment of $$($$python --version) in $(BENCH)" && \
	$$python -m venv $(BENCH)
	@touch $@

$(BENCH)/installed: $(BENCH)/made benchmarks/requirements.txt $(BUILT_FROM)
	@echo "installing Clearwood and its newest peers (two or three minutes)"
	@$(BENCH)/bin/python $(INSTALL) --editable . --requirement benchmarks/requirements.txt
	@touch $@

demo: $(VENV)/installed
	@$(BIN)/clearwood demo

test: $(VENV)/installed-test
	@tools/prerequisites $(PYTHON) browser
	@$(MAKE) --no-print-directory --jobs 2 check-code check-docs
	$(PYTEST) -m "not long"

test-all: test
	$(PYTEST) -m long

check-code:
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python tools/check_snippets.py

check-docs:
	$(BIN)/codespell README.md CONTRIBUTING.md SECURITY.md changelog.d docs examples src/clearwood
	$(BIN)/python tools/check_reading.py
	$(BIN)/towncrier build --draft >/dev/null
	CLEARWOOD_RUN_EXAMPLES=false NO_MKDOCS_2_WARNING=1 TQDM_DISABLE=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	$(BIN)/python tools/check_site.py build/site

# counting lines takes half as long again as the tests themselves, so it is not part of make test
coverage: $(VENV)/installed-test
	$(PYTEST) --cov --cov-report=term

bench: $(BENCH)/installed
	$(BENCH)/bin/python -m benchmarks $(if $(QUICK),--quick) $(if $(PAGE),--page $(PAGE)) $(SECTIONS)

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python docs/_screens.py site/assets
	@echo "the documentation is in site/index.html"

wheel: $(VENV)/made
	@rm -rf build/wheels build/empty
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheels .
	$(BIN)/python tools/check_wheel.py build/wheels/*.whl
	@$(BIN)/python -m venv build/empty
	@build/empty/bin/python -m pip install --quiet --disable-pip-version-check --no-compile build/wheels/*.whl
	build/empty/bin/python tools/smoke.py

OLDEST := $(VENV)/oldest

oldest: $(VENV)/made
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[test]'
	OMP_NUM_THREADS=1 $(OLDEST)/bin/pytest --numprocesses 2 tests src/clearwood docs

format: $(VENV)/installed-test
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) $(BENCH) build site artefacts .mypy_cache .pytest_cache .ruff_cache .coverage*
