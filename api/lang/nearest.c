// SPDX-License-Identifier: Apache-2.0
// Edit distances (nearest.h): three rows of the usual table.
#include "api/lang/nearest.h"

#include <stdlib.h>
#include <string.h>

void nearest_begin(struct nearest *nearest, const char *wanted, size_t length)
{
    *nearest = (struct nearest){.wanted = wanted, .length = length};
    nearest->best =
        length > NEAREST_MAX ? 0 : (int)length / 3 + 2; // one more than allowed
}

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static int distance(const char *a, size_t m, const char *b, size_t n)
{
    int rows[3][NEAREST_MAX + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t k = 0; k <= n; k++)
        above[k] = (int)k;
    for (size_t i = 1; i <= m; i++) {
        row[0] = (int)i;
        for (size_t k = 1; k <= n; k++) {
            row[k] = least(above[k] + 1, row[k - 1] + 1,
                           above[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
                before[k - 2] + 1 < row[k])
                row[k] = before[k - 2] + 1;
        }
        int *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[n];
}

void nearest_offer(struct nearest *nearest, const char *name, size_t length)
{
    size_t apart =
        length > nearest->length ? length - nearest->length : nearest->length - length;
    if (length > NEAREST_MAX || apart >= (size_t)nearest->best)
        return;
    int edits = distance(nearest->wanted, nearest->length, name, length);
    if (edits >= nearest->best || (size_t)edits >= nearest->length)
        return;
    nearest->best = edits;
    nearest->name = name;
    nearest->name_length = length;
}
