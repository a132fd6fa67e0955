# SPDX-License-Identifier: Apache-2.0
# The simulated CUDA: stand-ins for the vendor's libraries and the plugin as g++ compiles it, in $(BUILD)/cudasim.
# Needs g++ and no CUDA toolkit.
cudasim_folder := $(BUILD)/cudasim
cudasim_flags := -std=c++17 -g -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fPIC -pthread \
                 -I. -Itests/cudasim/include -DCUDASIM -ffp-contract=off
# Code that switches stacks tells the sanitizers about it itself and is not instrumented.
cudasim_switching := $(if $(findstring address,$(SANITIZE)),-DCUDASIM_ASAN) \
                     $(if $(findstring thread,$(SANITIZE)),-DCUDASIM_TSAN)
cudasim_headers := $(wildcard tests/cudasim/*.h tests/cudasim/include/*.h)
cudasim_objects := $(patsubst %,$(cudasim_folder)/%.o,faults memory stream fiber block launch runtime)
# A library of the folder finds the others beside it.
cudasim_library = @echo "  LINK  $@"; $(CXX) -shared $(LDFLAGS) -Wl,-rpath,'$$ORIGIN'

$(cudasim_folder)/fiber.o $(cudasim_folder)/block.o: $(cudasim_folder)/%.o: tests/cudasim/%.cpp $(cudasim_headers)
	@mkdir -p $(@D)
	@echo "  CXX   $<"
	@$(CXX) $(cudasim_flags) $(cudasim_switching) -c -o $@ $<
$(cudasim_folder)/%.o: tests/cudasim/%.cpp $(cudasim_headers)
	@mkdir -p $(@D)
	@echo "  CXX   $<"
	@$(CXX) $(cudasim_flags) $(SANITIZE) -c -o $@ $<

$(cudasim_folder)/libcudart.so.13: $(cudasim_objects) tests/cudasim/cudart.map
	$(cudasim_library) -Wl,-soname,libcudart.so.13,--version-script=tests/cudasim/cudart.map \
	    -o $@ $(cudasim_objects) -ldl
$(cudasim_folder)/libcublas.so.13: $(cudasim_folder)/cublas.o $(cudasim_folder)/plugin/kernels/base/dtype.o \
                                   $(cudasim_folder)/libcudart.so.13 tests/cudasim/cublas.map
	$(cudasim_library) -Wl,-soname,libcublas.so.13,--version-script=tests/cudasim/cublas.map \
	    -o $@ $(filter %.o %/libcudart.so.13,$^)
$(cudasim_folder)/libcuda.so.1: $(cudasim_folder)/driver.o
	$(cudasim_library) -Wl,-soname,libcuda.so.1 -o $@ $^
$(cudasim_folder)/libnvidia-ml.so.1: $(cudasim_folder)/nvml.o $(cudasim_folder)/libcudart.so.13
	$(cudasim_library) -Wl,-soname,libnvidia-ml.so.1 -o $@ $^

# The plugin's sources, compiled for the CPU.
cudasim_plugin_objects := $(patsubst %.cu,$(cudasim_folder)/plugin/%.cu.o,$(wildcard kernels/cuda/*.cu)) \
                          $(patsubst %.c,$(cudasim_folder)/plugin/%.o,$(wildcard kernels/cuda/*.c) \
                              kernels/pass.c $(wildcard kernels/base/*.c))
$(cudasim_folder)/plugin/%.cu.o: %.cu
	@mkdir -p $(@D)
	@echo "  CXX   $< (simulated)"
	@$(CXX) -x c++ $(cudasim_flags) -fvisibility=hidden -Wno-unknown-pragmas -Wno-unused-function $(SANITIZE) \
	    -MMD -MP -c -o $@ $<
$(cudasim_folder)/plugin/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $< (simulated)"
	@$(CC) $(CPPFLAGS) -DCUDASIM -Itests/cudasim/include $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<
$(cudasim_folder)/libtensord_cuda.so: $(cudasim_plugin_objects) $(cudasim_folder)/libcudart.so.13 \
                                      $(cudasim_folder)/libcublas.so.13
	$(cudasim_library) -Wl,-Bsymbolic -o $@ $^ -ldl -lm

$(cudasim_folder)/selftest: tests/cudasim/selftest.cpp $(cudasim_headers) kernels/cuda/launch.h \
                            $(cudasim_folder)/libcudart.so.13
	@echo "  LINK  $@"
	@$(CXX) $(cudasim_flags) $(SANITIZE) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -Wno-unused-function -o $@ $< \
	    $(cudasim_folder)/libcudart.so.13

simulator: $(cudasim_folder)/selftest $(cudasim_folder)/libtensord_cuda.so $(cudasim_folder)/libcuda.so.1 \
           $(cudasim_folder)/libnvidia-ml.so.1
.PHONY: simulator

# Tests of the CUDA device: cmocka programs that load the plugins themselves, and the program that measures a card.
cuda_test_objects := $(BUILD)/kernels/plugin.o $(BUILD)/kernels/pass.o $(BUILD)/kernels/random.o \
                     $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/base/*.c))
$(BUILD)/tests/unit/cuda/test_%: $(BUILD)/tests/unit/cuda/test_%.o $(BUILD)/tests/unit/cuda/fixture.o \
                                 $(cuda_test_objects) | simulator plugin
	@$(CC) $(LDFLAGS) -o $@ $^ -lcmocka -lm -ldl
$(BUILD)/tests/unit/cuda/measure: $(BUILD)/tests/unit/cuda/measure.o $(cuda_test_objects)
	@$(CC) $(LDFLAGS) -o $@ $^ -lm -ldl
