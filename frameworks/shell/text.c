/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are commands in turn: of eval, source, $(...), and of scripts that run in a process of their own. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

enum { SOURCED_MAX = 16 };

static bool has_open(const struct shell *s, uint16_t source)
{
    return s->sources[source].origin && memchr(s->sources[source].text, CELL_OPEN, s->sources[source].size);
}

enum flow shell_run_text(struct shell *s, uint16_t source)
{
    if (s->sourced >= SOURCED_MAX) {
        shell_refuse(s, source, 0, "texts that are commands in turn deeper than %d", SOURCED_MAX);
        return FLOW_EXIT;
    }
    s->sourced++;
    const struct step *list = shell_parse(s, source, 0, s->sources[source].size);
    enum flow flow = list ? s->run(s, list) : FLOW_NEXT;
    s->sourced--;
    if (has_open(s, source)) { /* it may have held any command */
        shell_lost_command(s, 1, "commands run here of which not all is known", source, 0);
        shell_lose(s, "commands of which not all is known", source, 0);
    }
    return flow;
}

const char *shell_first_line_letters(struct shell *s, const char *text)
{
    size_t line = strcspn(text, "\n");
    const char *first = arena_copy_part(s->arena, text, line), *option = strstr(first, " -");
    return !strncmp(first, "#!", 2) && option && option[2] != '-' && !strstr(first, "/env") ? option + 2 : "";
}

static void set_letters(struct state *state, const char *letters)
{
    state->errexit |= strchr(letters, 'e') != NULL;
    state->nounset |= strchr(letters, 'u') != NULL;
    state->noglob |= strchr(letters, 'f') != NULL;
    state->allexport |= strchr(letters, 'a') != NULL;
}

void shell_run_child(struct shell *s, uint16_t source, const struct child *child)
{
    const struct cells *words = child->words;
    size_t count = child->count;
    struct state *before = s->state;
    struct waiting *loop = s->loop, *call = s->call, own = {0};
    struct span *process = s->process;
    unsigned tolerant = s->tolerant, functions = s->functions, files = s->files, apart = s->apart;
    s->state = shell_child(s);
    if (child->letters)
        set_letters(s->state, child->letters);
    if (child->distant) {
        s->state->count = 0;
        s->state->lost = shell_unknown(s, "all", "variables of another machine", source, 0);
        s->state->folder = NULL;
    }
    s->state->arguments = shell_arguments_of(s, words + (count > 0), count - (count > 0), &s->state->argument_count,
                                             &s->state->arguments_unknown);
    s->loop = NULL;
    s->call = &own;
    s->process = &own.span;
    shell_begin_span(s, &own.span);
    s->tolerant = s->functions = s->files = s->apart = 0;
    shell_run_text(s, source);
    shell_end_span(s, &own.span);
    s->process = process;
    s->tolerant = tolerant;
    s->functions = functions;
    s->files = files;
    s->apart = apart;
    s->loop = loop;
    s->call = call;
    shell_end_process(s, before, own.ended, false);
    s->state->status = -1;
}

void shell_substitute(struct shell *s, uint16_t source, size_t from, size_t to, struct cells *out)
{
    struct state *before = s->state;
    struct waiting *loop = s->loop, *call = s->call, own = {0};
    struct cells *capture = s->capture;
    struct span *process = s->process;
    s->substitutions++;
    const struct step *list = shell_parse(s, source, from, to);
    s->state = shell_copy(s, before);
    if (!s->state->inherits)
        s->state->errexit = s->state->may_exit = false;
    s->capture = out;
    s->loop = NULL;
    s->call = &own;
    s->process = &own.span;
    shell_begin_span(s, &own.span);
    s->apart++;
    if (list)
        s->run(s, list);
    s->apart--;
    int status = own.ended || own.span.left ? -1 : s->state->status;
    shell_end_span(s, &own.span);
    s->process = process;
    s->capture = capture;
    s->loop = loop;
    s->call = call;
    shell_end_process(s, before, own.ended, false);
    s->state->status = status;
}

/* ---- files that are read in ---- */

/* What sets up the environment of programs: paths and the like, no variables of the script. */
static bool is_environment(const char *path)
{
    static const char *const endings[] = {"/activate",  "activate",     ".bashrc",    ".profile", ".bash_profile",
                                          "setvars.sh", "conda.sh",     "modules.sh", "lmod.sh",  "module.sh",
                                          "set_env.sh", "/etc/profile", "/init/bash", "/init/sh", NULL};
    size_t length = strlen(path);
    for (const char *const *ending = endings; *ending; ending++) {
        size_t tail = strlen(*ending);
        if (length >= tail && !strcmp(path + length - tail, *ending))
            return true;
    }
    return false;
}

/* `missing`: where it should be it is not. */
static void lose_file(struct shell *s, const char *name, const char *why, bool missing, uint16_t source, size_t at)
{
    const char *text = arena_print(s->arena, "'%s' is read in here, and %s", name, why);
    s->state->status = -1;
    s->assumed = !missing || is_environment(name);
    if (!is_environment(name)) {
        shell_lost_command(s, 1, text, source, at);
        shell_lose(s, text, source, at);
        return;
    }
    if (!s->state->lost)
        s->state->lost = shell_unknown(s, "all", text, source, at);
}

enum flow shell_source_file(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at)
{
    uint32_t open;
    bool there = false;
    const char *why = "it is not below the folder of the script";
    const char *name = count > 1 ? shell_text(s, &words[1], &open) : "";
    const char *path = count > 1 ? shell_resolve(s, &words[1]) : NULL;
    const struct cells *text = path ? shell_file(s, path, &there, &why) : NULL;
    if (!text || s->broken) {
        lose_file(s, name, why, path && !shell_may_have_made(s, path), source, at);
        return FLOW_NEXT;
    }
    struct state *state = s->state;
    struct waiting own = {0}, *outer = s->call;
    struct cells *arguments = state->arguments;
    size_t argument_count = state->argument_count;
    uint32_t arguments_unknown = state->arguments_unknown;
    uint16_t made = shell_source_of(s, text);
    s->sources[made].file = path;
    if (count > 2) {
        state->arguments =
            shell_arguments_of(s, words + 2, count - 2, &state->argument_count, &state->arguments_unknown);
    }
    s->call = &own;
    shell_begin_span(s, &own.span);
    s->files++;
    enum flow flow = shell_run_text(s, made);
    s->files--;
    shell_end_span(s, &own.span);
    s->assumed &= !own.ended;
    s->call = outer;
    if (own.ended && flow == FLOW_EXIT)
        s->state = own.ended;
    else if (own.ended)
        shell_merge(s, s->state, own.ended, shell_unknown(s, name, "a file that may return early", source, at));
    if (count > 2) {
        s->state->arguments = arguments;
        s->state->argument_count = argument_count;
        s->state->arguments_unknown = arguments_unknown;
    }
    return flow == FLOW_EXIT && !own.ended ? FLOW_EXIT : flow == FLOW_BREAK || flow == FLOW_CONTINUE ? flow : FLOW_NEXT;
}
