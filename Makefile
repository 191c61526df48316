# The two commands are `make matrix` and `make test`; both make .venv first if it is not there or out of date.

EXPERIMENT = paper
# `runs/paper`, also for an experiment given as a file.
OUT = runs/$(basename $(notdir $(EXPERIMENT)))
ARGS =

# A sourced ROS installation, or a Python of another environment that called make, must not leak into .venv.
unexport AMENT_PREFIX_PATH CMAKE_PREFIX_PATH COLCON_PREFIX_PATH LD_LIBRARY_PATH PYTHONHOME PYTHONPATH
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE

bin = .venv/bin
# The folders too: their time changes when a file is added or removed.
sources = CMakeLists.txt package.xml pyproject.toml requirements.lock setup.py scripts/setup \
  $(foreach folder,action cmake config launch msg srv,$(shell find $(folder)))

.PHONY: help
help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

.PHONY: setup
setup: .venv/made ## make .venv; does nothing when it is up to date (PYTHON=python3.12 chooses another Python)

.venv/made: $(sources)
	@began=$$(mktemp) && scripts/setup && touch -r $$began $@ && rm $$began

.PHONY: matrix
matrix: setup ## run an experiment and print the paired result (EXPERIMENT=paper OUT=runs/paper ARGS=)
	$(bin)/alpha-chaos matrix --experiment $(EXPERIMENT) --out $(OUT) $(ARGS)

.PHONY: episode
episode: RUN_ID = control_000
episode: ARM = llm
episode: OUT = runs/episode/$(basename $(notdir $(EXPERIMENT)))
episode: setup ## run one episode and watch it (EXPERIMENT=paper RUN_ID=control_000 ARM=llm ARGS='--speed 1')
	$(bin)/alpha-chaos episode --experiment $(EXPERIMENT) --run-id $(RUN_ID) --arm $(ARM) --out $(OUT) $(ARGS)

.PHONY: test
test: setup ## format, lint, types, tests; every check runs, and any failure fails the whole
	@failed=; \
	$(bin)/ruff format --check . || failed="$$failed format"; \
	$(bin)/ruff check . || failed="$$failed lint"; \
	$(bin)/mypy --strict alpha_chaos || failed="$$failed types"; \
	[ -z "$$failed" ] || echo "make test will fail because of:$$failed"; \
	$(bin)/python -m pytest -n logical --maxprocesses 4 --dist loadfile && [ -z "$$failed" ]

.PHONY: format
format: setup ## let ruff lay out the code and sort the imports
	$(bin)/ruff check --select I --fix .
	$(bin)/ruff format .

.PHONY: reference
reference: setup ## write docs/reference anew, from the code
	$(bin)/python scripts/reference.py
	$(bin)/python scripts/relay_reference.py
	$(bin)/python scripts/kitchen_reference.py

.PHONY: lock
lock: ## resolve pyproject.toml into requirements.lock anew; needs uv and Python 3.11
	scripts/lock

.PHONY: clean
clean: ## remove .venv and all that was built, but not runs/
	rm -rf .venv build dist *.egg-info alpha_chaos/msg alpha_chaos/srv alpha_chaos/action alpha_chaos/*.so
