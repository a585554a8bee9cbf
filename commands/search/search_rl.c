/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_rl.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "cluster/rl/rl.h"
#include "commands/cli/parts.h"
#include "commands/cli/result.h"
#include "commands/cli/sweep_parts.h"
#include "studies/record.h"
#include "studies/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOP_DEFAULT = 10 };

struct found {
    const struct options *options;
    const struct scenario *scenario;
    const struct rl_variant *variants; /* sweep.count of them */
    struct sweep_axis axis;
    struct sweep_request request;
    struct sweep sweep;
    const struct sweep_result **ranked; /* those that fit, the fastest first; ranked_count of them */
    size_t ranked_count, ran, refused;
    const char *reason; /* why most of those that are refused are; NULL: none is */
    size_t reason_count;
    bool answered; /* all variants were tried */
};

/* ---- what is asked for ---- */

static bool check_options(const struct options *options, unsigned pictures)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--exhaustive", options->exhaustive},
                  {"--shard beside --merge", options->shard && options->merge},
                  {"--top 0", options->top == 0},
                  {"--picture", pictures != 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given) {
            diag_print(stderr, "stagesim search: %s is for scenarios of a job, and this one is of %s\n", others[i].name,
                       rl_kind.summary);
            return false;
        }
    return true;
}

/* Whether each key that goes with one arrangement has some variants that it counts for. */
static bool check_keys(const struct scenario *scenario, struct arena *arena, struct diag *diag)
{
    unsigned tried = rl_tried(scenario->whole);
    for (const struct rl_arranged *key = rl_arranged_keys; key->name; key++) {
        const char *path = arena_print(arena, "rl.%s", key->name);
        if (!scenario_is_own(scenario, path) || tried >> key->of & 1)
            continue;
        diag_error(diag, scenario_place(scenario, path),
                   "'%s' goes with arrangement: %s, which the variants do not have", key->name,
                   rl_arrangement_names[key->of]);
        return false;
    }
    return true;
}

static bool list_variants(struct found *found, struct arena *arena)
{
    const struct rl *rl = found->scenario->whole;
    struct diag diag = {.out = stderr};
    struct rl_variant *variants;
    if (!check_keys(found->scenario, arena, &diag))
        return false;
    if (rl->values.pool.count) {
        diag_error(&diag, scenario_place(found->scenario, "rl.pool"),
                   "search has as many engines as GPUs hold; expected no pool");
        return false;
    }
    size_t count = rl_list_variants(rl, &variants);
    if (count && count <= RL_VARIANTS_MOST) {
        struct rl_variant *kept = arena_array(arena, count, sizeof *kept);
        const char **values = arena_array(arena, count, sizeof *values);
        memcpy(kept, variants, count * sizeof *kept);
        for (size_t i = 0; i < count; i++)
            values[i] = rl_variant_sets(&kept[i], arena);
        found->variants = kept;
        found->axis = sweep_axis_of(SWEEP_SETS, values, values, count);
    } else if (count) {
        diag_error(&diag, scenario_place(found->scenario, "variants"),
                   "there are more than %d variants; expected shorter lists", RL_VARIANTS_MOST);
    } else {
        diag_error(&diag, scenario_place(found->scenario, "variants"),
                   "no layout of trainer and engines fills the GPUs; expected others");
    }
    free(variants);
    return count && count <= RL_VARIANTS_MOST;
}

/* ---- ranking ---- */

static int by_step(const void *a, const void *b)
{
    const struct sweep_result *one = *(const struct sweep_result *const *)a;
    const struct sweep_result *other = *(const struct sweep_result *const *)b;
    int order = (one->row.iteration > other->row.iteration) - (one->row.iteration < other->row.iteration);
    return order ? order : (one > other) - (one < other);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Why variants are illegal, and the reason that most of them have. */
static void count_reasons(struct found *found, struct arena *arena)
{
    const struct sweep *sweep = &found->sweep;
    const char **reasons = arena_array(arena, sweep->count, sizeof *reasons);
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->results[i].status == SWEEP_NOT_RUN)
            reasons[found->refused++] = sweep->results[i].row.reason;
    qsort(reasons, found->refused, sizeof *reasons, by_text);
    for (size_t first = 0, i = 1; i <= found->refused; i++)
        if (i == found->refused || strcmp(reasons[first], reasons[i]) != 0) {
            if (i - first > found->reason_count) {
                found->reason_count = i - first;
                found->reason = reasons[first];
            }
            first = i;
        }
}

static void rank(struct found *found, struct arena *arena)
{
    const struct sweep *sweep = &found->sweep;
    found->ranked = arena_array(arena, sweep->count, sizeof *found->ranked);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_result *result = &sweep->results[i];
        found->ran += result->status == SWEEP_RAN;
        if (result->status == SWEEP_RAN && result->row.fits)
            found->ranked[found->ranked_count++] = result;
    }
    qsort(found->ranked, found->ranked_count, sizeof *found->ranked, by_step);
    count_reasons(found, arena);
}

/* ---- what people read ---- */

static void put_row(struct table *table, const struct found *found, const struct sweep_result *result)
{
    const struct rl_variant *v = &found->variants[result - found->sweep.results];
    char text[READABLE_MAX];
    const uint32_t numbers[] = {v->trainer_gpus, v->tensor,        v->pipeline,       v->data,
                                v->engines,      v->engine_tensor, v->engine_pipeline};
    table_cell(table, "%s", rl_arrangement_names[v->arrangement]);
    if (v->arrangement == RL_ASYNC) {
        table_cell(table, "%u", v->staleness);
        table_value(table, v->staleness);
    } else {
        table_cell(table, "%s", "");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        table_cell(table, "%u", numbers[i]);
        table_value(table, numbers[i]);
    }
    if (result->status == SWEEP_RAN) {
        table_seconds(table, result->row.iteration);
        table_cell(table, "%.6g", result->row.tokens_per_s);
        table_value(table, result->row.tokens_per_s);
        table_cell(table, "%s", readable_binary_bytes(text, result->row.peak_bytes));
        table_value(table, result->row.peak_bytes);
        table_cell(table, "%s", result->row.fits ? "fits" : "does not fit");
    } else {
        for (int i = 0; i < 3; i++)
            table_cell(table, "%s", "");
        table_cell(table, "%s", result->status == SWEEP_OPEN ? "not tried" : result->row.reason);
    }
}

static void print_table(FILE *out, const struct found *found, size_t count, bool ranked, enum table_format format)
{
    struct table *table = table_create();
    table_columns(table, "<arrangement", ">staleness", ">trainer GPUs", ">tensor", ">pipeline", ">data", ">engines",
                  ">engine tensor", ">engine pipeline", ">step", ">tokens/s", ">memory", "<answer", NULL);
    for (size_t i = 0; i < count; i++)
        put_row(table, found, ranked ? found->ranked[i] : &found->sweep.results[i]);
    table_finish(table, out, table_style_of(format, out));
}

static size_t shown(const struct found *found)
{
    unsigned top = found->options->top;
    size_t most = top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : top;
    return most < found->ranked_count ? most : found->ranked_count;
}

static void print_remarks(FILE *out, const struct found *found, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    diag_print(remarks, "%zu variant%s of %s: %zu fit in memory, %zu do not, %zu are illegal\n", found->sweep.count,
               readable_plural(found->sweep.count), found->scenario->name, found->ranked_count,
               found->ran - found->ranked_count, found->refused);
    if (found->reason)
        diag_print(remarks, "illegal, %zu of them: %s\n", found->reason_count, found->reason);
    if (found->sweep.stopped)
        diag_print(remarks, "stopped early: %zu were not tried\n", found->sweep.count - found->ran - found->refused);
    fputc('\n', remarks);
    table_remarks_end(out, format, remarks, &lines);
}

/* ---- files ---- */

static bool write_files(const struct found *found, struct output *output, const char *typed, struct arena *arena,
                        struct fault *fault)
{
    const char *directory = found->options->output;
    FILE *csv = output_open(output, "search.csv", fault);
    FILE *json = csv ? output_open(output, "search.json", fault) : NULL;
    if (!json)
        return false;
    print_table(csv, found, found->sweep.count, false, TABLE_CSV);
    print_table(json, found, found->sweep.count, false, TABLE_JSON);
    size_t count;
    const struct scenario_set *sets =
        sweep_axis_sets(found->axis.values[found->ranked[0] - found->sweep.results], &count, arena);
    const char *comment = arena_print(arena, "The best of %zu variants of %s that `stagesim search` tried.",
                                      found->sweep.count, found->scenario->name);
    return record_best(output, directory, found->scenario, sets, count, comment, fault) &&
           record_scenario(output, directory, "", found->scenario, true, fault) &&
           record_about(output, typed, &found->scenario, 1, NULL, fault);
}

/* ---- all together ---- */

static bool fill_request(struct found *found, struct arena *arena)
{
    const struct options *options = found->options;
    found->request = (struct sweep_request){
        .scenario = found->scenario->request,
        .axes = &found->axis,
        .axis_count = 1,
    };
    return sweep_parts_request(options, &found->request, arena);
}

/* The variants, those of a part, or what the parts have. */
static int simulate_some(struct found *found, struct arena *arena)
{
    int code = sweep_create(&found->sweep, &found->request, arena);
    if (code != EXIT_DONE)
        return code;
    if (found->options->merge)
        return sweep_parts_merge(&found->sweep, found->options, "search", arena);
    interruption_await();
    code = sweep_run(&found->sweep);
    interruption_forget();
    return code;
}

static int simulate_part(void *user)
{
    struct found *found = user;
    return simulate_some(found, found->sweep.arena);
}

static int simulate(struct found *found, struct arena *arena)
{
    const struct options *options = found->options;
    int code = simulate_some(found, arena);
    if (code != EXIT_DONE)
        return code;
    rank(found, arena);
    found->answered = !found->sweep.stopped;
    FILE *out = found->ranked_count ? stdout : stderr;
    print_remarks(out, found, found->ranked_count ? options->format : TABLE_TEXT);
    if (found->ranked_count) {
        print_table(out, found, shown(found), true, options->format);
        return EXIT_DONE;
    }
    diag_print(stderr, "stagesim: none of the variants is legal and fits in memory\n");
    return EXIT_BAD_INPUT;
}

int search_rl(const struct options *options, const struct scenario *scenario, const char *typed, int argc, char **argv,
              struct arena *arena)
{
    static const char *const late[] = {"search.csv", "search.json", "best.yaml", "scenario.yaml", "about.json", NULL};
    struct found found = {.options = options, .scenario = scenario, .sweep = {.arena = arena}};
    struct fault fault = {""};
    if (!check_options(options, scenario->pictures) || !list_variants(&found, arena) || !fill_request(&found, arena))
        return EXIT_BAD_INPUT;
    if (options->slurm)
        return sweep_parts_on_slurm(&found.request, options, "search", argc, argv, arena);
    if (options->shard)
        return parts_run(options->output, simulate_part, &found);
    if (!options->output)
        return simulate(&found, arena);
    struct output *output = output_create(options->output, &fault);
    int code = output && output_foresee(output, late, &fault) ? simulate(&found, arena) : EXIT_BAD_INPUT;
    if (found.answered && found.request.journal)
        unlink(found.request.journal);
    bool written =
        result_settle(output, code == EXIT_DONE && write_files(&found, output, typed, arena, &fault), &fault);
    if (code == EXIT_DONE && !options->quiet && written) {
        fflush(stdout); /* both streams may go to one file */
        diag_print(stderr, "written to %s\n", options->output);
    }
    return code == EXIT_DONE && !written ? EXIT_FAILED : code;
}
