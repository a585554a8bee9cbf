/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/lab.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/clock.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_rows.h"
#include "schedules/schedule.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"
#include "workloads/transformer/pipeline_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    OPERATIONS_MAX = 20000000,
    EFFORT_OF_JOB = 1000,
    REACH = 6,
    STARTS = 3,
    CHUNKS_MOST = 4,
    SWAPS = 8,
    STAGES_MOST = 64,
    SHORT = 4
};

/* A backward is about two forwards: computing all of one again takes a third more. */
static const double CLOSE = 1.05, CLOSE_AGAIN = 4.0 / 3;

/* The part that runs beside the platform. */
struct session {
    const struct lab_request *request;
    struct platform *platform;
    struct lab *lab;
    double began;
    uint64_t random;
};

static bool is_over(struct session *session)
{
    double limit = session->request->time_limit;
    if (interruption_noted() || (limit > 0 && clock_now() - session->began >= limit) ||
        session->lab->count == LAB_CANDIDATES)
        session->lab->stopped = true;
    return session->lab->stopped;
}

static uint32_t random_below(struct session *session, uint32_t count)
{
    session->random = session->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((session->random >> 33) * count >> 31);
}

/* ---- one candidate ---- */

/* Sets a key; a later value of the same key takes the place of the earlier one. */
__attribute__((format(printf, 2, 3))) static void add_set(struct lab_candidate *candidate, const char *format, ...)
{
    char text[LAB_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t at = 0;
    size_t key = strcspn(text, "=") + 1;
    while (at < candidate->set_count && strncmp(candidate->sets[at], text, key) != 0)
        at++;
    if (at < LAB_SETS)
        memcpy(candidate->sets[at], text, sizeof text);
    candidate->set_count += at == candidate->set_count && at < LAB_SETS;
}

static const char *file_of(const struct session *session, uint32_t number, const char *ending, struct arena *arena)
{
    return arena_print(arena, "%s/%u.%s", session->request->folder, number, ending);
}

static struct scenario_request scenario_of(const struct lab_request *request, const struct lab_candidate *candidate,
                                           const char *order, struct arena *arena)
{
    struct scenario_set *sets = arena_array(arena, LAB_SETS + 1, sizeof *sets);
    for (uint32_t i = 0; i < candidate->set_count; i++)
        sets[i].text = candidate->sets[i];
    struct scenario_request changed =
        scenario_request_with(&request->scenario->request, sets, candidate->set_count, arena);
    changed.schedule = order ? order : candidate->schedule;
    return changed;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool good = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && good;
}

static bool write_times(const char *path, const struct job_order *order)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "%.17g", order->message);
    for (uint32_t stage = 0; stage < order->stages; stage++)
        fprintf(file, " %.17g %.17g %.17g", order->forward[stage], order->backward[stage], order->weight[stage]);
    return fclose(file) == 0;
}

/* Times a candidate, by its order's file if it has one. False where it is not possible. */
static bool judge(struct session *session, struct lab_candidate *candidate, uint32_t number, const char *order)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct evaluation evaluation;
    struct evaluation_request request = {.scenario = scenario_of(session->request, candidate, order, arena),
                                         .operations_max = OPERATIONS_MAX,
                                         .order = true};
    bool possible = evaluate(&request, session->platform, arena, &silent, &evaluation) && evaluation.job->order &&
                    !evaluation.job->asynchronous;
    if (possible) {
        const struct job *job = evaluation.job;
        const char *layout = job->figures.pipeline_layout;
        candidate->number = number;
        candidate->analytic = evaluation.report->iteration;
        candidate->bound = job->bound;
        candidate->peak_bytes = evaluation.report->peak_bytes;
        candidate->fits = evaluation.report->fits || evaluation.report->capacity_bytes <= 0;
        snprintf(candidate->layout, sizeof candidate->layout, "%s", layout ? layout : "");
        possible = write_text(file_of(session, candidate->number, "csv", arena), job->order->rows) &&
                   write_times(file_of(session, candidate->number, "times", arena), job->order);
    }
    arena_destroy(arena);
    return possible;
}

/* What fits comes first, then the fastest. */
static bool is_better(const struct lab_candidate *a, const struct lab_candidate *b)
{
    return a->fits != b->fits ? a->fits : a->analytic < b->analytic * (1 - 1e-12);
}

/* Times a candidate and keeps it; false where it is not possible or the search is over. */
static bool try_candidate(struct session *session, struct lab_candidate *candidate, const char *order)
{
    struct lab *lab = session->lab;
    if (is_over(session) || !judge(session, candidate, lab->count, order))
        return false;
    lab->candidates[lab->count++] = *candidate;
    guard_doing("timing schedules: %u so far", lab->count);
    return true;
}

static const struct lab_candidate *best_of(const struct lab *lab)
{
    const struct lab_candidate *best = NULL;
    for (uint32_t i = 0; i < lab->count; i++)
        if (!best || is_better(&lab->candidates[i], best))
            best = &lab->candidates[i];
    return best;
}

/* ---- which schedules ---- */

static void try_published(struct session *session)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        struct lab_candidate candidate = {.set_count = 0};
        snprintf(candidate.schedule, sizeof candidate.schedule, "%s", (*schedule)->name);
        snprintf(candidate.label, sizeof candidate.label, "%s", (*schedule)->name);
        if (!(*schedule)->searches && !(*schedule)->asynchronous)
            try_candidate(session, &candidate, NULL);
    }
}

static struct lab_candidate searched(uint32_t chunks, const char *placement, const char *backward, uint64_t effort)
{
    struct lab_candidate candidate = {.schedule = "best"};
    add_set(&candidate, "schedule.name=best");
    add_set(&candidate, "schedule.chunks=%u", chunks);
    add_set(&candidate, "schedule.placement=%s", placement);
    add_set(&candidate, "schedule.backward=%s", backward);
    add_set(&candidate, "schedule.effort=%llu", (unsigned long long)effort);
    snprintf(candidate.label, sizeof candidate.label, "best, chunks %u, %s, %s", chunks, placement, backward);
    return candidate;
}

static void try_searched(struct session *session)
{
    static const char *const backwards[] = {"split", "whole"};
    uint64_t effort = session->request->effort;
    for (uint32_t chunks = 1; chunks <= CHUNKS_MOST; chunks *= 2)
        for (unsigned wave = 0; wave < (chunks > 1 ? 2 : 1); wave++)
            for (unsigned i = 0; i < 2; i++) {
                struct lab_candidate candidate = searched(chunks, wave ? "wave" : "loop", backwards[i], effort);
                try_candidate(session, &candidate, NULL);
            }
}

/* ---- layers ---- */

/* Which layers each stage holds, and what of them it computes again. */
struct partition {
    struct pipeline_layout layout;
    uint8_t recompute[STAGES_MOST]; /* index into `ways`; only of so many stages */
};

static const char *const ways[] = {"none", "selective", "full", NULL};

static bool has_ways(const struct partition *partition)
{
    return partition->layout.stages <= STAGES_MOST;
}

static void set_partition(struct lab_candidate *candidate, const struct partition *partition)
{
    char text[LAB_TEXT_MAX - 64];
    size_t at = 0;
    uint32_t stages = partition->layout.stages;
    for (uint32_t stage = 0; stage < stages && at < sizeof text - 16; stage++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", stage ? ", " : "", partition->layout.counts[stage]);
    add_set(candidate, "transformer.balance=even");
    add_set(candidate, "transformer.layers_per_stage=[%s]", text);
    bool alike = true;
    for (uint32_t stage = 1; has_ways(partition) && stage < stages; stage++)
        alike &= partition->recompute[stage] == partition->recompute[0];
    char *way = strstr(candidate->label, ", recompute ");
    if (way && has_ways(partition))
        snprintf(way, sizeof candidate->label - (size_t)(way - candidate->label), ", recompute %s",
                 alike ? ways[partition->recompute[0]] : "by stage");
    at = 0;
    for (uint32_t stage = 0; !alike && stage < stages; stage++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s%s", stage ? ", " : "", ways[partition->recompute[stage]]);
    if (has_ways(partition))
        add_set(candidate, alike ? "schedule.recompute=%s" : "schedule.recompute=[%s]",
                alike ? ways[partition->recompute[0]] : text);
}

/* The state of moving: the best so far and where it came from, without sets about layers. */
struct moving {
    struct session *session;
    const struct lab_candidate *base;
    struct lab_candidate best;
    struct partition partition;
};

/* Times the partition as it is now; true where it is better than the best so far, which it then is. */
static bool keeps(struct moving *moving)
{
    struct lab_candidate candidate = *moving->base;
    set_partition(&candidate, &moving->partition);
    if (is_over(moving->session) || !judge(moving->session, &candidate, moving->session->lab->count, NULL) ||
        !is_better(&candidate, &moving->best))
        return false;
    moving->best = candidate;
    moving->session->lab->candidates[moving->session->lab->count++] = candidate;
    guard_doing("timing schedules: %u so far", moving->session->lab->count);
    return true;
}

/* Moves a single layer. */
static bool move_layer(struct moving *moving)
{
    struct pipeline_layout *layout = &moving->partition.layout;
    for (uint32_t from = 0; from < layout->stages; from++)
        for (uint32_t to = 0; to < layout->stages && !is_over(moving->session); to++) {
            if (from == to || layout->counts[from] == 0)
                continue;
            layout->counts[from]--;
            layout->counts[to]++;
            if (keeps(moving))
                return true;
            layout->counts[from]++;
            layout->counts[to]--;
        }
    return false;
}

/* Lets one stage compute more or less again; in short pipelines while a layer moves, too. */
static bool change_way(struct moving *moving)
{
    struct partition *partition = &moving->partition;
    for (uint32_t stage = 0; has_ways(partition) && stage < partition->layout.stages; stage++) {
        uint8_t before = partition->recompute[stage];
        for (uint8_t way = 0; ways[way] && !is_over(moving->session); way++) {
            partition->recompute[stage] = way;
            if (way != before && (keeps(moving) || (partition->layout.stages <= SHORT && move_layer(moving))))
                return true;
        }
        partition->recompute[stage] = before;
    }
    return false;
}

/* Moves single layers and changes what single stages compute again as long as that helps. `base` has no sets about
 * layers; all stages begin with `way`. */
static void move_layers(struct session *session, const struct lab_candidate *base, const struct lab_candidate *balanced,
                        uint8_t way)
{
    struct moving moving = {.session = session, .base = base, .best = *balanced};
    struct fault fault;
    if (!balanced->layout[0] || !pipeline_layout_read(balanced->layout, 0, &moving.partition.layout, &fault))
        return;
    memset(moving.partition.recompute, way, sizeof moving.partition.recompute);
    while (!is_over(session) && (move_layer(&moving) || change_way(&moving)))
        ;
    pipeline_layout_finish(&moving.partition.layout);
}

/* Whether moving layers may make it the best; where stages may compute less again there is more to gain. */
static bool is_close(const struct lab_candidate *best, const struct lab_candidate *candidate, uint8_t way)
{
    return candidate->fits == best->fits && candidate->analytic < (way ? CLOSE_AGAIN : CLOSE) * best->analytic;
}

/* The best so far that nobody has taken; NULL: none is left. */
static const struct lab_candidate *take_best(const struct lab *lab, bool *taken)
{
    const struct lab_candidate *best = NULL;
    for (uint32_t i = 0; i < lab->count; i++)
        if (!taken[i] && (!best || is_better(&lab->candidates[i], best)))
            best = &lab->candidates[i];
    if (best)
        taken[best - lab->candidates] = true;
    return best;
}

/* The best few, and the scenario's own schedule, last, if it is not among them; how many. */
static uint32_t choose_starts(const struct session *session, struct lab_candidate starts[STARTS + 1])
{
    struct lab *lab = session->lab;
    const char *own = session->request->scenario->schedule_name;
    bool *taken = array_zeroed(lab->count, sizeof *taken);
    uint32_t count = 0;
    for (const struct lab_candidate *next; count < STARTS && (next = take_best(lab, taken));)
        starts[count++] = *next;
    for (uint32_t i = 0; i < lab->count; i++)
        if (own && !strcmp(lab->candidates[i].label, own)) {
            lab->candidates[i].own = true;
            if (!taken[i])
                starts[count++] = lab->candidates[i];
            for (uint32_t k = 0; k < count; k++)
                starts[k].own |= !strcmp(starts[k].label, own);
        }
    free(taken);
    return count;
}

/* From the best so far, and from the scenario's own schedule: its layers balanced, then moved; each way of
 * recomputing. */
static void try_partitions(struct session *session)
{
    struct lab_candidate starts[STARTS + 1];
    uint32_t count = choose_starts(session, starts);
    for (uint32_t i = 0; i < count; i++)
        for (uint8_t way = 0; ways[way] && !is_over(session); way++) {
            struct lab_candidate base = starts[i];
            add_set(&base, "schedule.recompute=%s", ways[way]);
            snprintf(base.label, sizeof base.label, "%.90s, recompute %s", starts[i].label, ways[way]);
            struct lab_candidate balanced = base;
            add_set(&balanced, "transformer.balance=auto");
            if (try_candidate(session, &balanced, NULL) &&
                (base.own || is_close(best_of(session->lab), &balanced, way)))
                move_layers(session, &base, &balanced, way);
        }
}

/* ---- the order itself, on the platform ---- */

static bool keep_quiet(void *user, const struct plan_mistake *mistake)
{
    (void)user;
    (void)mistake;
    return false;
}

/* Two workers change their stages, with all that they do. */
static void swap_workers(struct plan *plan, uint32_t a, uint32_t b)
{
    struct plan_order order = plan->orders[a];
    plan->orders[a] = plan->orders[b];
    plan->orders[b] = order;
    for (uint32_t i = 0; i < plan->pipelines * plan->stages; i++)
        if (plan->copies[i].worker == a || plan->copies[i].worker == b)
            plan->copies[i].worker = plan->copies[i].worker == a ? b : a;
}

/* Moves a slot of a worker a few places. Blocks of two stay as they are: false. */
static bool change_order(struct session *session, struct plan *plan)
{
    if (random_below(session, SWAPS) == 0) {
        swap_workers(plan, random_below(session, plan->workers), random_below(session, plan->workers));
        return plan_check(plan, &(struct plan_reporter){keep_quiet, NULL});
    }
    struct plan_order *order = &plan->orders[random_below(session, plan->workers)];
    if (order->count < 2)
        return false;
    size_t from = random_below(session, (uint32_t)order->count), reach = 1 + random_below(session, REACH);
    size_t to = random_below(session, 2) ? (from > reach ? from - reach : 0)
                                         : (from + reach < order->count ? from + reach : order->count - 1);
    size_t first = from < to ? from : to, last = from < to ? to : from;
    for (size_t i = first; i <= last + (last + 1 < order->count); i++)
        if (order->slots[i].joined)
            return false;
    struct slot slot = order->slots[from];
    if (from < to)
        memmove(order->slots + from, order->slots + from + 1, (to - from) * sizeof slot);
    else
        memmove(order->slots + to + 1, order->slots + to, (from - to) * sizeof slot);
    order->slots[to] = slot;
    return plan_check(plan, &(struct plan_reporter){keep_quiet, NULL});
}

/* One change of the order in a file; false where it gives no order. */
static bool write_changed(struct session *session, const char *from, const char *to)
{
    struct diag silent = {0};
    struct plan *plan = plan_file_read(from, PYTORCH_TODAY, &silent);
    FILE *file = plan && change_order(session, plan) ? fopen(to, "w") : NULL;
    if (file)
        plan_rows_write(plan, file);
    plan_destroy(plan);
    return file && fclose(file) == 0;
}

/* Changes of the best order, kept where the job takes no longer. */
static void improve(struct session *session)
{
    const struct lab_candidate *start = best_of(session->lab);
    struct arena *arena = arena_create();
    struct lab *lab = session->lab;
    if (!start) {
        arena_destroy(arena);
        return;
    }
    struct lab_candidate current = *start;
    uint32_t own = lab->count, number = LAB_CANDIDATES; /* own: the place of what is better, once there is something */
    for (uint64_t left = session->request->effort / EFFORT_OF_JOB; left > 0 && !is_over(session); left--) {
        struct lab_candidate next = current;
        const char *changed = arena_print(arena, "%s/changed.csv", session->request->folder);
        if (!write_changed(session, file_of(session, current.number, "csv", arena), changed) ||
            !judge(session, &next, number, changed) || is_better(&current, &next))
            continue;
        number++; /* the file of what was kept stays */
        next.improved = true;
        if (!current.improved)
            snprintf(next.label, sizeof next.label, "%.110s, changed here", current.label);
        current = next;
        if (!is_better(&next, start))
            continue;
        lab->candidates[own] = next;
        lab->count = own + 1;
        start = &lab->candidates[own];
    }
    arena_destroy(arena);
}

/* ---- the two parts ---- */

static int explore(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct session *session = user;
    session->platform = platform;
    session->began = clock_now();
    try_published(session);
    try_searched(session);
    if (session->request->partition)
        try_partitions(session);
    improve(session);
    if (session->lab->count == 0) {
        diag_error(diag, scenario_place(session->request->scenario, ""), "no schedule can be timed for this scenario");
        return EXIT_BAD_INPUT;
    }
    fwrite(session->lab, sizeof *session->lab, 1, results);
    return EXIT_DONE;
}

static int by_time(const void *left, const void *right)
{
    const struct lab_candidate *a = left, *b = right;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if ((a->simgrid > 0) != (b->simgrid > 0))
        return a->simgrid > 0 ? -1 : 1;
    double first = a->simgrid > 0 ? a->simgrid : a->analytic, second = b->simgrid > 0 ? b->simgrid : b->analytic;
    if (first < second || first > second)
        return first < second ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int confirm(const struct lab_request *request, struct lab_candidate *candidate)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    const char *order =
        candidate->improved ? arena_print(arena, "%s/%u.csv", request->folder, candidate->number) : NULL;
    struct scenario_request changed = scenario_of(request, candidate, order, arena);
    struct scenario_set simgrid = {.text = "engine=simgrid"};
    changed = scenario_request_with(&changed, &simgrid, 1, arena);
    changed.schedule = order ? order : candidate->schedule;
    struct simulation_request simulation = {.scenario = scenario_load(&changed, arena, &diag), .quiet = true};
    struct simulation_result result;
    int code = simulation.scenario ? simulate(&simulation, &result) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        candidate->simgrid = result.rows[0].iteration;
        gantt_destroy(result.gantt);
    }
    arena_destroy(arena);
    return code;
}

/* The same schedule with the same layers, reached in two ways. */
static bool are_alike(const struct lab_candidate *a, const struct lab_candidate *b)
{
    return !strcmp(a->schedule, b->schedule) && !strcmp(a->layout, b->layout) && a->improved == b->improved &&
           !(a->analytic < b->analytic) && !(a->analytic > b->analytic) && !(a->peak_bytes < b->peak_bytes) &&
           !(a->peak_bytes > b->peak_bytes);
}

static void drop_doubles(struct lab *lab)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lab->count; i++) {
        const struct lab_candidate *candidate = &lab->candidates[i];
        bool known = false;
        for (uint32_t k = 0; k < kept && !known; k++)
            known = are_alike(candidate, &lab->candidates[k]);
        if (!known)
            lab->candidates[kept++] = *candidate;
    }
    lab->count = kept;
}

int lab_run(const struct lab_request *request, struct lab *lab)
{
    struct session session = {.request = request, .lab = lab, .random = 1};
    struct simulation_visit visit = {.scenario = request->scenario, .body = explore, .user = &session};
    FILE *results = NULL;
    int code = simulation_visit(&visit, &results);
    if (code == EXIT_DONE && fread(lab, sizeof *lab, 1, results) != 1)
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    if (code != EXIT_DONE)
        return code;
    drop_doubles(lab);
    qsort(lab->candidates, lab->count, sizeof *lab->candidates, by_time);
    for (uint32_t i = 0; i < lab->count && i < LAB_CONFIRMED && code == EXIT_DONE && !interruption_noted(); i++) {
        guard_doing("simulating the best: %u of %u", i + 1, (unsigned)LAB_CONFIRMED);
        code = confirm(request, &lab->candidates[i]);
    }
    qsort(lab->candidates, lab->count, sizeof *lab->candidates, by_time);
    return code;
}
