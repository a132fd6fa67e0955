# SPDX-License-Identifier: Apache-2.0
# `make bench`: the speed table of promises, each figure beside its peer and its limit in the same run.
bench_programs := $(BUILD)/tests/bench/bare $(BUILD)/tests/bench/raw $(BUILD)/tests/bench/core $(BUILD)/tests/bench/fused
$(BUILD)/tests/bench/bare: $(BUILD)/tests/bench/bare.o
	$(CC) $(LDFLAGS) -o $@ $^ -lmicrohttpd
$(BUILD)/tests/bench/raw: $(BUILD)/tests/bench/raw.o
	$(CC) $(LDFLAGS) -o $@ $^
$(BUILD)/tests/bench/fused: $(BUILD)/tests/bench/fused.o
	$(CC) $(LDFLAGS) -o $@ $^
$(BUILD)/tests/bench/core: $(BUILD)/tests/bench/core.o $(BUILD)/libapi.a $(BUILD)/libserver.a $(BUILD)/libtensor.a $(BUILD)/libkernels.a
	$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS)

PACKAGES_bench := wrk:/usr/bin/wrk python3-torch:/usr/lib/python3/dist-packages/torch/__init__.py \
                  python3-fastapi:/usr/lib/python3/dist-packages/fastapi/__init__.py \
                  python3-uvicorn:/usr/lib/python3/dist-packages/uvicorn/__init__.py \
                  python3-uvloop:/usr/lib/python3/dist-packages/uvloop/__init__.py \
                  python3-httptools:/usr/lib/python3/dist-packages/httptools/__init__.py \
                  python3-ujson:/usr/share/doc/python3-ujson/copyright
bench: packages-check
	@sh docker/install-packages $(PACKAGES_bench)
	@$(MAKE) --no-print-directory all $(bench_programs)
	@$(PYTHON) tests/bench/bench.py --build $(BUILD)
.PHONY: bench
