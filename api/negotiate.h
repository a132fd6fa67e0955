// SPDX-License-Identifier: Apache-2.0
// Which representation a client gets: the suffix or format= first, then Accept, then
// JSON. Pure; any thread.
#ifndef TENSORD_API_NEGOTIATE_H
#define TENSORD_API_NEGOTIATE_H

#include "api/formats/format.h"

// name: suffix or format= (NULL: none); accept: the header (NULL: none). allowed: mask of
// 1 << FORMAT_*. STATUS_NOT_ACCEPTABLE names what there is.
enum status negotiate_format(const char *name, const char *accept, unsigned allowed,
                             enum format *out, struct problem *problem);
// All formats an answer may have.
unsigned negotiate_writable(void);
// Of a page: does the client prefer HTML to plain text and JSON?
bool negotiate_html(const char *accept);
#endif
