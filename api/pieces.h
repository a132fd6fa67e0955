// SPDX-License-Identifier: Apache-2.0
// An answer made of pieces, one after another: texts, and elements that are printed while
// they are sent (JSON, CSV, text). Short answers go out whole, with a length; long ones
// in chunks, so that no answer needs more memory than a piece. Printing is billed to the
// lane that asked. Threads: built by the request's thread; read and released on the HTTP
// thread.
#ifndef TENSORD_API_PIECES_H
#define TENSORD_API_PIECES_H

#include "api/payload.h"

struct pieces;

// NULL: memory is out, problem set.
struct pieces *pieces_create(struct request *request, struct problem *problem);
// A copy of the bytes. Running out of memory is remembered: pieces_answer says so.
void pieces_text(struct pieces *pieces, const char *bytes, size_t count);
#define pieces_literal(pieces, literal)                                                  \
    pieces_text(pieces, "" literal, sizeof literal - 1)
// The elements as payload->format prints them, without its first `skip` bytes; `bare`:
// only the nested list of JSON. Takes the pin in any case.
enum status pieces_payload(struct pieces *pieces, struct payload *payload, bool bare,
                           int skip, struct problem *problem);
// The answer without headers; frees the pieces, now or when they are sent. NULL: memory
// is out.
struct http_response *pieces_answer(struct pieces *pieces, int status);
void pieces_free(struct pieces *pieces); // of an answer that was not made
#endif
