/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sharding/rules.h"

#include <string.h>

/* A name between quotes, in which they are doubled. */
static void put_name(FILE *out, const char *name, char quote)
{
    fputc(quote, out);
    for (; *name; name++) {
        if (*name == quote)
            fputc(quote, out);
        fputc(*name, out);
    }
    fputc(quote, out);
}

static void put_ranks(FILE *out, const struct dlrm_place *place)
{
    if (place->split == DLRM_REPLICATED)
        fputs("all", out);
    for (uint32_t i = 0; i < place->count && place->split != DLRM_REPLICATED; i++)
        fprintf(out, "%s%u", i ? " " : "", place->ranks[i]);
}

void sharding_rules_yaml(FILE *out, const struct sharding_task *task, const struct dlrm_placement *placement)
{
    fputc('[', out);
    for (uint32_t i = 0; i < task->count; i++) {
        fputs(i ? ", {table: " : "{table: ", out);
        put_name(out, task->tables[i].name, '\'');
        fprintf(out, ", split: %s, ranks: '", dlrm_split_names[placement->places[i].split]);
        put_ranks(out, &placement->places[i]);
        fputs("'}", out);
    }
    fputc(']', out);
}

void sharding_rules_csv(FILE *out, const struct sharding_task *task, const struct dlrm_placement *placement)
{
    fputs("table,split,ranks\n", out);
    for (uint32_t i = 0; i < task->count; i++) {
        if (strpbrk(task->tables[i].name, ",\"#"))
            put_name(out, task->tables[i].name, '"');
        else
            fputs(task->tables[i].name, out);
        fprintf(out, ",%s,", dlrm_split_names[placement->places[i].split]);
        put_ranks(out, &placement->places[i]);
        fputc('\n', out);
    }
}
