// SPDX-License-Identifier: Apache-2.0
// The table of flags, shared by options_flags.c (the rows) and options.c (the reading).
#ifndef TENSORD_SERVER_OPTIONS_INTERNAL_H
#define TENSORD_SERVER_OPTIONS_INTERNAL_H

#include "server/options.h"

struct flag {
    const char *name;     // without dashes
    const char *argument; // NULL: none
    const char *help;
    enum status (*parse)(struct options *, const char *value, struct problem *);
};
extern const struct flag option_flags[];
extern const int n_option_flags;

// The parsers of the flags that may be given more than once.
enum status option_add_host(struct options *o, const char *value, struct problem *p);
enum status option_add_origin(struct options *o, const char *value, struct problem *p);
#endif
