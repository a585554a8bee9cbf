/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/readers/shell.h"

#include "base/arena.h"
#include "frameworks/readers/shell_parts.h"
#include "frameworks/readers/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { NEST_MAX = 40, COMMAND_WORDS_MAX = 4096, NOTES_MAX = 64 };

static void run_list(struct shell *s, enum shell_state active, const char *const *until, unsigned nest);

/* ---- blanks ---- */

static bool take(struct shell *s, const char *word)
{
    shell_skip(s, true);
    if (!shell_next_is(s, word))
        return false;
    s->at += strlen(word);
    return true;
}

static void note(struct shell *s, size_t from, size_t to, const char *what)
{
    struct shell_command *out = s->out;
    if (!what || from >= to || out->note_count == NOTES_MAX || !memmem(s->text + from, to - from, "--", 2))
        return;
    if (!out->notes)
        out->notes = arena_array(s->arena, NOTES_MAX, sizeof *out->notes);
    out->notes[out->note_count++] = (struct shell_note){text_place(s->file, s->text, from), what};
}

/* ---- assignments ---- */

/* NAME=..., NAME+=...: the length of the name; 0: none. */
static size_t assignment(const struct shell *s, size_t at)
{
    size_t end = at;
    while (isalnum((unsigned char)s->text[end]) || s->text[end] == '_')
        end++;
    bool starts = end > at && !isdigit((unsigned char)s->text[at]);
    bool equals = s->text[end] == '=' || (s->text[end] == '+' && s->text[end + 1] == '=');
    return starts && equals ? end - at : 0;
}

static void read_array(struct shell *s, struct cells **words, size_t *count)
{
    for (s->at++; s->at < s->size && !s->broken;) {
        shell_skip(s, true);
        if (s->at >= s->size || s->text[s->at] == ')')
            break;
        size_t end = shell_word_end(s, s->at);
        if (end == s->at)
            end++; /* an operator has no place here */
        else
            shell_expand_word(s, s->at, end, words, count);
        s->at = end;
    }
    s->at += s->at < s->size;
}

static void assign(struct shell *s, enum shell_state active, size_t name_length)
{
    const char *name = s->text + s->at;
    size_t start = s->at;
    bool more = name[name_length] == '+', array = name[name_length + 1 + more] == '(';
    struct cells *words = NULL;
    size_t count = 0;
    s->at += name_length + 1 + more;
    if (array)
        read_array(s, &words, &count);
    else {
        size_t end = shell_word_end(s, s->at);
        words = arena_array(s->arena, 1, sizeof *words);
        count = 1;
        shell_expand(s, s->at, end, false, &words[0]);
        s->at = end;
    }
    if (active == SHELL_MAYBE && !more) { /* no longer known */
        words = arena_array(s->arena, 1, sizeof *words);
        shell_add(s, &words[0], OPEN_BEGIN, start, true);
        for (size_t i = 0; i < name_length; i++)
            shell_add(s, &words[0], name[i], start, true);
        shell_add(s, &words[0], OPEN_END, start, true);
        count = 1;
        array = false;
    }
    if (active == SHELL_YES || (active == SHELL_MAYBE && !more))
        shell_assign(s, name, name_length, words, count, array, more);
}

/* ---- commands ---- */

static bool is_option(const struct cells *word)
{
    return word->count > 2 && word->items[0].c == '-' && word->items[1].c == '-' &&
           isalpha((unsigned char)word->items[2].c);
}

/* A word that holds a whole command, or an option with its value in the same quotes. */
static bool holds_options(struct shell *s, const struct cells *word)
{
    const char *open, *text = shell_text(s, word, &open);
    return strpbrk(text, " \n\t") && (!strncmp(text, "--", 2) || strstr(text, " --") || strstr(text, "\n--"));
}

static void split_commands(struct shell *s, struct cells **words, size_t *count)
{
    struct cells *all = NULL;
    size_t total = 0;
    for (size_t i = 0; i < *count && !s->broken; i++) {
        struct cells word = (*words)[i], plain = {0};
        if (!holds_options(s, &word)) {
            shell_append(s, &word, 1, &all, &total);
            continue;
        }
        for (size_t k = 0; k < word.count; k++)
            shell_add(s, &plain, word.items[k].c, word.items[k].at, false);
        shell_split(s, &plain, &all, &total);
    }
    *words = all;
    *count = total;
}

static void offer(struct shell *s, struct cells *words, size_t count)
{
    size_t options = 0;
    split_commands(s, &words, &count);
    for (size_t i = 0; i < count; i++)
        options += is_option(&words[i]);
    if (!options || options < s->best || s->broken)
        return;
    s->best = options;
    s->best_words = words;
    s->best_count = count;
}

/* The words of the best command with their places. */
static void finish(struct shell *s)
{
    struct shell_command *out = s->out;
    struct place at = {s->file, 1, 1};
    size_t reached = 0;
    out->words = arena_array(s->arena, s->best_count + 1, sizeof *out->words);
    out->count = s->best_count;
    for (size_t i = 0; i < out->count; i++) {
        const struct cells *word = &s->best_words[i];
        size_t offset = word->count && word->items[0].at < s->size ? word->items[0].at : 0;
        if (offset < reached) {
            reached = 0;
            at = (struct place){s->file, 1, 1};
        }
        for (; reached < offset; reached++) {
            at.column = s->text[reached] == '\n' ? 1 : at.column + 1;
            at.line += s->text[reached] == '\n';
        }
        out->words[i].text = shell_text(s, word, &out->words[i].open);
        out->words[i].at = at;
    }
}

/* Lines end no condition in double brackets. */
static void skip_in_test(struct shell *s, bool twice)
{
    for (shell_skip(s, false); twice && s->at < s->size && s->text[s->at] == '\n'; shell_skip(s, false))
        s->at++;
}

/* [ ... ], [[ ... ]] at the opening bracket. */
static enum shell_state run_test(struct shell *s)
{
    bool twice = shell_next_is(s, "[[");
    struct cells *words = NULL;
    size_t count = 0;
    s->at += twice ? 2 : 1;
    for (skip_in_test(s, twice); s->at < s->size && !s->broken; skip_in_test(s, twice)) {
        size_t end = shell_word_end(s, s->at);
        if (shell_next_is(s, twice ? "]]" : "]")) {
            s->at = end;
            return shell_test(s, words, count);
        }
        if (end == s->at) { /* an operator: && || ( ) < > */
            if (!twice && strchr(";\n", s->text[s->at]))
                return SHELL_MAYBE;
            end += !strncmp(s->text + end, "&&", 2) || !strncmp(s->text + end, "||", 2) ? 2 : 1;
            struct cells *operator= NULL;
            size_t one = 0;
            struct cells cells = {0};
            for (size_t i = s->at; i < end; i++)
                shell_add(s, &cells, s->text[i], i, false);
            shell_split(s, &cells, &operator, & one);
            shell_split(s, &cells, &words, &count);
        } else {
            size_t before = count;
            shell_expand_word(s, s->at, end, &words, &count);
            if (count == before || count > before + 1)
                return SHELL_MAYBE;
        }
        s->at = end;
    }
    return SHELL_MAYBE;
}

/* Whether a command succeeds, as all do but `false`. */
static enum shell_state outcome(struct shell *s, const struct cells *words, size_t count)
{
    const char *open;
    return count && !strcmp(shell_text(s, &words[0], &open), "false") ? SHELL_NO : SHELL_YES;
}

/* A plain command up to its end. */
static enum shell_state run_plain(struct shell *s, enum shell_state active)
{
    struct cells *words = NULL;
    size_t count = 0, start = s->at;
    for (shell_skip(s, false); s->at < s->size && !s->broken; shell_skip(s, false)) {
        char c = s->text[s->at];
        size_t length = assignment(s, s->at);
        if (c == '<' || c == '>' || (c == '&' && s->text[s->at + 1] == '>'))
            shell_skip_redirection(s);
        else if (strchr("\n;&|", c))
            break;
        else if (c == '(' || c == ')')
            s->at++;
        else if (length && !count)
            assign(s, active, length);
        else {
            size_t end = shell_word_end(s, s->at), number = strspn(s->text + s->at, "0123456789");
            if (s->at + number < end || !s->text[end] ||
                !strchr("<>", s->text[end])) /* the number of a stream is no word */
                shell_expand_word(s, s->at, end, &words, &count);
            s->at = end;
        }
        if (count > COMMAND_WORDS_MAX)
            break;
    }
    if (active == SHELL_YES && count)
        offer(s, words, count);
    else if (active == SHELL_MAYBE)
        note(s, start, s->at, s->branches ? NULL : "a command under a condition that is not known is left out");
    return outcome(s, words, count);
}

/* `export A=1 B=2` and the like. */
static bool run_declaration(struct shell *s, enum shell_state active)
{
    static const char *const words[] = {"export", "declare", "local", "readonly", "typeset", NULL};
    for (const char *const *word = words; *word; word++) {
        if (!shell_next_is(s, *word))
            continue;
        s->at += strlen(*word);
        for (shell_skip(s, false); s->at < s->size && !strchr("\n;&|", s->text[s->at]) && !s->broken;
             shell_skip(s, false)) {
            size_t length = assignment(s, s->at), end = shell_word_end(s, s->at);
            if (length)
                assign(s, active, length);
            else
                s->at = end > s->at ? end : s->at + 1;
        }
        return true;
    }
    return false;
}

static enum shell_state run_command(struct shell *s, enum shell_state active)
{
    shell_skip(s, false);
    if (shell_next_is(s, "!")) {
        s->at++;
        enum shell_state state = run_command(s, active);
        return state == SHELL_MAYBE ? state : state == SHELL_YES ? SHELL_NO : SHELL_YES;
    }
    if (shell_next_is(s, "[") || shell_next_is(s, "[["))
        return run_test(s);
    if (run_declaration(s, active))
        return SHELL_YES;
    return run_plain(s, active);
}

/* Whether a command behind && or || runs. */
static enum shell_state behind(enum shell_state active, enum shell_state state, bool and)
{
    if (active != SHELL_YES || state == SHELL_MAYBE)
        return active == SHELL_NO ? SHELL_NO : SHELL_MAYBE;
    return (state == SHELL_YES) == and? SHELL_YES : SHELL_NO;
}

/* Commands joined by && and ||, and pipes. */
static enum shell_state run_chain(struct shell *s, enum shell_state active)
{
    enum shell_state state = run_command(s, active);
    for (shell_skip(s, false); s->at < s->size && !s->broken; shell_skip(s, false)) {
        bool and = !strncmp(s->text + s->at, "&&", 2), or = !strncmp(s->text + s->at, "||", 2);
        if (!and&&! or &&s->text[s->at] != '|')
            break;
        s->at += and || or ? 2 : 1 + (s->text[s->at + 1] == '&');
        shell_skip(s, true);
        enum shell_state runs = and || or ? behind(active, state, and) : active;
        enum shell_state other = run_command(s, runs);
        if (runs == SHELL_YES)
            state = other;
        else if (runs == SHELL_MAYBE)
            state = SHELL_MAYBE;
    }
    return state;
}

/* ---- if, case, loops ---- */

static enum shell_state within(enum shell_state outer, enum shell_state inner)
{
    if (outer == SHELL_NO || inner == SHELL_NO)
        return SHELL_NO;
    return outer == SHELL_MAYBE || inner == SHELL_MAYBE ? SHELL_MAYBE : SHELL_YES;
}

static enum shell_state run_condition(struct shell *s, enum shell_state active)
{
    enum shell_state state = SHELL_MAYBE;
    for (shell_skip(s, true); s->at < s->size && !shell_next_is(s, "then") && !s->broken; shell_skip(s, true)) {
        size_t before = s->at;
        state = run_chain(s, active == SHELL_YES ? SHELL_NO : active); /* its commands are not launches */
        s->at += s->at == before;
    }
    return state;
}

/* What is left out of it is named once, by who calls. */
static void run_branch(struct shell *s, enum shell_state active, const char *const *until, unsigned nest)
{
    s->branches++;
    run_list(s, active, until, nest);
    s->branches--;
}

static const char *const unknown_branch = "options under a condition that is not known are left out";

static void run_if(struct shell *s, enum shell_state active, unsigned nest)
{
    static const char *const ends[] = {"elif", "else", "fi", NULL};
    enum shell_state left = SHELL_YES; /* whether a branch from here on may be the one */
    for (bool more = true; more && s->at < s->size && !s->broken;) {
        enum shell_state holds = run_condition(s, active);
        take(s, "then");
        size_t from = s->at;
        enum shell_state runs = within(active, within(left, holds));
        run_branch(s, runs, ends, nest);
        if (active == SHELL_YES && runs == SHELL_MAYBE)
            note(s, from, s->at, unknown_branch);
        left = holds == SHELL_YES ? SHELL_NO : holds == SHELL_MAYBE ? within(left, SHELL_MAYBE) : left;
        more = take(s, "elif");
    }
    if (take(s, "else")) {
        static const char *const end[] = {"fi", NULL};
        size_t from = s->at;
        run_branch(s, within(active, left), end, nest);
        if (active == SHELL_YES && within(active, left) == SHELL_MAYBE)
            note(s, from, s->at, unknown_branch);
    }
    take(s, "fi");
}

static void run_loop(struct shell *s, enum shell_state active, unsigned nest)
{
    static const char *const end[] = {"done", NULL};
    while (s->at < s->size && !shell_next_is(s, "do")) {
        size_t stop = shell_word_end(s, s->at);
        s->at = stop > s->at ? stop : s->at + 1;
        shell_skip(s, true);
    }
    take(s, "do");
    size_t from = s->at;
    run_branch(s, within(active, SHELL_MAYBE), end, nest);
    if (active == SHELL_YES)
        note(s, from, s->at, "commands of a loop are left out");
    take(s, "done");
}

/* Patterns up to the closing parenthesis. */
static enum shell_state match_patterns(struct shell *s, const char *subject)
{
    enum shell_state state = SHELL_NO;
    for (shell_skip(s, true); s->at < s->size && s->text[s->at] != ')' && !s->broken; shell_skip(s, true)) {
        size_t end = shell_word_end(s, s->at);
        struct cells cells = {0};
        const char *open;
        if (end == s->at) {
            s->at++;
            continue;
        }
        shell_expand(s, s->at, end, false, &cells);
        if (subject && fnmatch(shell_text(s, &cells, &open), subject, 0) == 0)
            state = SHELL_YES;
        s->at = end;
    }
    s->at += s->at < s->size;
    return subject ? state : SHELL_MAYBE;
}

static void run_case(struct shell *s, enum shell_state active, unsigned nest)
{
    static const char *const end[] = {"esac", NULL};
    struct cells cells = {0};
    const char *open, *subject;
    shell_skip(s, false);
    size_t stop = shell_word_end(s, s->at);
    shell_expand(s, s->at, stop, false, &cells);
    subject = shell_text(s, &cells, &open);
    s->at = stop;
    take(s, "in");
    bool found = false;
    for (shell_skip(s, true); s->at < s->size && !shell_next_is(s, "esac") && !s->broken; shell_skip(s, true)) {
        enum shell_state runs = within(active, match_patterns(s, open ? NULL : subject));
        size_t from = s->at;
        run_branch(s, found ? SHELL_NO : runs, end, nest);
        found |= runs == SHELL_YES;
        if (active == SHELL_YES && runs == SHELL_MAYBE && !found)
            note(s, from, s->at, unknown_branch);
        s->at += 2 * !strncmp(s->text + s->at, ";;", 2);
    }
    take(s, "esac");
}

/* A compound command. False: it is none. */
static bool run_compound(struct shell *s, enum shell_state active, unsigned nest)
{
    if (take(s, "if"))
        run_if(s, active, nest);
    else if (take(s, "case"))
        run_case(s, active, nest);
    else if (shell_next_is(s, "for") || shell_next_is(s, "while") || shell_next_is(s, "until"))
        run_loop(s, active, nest);
    else if (shell_next_is(s, "{") || shell_next_is(s, "}") || shell_next_is(s, "function"))
        s->at = shell_word_end(s, s->at);
    else
        return false;
    return true;
}

static void run_list(struct shell *s, enum shell_state active, const char *const *until, unsigned nest)
{
    if (nest > NEST_MAX && !s->broken) {
        diag_error(s->diag, text_place(s->file, s->text, s->at), "commands nested deeper than %d", NEST_MAX);
        s->broken = true;
    }
    while (!s->broken) {
        shell_skip(s, true);
        if (s->at >= s->size || !strncmp(s->text + s->at, ";;", 2))
            return;
        for (const char *const *word = until; *word; word++)
            if (shell_next_is(s, *word))
                return;
        size_t before = s->at;
        if (!run_compound(s, active, nest + 1))
            run_chain(s, active);
        s->at += s->at == before;
    }
}

bool shell_read(const char *file, const char *text, size_t size, const struct shell_define *defines,
                size_t define_count, struct arena *arena, struct diag *diag, struct shell_command *out)
{
    static const char *const nothing[] = {NULL};
    unsigned errors = diag->errors;
    *out = (struct shell_command){0};
    struct shell s = {.file = file, .text = text, .size = size, .arena = arena, .diag = diag, .out = out};
    shell_read_sbatch(&s);
    shell_define_slurm(&s);
    for (size_t i = 0; i < define_count; i++)
        shell_define(&s, defines[i].name, defines[i].value, true);
    run_list(&s, SHELL_YES, nothing, 0);
    finish(&s);
    return diag->errors == errors;
}
