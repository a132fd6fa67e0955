# SPDX-License-Identifier: Apache-2.0
# tensord: build, run, test.
## make run        install what is missing, build, serve on localhost:8080 (ARGS="--listen ..." for flags)
## make check      install what is missing, build, run all tests
## make            build only; CUDA=0 without the CUDA plugin
## make lint       include arrows, banned functions, lengths
## make asan tsan  the checks under the sanitizers
## make torture    the checks with failing allocations
## make fuzz       libFuzzer on the parsers (clang)
## make bench      the speed table, against peers and limits
## make fresh      both commands on a fresh Debian in a chroot; the container image
## make gpu-check  build, test and measure on a real GPU
VERSION := 0.1.0
.DEFAULT_GOAL := all
BUILD ?= build
CC ?= gcc
CXX ?= g++
PYTHON ?= /usr/bin/python3
SANITIZE ?=

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wformat=2 -Wundef -Wpointer-arith -Wno-unused-parameter
OPTIMIZE ?= -O3
CPPFLAGS += -I. -D_GNU_SOURCE -DTENSORD_VERSION='"$(VERSION)"'
CFLAGS += -std=c17 -g $(OPTIMIZE) $(WARNINGS) -ffp-contract=off -fno-math-errno -fno-trapping-math \
          -fstack-protector-strong -pthread $(SANITIZE)
LDFLAGS += -pthread $(SANITIZE)
LDLIBS_server := -lmicrohttpd
# OpenBLAS linked statically where Debian has it: the dynamic one costs 3 ms at each start and starts threads of its own.
LDLIBS_host := $(firstword $(wildcard /usr/lib/$(shell $(CC) -print-multiarch)/openblas-pthread/libopenblas.a) \
                           -lopenblas) -Wl,--exclude-libs,libopenblas.a
LDLIBS := $(LDLIBS_server) $(LDLIBS_host) -lm -ldl

# The instruction-set levels that kernels/host/level/*.c are compiled for (host/levels.h chooses at start).
ifeq ($(shell uname -m),x86_64)
LEVELS := v2 v3 v4
endif
LEVELS ?= base
LEVEL_FLAGS_base :=
LEVEL_FLAGS_v2 := -march=x86-64-v2
LEVEL_FLAGS_v3 := -march=x86-64-v3
LEVEL_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512

kernels_sources := $(wildcard kernels/base/*.c kernels/*.c kernels/host/*.c)
level_sources := $(wildcard kernels/host/level/*.c)
tensor_sources := $(wildcard tensor/*.c)
server_sources := $(filter-out server/main.c,$(wildcard server/*.c))
api_sources := $(wildcard api/*.c api/formats/*.c api/lang/*.c)

kernels_objects := $(kernels_sources:%.c=$(BUILD)/%.o) \
                   $(foreach l,$(LEVELS),$(level_sources:%.c=$(BUILD)/%.$(l).o))
tensor_objects := $(tensor_sources:%.c=$(BUILD)/%.o)
server_objects := $(server_sources:%.c=$(BUILD)/%.o)
api_objects := $(api_sources:%.c=$(BUILD)/%.o)

# CUDA: the plugin is built when nvcc is found; CUDA=0 says no. The simulator is built for tests whenever g++ is there.
NVCC ?= $(shell command -v nvcc 2>/dev/null)
CUDA ?= $(if $(NVCC),1,0)

all: $(BUILD)/tensord plugin

# ---- Packages. `make run` and `make check` install what is missing on Debian.
PACKAGES_build := gcc:/usr/bin/gcc libc6-dev:/usr/include/stdio.h \
                  libmicrohttpd-dev:/usr/include/microhttpd.h \
                  libopenblas-dev:/usr/include/x86_64-linux-gnu/cblas.h,/usr/include/aarch64-linux-gnu/cblas.h
PACKAGES_check := $(PACKAGES_build) g++:/usr/bin/g++ libcmocka-dev:/usr/include/cmocka.h \
                  python3:/usr/bin/python3 \
                  python3-numpy:/usr/lib/python3/dist-packages/numpy/__init__.py \
                  curl:/usr/bin/curl jq:/usr/bin/jq
packages-build packages-check: packages-%:
	@sh docker/install-packages $(PACKAGES_$*)

# ---- The everyday targets
run: packages-build
	@$(MAKE) --no-print-directory all
	@exec $(BUILD)/tensord $(ARGS)

check: packages-check
	@$(MAKE) --no-print-directory check-programs
	@$(PYTHON) tests/check.py --build $(BUILD) --cuda $(CUDA)

help:
	@sed -n 's/^## //p' Makefile

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

define level_rule
$(BUILD)/%.$(1).o: %.c
	@mkdir -p $$(@D)
	@echo "  CC    $$< ($(1))"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $$(LEVEL_FLAGS_$(1)) -DLEVEL=$(1) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call level_rule,$(l))))

$(BUILD)/libkernels.a: $(kernels_objects)
$(BUILD)/libtensor.a: $(tensor_objects)
$(BUILD)/libserver.a: $(server_objects)
$(BUILD)/libapi.a: $(api_objects)
$(BUILD)/lib%.a:
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/tensord: $(BUILD)/server/main.o $(BUILD)/libapi.a $(BUILD)/libserver.a $(BUILD)/libtensor.a $(BUILD)/libkernels.a
	@echo "  LINK  $@"
	@$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

# Unit tests: tests/unit/<room>/test_*.c, each a cmocka program that links its room and what is below it.
unit_sources := $(wildcard tests/unit/*/test_*.c)
unit_programs := $(unit_sources:%.c=$(BUILD)/%)
$(BUILD)/tests/unit/kernels/%: $(BUILD)/tests/unit/kernels/%.o $(BUILD)/libkernels.a
	@$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS_host) -lm -ldl
$(BUILD)/tests/unit/tensor/%: $(BUILD)/tests/unit/tensor/%.o $(BUILD)/libtensor.a $(BUILD)/libkernels.a
	@$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS_host) -lm -ldl
$(BUILD)/tests/unit/server/%: $(BUILD)/tests/unit/server/%.o $(BUILD)/libserver.a $(BUILD)/libkernels.a
	@$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS_server) $(LDLIBS_host) -lm -ldl
$(BUILD)/tests/unit/api/%: $(BUILD)/tests/unit/api/%.o $(BUILD)/libapi.a $(BUILD)/libserver.a $(BUILD)/libtensor.a $(BUILD)/libkernels.a
	@$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

unit: $(unit_programs)
	@set -e; for program in $^; do echo "== $$program"; $$program; done

# The conformance program links everything below api.
conformance_sources := $(wildcard tests/conformance/*.c)
$(BUILD)/tests/conformance/conformance: $(conformance_sources:%.c=$(BUILD)/%.o) $(BUILD)/libtensor.a $(BUILD)/libkernels.a
	@$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS_host) -lm -ldl

plugin:
simulator:
-include kernels/cuda/rules.mk tests/cudasim/rules.mk tests/fuzz/rules.mk tests/bench/rules.mk

check-programs: all simulator $(unit_programs) fuzz-replay-programs \
                $(if $(conformance_sources),$(BUILD)/tests/conformance/conformance)
fuzz-replay-programs:

# ---- Other checks
lint:
	@$(PYTHON) tests/lint.py
	@for header in $$(find kernels tensor server api tests -name '*.h' | grep -v -e cudasim -e kernels/cuda -e _template.h); do \
	    $(CC) $(CPPFLAGS) -std=c17 -Wall -Wextra -Werror -Wno-unused-parameter -fsyntax-only -x c $$header || exit 1; done
	@echo "lint: clean"

asan:
	@$(MAKE) --no-print-directory BUILD=build-asan OPTIMIZE=-O1 CUDA=0 \
	    SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' check
tsan:
	@$(MAKE) --no-print-directory BUILD=build-tsan OPTIMIZE=-O1 CUDA=0 \
	    SANITIZE='-fsanitize=thread' check
torture: packages-check
	@$(MAKE) --no-print-directory check-programs
	@$(PYTHON) tests/check.py --build $(BUILD) --cuda $(CUDA) --torture
fresh:
	tests/fresh/run
gpu-check:
	tests/gpu-check

clean:
	rm -rf $(BUILD)

.PHONY: all unit clean run check help plugin simulator check-programs fuzz-replay-programs lint asan \
        tsan torture fresh gpu-check packages-build packages-check
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
