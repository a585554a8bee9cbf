/* SPDX-License-Identifier: Apache-2.0 */
/* Python's lexical rules: names, numbers, strings, operators, lines and their indentation. */
#include "base/arena.h"
#include "frameworks/python/parts.h"

#include <ctype.h>
#include <string.h>

enum { NESTED_MAX = 100 };

struct lexer {
    const struct python_request *request;
    const char *text;
    size_t at, line_start;
    unsigned line;
    struct token *tokens;
    size_t count, capacity;
    size_t open[NESTED_MAX]; /* brackets */
    size_t open_count;
    size_t widths[NESTED_MAX], indents[NESTED_MAX]; /* of blocks, and their tokens */
    size_t depth;
    bool failed;
};

static struct place here(const struct lexer *x)
{
    return (struct place){x->request->file, x->line, (unsigned)(x->at - x->line_start) + 1};
}

static void fail(struct lexer *x, struct place at, const char *what)
{
    if (!x->failed)
        diag_error(x->request->diag, at, "this is not Python: %s", what);
    x->failed = true;
}

static struct token *add(struct lexer *x, enum token_kind kind, size_t length)
{
    x->tokens = arena_grow(x->request->arena, x->tokens, &x->capacity, x->count, sizeof *x->tokens);
    x->tokens[x->count] = (struct token){kind, x->text + x->at, length, here(x), 0};
    return &x->tokens[x->count++];
}

static void next_line(struct lexer *x)
{
    x->at++;
    x->line++;
    x->line_start = x->at;
}

/* ---- blocks ---- */

static void close_block(struct lexer *x)
{
    x->depth--;
    x->tokens[x->indents[x->depth]].match = x->count;
    add(x, TOKEN_DEDENT, 0);
}

static void indent_to(struct lexer *x, size_t width)
{
    size_t current = x->depth ? x->widths[x->depth - 1] : 0;
    if (width > current && x->depth == NESTED_MAX) {
        fail(x, here(x), "blocks are nested too deep");
    } else if (width > current) {
        x->widths[x->depth] = width;
        x->indents[x->depth++] = x->count;
        add(x, TOKEN_INDENT, 0);
    }
    while (!x->failed && x->depth && width < x->widths[x->depth - 1])
        close_block(x);
    if (width != (x->depth ? x->widths[x->depth - 1] : 0))
        fail(x, here(x), "this line is indented as no block before it");
}

/* The blanks that a line begins with; lines without anything else count for nothing. */
static void begin_line(struct lexer *x)
{
    size_t width = 0;
    for (;; x->at++)
        if (x->text[x->at] == ' ')
            width++;
        else if (x->text[x->at] == '\t')
            width += 8 - width % 8;
        else if (x->text[x->at] != '\f')
            break;
    if (!x->text[x->at] || strchr("\r\n#", x->text[x->at]))
        return;
    indent_to(x, width);
}

/* ---- tokens ---- */

/* r, b, u, f and pairs of them before a quote. */
static size_t prefix_length(const char *text)
{
    size_t length = strspn(text, "rRbBuUfF");
    return length <= 2 && (text[length] == '"' || text[length] == '\'') ? length : 0;
}

static bool is_quote(const char *text)
{
    return text[prefix_length(text)] == '"' || text[prefix_length(text)] == '\'';
}

static void read_string(struct lexer *x)
{
    struct place at = here(x);
    size_t from = x->at, token = x->count;
    add(x, TOKEN_STRING, 0);
    x->at += prefix_length(x->text + x->at);
    char quote = x->text[x->at];
    size_t quotes = x->text[x->at + 1] == quote && x->text[x->at + 2] == quote ? 3 : 1;
    for (x->at += quotes;;) {
        const char *now = x->text + x->at;
        if (!*now || (quotes == 1 && *now == '\n')) {
            fail(x, at, "the text that begins here does not end");
            return;
        }
        if (now[0] == quote && (quotes == 1 || (now[1] == quote && now[2] == quote)))
            break;
        x->at += *now == '\\' && now[1] && now[1] != '\n';
        if (x->text[x->at] == '\n')
            next_line(x);
        else
            x->at++;
    }
    x->at += quotes;
    x->tokens[token].length = x->at - from;
}

static size_t number_length(const char *text)
{
    size_t length = 0;
    bool hex = text[0] == '0' && strchr("xXbBoO", text[1]) && text[1];
    for (;; length++) {
        char c = text[length];
        bool sign = (c == '+' || c == '-') && length && !hex && strchr("eE", text[length - 1]);
        if (!isalnum((unsigned char)c) && c != '_' && c != '.' && !sign)
            return length;
    }
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || (unsigned char)text[length] >= 128)
        length++;
    return length;
}

static size_t operator_length(const char *text)
{
    static const char *const longer[] = {"**=", "//=", ">>=", "<<=", "...", "->", ":=", "==", "!=", "<=", ">=", "**",
                                         "//",  ">>",  "<<",  "+=",  "-=",  "*=", "/=", "%=", "@=", "&=", "|=", "^="};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (!strncmp(text, longer[i], strlen(longer[i])))
            return strlen(longer[i]);
    return strchr("+-*/%@<>=()[]{},:.;|&^~", *text) ? 1 : 0;
}

static void open_bracket(struct lexer *x)
{
    if (x->open_count == NESTED_MAX)
        fail(x, here(x), "brackets are nested too deep");
    else
        x->open[x->open_count++] = x->count - 1;
}

static void close_bracket(struct lexer *x, char closing)
{
    char opening = closing == ')' ? '(' : closing == ']' ? '[' : '{';
    if (!x->open_count || *x->tokens[x->open[x->open_count - 1]].text != opening)
        fail(x, here(x), "this bracket closes none");
    else
        x->tokens[x->open[--x->open_count]].match = x->count - 1;
}

static void read_operator(struct lexer *x)
{
    char first = x->text[x->at];
    size_t length = operator_length(x->text + x->at);
    if (!length) {
        fail(x, here(x), "a character that begins nothing");
        return;
    }
    add(x, TOKEN_OPERATOR, length);
    if (strchr("([{", first))
        open_bracket(x);
    else if (strchr(")]}", first))
        close_bracket(x, first);
    x->at += length;
}

/* The end of a line; within brackets it counts for nothing. */
static void end_line(struct lexer *x)
{
    bool something = x->count && x->tokens[x->count - 1].kind != TOKEN_NEWLINE &&
                     x->tokens[x->count - 1].kind != TOKEN_INDENT && x->tokens[x->count - 1].kind != TOKEN_DEDENT;
    if (!x->open_count && something)
        add(x, TOKEN_NEWLINE, 0);
    next_line(x);
    if (!x->open_count)
        begin_line(x);
}

static bool is_continued(const char *text)
{
    return text[0] == '\\' && (text[1] == '\n' || (text[1] == '\r' && text[2] == '\n'));
}

static void read_token(struct lexer *x)
{
    const char *now = x->text + x->at;
    size_t length;
    if (*now == '\n') {
        end_line(x);
    } else if (is_continued(now)) {
        x->at += now[1] == '\r' ? 2 : 1;
        next_line(x);
    } else if (strchr(" \t\r\f", *now)) {
        x->at++;
    } else if (*now == '#') {
        x->at += strcspn(now, "\n");
    } else if (is_quote(now)) {
        read_string(x);
    } else if (isdigit((unsigned char)*now) || (*now == '.' && isdigit((unsigned char)now[1]))) {
        length = number_length(now);
        add(x, TOKEN_NUMBER, length);
        x->at += length;
    } else if ((length = name_length(now)) != 0) {
        add(x, TOKEN_NAME, length);
        x->at += length;
    } else {
        read_operator(x);
    }
}

struct token *python_tokens(const struct python_request *request, size_t *count)
{
    struct lexer x = {.request = request, .text = request->text, .line = 1};
    x.at += !strncmp(x.text, "\xef\xbb\xbf", 3) ? 3 : 0;
    x.line_start = x.at;
    begin_line(&x);
    while (x.text[x.at] && !x.failed)
        read_token(&x);
    if (!x.failed && x.open_count)
        fail(&x, x.tokens[x.open[x.open_count - 1]].at, "the bracket that opens here is not closed");
    if (x.failed)
        return NULL;
    add(&x, TOKEN_NEWLINE, 0);
    while (x.depth)
        close_block(&x);
    add(&x, TOKEN_END, 0);
    *count = x.count;
    return x.tokens;
}
