/* SPDX-License-Identifier: Apache-2.0 */
/* #SBATCH lines, and what Slurm sets for the script. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 100 };

/* One option with a count: whether the text begins with it. */
static bool read_count(struct shell *s, uint16_t source, const char *option, const char *name, struct shell_word *out)
{
    size_t length = strlen(name), at = (size_t)(option - s->sources[source].text);
    if (strncmp(option, name, length) != 0 || !option[length] || !strchr(" =:\t", option[length]))
        return false;
    const char *value = option + length + strspn(option + length, " =:\t");
    value += strcspn(value, "0123456789\n");
    struct shell_word word = {.text = arena_print(s->arena, "%.*s", (int)strspn(value, "0123456789"), value),
                              .at = shell_place(s, source, at)};
    if (*word.text)
        *out = word;
    return true;
}

void shell_read_sbatch(struct shell *s, uint16_t source)
{
    static const char *const nodes[] = {"--nodes", "-N", NULL};
    static const char *const tasks[] = {"--gpus-per-node", "--ntasks-per-node", "--gres=gpu", "--gpus-per-task", NULL};
    for (const char *line = s->sources[source].text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "#SBATCH", 7) != 0)
            continue;
        const char *option = line + 7 + strspn(line + 7, " \t");
        for (const char *const *name = nodes; *name; name++)
            read_count(s, source, option, *name, &s->out->nodes);
        for (const char *const *name = tasks; *name; name++)
            read_count(s, source, option, *name, &s->out->tasks);
    }
}

/* $1 and on; those before it that were not given are empty. */
static void define_argument(struct shell *s, size_t number, const struct cells *cells)
{
    struct state *state = s->state;
    if (!number || number > ARGUMENTS_MAX)
        return;
    if (!state->arguments)
        state->arguments = arena_array(s->arena, ARGUMENTS_MAX, sizeof *state->arguments);
    state->arguments[number - 1] = *cells;
    state->argument_count = state->argument_count < number ? number : state->argument_count;
}

void shell_define(struct shell *s, const char *name, const char *value, bool fixed)
{
    struct cells cells = shell_cells_of(s, value, 0, s->sources[0].size);
    if (isdigit((unsigned char)name[0])) {
        define_argument(s, strtoul(name, NULL, 10), &cells);
        return;
    }
    shell_set(s, name, shell_single(s, &cells));
    struct variable *variable = shell_find(s, name);
    if (variable) {
        variable->fixed |= fixed;
        variable->exported = true;
    }
}

void shell_define_slurm(struct shell *s)
{
    static const char *const nodes[] = {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", NULL};
    static const char *const tasks[] = {"SLURM_NTASKS_PER_NODE", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE", NULL};
    for (const char *const *name = nodes; s->out->nodes.text && *name; name++)
        shell_define(s, *name, s->out->nodes.text, false);
    for (const char *const *name = tasks; s->out->tasks.text && *name; name++)
        shell_define(s, *name, s->out->tasks.text, false);
}
