// SPDX-License-Identifier: Apache-2.0
// GET /: a page for whoever opens the address in a browser. No scripts, no styles,
// nothing from elsewhere.
#include "api/handlers.h"
#include "api/request.h"

static const char page_start[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
    "charset=\"utf-8\"><title>tensord</title></head>\n<body>\n"
    "<h1>tensord ";
static const char page_end[] =
    "</h1>\n"
    "<p>Tensor math over plain HTTP. Everything can be done with one curl line:</p>\n"
    "<pre>curl -T x.npy localhost:8080/v1/tensors/\n"
    "curl localhost:8080/v1/ops/matmul -d '{\"args\": [\"x\", \"w\"], \"out\": \"y\"}'\n"
    "curl -O localhost:8080/v1/tensors/y.npy</pre>\n"
    "<ul>\n"
    "<li><a href=\"/v1/tensors.txt\">tensors</a></li>\n"
    "<li><a href=\"/v1/ops\">operations</a></li>\n"
    "<li><a href=\"/v1/devices\">devices</a></li>\n"
    "<li><a href=\"/openapi.json\">the contract</a></li>\n"
    "</ul>\n</body>\n</html>\n";

void handle_index_page(struct request *request)
{
    char buffer[1024];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_string(&text, page_start);
    text_html(&text, request->api->options.version);
    text_string(&text, page_end);
    struct http_response *response =
        answer_text(request, 200, "text/html; charset=utf-8", &text);
    response = answer_header(response, "Content-Security-Policy",
                             "default-src 'none'; base-uri 'none'; form-action 'none'; "
                             "frame-ancestors 'none'");
    response = answer_header(response, "Referrer-Policy", "no-referrer");
    request_answer(request, response);
}
