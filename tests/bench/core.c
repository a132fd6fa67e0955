// SPDX-License-Identifier: Apache-2.0
// What can be measured without a socket: JSON numbers up and down, products of the host
// device against OpenBLAS called directly in this process. Prints one `name value` line a
// figure; bench.py reads them.
//   core json | core gemm THREADS
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/formats/format.h"
#include "kernels/device.h"
#include "kernels/ops.h"

enum { ELEMENTS = 1000000, ROUNDS = 15 };
extern void openblas_set_num_threads(int);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The best of the rounds: only what slows one is noise.
static double best(const double *seconds, int count)
{
    double least = seconds[0];
    for (int i = 1; i < count; i++)
        least = seconds[i] < least ? seconds[i] : least;
    return least;
}

static void must(enum status status, const struct problem *problem)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "%s\n", problem->detail);
        exit(1);
    }
}

static enum status grow(void *context, int64_t bytes, void **data,
                        struct problem *problem)
{
    void **memory = context;
    void *larger = realloc(*memory, (size_t)bytes);
    if (larger == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "realloc");
    *data = *memory = larger;
    return STATUS_OK;
}

// Prints ELEMENTS normal-looking floats; *length bytes, the caller's.
static char *print_all(const float *values, size_t *length, double *seconds)
{
    struct problem problem;
    struct writer_options options = {.format = FORMAT_JSON,
                                     .dtype = DTYPE_FLOAT32,
                                     .ndim = 1,
                                     .shape = {ELEMENTS},
                                     .data = values,
                                     .name = "x",
                                     .device = "cpu"};
    char *text = malloc((size_t)ELEMENTS * 24);
    struct writer *writer;
    must(text ? STATUS_OK : STATUS_OUT_OF_MEMORY, &problem);
    double start = now();
    must(writer_open(&options, &writer, &problem), &problem);
    *length = 0;
    for (size_t n; (n = writer_next(writer, text + *length, 32768)) > 0;)
        *length += n;
    writer_close(writer);
    *seconds = now() - start;
    return text;
}

static double parse_all(const char *text, size_t length)
{
    struct problem problem;
    void *memory = NULL;
    struct reader_memory place = {&memory, grow};
    struct reader_options options = {.length = (int64_t)length, .max_bytes = INT64_MAX};
    struct reader_result result;
    struct reader *reader;
    double start = now();
    must(reader_open(FORMAT_JSON, &options, &place, &reader, &problem), &problem);
    for (size_t at = 0; at < length; at += 16384) // the pieces libmicrohttpd gives
        must(reader_feed(reader, text + at, length - at < 16384 ? length - at : 16384,
                         &problem),
             &problem);
    must(reader_finish(reader, &result, &problem), &problem);
    double seconds = now() - start;
    reader_close(reader);
    free(memory);
    return seconds;
}

static void json(void)
{
    float *values = malloc(ELEMENTS * sizeof *values);
    double up[ROUNDS], down[ROUNDS];
    srand(1);
    for (int i = 0; i < ELEMENTS; i++) {
        double sum = 0;
        for (int j = 0; j < 12; j++)
            sum += (double)rand() / RAND_MAX;
        values[i] = (float)(sum - 6);
    }
    for (int i = 0; i < ROUNDS; i++) {
        size_t length;
        char *text = print_all(values, &length, &down[i]);
        up[i] = parse_all(text, length);
        free(text);
    }
    free(values);
    printf("json_up_ns %.2f\n", best(up, ROUNDS) * 1e9 / ELEMENTS);
    printf("json_down_ns %.2f\n", best(down, ROUNDS) * 1e9 / ELEMENTS);
}

static double time_direct(const float *a, const float *b, float *c, int n, int repeat)
{
    double start = now();
    for (int i = 0; i < repeat; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0,
                    c, n);
    return (now() - start) / repeat;
}

static double time_ours(struct device *device, const float *a, const float *b, float *c,
                        int n, int repeat)
{
    struct problem problem;
    struct kernel kernel = {.form = KERNEL_GEMM,
                            .gemm = {.dtype = DTYPE_FLOAT32,
                                     .m = n,
                                     .n = n,
                                     .k = n,
                                     .a = a,
                                     .b = b,
                                     .c = c,
                                     .a_row = n,
                                     .a_column = 1,
                                     .b_row = n,
                                     .b_column = 1,
                                     .c_row = n}};
    double start = now();
    for (int i = 0; i < repeat; i++) {
        struct plan *plan;
        must(device->vt->plan(device, &kernel, &plan, &problem), &problem);
        while (device->vt->plan_next(plan, &problem) == SLICE_MORE) {
        }
        device->vt->plan_free(plan);
    }
    return (now() - start) / repeat;
}

static void gemm(int threads)
{
    static const int sizes[] = {64, 256, 512, 1024, 2048, 4096};
    struct problem problem;
    struct device *device;
    size_t bytes = (size_t)4096 * 4096 * sizeof(float);
    float *a = aligned_alloc(64, bytes), *b = aligned_alloc(64, bytes),
          *c = aligned_alloc(64, bytes);
    for (size_t i = 0; i < bytes / sizeof *a; i++)
        a[i] = (float)(i % 17) - 8, b[i] = (float)(i % 13) - 6, c[i] = 0;
    must(host_open(threads, 0, &device, &problem), &problem);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        double flops = 2.0 * n * n * n, direct[ROUNDS], ours[ROUNDS];
        int repeat = flops > 5e7 ? 1 : (int)(5e7 / flops) + 1,
            rounds = n >= 4096 ? 4 : ROUNDS;
        // In phases: OpenBLAS's own threads keep spinning for a while after each call.
        openblas_set_num_threads(threads);
        for (int i = -1; i < rounds; i++) {
            double seconds = time_direct(a, b, c, n, repeat);
            if (i >= 0)
                direct[i] = seconds;
        }
        openblas_set_num_threads(1);
        nanosleep(&(struct timespec){0, 400000000}, NULL);
        for (int i = -1; i < rounds; i++) {
            double seconds = time_ours(device, a, b, c, n, repeat);
            if (i >= 0)
                ours[i] = seconds;
        }
        printf("gemm_%d_%d %.3f\n", n, threads,
               best(direct, rounds) / best(ours, rounds));
        fflush(stdout);
    }
    device->vt->close(device);
    free(a), free(b), free(c);
}

int main(int count, char **arguments)
{
    ops_initialize();
    if (count > 1 && strcmp(arguments[1], "json") == 0)
        json();
    else if (count > 2 && strcmp(arguments[1], "gemm") == 0)
        gemm((int)strtol(arguments[2], NULL, 10));
    else
        return 2;
    return 0;
}
