/* SPDX-License-Identifier: Apache-2.0 */
/* set: how the rest of a script runs, and its arguments. */
#include "frameworks/shell/parts.h"

#include <string.h>

/* A call with its words. */
struct setting {
    struct shell *s;
    const struct step *step;
    struct cells *words;
    size_t count;
    bool lists; /* it prints what holds */
};

static const char *text_of(const struct setting *c, size_t i)
{
    uint32_t open;
    return i < c->count ? shell_text(c->s, &c->words[i], &open) : "";
}

static bool is_open(const struct setting *c, size_t i)
{
    uint32_t open = 0;
    if (i < c->count)
        shell_text(c->s, &c->words[i], &open);
    return open;
}

static void set_letter(struct setting *c, char letter, bool on)
{
    struct state *state = c->s->state;
    if (letter == 'e') {
        state->errexit = on;
        state->may_exit = false;
    } else if (letter == 'a') {
        state->allexport = on;
        state->may_export = false;
    } else if (letter == 'f')
        state->noglob = on;
    else if (letter == 'u')
        state->nounset = on;
    else if (!strchr("xvhmbBEHTP", letter) || (letter == 'B' && !on))
        shell_refuse(c->s, c->step->source, c->step->at, "'set %c%c' changes what a script means, and is not followed",
                     on ? '-' : '+', letter);
}

static void set_long(struct setting *c, const char *name, bool on)
{
    static const struct {
        const char *name;
        char letter;
    } names[] = {{"errexit", 'e'}, {"allexport", 'a'}, {"noglob", 'f'},    {"nounset", 'u'}, {"xtrace", 'x'},
                 {"verbose", 'v'}, {"errtrace", 'E'},  {"noclobber", 'C'}, {NULL, 0}};
    if (!strcmp(name, "pipefail")) {
        c->s->state->pipefail = on;
        c->s->state->may_pipe = false;
        return;
    }
    for (size_t i = 0; names[i].name; i++)
        if (!strcmp(names[i].name, name)) {
            set_letter(c, names[i].letter, on);
            return;
        }
    shell_refuse(c->s, c->step->source, c->step->at, "'set -o %s' changes what a script means, and is not followed",
                 name);
}

/* The first word behind the options, or the count where arguments stay as they are. */
static size_t read_options(struct setting *c, bool *arguments_given)
{
    size_t i = 1;
    bool arguments = false;
    *arguments_given = false;
    for (; i < c->count && !arguments && !c->s->broken; i++) {
        const char *text = text_of(c, i);
        if (is_open(c, i) || (text[0] != '-' && text[0] != '+'))
            break;
        bool minus = !strcmp(text, "-");
        if (!text[1] && (!minus || i + 1 == c->count)) /* behind `set -` arguments stay */
            return minus ? c->count : i;
        arguments = minus || !strcmp(text, "--");
        for (const char *letter = text + 1; *letter && !arguments; letter++)
            if (*letter == 'o' && i + 1 < c->count)
                set_long(c, text_of(c, ++i), text[0] == '-');
            else if (*letter == 'o')
                c->lists = true;
            else if (*letter != 'o')
                set_letter(c, *letter, text[0] == '-');
    }
    *arguments_given = arguments;
    return i;
}

static void set_arguments(struct setting *c, size_t i)
{
    struct state *state = c->s->state;
    state->arguments =
        shell_arguments_of(c->s, c->words + i, c->count - i, &state->argument_count, &state->arguments_unknown);
    state->status = 0;
}

bool shell_set_options(struct shell *s, const struct step *step, struct cells *words, size_t count)
{
    struct setting call = {s, step, words, count, count == 1};
    bool given;
    s->state->status = 0;
    size_t first = read_options(&call, &given);
    if (given || first < count)
        set_arguments(&call, first);
    return call.lists;
}
