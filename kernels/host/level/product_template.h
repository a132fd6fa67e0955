// SPDX-License-Identifier: Apache-2.0
// A wrapping product of matrices for one element size. Define before including, they are
// undefined at the end: PRODUCT (name of the function), ELEMENT and SUM (unsigned types),
// WIDE (unsigned, at least as wide as SUM and int, so that a product of sums neither
// promotes to int nor overflows).
#define NAME_PASTE(name, part) name##_##part
#define NAME_EXPAND(name, part) NAME_PASTE(name, part)
#define NAME(part) NAME_EXPAND(PRODUCT, part)

typedef SUM NAME(vector) __attribute__((vector_size(VECTOR), may_alias));
enum {
    NAME(LANES) = VECTOR / sizeof(SUM),
    NAME(WIDTH) = 2 * NAME(LANES),                     // columns of the micro-kernel
    NAME(PANEL) = PANEL_BYTES / (DEPTH * sizeof(SUM)), // columns of a packed block of b
};
struct NAME(block) {
    _Alignas(64) SUM b[DEPTH * NAME(PANEL)];
    _Alignas(64) SUM a[DEPTH * MICRO_ROWS];
    _Alignas(64) SUM sums[MICRO_ROWS * NAME(WIDTH)];
};

static void NAME(pack_b)(SUM *to, const ELEMENT *b, int64_t row, int64_t column,
                         int64_t k, int64_t n)
{
    for (int64_t first = 0; first < n; first += NAME(WIDTH), to += k * NAME(WIDTH)) {
        int64_t width = n - first < NAME(WIDTH) ? n - first : NAME(WIDTH);
        const ELEMENT *from = b + first * column;
        if (width == NAME(WIDTH) && column == 1) {
            for (int64_t l = 0; l < k; l++)
                for (int64_t j = 0; j < NAME(WIDTH); j++)
                    to[l * NAME(WIDTH) + j] = from[l * row + j];
            continue;
        }
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < NAME(WIDTH); j++)
                to[l * NAME(WIDTH) + j] = j < width ? from[l * row + j * column] : 0;
    }
}

static void NAME(pack_a)(SUM *to, const ELEMENT *a, int64_t row, int64_t column,
                         int64_t m, int64_t k)
{
    for (int64_t l = 0; l < k; l++)
        for (int64_t i = 0; i < MICRO_ROWS; i++)
            to[l * MICRO_ROWS + i] = i < m ? a[i * row + l * column] : 0;
}

static void NAME(micro)(SUM *sums, const SUM *a, const SUM *b, int64_t k)
{
    NAME(vector) left[MICRO_ROWS] = {{0}}, right[MICRO_ROWS] = {{0}};
    for (int64_t l = 0; l < k; l++, a += MICRO_ROWS, b += NAME(WIDTH)) {
        NAME(vector) b_left = *(const NAME(vector) *)b;
        NAME(vector) b_right = *(const NAME(vector) *)(b + NAME(LANES));
        for (int i = 0; i < MICRO_ROWS; i++) {
            left[i] += b_left * a[i];
            right[i] += b_right * a[i];
        }
    }
    for (int i = 0; i < MICRO_ROWS; i++) {
        *(NAME(vector) *)(sums + i * NAME(WIDTH)) = left[i];
        *(NAME(vector) *)(sums + i * NAME(WIDTH) + NAME(LANES)) = right[i];
    }
}

// m x n sums, sums_row apart, to c.
static void NAME(store)(ELEMENT *c, int64_t row, const SUM *sums, int64_t sums_row,
                        int64_t m, int64_t n, bool add)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            ELEMENT *to = c + i * row + j;
            *to = (ELEMENT)(sums[i * sums_row + j] + (add ? *to : 0));
        }
}

// All rows of a, n columns: block->b, k deep.
static void NAME(strip)(struct NAME(block) * block, int64_t m, int64_t n, int64_t k,
                        const ELEMENT *a, int64_t a_row, int64_t a_column, ELEMENT *c,
                        int64_t c_row, bool add)
{
    for (int64_t i = 0; i < m; i += MICRO_ROWS) {
        int64_t rows = m - i < MICRO_ROWS ? m - i : MICRO_ROWS;
        NAME(pack_a)(block->a, a + i * a_row, a_row, a_column, rows, k);
        for (int64_t j = 0; j < n; j += NAME(WIDTH)) {
            int64_t columns = n - j < NAME(WIDTH) ? n - j : NAME(WIDTH);
            NAME(micro)(block->sums, block->a, block->b + j * k, k);
            NAME(store)
            (c + i * c_row + j, c_row, block->sums, NAME(WIDTH), rows, columns, add);
        }
    }
}

// c is a column: inner products where a's rows are adjacent elements, else sums of its
// columns.
static void NAME(column)(int64_t m, int64_t k, const ELEMENT *a, int64_t a_row,
                         int64_t a_column, const ELEMENT *b, int64_t b_row, ELEMENT *c,
                         int64_t c_row, bool add)
{
    SUM sums[COLUMN_ROWS];
    for (int64_t first = 0; first < m; first += COLUMN_ROWS) {
        int64_t rows = m - first < COLUMN_ROWS ? m - first : COLUMN_ROWS;
        const ELEMENT *from = a + first * a_row;
        memset(sums, 0, sizeof sums);
        if (a_row == 1)
            for (int64_t l = 0; l < k; l++) {
                SUM factor = b[l * b_row];
                for (int64_t i = 0; i < rows; i++)
                    sums[i] = (SUM)(sums[i] + (WIDE)from[i + l * a_column] * factor);
            }
        else
            for (int64_t i = 0; i < rows; i++) {
                SUM sum = 0;
                for (int64_t l = 0; l < k; l++)
                    sum =
                        (SUM)(sum + (WIDE)from[i * a_row + l * a_column] * b[l * b_row]);
                sums[i] = sum;
            }
        NAME(store)(c + first * c_row, c_row, sums, 1, rows, 1, add);
    }
}

static void PRODUCT(int64_t m, int64_t n, int64_t k, struct product_operand a,
                    struct product_operand b, void *c, int64_t c_row, bool add)
{
    struct NAME(block) block;
    const ELEMENT *left = a.data, *right = b.data;
    if (n == 1) {
        NAME(column)(m, k, left, a.row, a.column, right, b.row, c, c_row, add);
        return;
    }
    for (int64_t j = 0; j < n; j += NAME(PANEL)) {
        int64_t columns = n - j < NAME(PANEL) ? n - j : NAME(PANEL);
        for (int64_t l = 0; l < k; l += DEPTH) {
            int64_t depth = k - l < DEPTH ? k - l : DEPTH;
            NAME(pack_b)
            (block.b, right + l * b.row + j * b.column, b.row, b.column, depth, columns);
            NAME(strip)
            (&block, m, columns, depth, left + l * a.column, a.row, a.column,
             (ELEMENT *)c + j, c_row, add || l > 0);
        }
    }
}

#undef NAME_PASTE
#undef NAME_EXPAND
#undef NAME
#undef PRODUCT
#undef ELEMENT
#undef SUM
#undef WIDE
