// SPDX-License-Identifier: Apache-2.0
// import and from: names bound to the modules there are. Others are refused by name here;
// whether a module has an attribute is found out when the program runs.
#include "api/lang/parser_internal.h"

#include <string.h>

static const char *const module_names[SYNTAX_MODULE_COUNT] = {
    [SYNTAX_MODULE_TORCH] = "torch",
    [SYNTAX_MODULE_TORCH_NN] = "torch.nn",
    [SYNTAX_MODULE_TORCH_NN_FUNCTIONAL] = "torch.nn.functional",
    [SYNTAX_MODULE_TORCH_CUDA] = "torch.cuda",
    [SYNTAX_MODULE_NUMPY] = "numpy",
    [SYNTAX_MODULE_MATH] = "math",
};

const char *syntax_module_name(enum syntax_module module)
{
    return module_names[module];
}

enum { MODULE_NAME_MAX = 64 };

// a.b.c as text; what does not fit is cut, and names no module then.
static bool read_dotted(struct parser *parser, char *text, struct syntax_place *place)
{
    size_t length = 0;
    *place = parser->token.place;
    do {
        if (!parser_at(parser, TOKEN_NAME))
            return parser_expect(parser, TOKEN_NAME);
        const struct syntax_name *name = parser->token.name;
        size_t room = MODULE_NAME_MAX - 2 - length;
        size_t bytes = name->bytes < room ? name->bytes : room;
        if (length > 0)
            text[length++] = '.';
        memcpy(text + length, name->text, bytes);
        length += bytes;
        text[length] = '\0';
        if (length > MODULE_NAME_MAX - 4)
            length = MODULE_NAME_MAX - 4;
        parser_advance(parser);
    } while (parser_accept(parser, TOKEN_DOT));
    place->end = parser->previous.end;
    return !parser->lexer.failed;
}

static bool read_module(struct parser *parser, struct syntax_import *import)
{
    char text[MODULE_NAME_MAX];
    if (!read_dotted(parser, text, &import->place))
        return false;
    for (int i = 0; i < SYNTAX_MODULE_COUNT; i++) {
        import->module = (enum syntax_module)i;
        if (strcmp(text, module_names[i]) == 0)
            return true;
    }
    return parser_fail(parser, import->place,
                       "%s cannot be imported: the modules are torch, torch.nn, "
                       "torch.nn.functional, torch.cuda, numpy and math",
                       text);
}

static bool finish_import(struct parser *parser, struct syntax_import *import)
{
    import->place.end = parser->previous.end;
    return parser_push(parser, import, sizeof *import);
}

// import a.b, c as d
static bool read_modules(struct parser *parser)
{
    do {
        struct syntax_import import = {.attribute = NULL};
        if (!read_module(parser, &import))
            return false;
        if (parser_accept(parser, TOKEN_AS)) {
            import.bound = parser_name(parser);
            if (import.bound == NULL)
                return false;
        } else {
            // Without `as` the first part is bound, and the others are its attributes.
            if (import.module <= SYNTAX_MODULE_TORCH_CUDA)
                import.module = SYNTAX_MODULE_TORCH;
            const char *name = module_names[import.module];
            import.bound =
                names_intern(&parser->lexer.names, name, (uint32_t)strlen(name));
            if (import.bound == NULL)
                return lexer_no_memory(&parser->lexer);
        }
        if (!finish_import(parser, &import))
            return false;
    } while (parser_accept(parser, TOKEN_COMMA));
    return true;
}

static bool read_attribute(struct parser *parser, enum syntax_module module)
{
    struct syntax_import import = {.module = module, .place = parser->token.place};
    if (parser_at(parser, TOKEN_STAR))
        return parser_fail(parser, parser->token.place,
                           "import of * is not part of the language; name what you need");
    bool version = parser_at(parser, TOKEN_NAME) &&
                   strcmp(parser->token.name->text, "__version__") == 0;
    if (version) { // a name only with `as`
        import.attribute = parser->token.name;
        parser_advance(parser);
        if (!parser_at(parser, TOKEN_AS))
            return parser_expect(parser, TOKEN_AS);
    } else if ((import.attribute = parser_name(parser)) == NULL) {
        return false;
    }
    import.bound = import.attribute;
    if (parser_accept(parser, TOKEN_AS) && (import.bound = parser_name(parser)) == NULL)
        return false;
    return finish_import(parser, &import);
}

// from a.b import c as d, (e)
static bool read_from(struct parser *parser)
{
    struct syntax_import module;
    if (parser_at(parser, TOKEN_DOT) || parser_at(parser, TOKEN_DOTS))
        return parser_fail(parser, parser->token.place,
                           "relative imports are not part of the language");
    if (!read_module(parser, &module) || !parser_expect(parser, TOKEN_IMPORT))
        return false;
    bool enclosed = parser_accept(parser, TOKEN_LEFT_PAREN);
    do {
        if (!read_attribute(parser, module.module))
            return false;
    } while (parser_accept(parser, TOKEN_COMMA) &&
             !(enclosed && parser_at(parser, TOKEN_RIGHT_PAREN)));
    return !enclosed || parser_close(parser, TOKEN_RIGHT_PAREN);
}

struct syntax *parse_import(struct parser *parser)
{
    struct syntax_place start = parser->token.place;
    size_t mark = parser->scratch_length;
    bool from = parser_at(parser, TOKEN_FROM);
    parser_advance(parser);
    if (!(from ? read_from(parser) : read_modules(parser)))
        return NULL;
    struct syntax *node = parser_node(parser, SYNTAX_IMPORT, start);
    void *items;
    if (node == NULL || !parser_take(parser, mark, sizeof(struct syntax_import), &items,
                                     &node->imports.count))
        return NULL;
    node->imports.items = items;
    return node;
}
