/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/calibrated/calibrated_profile.h"
#include "job/write/scenario_write.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/table.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "job/write/relative.h"
#include "simulator/program/program.h"

#include <math.h>
#include <string.h>

/* "fit to 3 runs; 0.79 to 0.83 in 8 of 10 cases". */
static void write_remark(const struct calibration *c, int p, FILE *out)
{
    char low[READABLE_MAX], high[READABLE_MAX];
    if (p == TUNING_STEP && c->timed_step > 0) {
        fprintf(out, "  # %s: what timers of logs leave\n", calibration_keys[p].what);
        return;
    }
    fprintf(out, "  # %s, fitted to %zu run%s", calibration_keys[p].what, c->count, readable_plural(c->count));
    if (isnan(c->tuning.low[p]))
        fputs("; one run says nothing of how sure it is", out);
    else if (calibration_keys[p].seconds)
        fprintf(out, "; %s to %s in 8 of 10 cases", readable_seconds(low, c->tuning.low[p]),
                readable_seconds(high, c->tuning.high[p]));
    else
        fprintf(out, "; %.4g to %.4g in 8 of 10 cases", c->tuning.low[p], c->tuning.high[p]);
    if (c->tuning.at_limit[p])
        fputs("; at its limit", out);
    fputc('\n', out);
}

/* Beside runs tables of collectives and of operators. */
static void write_tables(const struct calibration *c, FILE *out, struct arena *arena)
{
    for (size_t i = 0; i < c->table_count; i++)
        fprintf(out, "  - {source: %s, table: %s, ranks: %u, rows: %zu}\n",
                words_yaml(path_name(c->tables[i].file, "", arena), arena), collective_name(c->tables[i].kind),
                c->tables[i].ranks, c->tables[i].count);
    if (c->operators)
        fprintf(out, "  - {source: %s, table: operators}\n", words_yaml(path_name(c->operators, "", arena), arena));
}

static void write_rows(const struct calibration *c, FILE *out, struct arena *arena)
{
    fputs("calibrated:\n", out);
    write_tables(c, out, arena);
    for (size_t i = 0; i < c->count; i++) {
        const struct calibration_row *row = &c->rows[i];
        fprintf(out, "  - {source: %s", words_yaml(row->source, arena));
        if (row->at.line && row->last_line > row->at.line)
            fprintf(out, ", lines: %u-%u", row->at.line, row->last_line);
        else if (row->at.line)
            fprintf(out, ", lines: %u", row->at.line);
        if (*row->date)
            fprintf(out, ", date: %s", words_yaml(row->date, arena));
        fprintf(out, ", job: %s, measured: %.6gs, before: %.6gs, after: %.6gs", words_yaml(row->text, arena),
                row->seconds, row->before, row->after);
        if (!isnan(row->left_out))
            fprintf(out, ", left_out: %.6gs", row->left_out);
        if (row->whole_bytes > 0 && row->left_out_bytes > 0)
            fprintf(out, ", memory: %.0fB, memory_left_out: %.0fB", row->whole_bytes, row->left_out_bytes);
        fputs("}\n", out);
    }
}

/* The profile that it starts from: an installed one by its name, a file by the way to it. */
static void write_base(const struct calibration *c, const char *directory, FILE *out, struct arena *arena)
{
    bool file = c->base_name && (strchr(c->base_name, '/') || strstr(c->base_name, ".yaml"));
    if (c->base_name)
        fprintf(out, "from: %s\n", words_yaml(file ? path_relative(directory, c->base, arena) : c->base_name, arena));
}

static void write_profile(const struct calibration *c, const char *directory, FILE *out, struct arena *arena)
{
    const unsigned section = (unsigned)strlen("compute.");
    size_t tables = c->table_count + (c->operators != NULL);
    fprintf(out, "# %s calibrated with %zu measured run%s", c->base_name ? c->base_name : "No framework", c->count,
            readable_plural(c->count));
    if (tables)
        fprintf(out, " and %zu table%s", tables, readable_plural(tables));
    fputc('\n', out);
    if (c->remark)
        fprintf(out, "# %s\n", c->remark);
    write_base(c, directory, out, arena);
    write_rows(c, out, arena);
    if (c->operators || c->tuning.values.fitted)
        fputs("compute:\n", out);
    if (c->operators)
        fprintf(out, "  table: %s  # measured operators\n",
                words_yaml(path_relative(directory, c->operators, arena), arena));
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        if (c->tuning.values.fitted & 1u << p) {
            fprintf(out, "  %s: %s", calibration_keys[p].key + section,
                    calibration_value_text(p, c->tuning.values.value[p], arena));
            write_remark(c, p, out);
        }
    if (c->link_count)
        fputs("communication:\n  links:\n", out);
    for (size_t i = 0; i < c->link_count; i++) {
        const char *remark = strstr(c->links[i], "  # ");
        size_t length = remark ? (size_t)(remark - c->links[i]) : strlen(c->links[i]);
        fputs("    - ", out);
        scenario_write_text(out, arena_copy_part(arena, c->links[i], length), false);
        fprintf(out, "%s\n", remark ? remark : "");
    }
    if (c->memory)
        fprintf(out,
                "transformer:\n  extra_memory: %.0fB  # what was measured beyond what formulas count, the median\n",
                c->extra_memory);
}

struct writing {
    const struct calibration *calibration;
    const char *directory; /* of the file, for the way to the profile that it starts from */
    struct arena *arena;
};

static bool write_to(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    const struct writing *writing = user;
    write_profile(writing->calibration, writing->directory, out, writing->arena);
    return true;
}

int calibration_write_profile(const struct calibration *calibration, const char *command, const char *file,
                              struct arena *arena)
{
    struct writing writing = {calibration, path_directory(file, arena), arena};
    return result_write(command, file, write_to, &writing);
}
