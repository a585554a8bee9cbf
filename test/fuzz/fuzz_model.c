/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes files of models: the text, as `model: FILE`, is read, laid out, and timed on the analytic engine. The input is
 * the file; behind a form feed there may be values for `--set`, a line each. Sizes, times and bounds are finite, and
 * what is known before the job is built agrees with what it comes to. */
#include "base/arena.h"
#include "job/job.h"
#include "studies/evaluate.h"
#include "test/fuzz/words.h"
#include "test/support/memory_file.h"
#include "workloads/layers/layers.h"
#include "workloads/transformer/transformer.h"
#include "workloads/workload_table.h"

#include <math.h>

enum { SETS_MAX = 12, OPERATIONS_MAX = 100000, LAYERS_MAX = 4096, BATCHES_MAX = 256, RANKS_FUZZED = 16 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char scenario[] = "platform: dgx-a100:2\n"
                               "workload: transformer\n"
                               "parallel: {data: 2, tensor: 2, pipeline: 2}\n"
                               "batch: {micro: 1, micro_batches: 4}\n"
                               "schedule: 1f1b\n"
                               "compute: {precision: bf16}\n";

static bool is_fine(double value)
{
    return isfinite(value) && value >= 0;
}

static void judge(const struct report *report, const struct job_outline *outline)
{
    if (!is_fine(report->iteration) || report->iteration <= 0 || !is_fine(report->peak_bytes) ||
        !is_fine(report->bubble) || report->bubble > 1 || !is_fine(report->mfu) || report->mfu > 1 + 1e-9)
        give_up("nonsense in the report", "");
    if (!outline->known)
        return;
    if (fabs(outline->peak_bytes - report->peak_bytes) > 1e-9 * report->peak_bytes)
        give_up("another memory than before the job was built", "");
    if (outline->work > report->iteration * (1 + 1e-12) || outline->order > report->iteration * (1 + 1e-12))
        give_up("a bound above the time", "");
}

/* Small enough to be timed a thousand times a second. */
static bool is_small(const struct scenario *read)
{
    const struct transformer_parameters *parameters = read->parameters;
    bool fine = read->mesh.ranks <= RANKS_FUZZED && read->micro_batches <= BATCHES_MAX && read->iterations <= 4;
    return fine && (read->workload == &layers_workload ||
                    (read->workload == &transformer_workload && parameters->model.layers <= LAYERS_MAX));
}

static void time_it(const struct scenario_request *request, struct arena *arena)
{
    const char *why = NULL;
    struct fault fault = {""};
    struct diag diag = {.out = fopen("/dev/null", "w")};
    struct scenario *read = scenario_load(request, arena, &diag);
    if (!read != (diag.errors > 0))
        give_up("verdict and message differ", request->file);
    struct platform *platform =
        read && is_small(read) ? platform_source_native(&read->platform, arena, &why, &fault) : NULL;
    if (platform) {
        struct evaluation_request asked = {*request, NULL, 0, OPERATIONS_MAX};
        struct evaluation evaluation;
        struct job_outline outline;
        bool known = evaluate_outline(&asked, platform, JOB_BOUND_ANY, arena, &diag, &outline);
        unsigned errors = diag.errors;
        bool timed = evaluate(&asked, platform, arena, &diag, &evaluation);
        if (!known != (errors > 0) || timed != (diag.errors == errors))
            give_up("verdict and message differ", "of the job");
        if (timed && !known)
            give_up("refused before it was built, yet timed", "");
        if (timed)
            judge(evaluation.report, &outline);
    }
    fclose(diag.out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char names[2][MEMORY_FILE_NAME];
    struct scenario_set sets[SETS_MAX];
    struct arena *arena = arena_create();
    const char *text = arena_print(arena, "%.*s", (int)size, (const char *)data);
    const char *feed = strchr(text, '\f'), *end = feed ? feed : text + strlen(text);
    int model = memory_file(text, (size_t)(end - text), names[0]),
        job = memory_file(scenario, sizeof scenario - 1, names[1]);
    struct scenario_request request = {.file = names[1], .sets = sets};
    sets[request.set_count++].text = arena_print(arena, "model=%s", names[0]);
    sets[0].option = NULL;
    char *rest = arena_copy(arena, feed ? feed + 1 : ""), *state;
    for (char *line = strtok_r(rest, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
        if (strchr(line, '=') && request.set_count < SETS_MAX)
            sets[request.set_count++] = (struct scenario_set){.text = line};
    time_it(&request, arena);
    close(model);
    close(job);
    arena_destroy(arena);
    return 0;
}
