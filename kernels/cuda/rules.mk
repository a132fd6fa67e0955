# SPDX-License-Identifier: Apache-2.0
# The CUDA plugin, $(BUILD)/libtensord_cuda.so, built when nvcc is there (CUDA=0: not). It carries its own
# copies of kernels/base and kernels/pass.c, so that it needs no symbol of the daemon.
cuda_kernels := $(wildcard kernels/cuda/*.cu)
cuda_sources := $(wildcard kernels/cuda/*.c) kernels/pass.c $(wildcard kernels/base/*.c)
cuda_headers := $(wildcard kernels/cuda/*.h kernels/*.h kernels/*.def kernels/base/*.h kernels/base/*.def)

ifneq ($(CUDA),0)
CUDA_RELEASE := $(shell $(NVCC) --version 2>/dev/null | sed -n 's/.*release \([0-9]*\).*/\1/p')
ifneq ($(CUDA_RELEASE),13)
plugin:
	@echo "nvcc is release '$(CUDA_RELEASE)'; the CUDA plugin needs 13 and is not built"
else
CUDA_HOME ?= $(abspath $(dir $(NVCC))..)
CUDA_LIBRARIES ?= $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib $(CUDA_HOME)/targets/*/lib))
# sm_80 and sm_90 as machine code, sm_90 also as PTX for cards to come.
CUDA_TARGETS ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
# --fmad=false: fused and unfused chains give the same bits. 177, 550: functions and variables that a row of ops.def
# leaves unused.
NVCC_FLAGS ?= -std=c++17 -O3 --fmad=false --cudart=shared $(CUDA_TARGETS) --compress-mode=size \
              -diag-suppress 177,550 -Xcompiler -fPIC,-fvisibility=hidden

cuda_objects := $(cuda_kernels:%.cu=$(BUILD)/cuda/%.cu.o) $(cuda_sources:%.c=$(BUILD)/cuda/%.o)

$(BUILD)/cuda/%.cu.o: %.cu $(cuda_headers)
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	@$(NVCC) -I. $(NVCC_FLAGS) -c -o $@ $<

$(BUILD)/cuda/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $< (plugin)"
	@$(CC) $(CPPFLAGS) -isystem $(CUDA_HOME)/include $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

# The toolkit's own folder is a fallback (runpath): LD_LIBRARY_PATH, and with it the simulator, comes first.
$(BUILD)/libtensord_cuda.so: $(cuda_objects)
	@echo "  LINK  $@"
	@$(CXX) -shared $(LDFLAGS) -Wl,-Bsymbolic,-z,defs,--enable-new-dtags,-rpath,$(CUDA_LIBRARIES) -o $@ $^ \
	    -L$(CUDA_LIBRARIES) -l:libcublas.so.13 -l:libcudart.so.13 -ldl -lm

plugin: $(BUILD)/libtensord_cuda.so
endif
endif

# Tests of the device on a real card (tests/gpu-check): the programs that need no simulated one.
cuda_real_programs := $(patsubst %,$(BUILD)/tests/unit/cuda/test_%,map pass reduce product random)
check-cuda-real: plugin $(cuda_real_programs)
	@set -e; for program in $(cuda_real_programs); do TENSORD_REAL_GPU=1 $$program; done
measure-cuda: plugin $(BUILD)/tests/unit/cuda/measure
	@TENSORD_CUDA_PLUGIN=$(abspath $(BUILD))/libtensord_cuda.so $(BUILD)/tests/unit/cuda/measure
.PHONY: check-cuda-real measure-cuda
