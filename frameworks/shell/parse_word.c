/* SPDX-License-Identifier: Apache-2.0 */
/* Words, assignments and redirections of a script, and what stands between them. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

void parser_fail(struct parser *p, const char *expected)
{
    if (!p->failed && !p->shell->broken)
        shell_refuse(p->shell, p->number, p->at < p->end ? p->at : p->end,
                     "this is not understood as a script of bash; expected %s", expected);
    p->failed = true;
}

/* ---- what stands between ---- */

void parser_blanks(struct parser *p)
{
    const char *text = p->source->text;
    while (p->at < p->end) {
        char c = text[p->at];
        if (c == '\\' && text[p->at + 1] == '\n')
            p->at += 2;
        else if (c == '#' && (!p->at || strchr(" \t\n;&|()<>", text[p->at - 1])))
            p->at += strcspn(text + p->at, "\n");
        else if (c == ' ' || c == '\t')
            p->at++;
        else
            break;
    }
    if (p->at > p->end)
        p->at = p->end;
}

/* Whether a line, of which tabs may be left out, is the word that ends a document. */
static bool ends_document(const struct parser *p, size_t line, size_t stop, const char *mark, bool tabs)
{
    const char *text = p->source->text;
    while (tabs && line < stop && text[line] == '\t')
        line++;
    return stop - line == strlen(mark) && !strncmp(text + line, mark, stop - line);
}

/* The lines of a document; the parser is at the first of them. */
static void read_document(struct parser *p, struct redirect *document)
{
    const char *text = p->source->text;
    char *mark = arena_alloc(p->shell->arena, document->word.to - document->word.from + 1);
    size_t length = 0;
    for (size_t i = document->word.from; i < document->word.to; i++) {
        bool quote = strchr("'\"\\", text[i]) != NULL;
        document->literal |= quote;
        if (!quote)
            mark[length++] = text[i];
    }
    document->from = (uint32_t)p->at;
    while (p->at < p->end) {
        const char *next = memchr(text + p->at, '\n', p->end - p->at);
        size_t stop = next ? (size_t)(next - text) : p->end;
        document->to = (uint32_t)p->at;
        if (ends_document(p, p->at, stop, mark, document->tabs)) {
            p->at = stop;
            return;
        }
        p->at = next ? stop + 1 : p->end;
    }
    document->to = (uint32_t)p->end;
    if (p->end < p->source->size) /* of $(...), which it may hold the end of */
        parser_fail(p, arena_print(p->shell->arena, "the end '%s' of a document", mark));
}

void parser_lines(struct parser *p)
{
    for (parser_blanks(p); p->at < p->end && p->source->text[p->at] == '\n'; parser_blanks(p)) {
        p->at++;
        for (; p->documents; p->documents = p->documents->later)
            read_document(p, p->documents);
    }
}

bool parser_next_is(const struct parser *p, const char *word)
{
    size_t length = strlen(word), end = shell_word_end(p->source, p->at, p->end);
    return end - p->at == length && !strncmp(p->source->text + p->at, word, length);
}

bool parser_take(struct parser *p, const char *word)
{
    parser_lines(p);
    if (!parser_next_is(p, word))
        return false;
    p->at += strlen(word);
    return true;
}

/* ---- words ---- */

/* Behind the ] of a subscript that begins at `at`; 0: it does not end. */
static size_t subscript_end(const struct parser *p, size_t at)
{
    unsigned depth = 0;
    for (size_t i = at; i < p->end && p->source->text[i] != '\n';) {
        char c = p->source->text[i];
        depth += c == '[';
        if (c == ']' && --depth == 0)
            return i + 1;
        if (c == '\'' || c == '"')
            i = shell_quote_end(p->source, i, p->end);
        else
            i = c == '$' ? shell_dollar_end(p->source, i, p->end) : i + 1;
    }
    return 0;
}

static void find_assignment(const struct parser *p, struct raw *raw)
{
    const char *text = p->source->text;
    size_t name = shell_name_end(p->source, p->at, p->end), at = name, close;
    if (name == p->at)
        return;
    if (at < p->end && text[at] == '[' && (close = subscript_end(p, at))) {
        raw->index_from = (uint32_t)at + 1;
        raw->index_to = (uint32_t)close - 1;
        at = close;
    }
    bool more = at + 1 < p->end && text[at] == '+' && text[at + 1] == '=';
    if (at >= p->end || (text[at] != '=' && !more)) {
        raw->index_from = raw->index_to = 0;
        return;
    }
    raw->name = (uint32_t)(name - p->at);
    raw->more = more;
    raw->value = (uint32_t)(at + 1 + more);
    raw->array = raw->value < p->end && text[raw->value] == '(';
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a $NAME ends at a place and goes on behind the end of the line. */
static bool cuts_name(const char *text, size_t from, size_t at)
{
    size_t start = at;
    while (start > from && is_letter(text[start - 1]))
        start--;
    return start < at && start > from && strchr("${", text[start - 1]) && is_letter(text[at + 2]);
}

/* A line that goes on within $NAME, NAME=, $(( or )), which bash reads as one. */
static bool is_cut(const struct parser *p, const struct raw *raw)
{
    const char *text = p->source->text;
    for (size_t i = raw->from; i + 2 < raw->to; i++) {
        if (text[i] != '\\' || text[i + 1] != '\n')
            continue;
        char before = i > raw->from ? text[i - 1] : ' ';
        bool bracket = strchr("()", before) && strchr("()", text[i + 2]);
        if (before == '$' || bracket || cuts_name(text, raw->from, i) ||
            (shell_name_end(p->source, raw->from, i) == i && memchr(text + i, '=', raw->to - i)))
            return true;
    }
    return false;
}

/* Whether the words of an array are parted by what is no blank. */
static bool has_operators(const struct parser *p, const struct raw *raw)
{
    const char *text = p->source->text;
    for (size_t at = raw->value + 1; at + 1 < raw->to;) {
        size_t end = at + 1;
        if (text[at] == '#')
            end = at + strcspn(text + at, "\n");
        else if (text[at] == '\\' && text[at + 1] == '\n')
            end = at + 2;
        else if (strchr("<>", text[at]) && text[at + 1] == '(')
            end = shell_bracket_end(p->source, at + 1, raw->to - 1);
        else if (!strchr(" \t\n", text[at]))
            end = shell_word_end(p->source, at, raw->to - 1);
        if (end == at)
            return true;
        at = end;
    }
    return false;
}

/* NAME[ begins an element where a command begins, and bash reads on to its ], over blanks and lines. */
static bool is_half_element(const struct parser *p, size_t to)
{
    size_t name = shell_name_end(p->source, p->at, p->end);
    return name > p->at && name < p->end && p->source->text[name] == '[' && subscript_end(p, name) - 1 >= to;
}

/* ?(...) and its relatives, which bash reads elsewhere than between [[ and ]] only after shopt -s extglob. */
static bool has_group(const struct parser *p, size_t from, size_t to)
{
    const char *text = p->source->text;
    const char *set = strstr(text, "extglob"), *line = set ? strchr(set, '\n') : NULL;
    bool other = p->source != &p->shell->sources[0] && strstr(p->shell->sources[0].text, "extglob");
    if (p->test || (set ? line && line < text + from : other)) /* a line is read before shopt in it runs */
        return false;
    for (size_t at = from; at < to;) {
        if (text[at] == '(' && at > from && strchr("?*+@!", text[at - 1]))
            return true;
        at = text[at] == '\\'                                ? at + 2
             : strchr("'\"`", text[at])                      ? shell_quote_end(p->source, at, to)
             : text[at] == '$'                               ? shell_dollar_end(p->source, at, to)
             : strchr("<>", text[at]) && text[at + 1] == '(' ? shell_bracket_end(p->source, at + 1, to)
                                                             : at + 1;
    }
    return false;
}

bool parser_word(struct parser *p, bool assignments, struct raw *raw)
{
    const char *text = p->source->text;
    *raw = (struct raw){.from = (uint32_t)p->at};
    if (p->at >= p->end)
        return false;
    if (assignments)
        find_assignment(p, raw);
    bool process = (text[p->at] == '<' || text[p->at] == '>') && text[p->at + 1] == '(';
    size_t to = raw->array  ? shell_bracket_end(p->source, raw->value, p->end)
                : process   ? shell_bracket_end(p->source, p->at + 1, p->end)
                : raw->name ? shell_word_end(p->source, raw->value, p->end)
                            : shell_word_end(p->source, p->at, p->end);
    if (raw->array && text[to - 1] != ')')
        parser_fail(p, "the ) of an array");
    else if (shell_word_is_open(p->source, raw->name ? raw->value : raw->from, p->end))
        parser_fail(p, "the end of a quote or bracket that begins here");
    raw->to = (uint32_t)to;
    if (raw->array && !p->failed && has_operators(p, raw))
        parser_fail(p, "blanks between the words of an array");
    if (is_cut(p, raw))
        parser_fail(p, "a name on one line");
    if (assignments && !raw->name && is_half_element(p, to))
        parser_fail(p, "the ] of an element");
    if (!raw->array && has_group(p, raw->from, to))
        parser_fail(p, "a blank, or shopt -s extglob before this");
    p->at = to;
    return to > raw->from;
}

void parser_append(struct parser *p, struct step *step, size_t *room, const struct raw *raw)
{
    if (step->count == *room) {
        size_t more = *room ? 2 * *room : 8;
        struct raw *words = arena_array(p->shell->arena, more, sizeof *words);
        if (step->count)
            memcpy(words, step->words, step->count * sizeof *words);
        step->words = words;
        *room = more;
    }
    step->words[step->count++] = *raw;
}

/* ---- redirections ---- */

static const struct {
    const char *text;
    enum redirect_kind kind;
    int stream;
} operators[] = {
    {"<<<", REDIRECT_STRING, 0}, {"<<-", REDIRECT_DOCUMENT, 0}, {"<<", REDIRECT_DOCUMENT, 0},
    {"&>>", REDIRECT_APPEND, 3}, {"&>", REDIRECT_TO, 3},        {">>", REDIRECT_APPEND, 1},
    {">&", REDIRECT_COPY, 1},    {">|", REDIRECT_TO, 1},        {"<>", REDIRECT_FROM, 0},
    {"<&", REDIRECT_COPY, 0},    {">", REDIRECT_TO, 1},         {"<", REDIRECT_FROM, 0},
};

/* Digits, or {NAME}, right before the operator. */
static size_t stream_end(const struct parser *p, int *stream)
{
    size_t at = p->at;
    const char *text = p->source->text;
    *stream = -2;
    while (at < p->end && isdigit((unsigned char)text[at]))
        at++;
    if (at > p->at)
        *stream = at == p->at + 1 && text[p->at] <= '2' ? text[p->at] - '0' : -1;
    else if (text[at] == '{') {
        size_t name = shell_name_end(p->source, at + 1, p->end);
        if (name > at + 1 && name < p->end && text[name] == '}') {
            at = name + 1;
            *stream = -1;
        }
    }
    return at < p->end && strchr("<>", text[at]) ? at : p->at;
}

static void remember_document(struct parser *p, struct redirect *redirect)
{
    struct redirect **last = &p->documents;
    while (*last)
        last = &(*last)->later;
    *last = redirect;
}

bool parser_redirect(struct parser *p, struct redirect **list)
{
    const char *text = p->source->text;
    int stream = -2;
    size_t at = p->at < p->end ? stream_end(p, &stream) : p->at, which = 0,
           kinds = sizeof operators / sizeof *operators;
    bool process = at == p->at && at + 1 < p->end && strchr("<>", text[at]) && text[at + 1] == '(';
    while (which < kinds && strncmp(text + at, operators[which].text, strlen(operators[which].text)) != 0)
        which++;
    if (p->at >= p->end || which == kinds || process || at + strlen(operators[which].text) > p->end)
        return false;
    struct redirect *redirect = arena_alloc(p->shell->arena, sizeof *redirect);
    redirect->kind = operators[which].kind;
    redirect->stream = stream == -2 || at == p->at ? operators[which].stream : stream;
    redirect->tabs = !strcmp(operators[which].text, "<<-");
    p->at = at + strlen(operators[which].text);
    parser_blanks(p);
    /* To bash what stands right before < or > belongs to that, but for the stream of >& and <&. */
    bool next = redirect->kind != REDIRECT_COPY && p->at < p->end && stream_end(p, &stream) > p->at;
    if (next || !parser_word(p, false, &redirect->word))
        parser_fail(p, "a file behind the redirection");
    while (*list)
        list = &(*list)->next;
    if (redirect->kind == REDIRECT_DOCUMENT)
        remember_document(p, redirect);
    *list = redirect;
    return true;
}
