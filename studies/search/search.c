/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/search.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/journal.h"
#include "base/files/scratch.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "job/write/scenario_write.h"
#include "studies/describe.h"
#include "studies/search/bounds.h"
#include "studies/search/training.h"
#include "studies/simulation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what makes two searches one ---- */

/* Of the scenario with all sections that were files, the platform's file, and what decides on which candidates are
 * timed. */
static uint64_t fingerprint(const struct search *search, const struct search_request *request)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    fprintf(out, "%s %s %u %d\n", STAGESIM_VERSION, search->space.gpus_text, request->kept, request->exhaustive);
    if (search->objective != OBJECTIVE_TIME)
        fprintf(out, "%s\n", search_objective_names[search->objective]);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        for (uint32_t k = 0; k < search->space.values[i].count; k++)
            fprintf(out, "%s %s\n", search_dimensions[i].key, search->space.values[i].texts[k]);
    scenario_write(out, search->scenario, ".", false);
    memory_stream_close(out);
    uint64_t sum = journal_fingerprint(JOURNAL_FINGERPRINT, text, size);
    free(text);
    return search->scenario->platform.file ? journal_fingerprint_file(sum, search->scenario->platform.file) : sum;
}

/* ---- the beginning ---- */

/* What a search asks of the platform. */
struct found_gpus {
    uint32_t count;
    struct job_bands bands;
};

static int look_at_gpus(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    (void)diag;
    const struct scenario *scenario = user;
    uint32_t used = scenario->search.gpus.count ? 0 : platform->host_count;
    for (size_t i = 0; i < scenario->search.gpus.count; i++)
        used = scenario->search.gpus.values[i] > used ? (uint32_t)scenario->search.gpus.values[i] : used;
    struct found_gpus found = {platform->host_count, scenario_bands(scenario, platform, used)};
    return fwrite(&found, sizeof found, 1, results) == 1 ? EXIT_DONE : EXIT_FAILED;
}

static int find_gpus(const struct scenario *scenario, struct found_gpus *found)
{
    struct simulation_visit visit = {scenario, look_at_gpus, (void *)(uintptr_t)scenario};
    FILE *results;
    int code = simulation_visit(&visit, &results);
    if (code == EXIT_DONE && fread(found, sizeof *found, 1, results) != 1)
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    return code;
}

int search_create(struct search *search, const struct scenario *scenario, const struct search_request *request,
                  struct arena *arena)
{
    struct diag diag = {.out = request->silent ? NULL : stderr};
    struct fault fault = {""};
    struct found_gpus gpus = {0};
    *search = (struct search){.scenario = scenario,
                              .objective = (enum search_objective)scenario->search.objective,
                              .kept = request->kept,
                              .table = {.reasons = -1}};
    int code = find_gpus(scenario, &gpus);
    if (code != EXIT_DONE)
        return code;
    search->band = gpus.bands.time;
    search->memory_band = gpus.bands.memory;
    if (!search_space_create(&search->space, scenario, gpus.count, arena, &diag))
        return EXIT_BAD_INPUT;
    if (!request->one_of_many)
        search_space_tell_unused(&search->space, scenario, arena, &diag);
    search->identity =
        (struct search_identity){fingerprint(search, request), search->space.count, request->shard, request->shards};
    if (search_table_create(&search->table, search->space.count, &fault))
        return EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}

void search_finish(struct search *search)
{
    scratch_unmap(search->ranked, search->table.count * sizeof *search->ranked);
    search_table_finish(&search->table);
    search_space_finish(&search->space);
    free(search->reasons);
    *search = (struct search){.table = {.reasons = -1}};
}

/* ---- filling the table ---- */

int search_run(struct search *search, const struct search_request *request)
{
    struct fault fault = {""};
    struct search_work work = {search->scenario, &search->space, request, &search->table, -1};
    if (request->journal) {
        work.journal =
            search_journal_open(request->journal, &search->identity, request->resume, &search->table, &fault);
        if (work.journal < 0) {
            diag_print(stderr, "stagesim: %s\n", fault.text);
            return EXIT_BAD_INPUT;
        }
    }
    int code = search_work(&work, &search->stopped);
    if (work.journal >= 0)
        close(work.journal);
    return code;
}

int search_merge(struct search *search, const char *const *files, size_t count)
{
    struct fault fault = {""};
    for (size_t i = 0; i < count; i++) {
        uint32_t shards = 1;
        if (!search_journal_read(files[i], &search->identity, &search->table, &shards, &fault)) {
            diag_print(stderr, "stagesim: %s\n", fault.text);
            return EXIT_BAD_INPUT;
        }
        search->merged_shards = shards > search->merged_shards ? shards : search->merged_shards;
    }
    return EXIT_DONE;
}

int search_begin_journal(struct search *search, const struct search_request *request)
{
    struct fault fault = {""};
    int journal = search_journal_open(request->journal, &search->identity, request->resume, &search->table, &fault);
    if (journal >= 0)
        return close(journal), EXIT_DONE;
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_BAD_INPUT;
}

/* ---- the best ones with contention ---- */

/* What the user is shown beside a simulation: what those before it took, and how many come behind it. */
struct course {
    bool quiet;
    double started;
    uint32_t done, behind;
};

static int verify(struct search *search, uint64_t index, const struct course *course, struct arena *arena)
{
    struct scenario_set sets[SEARCH_SETS_MAX + 1] = {{0}};
    struct diag diag = {.out = stderr};
    struct search_result *result = &search->table.results[index];
    size_t count = search_space_sets(&search->space, search->scenario, index, sets, arena);
    sets[count++].text = "engine=simgrid";
    struct scenario_request request = scenario_request_with(&search->scenario->request, sets, count, arena);
    double each = course->done ? (clock_now() - course->started) / course->done : 0;
    struct simulation_request simulation = {.scenario = scenario_load(&request, arena, &diag),
                                            .quiet = course->quiet,
                                            .settles = true,
                                            .behind = each * course->behind,
                                            .least = course->behind && !course->done};
    struct simulation_result simulated;
    int code = simulation.scenario ? simulate(&simulation, &simulated) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        const struct comparison_row *row = &simulated.rows[0];
        result->verified = (struct search_verified){.iteration = row->iteration,
                                                    .energy = fmax(0, row->energy),
                                                    .bubble = row->bubble,
                                                    .exposed = row->exposed / row->iteration,
                                                    .step = search_step_of(search->scenario, &row->tails),
                                                    .training = search_training_of(&row->forecast),
                                                    .settled = row->settled,
                                                    .unsettled = row->unsettled};
    }
    gantt_destroy(code == EXIT_DONE ? simulated.gantt : NULL);
    return code;
}

static bool note_verified(const struct search *search, const struct search_request *request, uint64_t index)
{
    struct fault fault = {""};
    struct search_result found = {.verified = search->table.results[index].verified};
    if (!request->journal)
        return true;
    int journal = journal_extend(request->journal, &fault);
    bool ok = journal >= 0 && search_journal_append(journal, index, &found, &search->table);
    if (journal >= 0 && !ok)
        fault_set(&fault, "%s: cannot be written: %s", request->journal, strerror(errno));
    if (journal >= 0)
        close(journal);
    if (!ok)
        diag_print(stderr, "stagesim: %s\n", fault.text);
    return ok;
}

static int by_verified(const void *left, const void *right, void *user)
{
    const struct search *search = user;
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    const struct search_result *x = &search->table.results[search->ranked[a]],
                               *y = &search->table.results[search->ranked[b]];
    double left_value = search_value(search, x, true), right_value = search_value(search, y, true);
    if (left_value != right_value)
        return left_value < right_value ? -1 : 1;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? -1 : 1;
    return (a > b) - (a < b);
}

/* Of the best from a place on, those that have not been simulated. */
static uint32_t count_unverified(const struct search *search, uint32_t first, uint32_t count, uint32_t step)
{
    uint32_t unverified = 0;
    for (uint32_t i = first; i < count; i += step)
        unverified += search->table.results[search->ranked[search->best[i]]].verified.iteration <= 0;
    return unverified;
}

int search_verify(struct search *search, uint32_t count, const struct search_request *request, struct arena *arena)
{
    struct course course = {.quiet = request->quiet, .started = clock_now()};
    interruption_await();
    count = count < search->best_count ? count : search->best_count;
    for (uint32_t i = request->shard - 1; i < count; i += request->shards) {
        uint64_t index = search->ranked[search->best[i]];
        if (search->table.results[index].verified.iteration > 0)
            continue;
        course.behind = count_unverified(search, i + request->shards, count, request->shards);
        int code = verify(search, index, &course, arena);
        course.done++;
        if (code != EXIT_DONE && interruption_noted()) {
            search->stopped = true;
            count = i;
            break;
        }
        if (code == EXIT_DONE && !note_verified(search, request, index))
            code = EXIT_FAILED;
        if (code != EXIT_DONE)
            return code;
    }
    if (count && request->shards == 1)
        qsort_r(search->best, count, sizeof *search->best, by_verified, search);
    return EXIT_DONE;
}
