// SPDX-License-Identifier: Apache-2.0
// GET /v1/tensors and /v1/names: bytewise by name, a page at a time; tensors as text,
// too. A list shows what there is at this moment and waits for nothing that is pending.
#include "api/describe.h"
#include "api/handlers.h"
#include "api/negotiate.h"

struct page {
    unsigned kinds;             // of names, a set
    const char *member;         // "tensors" or "names": of the answer and of the URL
    const char *prefix, *after; // after NULL: from the start
    int limit;
    bool has_limit;
    enum format format;
    struct binding *bindings;
    int count;
    bool more;
};

static enum status parse_limit(const char *text, int *out, struct problem *problem)
{
    int value = 0;
    const char *c = text;
    while (*c >= '0' && *c <= '9' && value <= LIST_LIMIT_MAX)
        value = value * 10 + (*c++ - '0');
    if (c == text || *c != '\0' || value < 1 || value > LIST_LIMIT_MAX)
        return problem_set(problem, STATUS_VALUE, "limit= is a number from 1 to %d.",
                           LIST_LIMIT_MAX);
    *out = value;
    return STATUS_OK;
}

static enum status page_parse(struct request *request, struct page *page,
                              struct problem *problem)
{
    const struct query *query = &request->query;
    const char *prefix = query->values[QUERY_PREFIX], *limit = query->values[QUERY_LIMIT];
    bool tensors = page->kinds != ALL_NAMES;
    *page = (struct page){.kinds = page->kinds,
                          .member = tensors ? "tensors" : "names",
                          .prefix = prefix != NULL ? prefix : "",
                          .after = query->values[QUERY_AFTER],
                          .limit = LIST_LIMIT,
                          .has_limit = limit != NULL};
    if (limit != NULL && parse_limit(limit, &page->limit, problem) != STATUS_OK)
        return problem->status;
    return negotiate_format(
        query->values[QUERY_FORMAT], request_header(request, "Accept"),
        1u << FORMAT_JSON | (tensors ? 1u << FORMAT_TEXT : 0), &page->format, problem);
}

// The URL of the page after this one, terminated.
static void write_next(struct text *text, const struct page *page)
{
    text_literal(text, "/v1/");
    text_string(text, page->member);
    text_string(text, page->format == FORMAT_TEXT ? ".txt?" : "?");
    if (*page->prefix != '\0') {
        text_literal(text, "prefix=");
        text_url(text, page->prefix);
        text_literal(text, "&");
    }
    if (page->has_limit) {
        text_literal(text, "limit=");
        text_integer(text, page->limit);
        text_literal(text, "&");
    }
    text_literal(text, "after=");
    text_url(text, page->bindings[page->count - 1].name);
    text_add(text, "", 1);
}

static enum status write_json(const struct request *request, struct text *text,
                              const struct page *page, const char *next,
                              struct problem *problem)
{
    text_literal(text, "{\"");
    text_string(text, page->member);
    text_literal(text, "\": [");
    for (int i = 0; i < page->count; i++) {
        text_string(text, i > 0 ? ",\n  " : "\n  ");
        enum status status =
            page->kinds == ALL_NAMES
                ? describe_name(request, text, &page->bindings[i], problem)
                : describe(request, text, &page->bindings[i], problem);
        if (status != STATUS_OK)
            return status;
    }
    text_literal(text, "], \"next\": ");
    if (next != NULL)
        text_quoted(text, next, strlen(next));
    else
        text_literal(text, "null");
    text_literal(text, "}\n");
    return STATUS_OK;
}

static void pad(struct text *text, size_t start, size_t width)
{
    size_t length = text->length - start;
    do {
        text_literal(text, " ");
    } while (++length < width);
}

static void write_table(struct text *text, const struct page *page)
{
    size_t width = 6;
    for (int i = 0; i < page->count; i++)
        if (strlen(page->bindings[i].name) + 2 > width)
            width = strlen(page->bindings[i].name) + 2;
    size_t start = text->length;
    text_literal(text, "name");
    pad(text, start, width);
    text_literal(text, "dtype     device           bytes  shape\n");
    for (int i = 0; i < page->count; i++) {
        const struct tensor *tensor = page->bindings[i].tensor;
        char digits[24];
        struct text number;
        start = text->length;
        text_string(text, page->bindings[i].name);
        pad(text, start, width);
        start = text->length;
        text_string(text, dtype_name(tensor->dtype));
        pad(text, start, 10);
        start = text->length;
        text_string(text, tensor_device(tensor)->id);
        text_begin(&number, digits, sizeof digits);
        text_integer(&number, tensor_bytes(tensor));
        pad(text, start, number.length < 21 ? 22 - number.length : 1);
        text_add(text, digits, number.length);
        text_literal(text, "  ");
        text_integers(text, tensor->layout.ndim, tensor->layout.shape);
        text_literal(text, "\n");
    }
}

static struct http_response *add_link(struct http_response *response, const char *next)
{
    char buffer[512];
    struct text text;
    if (next == NULL)
        return response;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "<");
    text_string(&text, next);
    text_literal(&text, ">; rel=\"next\"");
    text_add(&text, "", 1);
    if (!text.failed)
        response = answer_header(response, "Link", text.data);
    text_end(&text);
    return response;
}

static struct http_response *page_answer(struct request *request, const struct page *page,
                                         struct problem *problem)
{
    struct text text, next;
    char buffer[512];
    text_begin(&text, NULL, 0);
    text_begin(&next, buffer, sizeof buffer);
    if (page->more && page->count > 0)
        write_next(&next, page);
    const char *url = page->more && page->count > 0 && !next.failed ? next.data : NULL;
    struct http_response *response = NULL;
    if (page->format == FORMAT_TEXT) {
        write_table(&text, page);
        response = answer_text(request, 200, "text/plain; charset=utf-8", &text);
    } else if (write_json(request, &text, page, url, problem) == STATUS_OK) {
        response = answer_json(request, 200, &text);
    }
    text_end(&text);
    response = add_link(answer_header(response, "Vary", "Accept"), url);
    text_end(&next);
    return response;
}

static void answer_list(struct request *request, unsigned kinds)
{
    struct page page = {.kinds = kinds};
    struct problem *problem = &request->problem;
    struct http_response *response = NULL;
    if (page_parse(request, &page, problem) == STATUS_OK &&
        registry_list(request->user->space, kinds, page.prefix, page.after, page.limit,
                      &page.bindings, &page.count, &page.more, problem) == STATUS_OK) {
        response = page_answer(request, &page, problem);
        binding_array_free(page.bindings, page.count);
    }
    if (problem->status != STATUS_OK)
        request_fail(request);
    else
        request_answer(request, response);
}

void handle_tensor_list(struct request *request)
{
    answer_list(request, 1u << NAME_TENSOR);
}

void handle_name_list(struct request *request)
{
    answer_list(request, ALL_NAMES);
}
