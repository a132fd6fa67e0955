# SPDX-License-Identifier: Apache-2.0
# The fuzz targets. `make check` replays the corpora with gcc; `make fuzz` (clang) runs libFuzzer over each target for
# FUZZ_SECONDS and keeps what it finds under build-fuzz/corpus.
fuzz_targets := npy json csv index program eval
fuzz_sources := tests/fuzz/fuzz.c $(fuzz_targets:%=tests/fuzz/fuzz_%.c)
# What the targets exercise: everything but the server and the routes.
fuzz_tested := $(wildcard api/formats/*.c api/lang/*.c) api/text.c
fuzz_objects := $(fuzz_sources:%.c=$(BUILD)/%.o) $(fuzz_tested:%.c=$(BUILD)/%.o) $(BUILD)/libtensor.a $(BUILD)/libkernels.a
FUZZ_SECONDS ?= 60
FUZZ_BUILD := build-fuzz

fuzz-replay-programs: $(BUILD)/tests/fuzz/replay
$(BUILD)/tests/fuzz/replay: $(BUILD)/tests/fuzz/replay.o $(fuzz_objects)
	@echo "  LINK  $@"
	@$(CC) $(LDFLAGS) -rdynamic -o $@ $^ $(LDLIBS_host) -lm -ldl
fuzz-replay: $(BUILD)/tests/fuzz/replay
	$<

$(BUILD)/tests/fuzz/libfuzzer_%.o: tests/fuzz/libfuzzer.c
	@mkdir -p $(@D)
	@echo "  CC    $< ($*)"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -DFUZZ_TARGET=fuzz_$* -MMD -MP -c -o $@ $<
$(BUILD)/tests/fuzz/fuzz_%.run: $(BUILD)/tests/fuzz/libfuzzer_%.o $(fuzz_objects)
	@echo "  LINK  $@"
	@$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS_host) -lm -ldl

PACKAGES_fuzz := clang:/usr/bin/clang libclang-rt-14-dev:/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux
fuzz:
	@sh docker/install-packages $(PACKAGES_fuzz)
	@$(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) CC=clang OPTIMIZE=-O1 CUDA=0 \
	    SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -Wno-pass-failed' fuzz-run
fuzz-run: $(fuzz_targets:%=$(BUILD)/tests/fuzz/fuzz_%.run)
	@for target in $(fuzz_targets); do \
	    mkdir -p $(BUILD)/corpus/$$target || exit 1; \
	    $(BUILD)/tests/fuzz/fuzz_$$target.run -max_total_time=$(FUZZ_SECONDS) -max_len=2048 -timeout=10 \
	        -print_final_stats=1 -artifact_prefix=$(BUILD)/crash-$$target- \
	        $(BUILD)/corpus/$$target tests/fuzz/corpus/$$target || exit 1; done
.PHONY: fuzz fuzz-run fuzz-replay
