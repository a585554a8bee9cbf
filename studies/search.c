/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "simulator/engines/progress.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { OPERATIONS_MAX = 20000000 };

/* What the processes share: they take candidates one by one. */
struct counters {
    atomic_uint next, done;
};

struct evaluating {
    const struct search *search;
    struct counters *counters;
};

/* ---- the children ---- */

/* The text of the first mistake, without its place. */
static void take_reason(const char *report, char *reason)
{
    static const char mark[] = ": error: ";
    const char *end = strchr(report, '\n'), *start = strstr(report, mark);
    start = start && (!end || start < end) ? start + sizeof mark - 1 : report;
    size_t length = end && end > start ? (size_t)(end - start) : strlen(start);
    snprintf(reason, SEARCH_REASON_MAX, "%.*s", (int)(length < SEARCH_REASON_MAX ? length : SEARCH_REASON_MAX - 1),
             start);
}

static void fill(struct search_result *result, const struct report *report)
{
    result->status = report->fits ? SEARCH_FITS : SEARCH_DOES_NOT_FIT;
    result->micro_batches = report->micro_batches;
    result->iteration = report->iteration;
    result->samples_per_s = report->samples_per_s;
    result->mfu = report->mfu;
    result->bubble = report->bubble;
    result->peak_bytes = report->peak_bytes;
    result->capacity_bytes = report->capacity_bytes;
}

static struct search_result try(const struct search *search, uint32_t index, struct platform *platform)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[SEARCH_SETS];
    struct search_result result;
    memset(&result, 0, sizeof result); /* padding, too: results are written to files */
    result.index = index;
    search_candidate_sets(&search->space.candidates[index], search->scenario, sets, arena);
    struct evaluation_request request = {search->scenario->request, sets, SEARCH_SETS, OPERATIONS_MAX};
    char *text = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&text, &size)};
    struct evaluation evaluation;
    bool legal = evaluate(&request, platform, arena, &diag, &evaluation);
    if (diag.out)
        fclose(diag.out);
    if (legal) {
        fill(&result, evaluation.report);
    } else {
        result.status = SEARCH_ILLEGAL;
        take_reason(text ? text : "", result.reason);
    }
    free(text);
    arena_destroy(arena);
    return result;
}

static int evaluate_some(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct evaluating *evaluating = user;
    uint32_t count = evaluating->search->space.count;
    (void)diag; /* mistakes of candidates are results */
    for (uint32_t index; (index = atomic_fetch_add(&evaluating->counters->next, 1)) < count;) {
        struct search_result result = try(evaluating->search, index, platform);
        fwrite(&result, sizeof result, 1, results);
        atomic_fetch_add(&evaluating->counters->done, 1);
    }
    return EXIT_DONE;
}

static int count_gpus(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    (void)user, (void)diag;
    fwrite(&platform->host_count, sizeof platform->host_count, 1, results);
    return EXIT_DONE;
}

/* ---- the parent ---- */

static int find_gpus(const struct scenario *scenario, uint32_t *gpus)
{
    struct simulation_visit visit = {scenario, count_gpus, NULL};
    FILE *results;
    int code = simulation_visit(&visit, &results);
    if (code == EXIT_DONE && fread(gpus, sizeof *gpus, 1, results) != 1)
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    return code;
}

static void watch(struct isolation **processes, unsigned count, const struct counters *counters, uint32_t candidates,
                  bool quiet)
{
    struct progress progress;
    progress_init(&progress, quiet ? NULL : stderr, "search");
    struct engine_progress hook = progress_hook(&progress);
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < count; i++)
            any |= isolate_runs(processes[i]);
        hook.report(hook.user, atomic_load(&counters->done), candidates);
        if (any)
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    progress_finish(&progress);
}

static int collect(struct search *search, const struct simulation_visit *visit, struct isolation **processes,
                   unsigned count, bool *known)
{
    int worst = EXIT_DONE;
    for (unsigned i = 0; i < count; i++) {
        struct search_result result;
        FILE *results;
        int code = simulation_visit_wait(visit, processes[i], &results);
        while (fread(&result, sizeof result, 1, results) == 1) {
            search->results[result.index] = result;
            known[result.index] = true;
        }
        fclose(results);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int evaluate_all(struct search *search, unsigned jobs, bool quiet, struct arena *arena)
{
    struct counters *counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct isolation **processes = arena_array(arena, jobs, sizeof *processes);
    bool *known = arena_array(arena, search->space.count, sizeof *known);
    struct fault fault = {""};
    unsigned started = 0;
    if (counters == MAP_FAILED) {
        fputs("stagesim: no memory to share between processes\n", stderr);
        return EXIT_FAILED;
    }
    struct evaluating evaluating = {search, counters};
    struct simulation_visit visit = {search->scenario, evaluate_some, &evaluating};
    while (started < jobs && (processes[started] = simulation_visit_start(&visit, &fault)))
        started++;
    if (!started)
        fprintf(stderr, "stagesim: %s\n", fault.text);
    watch(processes, started, counters, search->space.count, quiet);
    int code = started ? collect(search, &visit, processes, started, known) : EXIT_FAILED;
    munmap(counters, sizeof *counters);
    for (uint32_t i = 0; i < search->space.count && code == EXIT_DONE; i++)
        if (!known[i]) {
            fputs("stagesim: the results of the search could not be read back\n", stderr);
            code = EXIT_FAILED;
        }
    return code;
}

/* ---- ranking ---- */

static double time_of(const struct search_result *result)
{
    return result->verified > 0 ? result->verified : result->iteration;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int faster_first(const void *left, const void *right)
{
    const struct search_result *a = *(const struct search_result *const *)left,
                               *b = *(const struct search_result *const *)right;
    int order = compare_numbers(time_of(a), time_of(b));
    order = order ? order : compare_numbers(a->peak_bytes, b->peak_bytes);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* Sorts the first `count` of the ranking. */
static void sort_ranked(struct search *search, uint32_t count)
{
    const struct search_result **sorted = array_grow(NULL, &(size_t){0}, (size_t)count + 1, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &search->results[search->ranked[i]];
    qsort(sorted, count, sizeof *sorted, faster_first);
    for (uint32_t i = 0; i < count; i++)
        search->ranked[i] = sorted[i]->index;
    free(sorted);
}

/* Of candidates that come to the same (schedules of one worker, recomputation that saves nothing) the ranking keeps the
 * first. */
static void drop_twins(struct search *search)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < search->fit_count; i++) {
        struct search_result *result = &search->results[search->ranked[i]];
        const struct search_result *before = kept ? &search->results[search->ranked[kept - 1]] : NULL;
        bool twin = before && before->iteration == result->iteration && before->peak_bytes == result->peak_bytes;
        result->like = twin ? before->index : result->index;
        if (!twin)
            search->ranked[kept++] = result->index;
    }
    search->ranked_count = kept;
}

static void mark_pareto(struct search *search)
{
    double least = 0;
    for (uint32_t i = 0; i < search->ranked_count; i++) {
        struct search_result *result = &search->results[search->ranked[i]];
        result->pareto = i == 0 || result->peak_bytes < least;
        least = result->pareto ? result->peak_bytes : least;
    }
}

static void rank(struct search *search, struct arena *arena)
{
    search->ranked = arena_array(arena, (size_t)search->space.count + 1, sizeof *search->ranked);
    for (uint32_t i = 0; i < search->space.count; i++) {
        if (search->results[i].status == SEARCH_FITS)
            search->ranked[search->fit_count++] = i;
        search->unfit_count += search->results[i].status == SEARCH_DOES_NOT_FIT;
        search->illegal_count += search->results[i].status == SEARCH_ILLEGAL;
    }
    sort_ranked(search, search->fit_count);
    drop_twins(search);
    mark_pareto(search);
}

/* Whether two texts differ in whole numbers at most. */
static bool same_rule(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    while (*a && *b) {
        size_t left = strspn(a, digits), right = strspn(b, digits);
        if (!left != !right || (!left && *a != *b))
            return false;
        a += left ? left : 1;
        b += left ? right : 1;
    }
    return *a == *b;
}

static int more_first(const void *left, const void *right)
{
    const struct search_reason *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->text, b->text);
}

static void group_reasons(struct search *search, struct arena *arena)
{
    size_t capacity = 0;
    struct search_reason *reasons = NULL;
    for (uint32_t i = 0; i < search->space.count; i++) {
        const struct search_result *result = &search->results[i];
        size_t at = 0;
        if (result->status != SEARCH_ILLEGAL)
            continue;
        while (at < search->reason_count && !same_rule(reasons[at].text, result->reason))
            at++;
        if (at == search->reason_count) {
            reasons = array_grow(reasons, &capacity, at + 1, sizeof *reasons);
            reasons[search->reason_count++] = (struct search_reason){0, result->reason};
        }
        reasons[at].count++;
    }
    search->reasons = arena_array(arena, search->reason_count + 1, sizeof *reasons);
    if (reasons) {
        memcpy(search->reasons, reasons, search->reason_count * sizeof *reasons);
        qsort(search->reasons, search->reason_count, sizeof *reasons, more_first);
    }
    free(reasons);
}

int search_run(struct search *search, const struct scenario *scenario, unsigned jobs, bool quiet, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    uint32_t gpus = 0;
    *search = (struct search){.scenario = scenario};
    int code = find_gpus(scenario, &gpus);
    if (code != EXIT_DONE)
        return code;
    if (!search_space_create(&search->space, scenario, gpus, arena, &diag))
        return EXIT_BAD_INPUT;
    search->results = arena_array(arena, search->space.count, sizeof *search->results);
    code = evaluate_all(search, jobs < search->space.count ? jobs : search->space.count, quiet, arena);
    if (code != EXIT_DONE)
        return code;
    rank(search, arena);
    group_reasons(search, arena);
    return EXIT_DONE;
}

/* ---- the best ones with contention ---- */

static int verify(struct search *search, struct search_result *result, bool quiet, struct arena *arena)
{
    struct scenario_set sets[SEARCH_SETS + 1] = {{0}};
    struct diag diag = {.out = stderr};
    search_candidate_sets(&search->space.candidates[result->index], search->scenario, sets, arena);
    sets[SEARCH_SETS].text = "engine=simgrid";
    struct scenario_request request = scenario_request_with(&search->scenario->request, sets, SEARCH_SETS + 1, arena);
    struct simulation_request simulation = {.scenario = scenario_load(&request, arena, &diag), .quiet = quiet};
    struct simulation_result simulated;
    int code = simulation.scenario ? simulate(&simulation, &simulated) : EXIT_FAILED;
    if (code == EXIT_DONE)
        result->verified = simulated.rows[0].iteration;
    gantt_destroy(code == EXIT_DONE ? simulated.gantt : NULL);
    return code;
}

int search_verify(struct search *search, uint32_t count, bool quiet, struct arena *arena)
{
    count = count < search->ranked_count ? count : search->ranked_count;
    for (uint32_t i = 0; i < count; i++) {
        int code = verify(search, &search->results[search->ranked[i]], quiet, arena);
        if (code != EXIT_DONE)
            return code;
    }
    sort_ranked(search, count);
    return EXIT_DONE;
}
