/* SPDX-License-Identifier: Apache-2.0 */
/* #SBATCH lines, and what Slurm sets for a script. */
#include "base/arena.h"
#include "frameworks/readers/shell_parts.h"
#include "frameworks/readers/text.h"

#include <string.h>

void shell_read_sbatch(struct shell *s)
{
    static const char *const nodes[] = {"--nodes", "-N", NULL};
    static const char *const tasks[] = {"--gpus-per-node", "--ntasks-per-node", "--gres=gpu", "--gpus-per-task", NULL};
    for (const char *line = s->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "#SBATCH", 7) != 0)
            continue;
        const char *option = line + 7 + strspn(line + 7, " \t");
        for (size_t i = 0; i < 2; i++)
            for (const char *const *name = i ? tasks : nodes; *name; name++) {
                size_t length = strlen(*name);
                if (strncmp(option, *name, length) != 0 || !strchr(" =:\t", option[length]))
                    continue;
                const char *value = option + length + strspn(option + length, " =:\t");
                value += strcspn(value, "0123456789\n");
                struct shell_word word = {arena_print(s->arena, "%.*s", (int)strspn(value, "0123456789"), value),
                                          text_place(s->file, s->text, (size_t)(option - s->text)), NULL};
                if (*word.text)
                    *(i ? &s->out->tasks : &s->out->nodes) = word;
            }
    }
}

/* Slurm sets these for the script. */
void shell_define(struct shell *s, const char *name, const char *value, bool fixed)
{
    struct cells *word = arena_array(s->arena, 1, sizeof *word);
    for (const char *at = value; *at; at++)
        shell_add(s, word, *at, s->size, false);
    shell_assign(s, name, strlen(name), word, 1, false, false);
    shell_variable(s, name, strlen(name))->fixed |= fixed;
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
