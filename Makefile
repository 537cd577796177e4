# Two commands need no more than Python 3.11 (with venv and pip) and make; the others go through nox.
#   make tune                             tune sgemm for this machine
#   make tune ARGS="--fresh --budget 64"  the same, with options of `tuner tune sgemm`
#   make test                             run the tests
#   make test ARGS="tests/tuner -k pool"  some of them
#   make corpora                          count real inputs of other projects: right, wrong, listed
#   make fuzz                             read a million strings of every dialect
#   make laws                             the laws of compatibility, 5,000 examples each
#   make mutation ARGS="--sample 60"       what the tests of compatibility notice; all without ARGS: long
PYTHON ?= $(shell python3.11 -c 'print("python3.11")' 2>/dev/null || echo python3)
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check
ARGS ?=

.PHONY: tune test faults lint typing coverage oracles bench corpora fuzz laws mutation check clean

tune: $(VENV)/tuner.stamp
	$(VENV)/bin/tuner tune sgemm $(ARGS)

test: $(VENV)/test.stamp
	$(VENV)/bin/python -m pytest -n 2 $(ARGS)

faults lint typing coverage oracles bench corpora fuzz laws mutation: $(VENV)/nox.stamp
	$(VENV)/bin/nox --session $@ -- $(ARGS)

check: lint typing test

clean:
	rm -rf $(VENV) .nox .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* dist build

# The pip that comes with Python 3.11 knows no dependency groups.
$(VENV)/pip.stamp:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt pip
	touch $@

$(VENV)/tuner.stamp: $(VENV)/pip.stamp pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt --build-constraint constraints.txt -e '.[all]'
	touch $@

$(VENV)/test.stamp: $(VENV)/tuner.stamp
	$(PIP) install --quiet -c constraints.txt --group test
	touch $@

$(VENV)/nox.stamp: $(VENV)/pip.stamp pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt --group tasks
	touch $@
