/* SPDX-License-Identifier: Apache-2.0 */
/* [ ... ] by the number of its words, as POSIX has it, and [[ ... ]] as bash does. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/shell/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TRUE = 0, FALSE = 1, WRONG = 2, OPEN = -1 };

static int negate(int state)
{
    return state == TRUE ? FALSE : state == FALSE ? TRUE : state;
}

static bool is(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(text, *list))
            return true;
    return false;
}

static const char *const numbers[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge", NULL};
static const char *const strings[] = {"=", "==", "!=", NULL};
static const char *const others[] = {"<", ">", "=~", "-nt", "-ot", "-ef", NULL};
static const char *const unary[] = {"-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-N", "-O", "-G", "-p",
                                    "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-o", "-v", "-R", "-n", "-z", NULL};

static int compare_counts(const char *how, int64_t a, int64_t b)
{
    bool holds = !strcmp(how, "-eq")   ? a == b
                 : !strcmp(how, "-ne") ? a != b
                 : !strcmp(how, "-lt") ? a < b
                 : !strcmp(how, "-le") ? a <= b
                 : !strcmp(how, "-gt") ? a > b
                                       : a >= b;
    return holds ? TRUE : FALSE;
}

/* [ knows decimal numbers only. */
static bool decimal(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end > text && !end[strspn(end, " \t")] && !errno;
}

static int compare(struct shell *s, const struct cells *left, const char *how, const struct cells *right)
{
    uint32_t a_open, b_open;
    struct cells a = shell_without_free(s, left), b = shell_without_free(s, right);
    const char *a_text = shell_text(s, &a, &a_open), *b_text = shell_text(s, &b, &b_open);
    int64_t x, y;
    if (a_open || b_open)
        return OPEN;
    if (is(how, strings))
        return !strcmp(a_text, b_text) == (how[0] != '!') ? TRUE : FALSE;
    if (!is(how, numbers))
        return OPEN;
    return decimal(a_text, &x) && decimal(b_text, &y) ? compare_counts(how, x, y) : WRONG;
}

static int has_text(struct shell *s, const struct cells *word)
{
    int has = shell_has_text(s, word);
    return has < 0 ? OPEN : has ? TRUE : FALSE;
}

/* Files that are there beside the script are there for it, `filled` if they hold anything; of others nobody knows. */
static int file_state(struct shell *s, const struct cells *word, bool filled)
{
    bool there = false;
    const char *path = shell_resolve(s, word), *why;
    const struct cells *text = path ? shell_file(s, path, &there, &why) : NULL;
    if (!text || !there)
        return OPEN;
    return filled ? has_text(s, text) : TRUE;
}

static int is_set(struct shell *s, const char *name)
{
    size_t length = shell_name_length(name);
    if (!length || name[length])
        return OPEN;
    const struct variable *variable = shell_find(s, name);
    if (variable)
        return variable->set && variable->value.unknown                                                     ? OPEN
               : variable->set && shell_element(s, &variable->value, variable->value.keyed ? "0" : NULL, 0) ? TRUE
                                                                                                            : FALSE;
    if (s->state->lost)
        return OPEN;
    shell_is_free(s, name);
    return FALSE;
}

static int one(struct shell *s, const char *how, const struct cells *word)
{
    uint32_t open;
    const char *text = shell_text(s, word, &open);
    if (!strcmp(how, "-n") || !strcmp(how, "-z")) {
        int has = shell_has_text(s, word);
        return has < 0 ? OPEN : has == (how[1] == 'n') ? TRUE : FALSE;
    }
    if (!strcmp(how, "-v"))
        return open ? OPEN : is_set(s, text);
    if (strchr("efrs", how[1]))
        return file_state(s, word, how[1] == 's');
    return OPEN;
}

/* ---- [ ... ] ---- */

/* Words that may be none or several make the number of words unknown. */
static bool has_many(const struct cells *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < words[i].count; k++)
            if (words[i].items[k].c == CELL_OPEN && !words[i].items[k].quoted)
                return true;
    return false;
}

static const char *text_of(struct shell *s, const struct cells *word)
{
    uint32_t open;
    const char *text = shell_text(s, word, &open);
    return open ? "" : text;
}

static int test_words(struct shell *s, const struct cells *words, size_t count);

/* The first -a or -o between words; `count`: there is none. */
static size_t find_join(struct shell *s, const struct cells *words, size_t count, const char *how)
{
    size_t i = 1;
    while (i + 1 < count && strcmp(text_of(s, &words[i]), how) != 0)
        i++;
    return i + 1 < count ? i : count;
}

static int test_both(struct shell *s, const struct cells *words, size_t count, size_t at)
{
    int left = test_words(s, words, at), right = test_words(s, words + at + 1, count - at - 1);
    if (left == WRONG || right == WRONG)
        return WRONG;
    if (left == FALSE || right == FALSE)
        return FALSE;
    return left == OPEN || right == OPEN ? OPEN : TRUE;
}

static int test_words(struct shell *s, const struct cells *words, size_t count)
{
    if (!count)
        return FALSE;
    const char *first = text_of(s, &words[0]), *second = count > 1 ? text_of(s, &words[1]) : "";
    if (count == 1)
        return has_text(s, &words[0]);
    if (count == 2 && !strcmp(first, "!"))
        return negate(has_text(s, &words[1]));
    if (count == 2)
        return is(first, unary) ? one(s, first, &words[1]) : WRONG;
    if (count == 3 && (is(second, strings) || is(second, numbers) || is(second, others)))
        return compare(s, &words[0], second, &words[2]);
    if (find_join(s, words, count, "-o") < count)
        return OPEN;
    if (!strcmp(first, "!"))
        return negate(test_words(s, words + 1, count - 1));
    if (count == 3 && strcmp(second, "-a") != 0 && *first && strcmp(first, "(") != 0 && *second)
        return WRONG;
    size_t join = find_join(s, words, count, "-a");
    return join < count ? test_both(s, words, count, join) : OPEN;
}

int shell_test(struct shell *s, const struct cells *words, size_t count)
{
    return has_many(words, count) ? OPEN : test_words(s, words, count);
}

/* ---- [[ ... ]] ---- */

struct test {
    struct shell *s;
    const struct step *step;
    size_t at;
    unsigned depth;
    bool dead; /* behind && or || that have decided */
};

static int either(struct test *t);

static bool raw_is(const struct test *t, size_t ahead, const char *text)
{
    if (t->at + ahead >= t->step->count)
        return false;
    const struct raw *raw = &t->step->words[t->at + ahead];
    size_t length = strlen(text);
    return raw->to - raw->from == length && !strncmp(t->s->sources[t->step->source].text + raw->from, text, length);
}

/* Nothing is cut between double brackets; arrays become one word. */
static struct cells expand_one(struct test *t)
{
    struct cells cells = {0}, out = {0};
    const struct raw *raw = &t->step->words[t->at++];
    if (!t->dead)
        shell_expand(t->s, t->step->source, raw->from, raw->to, false, &cells);
    for (size_t i = 0; i < cells.count; i++) {
        struct cell cell = cells.items[i];
        if (cell.c == CELL_BREAK)
            cell.c = ' ';
        if (cell.c != CELL_EMPTY)
            shell_add(t->s, &out, cell);
    }
    return out;
}

static int counts(struct test *t, const struct cells *left, const char *how, const struct cells *right)
{
    uint32_t open;
    int64_t a, b;
    const char *text = shell_text(t->s, left, &open);
    if (open || shell_arithmetic(t->s, text, &a, &open, t->step->source, t->step->at) != ARITHMETIC_KNOWN)
        return OPEN;
    text = shell_text(t->s, right, &open);
    if (open || shell_arithmetic(t->s, text, &b, &open, t->step->source, t->step->at) != ARITHMETIC_KNOWN)
        return OPEN;
    return compare_counts(how, a, b);
}

static int two(struct test *t)
{
    struct shell *s = t->s;
    uint32_t open;
    struct cells first = expand_one(t), left = shell_without_free(s, &first);
    const struct raw *raw = &t->step->words[t->at++];
    const char *how = arena_copy_part(s->arena, s->sources[t->step->source].text + raw->from, raw->to - raw->from);
    struct cells second = expand_one(t), right = shell_without_free(s, &second);
    if (t->dead)
        return OPEN;
    if (is(how, numbers))
        return counts(t, &left, how, &right);
    if (!is(how, strings)) {
        if (!strcmp(how, "=~"))
            shell_set_unknown(s, "BASH_REMATCH",
                              shell_unknown(s, "BASH_REMATCH", "a regular expression", t->step->source, t->step->at));
        return OPEN;
    }
    const char *text = shell_text(s, &left, &open);
    int match = open ? -1 : shell_matches(s, shell_pattern(s, &right), text);
    return match < 0 ? OPEN : match == (how[0] != '!') ? TRUE : FALSE;
}

static int primary(struct test *t)
{
    struct shell *s = t->s;
    if (++t->depth > 32 || t->at >= t->step->count)
        return OPEN;
    if (raw_is(t, 0, "!")) {
        t->at++;
        return negate(primary(t));
    }
    if (raw_is(t, 0, "(")) {
        t->at++;
        int state = either(t);
        t->at += raw_is(t, 0, ")");
        return state;
    }
    const struct raw *next = t->at + 1 < t->step->count ? &t->step->words[t->at + 1] : NULL;
    const char *how =
        next ? arena_copy_part(s->arena, s->sources[t->step->source].text + next->from, next->to - next->from) : "";
    if (t->at + 2 < t->step->count && (is(how, strings) || is(how, numbers) || is(how, others)))
        return two(t);
    const struct raw *raw = &t->step->words[t->at];
    const char *text = arena_copy_part(s->arena, s->sources[t->step->source].text + raw->from, raw->to - raw->from);
    bool operator= is(text, unary) && next;
    t->at += operator;
    struct cells cells = expand_one(t);
    return t->dead ? OPEN : operator? one(s, text, &cells) : has_text(s, &cells);
}

/* What stands behind a condition that is not known may be expanded or not: with effects, that matters. */
static void check_effects(struct test *t, int state)
{
    const struct source *source = &t->s->sources[t->step->source];
    for (size_t i = t->at; state == OPEN && !t->dead && i < t->step->count; i++) {
        const struct raw *raw = &t->step->words[i];
        const char *text = arena_copy_part(t->s->arena, source->text + raw->from, raw->to - raw->from);
        if (strstr(text, "((") || strstr(text, ":=")) {
            shell_lose(t->s, "a part of a condition that is not known", t->step->source, raw->from);
            return;
        }
    }
}

static int both(struct test *t)
{
    int state = primary(t);
    while (raw_is(t, 0, "&&")) {
        bool dead = t->dead;
        t->at++;
        check_effects(t, state);
        t->dead |= state == FALSE;
        int other = primary(t);
        t->dead = dead;
        state = state == FALSE || other == FALSE ? FALSE : state == TRUE ? other : OPEN;
    }
    return state;
}

static int either(struct test *t)
{
    int state = both(t);
    while (raw_is(t, 0, "||")) {
        bool dead = t->dead;
        t->at++;
        check_effects(t, state);
        t->dead |= state == TRUE;
        int other = both(t);
        t->dead = dead;
        state = state == TRUE || other == TRUE ? TRUE : state == FALSE ? other : OPEN;
    }
    return state;
}

int shell_long_test(struct shell *s, const struct step *step)
{
    struct test test = {.s = s, .step = step};
    int state = either(&test);
    if (test.at != step->count)
        shell_refuse(s, step->source, step->at, "this is not understood as a condition of bash");
    return state;
}
