/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search_workers.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/interruption.h"
#include "schedules/plan_store.h"
#include "simulator/engines/class_store.h"
#include "simulator/engines/progress.h"
#include "studies/evaluate.h"
#include "studies/search_bounds.h"
#include "studies/search_estimate.h"
#include "studies/search_journal.h"
#include "studies/simulation.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { OPERATIONS_MAX = 20000000, RELEASE_EVERY = 4096, BLOCK = 256 };

/* The steps of a search. The parent says which it is; where time is limited, the first two take turns. In between, no
 * process begins anything. */
enum step { STEP_LOOK, STEP_TIME, STEP_BETWEEN, STEP_DONE };

/* What the processes share. */
struct shared {
    atomic_int step;
    atomic_bool stop, failed, lost;    /* asked to stop; the journal cannot be written; a process has died */
    atomic_bool troubled;              /* a file could not be read again, or there was no memory */
    atomic_bool timed;                 /* some layout that fits was timed */
    atomic_uint busy;                  /* processes that may be at a candidate */
    _Atomic uint64_t next[2], done[2]; /* of either step */
    _Atomic uint64_t waiting, turn;    /* candidates of the second step so far, and before this turn */
    struct search_spent spent[2];      /* on them, by either step */
    struct search_bounds bounds;
};

struct working {
    const struct search_work *work;
    struct shared *shared;
    uint64_t *order;             /* candidates of the second step; of each turn the smallest bound first */
    uint64_t own;                /* candidates of this shard */
    uint64_t blocks, stride;     /* the same in blocks, and how far apart these are looked at */
    struct class_store *classes; /* of a child, too */
    struct plan_store *plans;    /* of a child; NULL: nothing is shared */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- one candidate ---- */

/* The text of the first mistake, without its place. */
static void put_reason(struct search_table *table, struct search_result *result, char *report)
{
    result->status = SEARCH_ILLEGAL;
    search_table_put_reason(table, result, diag_first(report));
}

/* What is asked of a candidate. */
enum question { ASK_OUTLINE, ASK_ORDER, ASK_TIME };

static void take_report(struct search_result *result, const struct report *report)
{
    result->status = report->fits ? SEARCH_FITS : SEARCH_DOES_NOT_FIT;
    result->micro_batches = report->micro_batches;
    result->iteration = report->fits ? report->iteration : 0;
    result->samples_per_s = report->fits ? report->samples_per_s : 0;
    result->mfu = report->fits ? report->mfu : 0;
    result->bubble = report->fits ? report->bubble : 0;
    result->energy = report->fits && report->energy > 0 ? report->energy : 0;
    if (result->work > 0)
        return; /* the outline's memory stays, which is the same but for rounding: bounds have been compared with it */
    result->peak_bytes = report->peak_bytes;
    result->capacity_bytes = report->capacity_bytes;
}

/* What the candidate's times follow from; nothing where that is not known. */
static struct imprint imprint_of(const struct working *w, uint64_t index, const struct job_outline *outline)
{
    struct imprint imprint = outline->imprint;
    if (imprint.count)
        search_space_imprint(w->work->space, index, &imprint);
    return imprint;
}

/* Candidates with the same number are the same job, but for the case that hashes are equal by chance. */
static uint64_t number_of(const struct imprint *imprint)
{
    uint64_t hash = imprint_hash(imprint, 0);
    return imprint->count ? hash + !hash : 0;
}

static void take_outline(const struct working *w, uint64_t index, const struct job_outline *outline, bool order)
{
    struct search_result *result = &w->work->table->results[index];
    result->status = outline->known && !outline->fits ? SEARCH_DOES_NOT_FIT : SEARCH_WAITS;
    result->peak_bytes = outline->known ? outline->peak_bytes : 0;
    result->capacity_bytes = outline->known ? outline->capacity_bytes : 0;
    result->work = outline->known ? outline->work : 0;
    if (order) {
        result->order = outline->known ? outline->order : 0;
    } else {
        struct imprint imprint = imprint_of(w, index, outline);
        result->job = number_of(&imprint);
    }
}

static void ask(const struct working *w, uint64_t index, enum question question, struct platform *platform)
{
    const struct search_work *work = w->work;
    struct search_result *result = &work->table->results[index];
    struct arena *arena = arena_create();
    struct scenario_set sets[SEARCH_SETS_MAX];
    char *text = NULL;
    size_t size = 0, count = search_space_sets(work->space, work->scenario, index, sets, arena);
    struct evaluation_request request = {
        work->scenario->request, sets, count, OPERATIONS_MAX, .fits = result->work > 0, .plans = w->plans,
        .classes = w->classes};
    struct diag diag = {.out = open_memstream(&text, &size)};
    struct evaluation evaluation;
    struct job_outline outline;
    bool legal = question == ASK_TIME
                     ? evaluate(&request, platform, arena, &diag, &evaluation)
                     : evaluate_outline(&request, platform, question == ASK_ORDER ? JOB_BOUND_ORDER : JOB_BOUND_WORK,
                                        arena, &diag, &outline);
    bool troubled = diag.trouble || !diag.out;
    if (diag.out)
        fclose(diag.out);
    if (!legal && troubled) { /* that says nothing of the candidate */
        result->status = SEARCH_UNTRIED;
        atomic_store(&w->shared->troubled, true);
        atomic_store(&w->shared->lost, true);
    } else if (!legal)
        put_reason(work->table, result, text ? text : (char[]){""});
    else if (question == ASK_TIME)
        take_report(result, evaluation.report);
    else
        take_outline(w, index, &outline, question == ASK_ORDER);
    free(text);
    arena_destroy(arena);
}

static void write_down(const struct working *w, uint64_t index)
{
    const struct search_work *work = w->work;
    if (work->table->results[index].status == SEARCH_UNTRIED)
        return;
    if (work->journal >= 0 && !search_journal_append(work->journal, index, &work->table->results[index], work->table))
        atomic_store(&w->shared->failed, true);
}

/* ---- the children ---- */

static uint64_t index_of(const struct working *w, uint64_t number)
{
    const struct search_request *request = w->work->request;
    return request->shard - 1 + number * request->shards;
}

static void release(const struct working *w, uint64_t number)
{
    const struct search_table *table = w->work->table;
    if (number % RELEASE_EVERY == 0)
        search_scratch_release(table->results, table->count * sizeof *table->results);
}

static bool is_over(const struct working *w)
{
    return atomic_load(&w->shared->stop) || atomic_load(&w->shared->failed) || atomic_load(&w->shared->lost);
}

/* Notes what a candidate took since `started`. */
static void note_cost(const struct working *w, enum step step, uint64_t index, double started)
{
    unsigned class = search_space_class(w->work->space, w->work->scenario, index);
    search_spent_add(&w->shared->spent[step], class, now() - started);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    for (uint64_t rest; b; a = b, b = rest)
        rest = a % b;
    return a;
}

/* Candidates are looked at in blocks that lie far apart, so that those which are known when the time is up are of all
 * kinds; those of one block have much in common. */
static void make_blocks(struct working *w)
{
    static const double golden = 0.618033988749895;
    w->blocks = (w->own + BLOCK - 1) / BLOCK;
    w->stride = (uint64_t)(golden * (double)w->blocks);
    while (common_divisor(w->stride, w->blocks) > 1)
        w->stride++;
}

static uint64_t number_at(const struct working *w, uint64_t slot)
{
    return slot / BLOCK * w->stride % w->blocks * BLOCK + slot % BLOCK;
}

/* False: there is none that was not taken. */
static bool take(_Atomic uint64_t *next, uint64_t end, uint64_t *number)
{
    for (*number = atomic_load(next); *number < end;)
        if (atomic_compare_exchange_weak(next, number, *number + 1))
            return true;
    return false;
}

static void look(const struct working *w, uint64_t slot, struct platform *platform)
{
    uint64_t number = number_at(w, slot), index = index_of(w, number);
    double started = now();
    if (number < w->own && w->work->table->results[index].status == SEARCH_UNTRIED) {
        ask(w, index, ASK_OUTLINE, platform);
        write_down(w, index);
    }
    release(w, number);
    if (number < w->own)
        note_cost(w, STEP_LOOK, index, started);
    atomic_fetch_add(&w->shared->done[STEP_LOOK], 1);
}

/* Whether a bound of the candidate says that it need not be timed. */
static bool is_passed(const struct working *w, struct search_result *result, enum search_bound bound)
{
    double seconds = bound == SEARCH_BY_WORK ? result->work : result->order;
    if (w->work->request->exhaustive || !search_bounds_exclude(&w->shared->bounds, seconds, result->peak_bytes))
        return false;
    result->status = SEARCH_PASSED;
    return true;
}

/* ---- candidates that are the same job ---- */

/* The first of them that was timed. */
struct timed {
    bool known;
    uint64_t index;
    struct arena *arena;
    struct imprint imprint; /* in the arena, once it was asked for */
};

/* Memory from the arena. Nothing where it cannot be known. */
static struct imprint ask_imprint(const struct working *w, uint64_t index, struct platform *platform,
                                  struct arena *arena)
{
    const struct search_work *work = w->work;
    struct scenario_set sets[SEARCH_SETS_MAX];
    size_t count = search_space_sets(work->space, work->scenario, index, sets, arena);
    struct evaluation_request request = {work->scenario->request, sets, count, OPERATIONS_MAX, .plans = w->plans};
    struct diag silent = {0};
    struct job_outline outline;
    if (!evaluate_outline(&request, platform, JOB_BOUND_WORK, arena, &silent, &outline))
        return (struct imprint){0};
    return imprint_of(w, index, &outline);
}

/* What is known of the job goes to another candidate. False: it is not the same, word by word. */
static bool take_timed(const struct working *w, uint64_t index, struct platform *platform, struct timed *timed)
{
    struct search_result *results = w->work->table->results;
    if (!timed->known)
        return false;
    if (!timed->imprint.count)
        timed->imprint = ask_imprint(w, timed->index, platform, timed->arena);
    struct arena *arena = arena_create();
    struct imprint own = ask_imprint(w, index, platform, arena);
    bool same = own.count && imprint_equal(&own, &timed->imprint);
    arena_destroy(arena);
    const struct search_result *from = &results[timed->index];
    struct search_result *to = &results[index];
    if (same) {
        to->status = from->status;
        to->micro_batches = from->micro_batches;
        to->order = from->order;
        to->iteration = from->iteration;
        to->samples_per_s = from->samples_per_s;
        to->mfu = from->mfu;
        to->bubble = from->bubble;
        to->energy = from->energy;
    }
    return same;
}

/* ---- timing ---- */

static void note_timed(const struct working *w, const struct search_result *result)
{
    search_bounds_note(&w->shared->bounds, result->iteration, result->peak_bytes);
    atomic_store(&w->shared->timed, true);
}

/* False: the first bound said that it need not be timed. */
static bool time_one(const struct working *w, uint64_t index, struct platform *platform, struct timed *timed)
{
    struct search_result *result = &w->work->table->results[index];
    if (is_passed(w, result, SEARCH_BY_WORK))
        return false;
    if (take_timed(w, index, platform, timed))
        return true;
    if (!w->work->request->exhaustive && result->work > 0) {
        ask(w, index, ASK_ORDER, platform);
        if (is_passed(w, result, SEARCH_BY_ORDER))
            return true;
    }
    ask(w, index, ASK_TIME, platform);
    if (result->status != SEARCH_FITS)
        return true;
    note_timed(w, result);
    if (!timed->known) {
        timed->known = true;
        timed->index = index;
    }
    return true;
}

/* Whether two that stand beside each other in the order may be the same job. */
static bool are_one(const struct working *w, uint64_t number, uint64_t next)
{
    const struct search_result *results = w->work->table->results;
    uint64_t job = results[w->order[number]].job;
    return job && job == results[w->order[next]].job && w->work->scenario->search.alike == ALIKE_ONCE;
}

/* A candidate and those behind it that may be the same job. */
static void time_alike(const struct working *w, uint64_t first, uint64_t waiting, struct platform *platform)
{
    struct timed timed = {.arena = arena_create()};
    for (uint64_t number = first; number < waiting && (number == first || are_one(w, first, number)) && !is_over(w);
         number++) {
        double started = now();
        bool asked = time_one(w, w->order[number], platform, &timed);
        write_down(w, w->order[number]);
        release(w, number);
        if (asked)
            note_cost(w, STEP_TIME, w->order[number], started);
        atomic_fetch_add(&w->shared->done[STEP_TIME], 1);
    }
    arena_destroy(timed.arena);
}

/* One that is the same job as the one before is timed by the process that has the first of them. */
static void time_next(const struct working *w, uint64_t number, struct platform *platform)
{
    if (number == atomic_load(&w->shared->turn) || !are_one(w, number - 1, number))
        time_alike(w, number, atomic_load(&w->shared->waiting), platform);
}

/* False: there is nothing to do at the moment. */
static bool do_next(const struct working *w, enum step step, struct platform *platform)
{
    struct shared *shared = w->shared;
    uint64_t number;
    if (step == STEP_LOOK && take(&shared->next[STEP_LOOK], w->blocks * BLOCK, &number))
        return look(w, number, platform), true;
    if (step == STEP_TIME && take(&shared->next[STEP_TIME], atomic_load(&shared->waiting), &number))
        return time_next(w, number, platform), true;
    return false;
}

static void work_on(const struct working *w, struct platform *platform)
{
    while (!is_over(w) && atomic_load(&w->shared->step) != STEP_DONE) {
        atomic_fetch_add(&w->shared->busy, 1); /* before the step is read: the parent first changes it, then looks */
        bool busy = do_next(w, (enum step)atomic_load(&w->shared->step), platform);
        atomic_fetch_sub(&w->shared->busy, 1);
        if (!busy)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static int evaluate_some(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct working here = *(const struct working *)user, *w = &here;
    (void)results;        /* mistakes of candidates are results, and those are in the table */
    interruption_renew(); /* SimGrid has put a handler of its own there; the parent says when to stop */
    w->plans = plan_store_create();
    w->classes = class_store_create();
    work_on(w, platform);
    plan_store_destroy(w->plans);
    class_store_destroy(w->classes);
    if (!atomic_exchange(&w->shared->troubled, false))
        return EXIT_DONE;
    diag_trouble(diag, (struct place){w->work->scenario->file, 0, 0},
                 "not every layout could be evaluated: a file could not be read again, or there was no memory");
    return EXIT_FAILED;
}

/* ---- the parent ---- */

static int by_bound(const void *left, const void *right, void *user)
{
    const struct search_result *results = user;
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    if (results[a].work != results[b].work)
        return results[a].work < results[b].work ? -1 : 1;
    if (results[a].job != results[b].job)
        return results[a].job < results[b].job ? -1 : 1;
    return (a > b) - (a < b);
}

/* Puts those that wait in order, behind those of the turns before and those that are the same job beside each other. In
 * the first turn, notes what is known already. */
static void begin_timing(struct working *w, bool first)
{
    struct search_result *results = w->work->table->results;
    uint64_t begin = atomic_load(&w->shared->waiting), count = begin;
    for (uint64_t number = 0; number < w->own; number++) {
        uint64_t index = index_of(w, number);
        if (results[index].status == SEARCH_WAITS)
            w->order[count++] = index;
        else if (first && results[index].status == SEARCH_FITS)
            note_timed(w, &results[index]);
    }
    if (count > begin)
        qsort_r(w->order + begin, count - begin, sizeof *w->order, by_bound, results);
    atomic_store(&w->shared->turn, begin);
    atomic_store(&w->shared->waiting, count);
    atomic_store(&w->shared->step, STEP_TIME);
}

static unsigned count_running(struct isolation **processes, unsigned count)
{
    unsigned running = 0;
    for (unsigned i = 0; i < count; i++)
        running += isolate_runs(processes[i]);
    return running;
}

/* What the user is shown. */
struct showing {
    struct progress progress;
    struct search_forecast forecast;
    double begun, end; /* when the search began, and when it is stopped; 0: it is not */
    double shown;      /* when it was shown last */
};

static void begin_showing(struct showing *showing, const struct working *w)
{
    const struct search_request *request = w->work->request;
    *showing = (struct showing){.begun = now()};
    showing->forecast.exposed = request->exposed;
    showing->forecast.simulated = request->simulated;
    showing->end = request->time_limit > 0 ? showing->begun + request->time_limit : 0;
    progress_init(&showing->progress, request->quiet ? NULL : stderr, "search: looking at layouts");
    search_space_classes(w->work->space, w->work->scenario, showing->forecast.looks.total);
    for (unsigned i = 0; i < SEARCH_CLASSES; i++)
        showing->forecast.looks.total[i] /= request->shards;
}

static void show_step(struct showing *showing, enum step step)
{
    progress_step(&showing->progress, step == STEP_LOOK ? "search: looking at layouts" : "search: timing layouts");
    showing->shown = 0;
}

static struct search_rest find_rest(struct showing *showing, const struct working *w, unsigned running, double time)
{
    struct shared *shared = w->shared;
    const struct search_request *request = w->work->request;
    struct search_waiting waiting = {.table = w->work->table,
                                     .space = w->work->space,
                                     .scenario = w->work->scenario,
                                     .bounds = &shared->bounds,
                                     .kept = request->kept,
                                     .exhaustive = request->exhaustive,
                                     .looked = (double)atomic_load(&shared->done[STEP_LOOK]) / (double)w->own};
    search_forecast_timings(&showing->forecast, &shared->spent[STEP_TIME], &waiting);
    struct search_rest rest = search_forecast_rest(&showing->forecast, shared->spent, running, time);
    if (showing->end > 0 && rest.seconds > showing->end - time)
        rest = (struct search_rest){fmax(showing->end - time, 0), false};
    return rest;
}

/* The share is one of time: candidates cost more and less. */
static void show(struct showing *showing, struct working *w, unsigned running)
{
    static const double often = 0.7;
    double time = now(), spans = time - showing->begun;
    if (time - showing->shown < often || atomic_load(&w->shared->step) > STEP_TIME)
        return;
    struct search_rest rest = find_rest(showing, w, running, time);
    showing->shown = time;
    if (rest.seconds < 0) /* a bar that is full at the beginning says the wrong thing */
        return;
    struct engine_progress hook = progress_hook(&showing->progress);
    progress_left(&showing->progress, rest.seconds, rest.least);
    hook.report(hook.user, (uint64_t)(1e6 * spans), (uint64_t)(1e6 * (spans + rest.seconds)) + 1);
}

/* When to go from one step to the other. */
struct turns {
    double limit, end; /* seconds that there are, and when they are over */
    double look_until; /* then what was looked at is timed; 0: all is looked at first */
    double graced;     /* until then layouts are timed after an interruption that came before any was; 0: none did */
    bool first;        /* nothing was timed yet */
};

static void begin_looking(struct turns *turns)
{
    double time = now();
    turns->look_until = turns->limit > 0 ? time + (turns->end - time) / 2 : 0;
}

/* Whether the search has to stop: when the time is up, or after an interruption as soon as something was timed. */
static bool has_to_stop(struct turns *turns, const struct shared *shared)
{
    static const double grace = 1;
    int noted = interruption_noted();
    if (!noted || noted == SIGALRM || atomic_load(&shared->step) == STEP_DONE)
        return noted && atomic_load(&shared->step) != STEP_DONE;
    if (turns->graced == 0 && !atomic_load(&shared->timed))
        turns->graced = now() + grace;
    return now() > turns->graced;
}

/* Goes to the next step where it is time to; true: it did. */
static bool take_turns(struct turns *turns, struct working *w)
{
    struct shared *shared = w->shared;
    bool looked = atomic_load(&shared->done[STEP_LOOK]) == w->blocks * BLOCK;
    switch (atomic_load(&shared->step)) {
    case STEP_LOOK:
        if (looked || turns->graced > 0 || (turns->look_until > 0 && now() > turns->look_until))
            atomic_store(&shared->step, STEP_BETWEEN);
        return false;
    case STEP_BETWEEN:
        if (atomic_load(&shared->busy) > 0)
            return false;
        begin_timing(w, turns->first);
        turns->first = false;
        return true;
    case STEP_TIME:
        if (atomic_load(&shared->done[STEP_TIME]) < atomic_load(&shared->waiting))
            return false;
        begin_looking(turns);
        atomic_store(&shared->step, looked || turns->graced > 0 ? STEP_DONE : STEP_LOOK);
        return !looked;
    default:
        return false;
    }
}

/* Until all processes have ended; true: they were stopped early. */
static bool watch(struct working *w, struct isolation **processes, unsigned count)
{
    const struct search_request *request = w->work->request;
    struct shared *shared = w->shared;
    struct turns turns = {.limit = request->time_limit, .end = now() + request->time_limit, .first = true};
    struct showing showing;
    begin_showing(&showing, w);
    begin_looking(&turns);
    for (unsigned running; (running = count_running(processes, count)) > 0;) {
        if (has_to_stop(&turns, shared))
            atomic_store(&shared->stop, true);
        if (!is_over(w) && take_turns(&turns, w))
            show_step(&showing, (enum step)atomic_load(&shared->step));
        else if (running < count && atomic_load(&shared->step) != STEP_DONE)
            atomic_store(&shared->lost, true);
        show(&showing, w, running);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    progress_finish(&showing.progress);
    return atomic_load(&shared->stop) || atomic_load(&shared->done[STEP_LOOK]) < w->blocks * BLOCK;
}

static int run_processes(struct working *w, bool *stopped)
{
    const struct search_request *request = w->work->request;
    struct simulation_visit visit = {w->work->scenario, evaluate_some, w};
    struct arena *arena = arena_create();
    unsigned jobs = request->jobs < w->own ? request->jobs : (unsigned)(w->own ? w->own : 1), started = 0;
    struct isolation **processes = arena_array(arena, jobs, sizeof *processes);
    struct fault fault = {""};
    interruption_await();
    while (started < jobs && (processes[started] = simulation_visit_start(&visit, &fault)))
        started++;
    if (!started)
        diag_print(stderr, "stagesim: %s\n", fault.text);
    *stopped = started && watch(w, processes, started);
    int code = started ? EXIT_DONE : EXIT_FAILED;
    for (unsigned i = 0; i < started; i++) {
        FILE *results;
        int ended = simulation_visit_wait(&visit, processes[i], &results);
        if (results)
            fclose(results);
        code = ended > code && !interruption_noted() ? ended : code; /* SimGrid's handler may have ended it */
    }
    arena_destroy(arena);
    return code;
}

int search_work(const struct search_work *work, bool *stopped)
{
    const struct search_request *request = work->request;
    struct fault fault = {""};
    struct working w = {.work = work};
    uint64_t count = work->space->count;
    *stopped = false;
    w.own = count / request->shards + (request->shard - 1 < count % request->shards);
    make_blocks(&w);
    w.shared = search_scratch_map(sizeof *w.shared, &fault);
    w.order = w.shared ? search_scratch_map(count * sizeof *w.order, &fault) : NULL;
    int code = w.order ? EXIT_DONE : EXIT_FAILED;
    if (code == EXIT_DONE) {
        w.shared->bounds.kept = request->kept;
        code = run_processes(&w, stopped);
    } else {
        diag_print(stderr, "stagesim: %s\n", fault.text);
    }
    if (code == EXIT_DONE && atomic_load(&w.shared->failed)) {
        diag_print(stderr, "stagesim: %s: cannot be written to\n", request->journal);
        code = EXIT_FAILED;
    }
    search_scratch_unmap(w.order, count * sizeof *w.order);
    search_scratch_unmap(w.shared, sizeof *w.shared);
    return code;
}
