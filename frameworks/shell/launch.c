/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the commands that a script runs is the launch. Where that is not known, none is. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

enum { NOTES_MAX = 16 };

static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] == '-' && isalpha((unsigned char)text[2]);
}

/* The unknown that is all of a word, unquoted; 0: it is not. */
static uint32_t alone(const struct shell *s, const struct cells *word)
{
    bool open = word->count == 1 && word->items[0].c == CELL_OPEN && !word->items[0].quoted;
    return open && s->unknowns[word->items[0].at].why ? word->items[0].at : 0;
}

void shell_lost_command(struct shell *s, size_t count, const char *why, uint16_t source, size_t at)
{
    if (s->silent || (s->lost_why && s->lost.count >= count))
        return;
    s->lost = (struct candidate){.count = count, .at = (uint32_t)at, .source = source};
    s->lost_why = why;
}

/* The file that an option of the launch names, as it is when the launch begins. */
static void read_named_file(struct shell *s, struct candidate *command, unsigned number, const struct cells *name)
{
    uint32_t open = 0;
    bool there;
    struct shell_word *file = &command->files[number];
    const char *path = shell_resolve(s, name);
    const struct cells *text = path ? shell_file(s, path, &there, &file->why) : NULL;
    command->file_names[number] = shell_text(s, name, &open);
    file->at = shell_place(s, command->source, command->at);
    file->text = text ? shell_text(s, text, &open) : NULL;
    if (!path)
        file->why = "its name is not known, or not that of a file beside the script";
    if (text && open) {
        file->text = NULL;
        file->why = shell_reason(s, open);
    }
}

/* What stands behind an option: `--option file`, `--option=file`; false: the word is not that option. */
static bool value_behind(struct shell *s, const struct candidate *command, size_t word, const char *option,
                         struct cells *value)
{
    uint32_t open = 0;
    const struct cells *cells = &command->words[word];
    const char *text = shell_text(s, cells, &open);
    size_t length = strlen(option), at = 0;
    if (!strcmp(text, option) && word + 1 < command->count) {
        *value = command->words[word + 1];
        return true;
    }
    if (strncmp(text, option, length) != 0 || text[length] != '=')
        return false;
    while (at < cells->count && cells->items[at].c != '=')
        at++;
    *value = (struct cells){cells->items + at + 1, cells->count - at - 1, cells->count - at - 1};
    return true;
}

static void read_named_files(struct shell *s, struct candidate *command)
{
    struct cells value;
    for (size_t i = 0; i < command->count; i++)
        for (unsigned number = 0; number < SHELL_FILES && s->request->file_options[number]; number++)
            if (value_behind(s, command, i, s->request->file_options[number], &value))
                read_named_file(s, command, number, &value);
}

/* What a launch finds in its environment. */
static const char *find_exported(struct shell *s, const char *name)
{
    const struct variable *variable = name ? shell_find(s, name) : NULL;
    const struct cells *cells =
        variable && variable->set && variable->exported ? shell_element(s, &variable->value, NULL, 0) : NULL;
    uint32_t open = 0;
    const char *text = cells ? shell_text(s, cells, &open) : NULL;
    return open ? NULL : text;
}

static void note(struct shell *s, struct place at, const char *name, const char *text);

/* `a.b=1`: an argument of Hydra's, which bash takes for a command, as no variable has a dot in its name. */
static bool is_key(const char *text)
{
    const char *dot = strpbrk(text, ".=/");
    return dot && dot != text && *dot == '.' && strcspn(text, "=") < strcspn(text, "/");
}

/* A command that is an option: the line before it does not go on, which its writer did not see. */
static bool is_cut_off(struct shell *s, const char *first, uint16_t source, size_t at)
{
    if (s->bare || (!is_option(first) && !is_key(first)))
        return false;
    note(s, shell_place(s, source, at), "cut off",
         arena_print(
             s->arena,
             "'%s' stands where a command begins, so bash leaves it and what follows out of the launch: the line "
             "before ends in a comment, or has a blank behind its backslash",
             first));
    return true;
}

/* Whether what runs now may not run at all: the condition; 0: it does. */
static uint32_t condition_of(const struct shell *s)
{
    uint32_t maybe = s->maybe;
    for (const struct span *span = s->span; span && !maybe; span = span->outer)
        maybe = span->left;
    return maybe;
}

/* A word as text, without names that nobody sets: -$NONE-option is an option. */
static const char *option_text(struct shell *s, const struct cells *word, uint32_t *open)
{
    struct cells rest = {0};
    for (size_t i = 0; i < word->count; i++)
        if (word->items[i].c != CELL_OPEN || s->unknowns[word->items[i].at].why)
            shell_add(s, &rest, word->items[i]);
    return shell_text(s, &rest, open);
}

/* env with options alone behind its variables: it runs nothing. */
static bool runs_nothing(struct shell *s, const struct cells *words, size_t count)
{
    uint32_t open;
    size_t i = 1;
    if (strcmp(shell_text(s, &words[0], &open), "env") != 0)
        return false;
    while (i < count && strchr(shell_text(s, &words[i], &open), '='))
        i++;
    return i > 1 && i < count && is_option(shell_text(s, &words[i], &open));
}

void shell_offer(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at)
{
    size_t options = 0;
    bool wanted = false;
    uint32_t open, unknown = 0;
    if (s->silent || s->broken || is_cut_off(s, shell_text(s, &words[0], &open), source, at) ||
        runs_nothing(s, words, count))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *text = option_text(s, &words[i], &open);
        options += is_option(text);
        wanted |= s->request->is_option(text);
        unknown = unknown ? unknown : alone(s, &words[i]);
    }
    if (!wanted && unknown)
        shell_lost_command(
            s, count,
            arena_print(s->arena, "$%s is not known: %s", s->unknowns[unknown].name, shell_reason(s, unknown)), source,
            at);
    if (!wanted)
        return;
    struct candidate *candidate = arena_alloc(s->arena, sizeof *candidate);
    *candidate = (struct candidate){.words = words,
                                    .count = count,
                                    .options = options,
                                    .maybe = condition_of(s),
                                    .at = (uint32_t)at,
                                    .source = source,
                                    .variable = find_exported(s, s->request->variable),
                                    .round = s->round,
                                    .next = s->candidates};
    read_named_files(s, candidate);
    s->candidates = candidate;
}

/* ---- the choice ---- */

static bool same_words(const struct candidate *a, const struct candidate *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct cells *x = &a->words[i], *y = &b->words[i];
        if (x->count != y->count)
            return false;
        for (size_t k = 0; k < x->count; k++)
            if (x->items[k].c != y->items[k].c)
                return false;
    }
    return true;
}

static bool same_place(const struct candidate *a, const struct candidate *b)
{
    return a->source == b->source && a->at == b->at;
}

/* A later one counts where two have as many options. */
static const struct candidate *best_of(const struct shell *s)
{
    const struct candidate *best = NULL;
    for (const struct candidate *each = s->candidates; each; each = each->next)
        if (!best || each->options > best->options)
            best = each;
    return best;
}

/* "the loop over TP of line 3", with those around it. */
static const char *loops_around(struct shell *s, const struct candidate *command)
{
    const char *text = "";
    for (const struct round *each = command->round; each; each = each->outer) {
        struct place at = shell_place(s, each->source, each->at);
        text =
            arena_print(s->arena, "%s%sthe loop over %s of line %u", text, *text ? " and " : "", each->name, at.line);
        shell_spend(s, strlen(text));
    }
    return *text ? text : "a loop or a function";
}

/* Whether another launch may be the one. */
static bool refuse_other(struct shell *s, const struct candidate *best, const struct candidate *other)
{
    struct place at = shell_place(s, other->source, other->at);
    if (same_place(best, other)) {
        const char *first = "";
        uint32_t open;
        for (size_t i = 0; i < best->count && i < other->count && !*first; i++) {
            const char *a = shell_text(s, &best->words[i], &open), *b = shell_text(s, &other->words[i], &open);
            if (strcmp(a, b) != 0)
                first = arena_print(s->arena, ": '%s' and '%s'", b, a);
        }
        shell_refuse(s, best->source, best->at,
                     "this command runs more than once, in %s, with different options%s; expected one launch: --define "
                     "%s=VALUE gives the variable that differs",
                     loops_around(s, best), first, best->round ? best->round->name : "NAME");
        return true;
    }
    uint32_t maybe = other->maybe ? other->maybe : best->maybe;
    if (!maybe)
        return false;
    const struct unknown *condition = &s->unknowns[maybe];
    struct place where = shell_place(s, condition->source, condition->at);
    shell_refuse(s, best->source, best->at,
                 "whether this command or that of line %u is the launch depends on line %u, whose condition is not "
                 "known; expected one launch: --define NAME=VALUE gives a variable of it",
                 at.line, where.line);
    return true;
}

static void note(struct shell *s, struct place at, const char *name, const char *text)
{
    struct shell_command *out = s->out;
    if (!out->notes)
        out->notes = arena_array(s->arena, NOTES_MAX, sizeof *out->notes);
    if (out->note_count < NOTES_MAX)
        out->notes[out->note_count++] = (struct shell_note){at, name, text};
}

static void note_free(struct shell *s)
{
    const char *names = "";
    bool arguments = false;
    for (size_t i = 0; i < s->free_count; i++) {
        const char *name = s->free_names[i];
        bool argument = name[0] == '@' || isdigit((unsigned char)name[0]);
        shell_spend(s, strlen(names));
        if (!argument && !s->broken)
            names = arena_print(s->arena, "%s%s%s", names, *names ? ", " : "", name);
        arguments |= argument;
    }
    if (*names)
        note(
            s, (struct place){0}, "variables",
            arena_print(s->arena, "the script does not set %s: taken as not set; --define NAME=VALUE sets one", names));
    if (arguments)
        note(s, (struct place){0}, "arguments",
             "the script looks at its arguments: taken as none; --define 1=VALUE sets the first");
}

/* A word as the importer reads it. */
static struct shell_word make_word(struct shell *s, const struct candidate *command, const struct cells *cells)
{
    struct shell_word word = {0};
    uint32_t open;
    size_t i = 0;
    word.text = shell_text(s, cells, &open);
    while (i < cells->count && cells->items[i].c == CELL_OPEN)
        i++;
    word.at = i < cells->count ? shell_place(s, cells->items[i].source, cells->items[i].at)
                               : shell_place(s, command->source, command->at);
    if (open) {
        word.open = s->unknowns[open].name;
        word.why = shell_reason(s, open);
        word.many = cells->count == 1 && !cells->items[0].quoted;
    }
    return word;
}

/* Where there is no launch: what stands in its way, if that is known. */
static void refuse_none(struct shell *s, bool ended)
{
    bool arguments = false;
    for (size_t i = 0; i < s->free_count; i++)
        arguments |= s->free_names[i][0] == '@' || isdigit((unsigned char)s->free_names[i][0]);
    if (s->lost_why)
        shell_refuse(s, s->lost.source, s->lost.at,
                     "no launch with options of %s is known: %s; --define gives a variable", s->request->tool,
                     s->lost_why);
    else if (ended)
        shell_refuse(s, s->source, s->at, "the script ends here, before any command with options of %s; %s",
                     s->request->tool,
                     arguments ? "it looks at its arguments, taken as none: --define 1=VALUE sets the first"
                               : "--define NAME=VALUE gives a variable");
}

void shell_choose(struct shell *s, bool ended)
{
    const struct candidate *best = best_of(s);
    if (!best && !s->broken)
        refuse_none(s, ended);
    if (!best || s->broken)
        return;
    for (const struct candidate *other = s->candidates; other; other = other->next)
        if (!same_words(best, other) && refuse_other(s, best, other))
            return;
    for (const struct candidate *other = s->candidates; other; other = other->next)
        if (!same_words(best, other))
            note(s, shell_place(s, other->source, other->at), "launches",
                 arena_print(s->arena,
                             "another command with options of %s, which is not read: that of line %u has more",
                             s->request->tool, shell_place(s, best->source, best->at).line));
    if (s->needed)
        note(s, (struct place){0}, "condition",
             arena_print(s->arena,
                         "whether the launch runs depends on a condition that is not known: the script ends where "
                         "nothing sets %s; --define NAME=VALUE sets one",
                         s->needed));
    if (s->doubt)
        note(s, shell_place(s, s->unknowns[s->doubt].source, s->unknowns[s->doubt].at), "condition",
             "whether the launch runs depends on a condition that is not known: the script may end here, and is taken "
             "to "
             "go on");
    if (best->maybe)
        note(s, shell_place(s, s->unknowns[best->maybe].source, s->unknowns[best->maybe].at), "condition",
             "whether the launch runs depends on a condition that is not known: it is taken to hold");
    note_free(s);
    s->out->words = arena_array(s->arena, best->count, sizeof *s->out->words);
    for (size_t i = 0; i < best->count; i++)
        s->out->words[i] = make_word(s, best, &best->words[i]);
    s->out->count = best->count;
    memcpy(s->out->files, best->files, sizeof s->out->files);
    memcpy(s->out->file_names, best->file_names, sizeof s->out->file_names);
    s->out->variable = best->variable;
}
