// SPDX-License-Identifier: Apache-2.0
// npy both ways: files that NumPy wrote (npy_files.inc) cut at every byte, damaged
// headers by hand, and headers compared with what the format's specification says.
#include "tests/unit/api/reading.h"

static const struct {
    enum dtype dtype;
    bool fortran_order;
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM];
    const char *file;
    size_t file_length;
    const char *data;
    size_t data_length;
} files[] = {
#include "tests/cases/npy_files.inc"
};

static void test_files_of_numpy(void **state)
{
    struct reading reading;
    assert_true(sizeof files / sizeof *files > 40);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct reader_options options = reading_options();
        for (int known = 0; known < 2; known++) {
            options.length = known ? (int64_t)files[i].file_length : -1;
            read_all_ways(&reading, FORMAT_NPY, &options, files[i].file,
                          files[i].file_length);
            assert_int_equal(reading.status, STATUS_OK);
            assert_int_equal(reading.result.dtype, files[i].dtype);
            assert_int_equal(reading.result.fortran_order, files[i].fortran_order);
            assert_int_equal(reading.result.ndim, files[i].ndim);
            assert_memory_equal(reading.result.shape, files[i].shape,
                                (size_t)files[i].ndim * sizeof(int64_t));
            assert_int_equal(reading.result.bytes, files[i].data_length);
            assert_int_equal(reading.reservations, files[i].data_length > 0);
            assert_int_equal(reading.reserved, files[i].data_length);
            if (files[i].data_length > 0)
                assert_memory_equal(reading.result.data, files[i].data,
                                    files[i].data_length);
            reading_free(&reading);
        }
    }
}

static void test_every_truncation(void **state)
{
    const char *file = files[0].file;
    struct reading reading;
    for (int known = 0; known < 2; known++) {
        for (size_t length = 0; length < files[0].file_length; length++) {
            struct reader_options options = reading_options();
            options.length = known ? (int64_t)length : -1;
            read_cut(&reading, FORMAT_NPY, &options, file, length, length / 2, 9);
            assert_int_equal(reading.status, STATUS_MALFORMED);
            // A declared length that lies is found before memory is asked for.
            assert_true(!known || reading.reservations == 0);
            reading_free(&reading);
        }
    }
}

// A file of version 1 to 3 with that dictionary and n zero bytes; returns its length.
static size_t make_file(int version, const char *dictionary, size_t n, char *file)
{
    size_t length = strlen(dictionary), prefix = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    file[7] = 0;
    file[8] = (char)(length & 0xFF);
    file[9] = (char)(length >> 8);
    file[10] = file[11] = 0;
    memcpy(file + prefix, dictionary, length);
    memset(file + prefix + length, 0, n);
    return prefix + length + n;
}

static void read_dictionary(struct reading *reading, const char *dictionary, size_t n)
{
    static char file[4096];
    struct reader_options options = reading_options();
    size_t length = make_file(1, dictionary, n, file);
    read_all_ways(reading, FORMAT_NPY, &options, file, length);
}

static void refuse(const char *dictionary, size_t n, enum status status)
{
    struct reading reading;
    read_dictionary(&reading, dictionary, n);
    if (reading.status != status)
        print_message("%s: %d %s\n", dictionary, reading.status, reading.problem.detail);
    assert_int_equal(reading.status, status);
    reading_free(&reading);
}

static void accept(const char *dictionary, size_t n, enum dtype dtype, const char *shape)
{
    struct reading reading;
    static const char zeros[64];
    read_dictionary(&reading, dictionary, n);
    assert_read(&reading, dtype, shape, zeros, n);
    reading_free(&reading);
}

static void test_dictionaries(void **state)
{
    accept("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8,
           DTYPE_FLOAT32, "(2,)");
    accept("{\"shape\":(2,1),\"descr\":\"=i2\",\"fortran_order\":True}", 4, DTYPE_INT16,
           "(2, 1)");
    accept(" { 'fortran_order' : False , 'shape' : ( ) , 'descr' : '|f8' } \n\n", 8,
           DTYPE_FLOAT64, "()");
    accept("{'descr': '>b1', 'fortran_order': False, 'shape': (3L, 1L)}", 3, DTYPE_BOOL,
           "(3, 1)");
    accept("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904)}",
           0, DTYPE_FLOAT32, "(0, 4611686018427387904)");
}

static void test_damaged_dictionaries(void **state)
{
    static const char *const damaged[] = {
        "",
        "{",
        "}",
        "{}",
        "x",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'shape': (1,)}",
        "{'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': <f4, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4, fortran_order: False, shape: (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
        "{'d\\x65scr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "__import__('os').abort()",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        refuse(damaged[i], 4, STATUS_MALFORMED);
}

static void test_lying_shapes(void **state)
{
    static const char good[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    refuse(good, 11, STATUS_MALFORMED);
    refuse(good, 13, STATUS_MALFORMED);
    refuse(good, 0, STATUS_MALFORMED);
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
           0, STATUS_SHAPE);
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", 0,
           STATUS_SHAPE);
    refuse("{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775807,)}", 0,
           STATUS_TOO_LARGE);
    refuse(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        0, STATUS_SHAPE);
    char text[256] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < 33; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "1,");
    snprintf(text + strlen(text), sizeof text - strlen(text), ")}");
    refuse(text, 4, STATUS_LIMIT);
}

static void test_dtypes_that_are_not_kept(void **state)
{
    static const char *const descrs[] = {
        "'|O'",  "'<c8'", "'<U3'",  "'|S3'",          "'<M8[ns]'",
        "'<u2'", "'<u4'", "'<u8'",  "[('a', '<f4')]", "'<f16'",
        "'f4'",  "''",    "'<f4 '", "('<f4', (2,))"};
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n", descrs[i]);
        refuse(text, 16, descrs[i][0] == '(' ? STATUS_MALFORMED : STATUS_DTYPE);
    }
    struct reading reading;
    read_dictionary(&reading,
                    "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }\n", 2);
    assert_non_null(strstr(reading.problem.detail, "astype")); // says what to do
    reading_free(&reading);
}

static void test_prefixes(void **state)
{
    static const char good[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
    static char file[4096];
    struct reading reading;
    for (int version = 0; version < 6; version++) {
        struct reader_options options = reading_options();
        size_t length = make_file(version, good, 4, file);
        read_all_ways(&reading, FORMAT_NPY, &options, file, length);
        assert_int_equal(reading.status,
                         version >= 1 && version <= 3 ? STATUS_OK : STATUS_MALFORMED);
        reading_free(&reading);
        file[7] = 1; // a minor version
        read_all_ways(&reading, FORMAT_NPY, &options, file, length);
        assert_int_equal(reading.status, STATUS_MALFORMED);
        reading_free(&reading);
    }
    struct reader_options options = reading_options();
    read_all_ways(&reading, FORMAT_NPY, &options, "\x93NUMPY\x02\x00\xff\xff\xff\xff",
                  12);
    assert_int_equal(reading.status,
                     STATUS_MALFORMED); // a header of 4 GiB is refused at once
    reading_free(&reading);
    read_all_ways(&reading, FORMAT_NPY, &options, "\x93NUMPY\x01\x00\x00\x00", 10);
    assert_int_equal(reading.status, STATUS_MALFORMED);
    reading_free(&reading);
    read_all_ways(&reading, FORMAT_NPY, &options, "hello, world", 12);
    assert_int_equal(reading.status, STATUS_MALFORMED);
    reading_free(&reading);
}

static void test_bad_bool(void **state)
{
    static char file[4096];
    struct reader_options options = reading_options();
    struct reading reading;
    size_t length =
        make_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (5,)}", 5, file);
    file[length - 2] = 2;
    read_all_ways(&reading, FORMAT_NPY, &options, file, length);
    assert_int_equal(reading.status, STATUS_VALUE);
    assert_non_null(strstr(reading.problem.detail, "Element 3"));
    reading_free(&reading);
}

// ---- Writing

static void test_header(void **state)
{
    char header[1024];
    int64_t shape[FORMAT_MAX_NDIM] = {2, 3};
    size_t length = npy_header(DTYPE_FLOAT32, 2, shape, header);
    assert_int_equal(length, 128);
    assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    static const char expected[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ";
    assert_memory_equal(header + 10, expected, strlen(expected));
    assert_int_equal(header[127], '\n');
    for (int i = 0; i < FORMAT_MAX_NDIM; i++)
        shape[i] = INT64_MAX;
    length = npy_header(DTYPE_BFLOAT16, FORMAT_MAX_NDIM, shape, header);
    assert_true(length <= sizeof header && length % 64 == 0);
    assert_non_null(memmem(header, length, "'<f4'", 5));
}

static void test_written_files_read_back(void **state)
{
    struct reading reading;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct reader_options options = reading_options();
        struct writer_options write = {.format = FORMAT_NPY,
                                       .dtype = files[i].dtype,
                                       .ndim = files[i].ndim,
                                       .data = files[i].data};
        memcpy(write.shape, files[i].shape, sizeof write.shape);
        size_t length;
        char *file = write_all_ways(&write, &length);
        read_cut(&reading, FORMAT_NPY, &options, file, length, length, 1);
        assert_int_equal(reading.status, STATUS_OK);
        assert_int_equal(reading.result.dtype, files[i].dtype);
        assert_int_equal(reading.result.bytes, files[i].data_length);
        assert_int_equal(length % 64, files[i].data_length % 64);
        if (files[i].data_length > 0)
            assert_memory_equal(reading.result.data, files[i].data, files[i].data_length);
        reading_free(&reading);
        write.header_only = true;
        write.data = NULL;
        size_t header_length;
        char *header = write_all_ways(&write, &header_length);
        assert_int_equal(header_length, length - files[i].data_length);
        assert_memory_equal(header, file, header_length);
        free(header);
        free(file);
    }
}

static void test_bfloat16_widens(void **state)
{
    enum { COUNT = 1000 };
    uint16_t data[COUNT];
    for (int i = 0; i < COUNT; i++)
        data[i] = (uint16_t)(i * 65);
    struct writer_options write = {.format = FORMAT_NPY,
                                   .dtype = DTYPE_BFLOAT16,
                                   .ndim = 1,
                                   .shape = {COUNT},
                                   .data = data};
    size_t length;
    char *file = write_all_ways(&write, &length);
    assert_int_equal(length, 128 + COUNT * 4);
    for (int i = 0; i < COUNT; i++) {
        uint32_t word;
        memcpy(&word, file + 128 + i * 4, sizeof word);
        assert_int_equal(word, (uint32_t)data[i] << 16);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_numpy),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_dictionaries),
        cmocka_unit_test(test_damaged_dictionaries),
        cmocka_unit_test(test_lying_shapes),
        cmocka_unit_test(test_dtypes_that_are_not_kept),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_bad_bool),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_written_files_read_back),
        cmocka_unit_test(test_bfloat16_widens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
