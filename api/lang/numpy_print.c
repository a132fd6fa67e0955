// SPDX-License-Identifier: Apache-2.0
// Arrays as NumPy prints them (1.24, default print options: precision 8, lines of 75
// characters, edges of 3 beyond 1000 elements). All elements that are shown agree on the
// form and the widths. The program's thread.
#include "api/lang/numpy_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/lang/torch.h"

enum { PRECISION = 8, LINE_WIDTH = 75, THRESHOLD = 1000, EDGE_ITEMS = 3 };
enum { MAX_SHOWN = 1 << 20, REPR_INDENT = 6 }; // "array("

struct printer {
    struct vm *vm;
    struct text *text;
    const struct layout *layout;
    int64_t strides[TENSOR_MAX_NDIM];
    const void *elements;
    enum dtype dtype;
    bool summarize;
    const char *separator; // "," or ""
    int line_width;
    int line; // characters of the current line
    enum outcome outcome;
    // What all elements agree on
    double least, most; // sizes of finite elements but 0; most 0: none
    bool scientific, not_finite, negative_infinity;
    int left, right, exponent; // characters before and behind the point, of the exponent
};

// ---- Elements and their widths

static union element element_at(const struct printer *printer, int64_t offset)
{
    union element element = {.i64 = 0};
    size_t size = (size_t)dtype_size(printer->dtype);
    memcpy(&element, (const char *)printer->elements + (size_t)offset * size, size);
    return element;
}

static bool is_cut(const struct printer *printer, int dim)
{
    return printer->summarize && printer->layout->shape[dim] > 2 * EDGE_ITEMS;
}

typedef void visit(struct printer *printer, union element element);

static void each_shown(struct printer *printer, int dim, int64_t offset, visit *function)
{
    if (dim == printer->layout->ndim) {
        function(printer, element_at(printer, offset));
        return;
    }
    int64_t size = printer->layout->shape[dim];
    for (int64_t i = 0; i < size; i++) {
        if (is_cut(printer, dim) && i == EDGE_ITEMS)
            i = size - EDGE_ITEMS;
        each_shown(printer, dim + 1, offset + i * printer->strides[dim], function);
    }
}

static void widen(int *width, int length)
{
    *width = length > *width ? length : *width;
}

// ---- The form of floats

static void see_size(struct printer *printer, union element element)
{
    double value = element_to_scalar(element, printer->dtype).f, size = fabs(value);
    if (!isfinite(value)) {
        printer->not_finite = true;
        printer->negative_infinity |= value < 0;
    } else if (size > 0) {
        printer->least =
            printer->most == 0 || size < printer->least ? size : printer->least;
        printer->most = size > printer->most ? size : printer->most;
    }
}

static void see_float(struct printer *printer, union element element)
{
    char text[NUMPY_NUMBER_ROOM];
    if (!isfinite(element_to_scalar(element, printer->dtype).f))
        return;
    int length = printer->scientific
                     ? numpy_print_scientific(element, printer->dtype, PRECISION, text)
                     : numpy_print_positional(element, printer->dtype, PRECISION, text);
    int point = (int)(strchr(text, '.') - text);
    const char *e = strchr(text, 'e');
    widen(&printer->left, point);
    widen(&printer->right, (e != NULL ? (int)(e - text) : length) - point - 1);
    if (e != NULL)
        widen(&printer->exponent, length - (int)(e - text));
}

static void see_integer(struct printer *printer, union element element)
{
    char text[32];
    widen(&printer->left, snprintf(text, sizeof text, "%" PRId64,
                                   element_to_scalar(element, printer->dtype).i));
}

static void see_bool(struct printer *printer, union element element)
{
    widen(&printer->left, printer->layout->ndim > 0 || element.u8 == 0 ? 5 : 4);
}

static void decide(struct printer *printer)
{
    if (!dtype_is_float(printer->dtype)) {
        each_shown(printer, 0, 0, printer->dtype == DTYPE_BOOL ? see_bool : see_integer);
        return;
    }
    each_shown(printer, 0, 0, see_size);
    printer->scientific =
        printer->most > 0 && (printer->most >= 1e8 || printer->least < 1e-4 ||
                              printer->most / printer->least > 1000);
    each_shown(printer, 0, 0, see_float);
    // nan and inf stand right in the whole width.
    int behind = printer->right + 1 + printer->exponent;
    if (printer->not_finite)
        widen(&printer->left, 3 + printer->negative_infinity - behind);
}

// ---- One element, padded; its length.

static int pad(char *out, int width, const char *text, int length)
{
    int padding = width > length ? width - length : 0;
    memset(out, ' ', (size_t)padding);
    memcpy(out + padding, text, (size_t)length + 1);
    return padding + length;
}

// Behind the point: zeros in the scientific form, blanks in the other.
static int print_float(const struct printer *printer, union element element, char *out)
{
    char text[NUMPY_NUMBER_ROOM], digits[NUMPY_NUMBER_ROOM];
    double value = element_to_scalar(element, printer->dtype).f;
    if (!isfinite(value)) {
        int length = snprintf(text, sizeof text, "%s",
                              isnan(value) ? "nan"
                              : value < 0  ? "-inf"
                                           : "inf");
        return pad(out, printer->left + 1 + printer->right + printer->exponent, text,
                   length);
    }
    if (printer->scientific)
        numpy_print_scientific(element, printer->dtype, PRECISION, text);
    else
        numpy_print_positional(element, printer->dtype, PRECISION, text);
    char *point = strchr(text, '.'), *e = strchr(text, 'e');
    int behind = e != NULL ? (int)(e - point) - 1 : (int)strlen(point + 1);
    int length = snprintf(digits, sizeof digits, "%.*s%.*s", (int)(point - text) + 1,
                          text, behind, point + 1);
    while (behind++ < printer->right)
        digits[length++] = printer->scientific ? '0' : ' ';
    digits[length] = '\0';
    if (e != NULL) { // exponents have as many digits as the longest
        length +=
            snprintf(digits + length, sizeof digits - (size_t)length, "e%c%0*d", e[1],
                     printer->exponent - 2, abs((int)strtol(e + 1, NULL, 10)));
    }
    return pad(out, printer->left + 1 + printer->right + printer->exponent, digits,
               length);
}

static int print_element_text(const struct printer *printer, union element element,
                              char *out)
{
    char text[32];
    if (dtype_is_float(printer->dtype))
        return print_float(printer, element, out);
    struct scalar scalar = element_to_scalar(element, printer->dtype);
    int length = scalar.kind == SCALAR_BOOL
                     ? snprintf(text, sizeof text, "%s", scalar.i ? "True" : "False")
                     : snprintf(text, sizeof text, "%" PRId64, scalar.i);
    return pad(out, printer->left, text, length);
}

// ---- Lists and lines

static void add(struct printer *printer, const char *text, int length)
{
    if (printer->outcome == OUTCOME_OK)
        printer->outcome = text_charge(printer->vm, printer->text, length);
    if (printer->outcome == OUTCOME_OK)
        text_add(printer->text, text, (size_t)length);
}

static void new_lines(struct printer *printer, int count, int indent)
{
    char text[2 * TENSOR_MAX_NDIM + 64];
    memset(text, '\n', (size_t)count);
    memset(text + count, ' ', (size_t)indent);
    add(printer, text, count + indent);
    printer->line = indent;
}

// A word of an innermost list, on a new line where it does not fit.
static void add_word(struct printer *printer, const char *word, int length, int width,
                     int indent)
{
    if (printer->line + length > width && printer->line > indent) {
        while (printer->outcome == OUTCOME_OK && printer->text->length > 0 &&
               printer->text->data[printer->text->length - 1] == ' ')
            printer->text->length--;
        new_lines(printer, 1, indent);
    }
    add(printer, word, length);
    printer->line += length;
}

// The list at depth dim. indent: what stands before its brackets on its lines; width:
// what its lines may take.
static void print_list(struct printer *printer, int dim, int64_t offset, int indent,
                       int width)
{
    char word[NUMPY_NUMBER_ROOM + 32];
    int ndim = printer->layout->ndim, separator = (int)strlen(printer->separator);
    int64_t size = printer->layout->shape[dim];
    bool last = dim == ndim - 1;
    int word_width = width - (separator > 1 ? separator : 1);
    add(printer, "[", 1);
    printer->line = indent + 1;
    for (int64_t i = 0; i < size && printer->outcome == OUTCOME_OK; i++) {
        bool gap = is_cut(printer, dim) && i == EDGE_ITEMS;
        if (i > 0) {
            add(printer, printer->separator, separator);
            if (last) {
                add(printer, " ", 1);
                printer->line += separator + 1;
            } else {
                new_lines(printer, ndim - 1 - dim, indent + 1);
            }
        }
        if (gap) {
            i = size - EDGE_ITEMS - 1;
            add_word(printer, "...", 3, last ? word_width : INT32_MAX, indent + 1);
        } else if (last) {
            union element element =
                element_at(printer, offset + i * printer->strides[dim]);
            int length = print_element_text(printer, element, word);
            add_word(printer, word, length, word_width, indent + 1);
        } else {
            print_list(printer, dim + 1, offset + i * printer->strides[dim], indent + 1,
                       width - 1);
        }
    }
    add(printer, "]", 1);
}

// ---- The whole

static bool prepare(struct printer *printer, const struct layout *layout, int64_t count)
{
    int64_t shown = 1, stride = 1;
    printer->layout = layout;
    printer->summarize = count > THRESHOLD;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        printer->strides[i] = stride;
        stride *= count > 0 ? layout->shape[i] : 1;
        shown *= is_cut(printer, i) ? 2 * EDGE_ITEMS : count > 0 ? layout->shape[i] : 1;
    }
    if (shown > MAX_SHOWN) {
        vm_raise(printer->vm, STATUS_LIMIT,
                 "Even its edges alone are too many elements.");
        return false;
    }
    if (vm_spend(printer->vm, shown * 20) != OUTCOME_OK)
        return false;
    if (count > 0)
        decide(printer);
    return true;
}

static enum outcome print_scalar(struct printer *printer)
{
    char text[NUMPY_NUMBER_ROOM];
    union element element = element_at(printer, 0);
    int length = dtype_is_float(printer->dtype)
                     ? numpy_print_scalar_float(element, printer->dtype, text)
                     : print_element_text(printer, element, text);
    add(printer, text, length);
    return printer->outcome;
}

static void print_elements(struct printer *printer, int64_t count, bool is_str)
{
    char word[NUMPY_NUMBER_ROOM];
    const struct layout *layout = printer->layout;
    if (layout->ndim == 0)
        add(printer, word, print_element_text(printer, element_at(printer, 0), word));
    else if (count > 0)
        print_list(printer, 0, 0, is_str ? 0 : REPR_INDENT, printer->line_width);
    else
        add(printer, "[]", 2);
    if (count > 0 || layout->ndim == 1 || is_str)
        return;
    add(printer, ", shape=(", 9);
    for (int i = 0; i < layout->ndim; i++)
        add(printer, word,
            snprintf(word, sizeof word, "%s%" PRId64, i > 0 ? ", " : "",
                     layout->shape[i]));
    add(printer, layout->ndim == 1 ? ",)" : ")", layout->ndim == 1 ? 2 : 1);
}

// ", dtype=float32)" where the elements do not say it.
static void end_repr(struct printer *printer, size_t start, bool implied)
{
    if (implied) {
        add(printer, ")", 1);
        return;
    }
    char dtype[48];
    int length = snprintf(dtype, sizeof dtype, "dtype=%s)", dtype_name(printer->dtype));
    add(printer, ",", 1);
    const char *data = printer->text->data + start;
    size_t used = printer->text->length - start;
    const char *newline = used > 0 ? memrchr(data, '\n', used) : NULL;
    int64_t last = newline != NULL ? data + used - newline - 1 : (int64_t)used;
    if (last + length + 1 > LINE_WIDTH)
        new_lines(printer, 1, REPR_INDENT);
    else
        add(printer, " ", 1);
    add(printer, dtype, length);
}

enum outcome array_repr(struct vm *vm, struct value value, bool is_str, struct text *text)
{
    const struct tensor_object *object = tensor_of(value);
    int64_t count = lazy_count(object->lazy);
    enum dtype dtype = lazy_dtype(object->lazy);
    bool implied = count > 0 && (dtype == DTYPE_FLOAT64 || dtype == DTYPE_INT64 ||
                                 dtype == DTYPE_BOOL);
    struct tensor *host;
    enum outcome outcome = vm_host(vm, object->lazy, &host);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct printer printer = {.vm = vm,
                              .text = text,
                              .dtype = dtype,
                              .elements = torch_elements(host),
                              .separator = is_str ? "" : ",",
                              .line_width = LINE_WIDTH - (is_str ? 0 : 1)};
    size_t start = text->length;
    if (!prepare(&printer, lazy_layout(object->lazy), count))
        return OUTCOME_ERROR;
    if (printer.layout->ndim == 0 && (object->is_scalar || is_str))
        return print_scalar(&printer);
    if (!is_str)
        add(&printer, "array(", REPR_INDENT);
    print_elements(&printer, count, is_str);
    if (!is_str)
        end_repr(&printer, start, implied);
    return printer.outcome;
}
