# make demo, make test: everything, on a fresh Debian 12 machine, safe to run again.
# One target per preset of CMakePresets.json; see CONTRIBUTING.md.
.PHONY: build demo test slow fuzz bench bench-peers deb wheels docs format lint clean
SHELL := /bin/bash
FUZZ_SECONDS ?= 10
DATA ?= ../shared/data

build:            ## the program at build/copse
	@tools/install_packages build
	@cmake --preset program >/dev/null
	@cmake --build --preset program

demo: build       ## the main job on a real graph
	@examples/demo.sh build/copse

test:             ## every test: fast suite, sanitizers, fuzz targets, the interfaces
	@tools/install_packages test
	@tools/run_tests

slow:             ## the long property tests and the accuracy table
	@tools/install_packages test
	@cmake --preset release >/dev/null && cmake --build --preset release
	@ctest --test-dir build/release -L slow --output-on-failure

fuzz:             ## FUZZ_SECONDS of libFuzzer for each reader
	@tools/install_packages test
	@tools/run_fuzzers $(FUZZ_SECONDS)

bench:            ## side-by-side benchmarks
	@tools/install_packages bench
	@cmake --preset bench >/dev/null && cmake --build --preset bench
	@tools/run_benchmarks

bench-peers: build build/peers/ready  ## copse beside its peers on the sets of DATA; ARGUMENTS="--quick" for some minutes
	@build/peers/bin/python -m bench.peers run --data $(DATA) $(ARGUMENTS)
	@build/peers/bin/python -m bench.peers summary

build/peers/ready: bench/peers/requirements.txt
	@tools/install_packages test
	@python3 -m venv build/peers && build/peers/bin/pip install -q -r $< && touch $@

deb: build        ## Debian packages of the program, the library and its headers: build/*.deb
	@tools/install_packages deb && cd build && cpack -G DEB >/dev/null && ls *.deb

wheels:           ## Python wheels for the CPythons installed here, or for PYTHONS="...": build/dist/*.whl
	@tools/install_packages test
	@tools/make_wheels $(PYTHONS)

docs: build/docs/ready  ## the documentation as a site, a directory per version, with an offline search: build/site/index.html
	@build/docs/bin/pip install -q . && doxygen docs/Doxyfile
	@build/docs/bin/sphinx-build -q -W --keep-going -d build/doctrees docs "build/site/$$(sed -n "s/^project(copse VERSION \([0-9.]*\).*/\1/p" CMakeLists.txt)" && echo build/site/index.html

build/docs/ready: docs/requirements.txt
	@tools/install_packages docs
	@python3 -m venv build/docs && build/docs/bin/pip install -q -r $< && touch $@

format:
	@tools/install_packages lint
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

lint:             ## layout and clang-tidy, of everything or of FILES="src/a.cpp cli/b.cpp"
	@tools/install_packages lint
	@tools/lint $(FILES)

clean:
	rm -rf build
