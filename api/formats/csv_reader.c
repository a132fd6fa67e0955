// SPDX-License-Identifier: Apache-2.0
// CSV bodies, in pieces cut anywhere: rows of numbers separated by commas. One column is
// a 1-D tensor, more are 2-D. Integers only give int64, else float32. Blanks around a
// number, quotes, CRLF, a byte order mark and empty lines at the end are allowed; a first
// line without any number is a heading and skipped. One thread at a time.
#include "api/formats/elements.h"
#include "api/formats/position.h"
#include "api/formats/reader.h"

#include <inttypes.h>
#include <math.h>
#include <strings.h>

enum { CSV_MAX_FIELD = NUMBER_MAX_LENGTH };

struct csv_reader {
    struct reader base;
    struct elements elements;
    int64_t rows, columns; // complete rows; columns of the first one
    int64_t fields;        // of this line so far
    bool heading;          // this line, the first one, is a heading
    bool had_heading;
    bool blank_before; // an empty line came before: only empty lines may follow
    bool begun; // a field was seen (a byte order mark may only stand before the first)
    struct position position; // of the next piece
    struct position carry_position;
    size_t carry_length;
    char carry[CSV_MAX_FIELD];
};

// ---- Fields

// The place of the comma or newline that ends the field at text; length if it is not
// there yet. A field in quotes may contain both.
static size_t field_end(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i < length && text[i] == '"') {
        for (i++; i < length; i++) {
            if (text[i] != '"')
                continue;
            if (i + 1 == length)
                return length;
            if (text[i + 1] != '"')
                break;
            i++;
        }
    }
    while (i < length && text[i] != ',' && text[i] != '\n')
        i++;
    return i;
}

// Drops blanks, a CR before the newline, and quotes around everything.
static void trim(const char **text, size_t *length, bool ends_line)
{
    const char *p = *text, *end = p + *length;
    if (ends_line && end > p && end[-1] == '\r')
        end--;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (end - p >= 2 && *p == '"' && end[-1] == '"') {
        p++;
        end--;
    }
    *text = p;
    *length = (size_t)(end - p);
}

// nan, inf and infinity in any case, with a sign.
static bool special_value(const char *text, size_t length, double *value)
{
    bool sign = length > 0 && (*text == '-' || *text == '+');
    const char *word = text + sign;
    size_t rest = length - sign;
    if (rest == 3 && strncasecmp(word, "nan", 3) == 0)
        *value = (double)NAN;
    else if ((rest == 3 && strncasecmp(word, "inf", 3) == 0) ||
             (rest == 8 && strncasecmp(word, "infinity", 8) == 0))
        *value = *text == '-' ? -(double)INFINITY : (double)INFINITY;
    else
        return false;
    return true;
}

static enum status not_a_number(const struct csv_reader *csv, const char *text,
                                size_t length, struct problem *problem)
{
    if (length == 0)
        return problem_set(problem, STATUS_MALFORMED,
                           "A field is empty; write nan where there is no number.");
    if (memchr(text, ';', length) != NULL || memchr(text, '\t', length) != NULL)
        return problem_set(problem, STATUS_MALFORMED,
                           "Only commas separate fields in CSV here.");
    return problem_set(problem, STATUS_MALFORMED, "'%.*s' is not a number.%s",
                       (int)(length < 40 ? length : 40), text,
                       csv->heading ? "" : " Only the first line may be a heading.");
}

// One trimmed field of a line that counts.
static enum status add_field(struct csv_reader *csv, const char *text, size_t length,
                             struct problem *problem)
{
    struct decimal decimal;
    double special;
    enum status status;
    if (csv->blank_before)
        return problem_set(problem, STATUS_MALFORMED,
                           "There is an empty line between the rows.");
    bool number = length > 0 && decimal_scan_loose(text, length, &decimal) == length;
    bool word = !number && special_value(text, length, &special);
    if (!number && !word) {
        bool first_line = csv->rows == 0 && !csv->had_heading;
        csv->heading |= first_line && csv->fields == 0;
        if (!csv->heading)
            return not_a_number(csv, text, length, problem);
        return STATUS_OK;
    }
    if (csv->heading)
        return problem_set(
            problem, STATUS_MALFORMED,
            "The first line mixes numbers and text: it is neither a row nor a heading.");
    if (number)
        status = elements_add_decimal(&csv->elements, &decimal, text, length, problem);
    else
        status = elements_add_special(&csv->elements, special, problem);
    return status;
}

static enum status end_line(struct csv_reader *csv, struct problem *problem)
{
    int64_t fields = csv->fields;
    csv->fields = 0;
    if (csv->heading) {
        csv->heading = false;
        csv->had_heading = true;
        return STATUS_OK;
    }
    if (csv->rows > 0 && fields != csv->columns)
        return problem_set(problem, STATUS_SHAPE,
                           "The row has %" PRId64 " fields, the rows before have %" PRId64
                           ".",
                           fields, csv->columns);
    csv->columns = fields;
    csv->rows++;
    return STATUS_OK;
}

// A whole field without its separator.
static enum status take_field(struct csv_reader *csv, const char *text, size_t length,
                              bool ends_line, struct problem *problem)
{
    if (length > CSV_MAX_FIELD)
        return problem_set(problem, STATUS_LIMIT, "A field has more than %d bytes.",
                           CSV_MAX_FIELD);
    if (!csv->begun && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    csv->begun = true;
    trim(&text, &length, ends_line);
    if (length == 0 && ends_line && csv->fields == 0) {
        csv->blank_before = csv->rows > 0;
        return STATUS_OK;
    }
    enum status status = add_field(csv, text, length, problem);
    if (status != STATUS_OK)
        return status;
    csv->fields++;
    return ends_line ? end_line(csv, problem) : STATUS_OK;
}

// ---- The reader

static enum status carry_over(struct csv_reader *csv, const char *text, size_t length,
                              struct problem *problem)
{
    if (length > CSV_MAX_FIELD - csv->carry_length)
        return problem_set(problem, STATUS_LIMIT, "A field has more than %d bytes.",
                           CSV_MAX_FIELD);
    memcpy(csv->carry + csv->carry_length, text, length);
    csv->carry_length += length;
    return STATUS_OK;
}

// The carried field goes on in the new piece: byte by byte, until a byte can end it. *p
// moves past it.
static enum status continue_carry(struct csv_reader *csv, const char **p, const char *end,
                                  struct problem *problem)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && *p < end && csv->carry_length > 0) {
        bool separator = **p == ',' || **p == '\n';
        size_t length = csv->carry_length;
        status = carry_over(csv, *p, 1, problem);
        if (status == STATUS_OK && separator &&
            field_end(csv->carry, csv->carry_length) == length) {
            status = take_field(csv, csv->carry, length, **p == '\n', problem);
            csv->carry_length = 0;
        }
        *p += 1;
    }
    if (status != STATUS_OK) {
        problem->line = csv->carry_position.line;
        problem->column = csv->carry_position.column;
    }
    return status;
}

static enum status csv_feed(struct reader *reader, const char *bytes, size_t count,
                            struct problem *problem)
{
    struct csv_reader *csv = (struct csv_reader *)reader;
    const char *p = bytes, *end = bytes + count;
    enum status status = STATUS_OK;
    if (csv->carry_length > 0) {
        status = continue_carry(csv, &p, end, problem);
        if (status != STATUS_OK)
            return status;
    }
    while (status == STATUS_OK && p < end) {
        size_t length = field_end(p, (size_t)(end - p));
        const char *stop = p + length;
        if (stop == end) {
            csv->carry_position = csv->position;
            position_advance(&csv->carry_position, bytes, (size_t)(p - bytes));
            status = carry_over(csv, p, length, problem);
        } else {
            csv->elements.body_read = reader->fed + (p - bytes);
            status = take_field(csv, p, length, *stop == '\n', problem);
            stop++;
        }
        if (status != STATUS_OK)
            position_report(csv->position, bytes, p, problem);
        p = stop;
    }
    position_advance(&csv->position, bytes, count);
    return status;
}

static enum status csv_finish(struct reader *reader, struct reader_result *result,
                              struct problem *problem)
{
    struct csv_reader *csv = (struct csv_reader *)reader;
    enum status status = STATUS_OK;
    if (csv->carry_length > 0 || csv->fields > 0) { // the last line has no newline
        struct position position =
            csv->carry_length > 0 ? csv->carry_position : csv->position;
        status = take_field(csv, csv->carry, csv->carry_length, true, problem);
        problem->line = status != STATUS_OK ? position.line : problem->line;
        problem->column = status != STATUS_OK ? position.column : problem->column;
    }
    if (status != STATUS_OK)
        return status;
    if (csv->rows == 0 && csv->had_heading)
        return problem_set(problem, STATUS_MALFORMED,
                           "There is a heading and no row of numbers.");
    int64_t index;
    status = elements_finish(&csv->elements, false, DTYPE_FLOAT32, &index, problem);
    if (status != STATUS_OK) {
        problem->line = index >= 0 ? index / csv->columns + 1 + csv->had_heading : 0;
        return status;
    }
    result->dtype = csv->elements.stored;
    result->ndim = csv->columns > 1 ? 2 : 1;
    result->shape[0] = csv->rows;
    result->shape[1] = csv->columns > 1 ? csv->columns : 0;
    result->data = csv->elements.count > 0 ? csv->elements.data : NULL;
    result->bytes = csv->elements.count * dtype_size(result->dtype);
    return STATUS_OK;
}

static const struct reader_vtable csv_reader_vtable = {csv_feed, csv_finish};

enum status csv_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem)
{
    *out = reader_allocate(sizeof(struct csv_reader), &csv_reader_vtable, options, memory,
                           problem);
    if (*out == NULL)
        return problem->status;
    struct csv_reader *csv = (struct csv_reader *)*out;
    csv->position = (struct position){1, 1};
    elements_open(&csv->elements, memory, options->length);
    if (options->has_dtype)
        elements_fix(&csv->elements, options->dtype);
    return STATUS_OK;
}
