/* SPDX-License-Identifier: Apache-2.0 */
/* Commands, lists, conditions and loops of a script as a tree. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

enum { NEST_MAX = 40 };

static struct step *parse_list(struct parser *p, const char *const *until);
static struct step *parse_command(struct parser *p);

static struct step *new_step(struct parser *p, enum step_kind kind)
{
    struct step *step = arena_alloc(p->shell->arena, sizeof *step);
    step->kind = kind;
    step->source = p->number;
    step->at = (uint32_t)p->at;
    return step;
}

static bool at_text(const struct parser *p, const char *text)
{
    size_t length = strlen(text);
    return p->at + length <= p->end && !strncmp(p->source->text + p->at, text, length);
}

static void need(struct parser *p, const char *word)
{
    if (!parser_take(p, word))
        parser_fail(p, arena_print(p->shell->arena, "'%s'", word));
}

/* A list of commands in which bash wants one at least. */
static struct step *parse_some(struct parser *p, const char *const *until)
{
    struct step *list = parse_list(p, until);
    if (!list->first && !p->failed)
        parser_fail(p, "a command");
    return list;
}

static struct step *body_until(struct parser *p, const char *word)
{
    const char *const until[] = {word, NULL};
    struct step *body = parse_some(p, until);
    need(p, word);
    return body;
}

/* ---- compound commands ---- */

static struct step *parse_if(struct parser *p)
{
    static const char *const ends[] = {"elif", "else", "fi", NULL};
    struct step *step = new_step(p, STEP_IF);
    step->first = body_until(p, "then");
    step->second = parse_some(p, ends);
    if (p->failed)
        return step;
    if (++p->nest > NEST_MAX)
        parser_fail(p, "fewer branches");
    else if (parser_take(p, "elif")) {
        step->third = parse_if(p);
        p->nest--;
        return step;
    }
    p->nest--;
    if (parser_take(p, "else"))
        step->third = body_until(p, "fi");
    else
        need(p, "fi");
    return step;
}

static struct step *parse_item(struct parser *p)
{
    static const char *const end[] = {"esac", NULL};
    struct step *item = new_step(p, STEP_ITEM);
    size_t room = 0;
    struct raw raw;
    if (p->source->text[p->at] == '(')
        p->at++;
    for (parser_blanks(p); !p->failed && parser_word(p, false, &raw); parser_blanks(p)) {
        parser_append(p, item, &room, &raw);
        parser_blanks(p);
        if (!at_text(p, "|"))
            break;
        p->at++;
    }
    if (!item->count || !at_text(p, ")"))
        parser_fail(p, "patterns and ')'");
    p->at++;
    item->first = parse_list(p, end);
    item->ending = at_text(p, ";;&") ? '*' : at_text(p, ";&") ? '&' : ';';
    p->at += at_text(p, ";;&") ? 3 : at_text(p, ";;") || at_text(p, ";&") ? 2 : 0;
    return item;
}

static struct step *parse_case(struct parser *p)
{
    struct step *step = new_step(p, STEP_CASE), **last = &step->first;
    struct raw raw;
    size_t room = 0;
    parser_blanks(p);
    if (!parser_word(p, false, &raw))
        parser_fail(p, "a word behind 'case'");
    parser_append(p, step, &room, &raw);
    need(p, "in");
    for (parser_lines(p); !p->failed && p->at < p->end && !parser_next_is(p, "esac"); parser_lines(p)) {
        *last = parse_item(p);
        last = &(*last)->next;
    }
    need(p, "esac");
    return step;
}

static struct step *parse_body(struct parser *p)
{
    parser_lines(p);
    if (at_text(p, ";"))
        p->at++;
    parser_lines(p);
    if (parser_take(p, "{"))
        return body_until(p, "}");
    need(p, "do");
    return body_until(p, "done");
}

/* Behind (( to before the )) that closes it; false: there is none, so these are two subshells. */
static bool double_bracket(const struct parser *p, size_t at, size_t *close)
{
    size_t end = shell_bracket_end(p->source, at, p->end);
    *close = end - 2;
    return end >= at + 4 && end <= p->end && !strncmp(p->source->text + end - 2, "))", 2) &&
           shell_bracket_end(p->source, at + 1, p->end) == end - 1;
}

/* The three parts of for ((A; B; C)). */
static struct step *parse_each(struct parser *p)
{
    struct step *step = new_step(p, STEP_EACH);
    size_t close, room = 0, from = p->at + 2;
    if (!double_bracket(p, p->at, &close)) {
        parser_fail(p, "'))'");
        return step;
    }
    for (size_t i = from; i <= close; i++)
        if (i == close || p->source->text[i] == ';') {
            parser_append(p, step, &room, &(struct raw){.from = (uint32_t)from, .to = (uint32_t)i});
            from = i + 1;
        }
    if (step->count != 3)
        parser_fail(p, "three parts between ((and))");
    p->at = close + 2;
    step->first = parse_body(p);
    return step;
}

static struct step *parse_for(struct parser *p, enum step_kind kind)
{
    parser_blanks(p);
    if (at_text(p, "((") && kind == STEP_FOR)
        return parse_each(p);
    struct step *step = new_step(p, kind);
    size_t end = shell_name_end(p->source, p->at, p->end), room = 0;
    struct raw raw;
    if (end == p->at)
        parser_fail(p, "the name of a variable");
    step->name = arena_print(p->shell->arena, "%.*s", (int)(end - p->at), p->source->text + p->at);
    p->at = end;
    step->bare = !parser_take(p, "in");
    for (parser_blanks(p); !step->bare && !p->failed && parser_word(p, false, &raw); parser_blanks(p))
        parser_append(p, step, &room, &raw);
    step->first = parse_body(p);
    return step;
}

static struct step *parse_while(struct parser *p, enum step_kind kind)
{
    struct step *step = new_step(p, kind);
    step->first = body_until(p, "do");
    step->second = body_until(p, "done");
    return step;
}

/* A regular expression may have brackets and bars. */
static bool parse_expression(struct parser *p, struct raw *raw)
{
    *raw = (struct raw){.from = (uint32_t)p->at};
    while (p->at < p->end && !strchr(" \t\n", p->source->text[p->at])) {
        char c = p->source->text[p->at];
        p->at = c == '('            ? shell_bracket_end(p->source, p->at, p->end)
                : strchr("'\"`", c) ? shell_quote_end(p->source, p->at, p->end)
                : c == '$'          ? shell_dollar_end(p->source, p->at, p->end)
                                    : p->at + (c == '\\' ? 2 : 1);
    }
    raw->to = (uint32_t)(p->at < p->end ? p->at : p->end);
    return raw->to > raw->from;
}

static struct step *parse_test(struct parser *p)
{
    struct step *step = new_step(p, STEP_TEST);
    size_t room = 0;
    bool expression = false;
    p->test = true;
    for (parser_lines(p); !p->failed && p->at < p->end && !parser_next_is(p, "]]"); parser_lines(p)) {
        struct raw raw = {.from = (uint32_t)p->at};
        bool two = at_text(p, "&&") || at_text(p, "||");
        if (expression && parse_expression(p, &raw))
            expression = false;
        else if (two || strchr("()<>", p->source->text[p->at]))
            raw.to = (uint32_t)(p->at += two ? 2 : 1);
        else if (!parser_word(p, false, &raw))
            parser_fail(p, "']]'");
        expression = raw.to == raw.from + 2 && !strncmp(p->source->text + raw.from, "=~", 2);
        parser_append(p, step, &room, &raw);
    }
    p->test = false;
    if (!parser_is_condition(p, step))
        parser_fail(p, "an operator of [[ ]] between words");
    need(p, "]]");
    return step;
}

static struct step *parse_brackets(struct parser *p)
{
    static const char *const end[] = {NULL};
    size_t close, room = 0;
    if (at_text(p, "((") && double_bracket(p, p->at, &close)) {
        struct step *step = new_step(p, STEP_ARITHMETIC);
        parser_append(p, step, &room, &(struct raw){.from = (uint32_t)p->at + 2, .to = (uint32_t)close});
        p->at = close + 2;
        return step;
    }
    struct step *step = new_step(p, STEP_SUBSHELL);
    p->at++;
    step->first = parse_some(p, end);
    parser_lines(p);
    if (!at_text(p, ")"))
        parser_fail(p, "')'");
    p->at++;
    return step;
}

static struct step *parse_function(struct parser *p, size_t name_end)
{
    struct step *step = new_step(p, STEP_FUNCTION);
    if (name_end == p->at || memchr(p->source->text + p->at, '[', name_end - p->at))
        parser_fail(p, "the name of a function");
    step->name = arena_print(p->shell->arena, "%.*s", (int)(name_end - p->at), p->source->text + p->at);
    p->at = name_end;
    parser_blanks(p);
    if (at_text(p, "(")) {
        p->at++;
        parser_blanks(p);
        if (!at_text(p, ")"))
            parser_fail(p, "')'");
        p->at++;
    }
    parser_lines(p);
    step->first = parse_command(p);
    if (!p->failed && (!step->first || step->first->kind == STEP_PLAIN || step->first->kind == STEP_FUNCTION))
        parser_fail(p, "the body of a function");
    return step;
}

static struct step *parse_compound(struct parser *p)
{
    static const struct {
        const char *word;
        enum step_kind kind;
    } words[] = {{"if", STEP_IF},       {"case", STEP_CASE},   {"for", STEP_FOR},
                 {"while", STEP_WHILE}, {"until", STEP_UNTIL}, {"function", STEP_FUNCTION},
                 {"{", STEP_GROUP},     {"[[", STEP_TEST},     {"select", STEP_OTHER}};
    if (at_text(p, "("))
        return parse_brackets(p);
    size_t which = 0, count = sizeof words / sizeof *words;
    while (which < count && !parser_next_is(p, words[which].word))
        which++;
    if (which == count)
        return NULL;
    struct step *step = new_step(p, words[which].kind);
    p->at += strlen(words[which].word);
    switch (words[which].kind) {
    case STEP_IF:
        return parse_if(p);
    case STEP_CASE:
        return parse_case(p);
    case STEP_FOR:
    case STEP_OTHER:
        return parse_for(p, words[which].kind);
    case STEP_WHILE:
    case STEP_UNTIL:
        return parse_while(p, words[which].kind);
    case STEP_TEST:
        return parse_test(p);
    case STEP_FUNCTION:
        parser_blanks(p);
        return parse_function(p, shell_word_end(p->source, p->at, p->end));
    default:
        step->first = body_until(p, "}");
        return step;
    }
}

/* ---- plain commands ---- */

static bool declares(const struct parser *p, const struct raw *raw)
{
    static const char *const words[] = {"export", "declare", "local", "readonly", "typeset", NULL};
    for (const char *const *word = words; *word; word++)
        if (raw->to - raw->from == strlen(*word) && !strncmp(p->source->text + raw->from, *word, strlen(*word)))
            return true;
    return false;
}

static struct step *parse_plain(struct parser *p)
{
    struct step *step = new_step(p, STEP_PLAIN);
    struct raw raw;
    size_t room = 0;
    bool assignments = true;
    for (parser_blanks(p); !p->failed && p->at < p->end; parser_blanks(p)) {
        if (parser_redirect(p, &step->redirects))
            continue;
        if (!parser_word(p, assignments, &raw))
            break;
        assignments = assignments &&
                      (raw.name || declares(p, &raw) || (step->count && assignments && declares(p, &step->words[0])));
        parser_append(p, step, &room, &raw);
    }
    if (!step->count && !step->redirects)
        parser_fail(p, "a command");
    return step;
}

/* A word that only goes on with a command that began before. */
static bool goes_on(const struct parser *p)
{
    static const char *const words[] = {"in", "then", "elif", "else", "fi", "do", "done", "esac", "}", NULL};
    for (const char *const *word = words; *word; word++)
        if (parser_next_is(p, *word))
            return true;
    return false;
}

/* NAME ( ) before a body. */
static bool is_function(const struct parser *p, size_t *name_end)
{
    size_t at = shell_word_end(p->source, p->at, p->end);
    static const char *const words[] = {"function", "if", "case", "for", "while", "until", "select", "time", NULL};
    for (const char *const *word = words; *word; word++)
        if (parser_next_is(p, *word))
            return false;
    *name_end = at;
    at += strspn(p->source->text + at, " \t");
    if (at == p->at || at >= p->end || p->source->text[at] != '(' || strchr("{!", p->source->text[p->at]))
        return false;
    at += 1 + strspn(p->source->text + at + 1, " \t");
    return at < p->end && p->source->text[at] == ')' && !memchr(p->source->text + p->at, '=', *name_end - p->at);
}

static struct step *parse_command(struct parser *p)
{
    size_t name_end;
    if (++p->nest > NEST_MAX) {
        if (!p->failed && !p->shell->broken)
            shell_refuse(p->shell, p->number, p->at, "commands nested deeper than %d", NEST_MAX);
        p->failed = true;
    }
    parser_blanks(p);
    struct step *step = NULL;
    if (!p->failed && goes_on(p))
        parser_fail(p, "a command");
    if (!p->failed && is_function(p, &name_end))
        step = parse_function(p, name_end);
    else if (!p->failed && (step = parse_compound(p)))
        for (parser_blanks(p); !p->failed && parser_redirect(p, &step->redirects); parser_blanks(p))
            continue;
    else if (!p->failed)
        step = parse_plain(p);
    p->nest--;
    return step;
}

/* ---- lists ---- */

static struct step *join(struct parser *p, enum step_kind kind, struct step *first, struct step *second)
{
    struct step *step = new_step(p, kind);
    step->at = first ? first->at : step->at;
    step->first = first;
    step->second = second;
    return step;
}

static struct step *parse_pipe(struct parser *p)
{
    bool negated = false;
    parser_blanks(p);
    for (;; parser_blanks(p)) {
        if (parser_next_is(p, "!"))
            negated = !negated;
        else if (!parser_next_is(p, "time") && !parser_next_is(p, "-p"))
            break;
        p->at = shell_word_end(p->source, p->at, p->end);
    }
    struct step *step = parse_command(p);
    for (parser_blanks(p); !p->failed && at_text(p, "|") && !at_text(p, "||"); parser_blanks(p)) {
        p->at += at_text(p, "|&") ? 2 : 1;
        parser_lines(p);
        step = join(p, STEP_PIPE, step, parse_command(p));
    }
    return negated ? join(p, STEP_NOT, step, NULL) : step;
}

static struct step *parse_chain(struct parser *p)
{
    struct step *step = parse_pipe(p);
    for (parser_blanks(p); !p->failed && (at_text(p, "&&") || at_text(p, "||")); parser_blanks(p)) {
        enum step_kind kind = at_text(p, "&&") ? STEP_AND : STEP_OR;
        p->at += 2;
        parser_lines(p);
        step = join(p, kind, step, parse_pipe(p));
    }
    return step;
}

static bool list_ends(const struct parser *p, const char *const *until)
{
    if (p->at >= p->end || at_text(p, ")") || at_text(p, ";;") || at_text(p, ";&"))
        return true;
    for (const char *const *word = until; *word; word++)
        if (parser_next_is(p, *word))
            return true;
    return false;
}

static struct step *parse_list(struct parser *p, const char *const *until)
{
    struct step *list = new_step(p, STEP_LIST), **last = &list->first;
    for (parser_lines(p); !p->failed && !p->shell->broken && !list_ends(p, until); parser_lines(p)) {
        struct step *step = parse_chain(p);
        parser_blanks(p);
        if (p->failed || !step)
            break;
        if (at_text(p, "&"))
            step = join(p, STEP_BEHIND, step, NULL);
        *last = step;
        last = &step->next;
        if (at_text(p, "&") || (at_text(p, ";") && !at_text(p, ";;") && !at_text(p, ";&")))
            p->at++;
        else if (p->at < p->end && p->source->text[p->at] != '\n' && !list_ends(p, until))
            parser_fail(p, "the end of a command");
    }
    return list;
}

struct step *shell_parse(struct shell *s, uint16_t source, size_t from, size_t to)
{
    static const char *const nothing[] = {NULL};
    struct parser p = {.shell = s, .source = &s->sources[source], .number = source, .at = from, .end = to};
    p.nest = s->nest;
    struct step *list = parse_list(&p, nothing);
    parser_lines(&p);
    if (!p.failed && p.at < p.end)
        parser_fail(&p, "a command");
    return p.failed || s->broken ? NULL : list;
}
