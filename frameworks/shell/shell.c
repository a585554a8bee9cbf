/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/shell/shell.h"

#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <string.h>

/* A file of options alone: what stands behind a command. */
static bool is_options(const char *text)
{
    bool script = !strncmp(text, "#!", 2);
    for (text += strspn(text, " \t\n"); *text == '#'; text += strspn(text, " \t\n"))
        text += strcspn(text, "\n");
    return !script && !strncmp(text, "--", 2) && isalpha((unsigned char)text[2]);
}

/* Its lines are one command. */
static const char *one_line(struct arena *arena, const char *text)
{
    char *copy = arena_copy(arena, text);
    bool comment = false, start = true;
    for (char *at = copy; *at; at++) {
        comment = (comment && *at != '\n') || (*at == '#' && start);
        start = strchr(" \t\n", *at) != NULL;
        if (comment || *at == '\n' || (*at == '\\' && at[1] == '\n'))
            *at = ' ';
    }
    return copy;
}

/* Characters that have a meaning of their own here, and ends of lines that bash takes for letters. */
static bool refuse_letters(struct shell *s)
{
    const struct source *source = &s->sources[0];
    for (size_t i = 0; i < source->size; i++) {
        char c = source->text[i];
        if (c == CELL_OPEN || c == CELL_BREAK || c == CELL_EMPTY)
            shell_refuse(s, 0, i, "a control character; expected a script");
        else if (c == '\r')
            shell_refuse(s, 0, i,
                         "a carriage return, which bash takes for a part of the word before it; expected "
                         "lines that end as on Unix");
        if (s->broken)
            return true;
    }
    return false;
}

bool shell_read(const struct shell_request *request, struct arena *arena, struct diag *diag, struct shell_command *out)
{
    unsigned errors = diag->errors;
    struct state state = {.folder = path_directory(request->file, arena)};
    *out = (struct shell_command){0};
    struct shell s = {.request = request, .arena = arena, .diag = diag, .out = out, .state = &state};
    s.run = shell_run;
    s.expand = shell_expand;
    s.evaluate = shell_evaluate;
    s.substitute = shell_substitute;
    s.bare = is_options(request->text);
    const char *text = s.bare ? one_line(arena, request->text) : request->text;
    shell_add_source(&s, request->file, text, request->size, NULL);
    if (refuse_letters(&s))
        return false;
    state.may_exit = strchr(shell_first_line_letters(&s, text), 'e') != NULL; /* not where bash is called with it */
    shell_read_sbatch(&s, 0);
    shell_define_slurm(&s);
    for (size_t i = 0; i < request->define_count; i++)
        shell_define(&s, request->defines[i].name, request->defines[i].value, true);
    const struct step *list = shell_parse(&s, 0, 0, request->size);
    bool ended = list && s.run(&s, list) == FLOW_EXIT;
    shell_choose(&s, ended);
    return diag->errors == errors;
}
