/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/sharing.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/scratch.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "schedules/plan_store.h"
#include "simulator/engines/class_store.h"
#include "studies/calendar/goodput.h"
#include "studies/evaluate.h"
#include "studies/search/journal.h"
#include "studies/search/training.h"
#include "studies/steps/tails.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPERATIONS_MAX = 20000000, RELEASE_EVERY = 4096 };

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

static void take_training(const struct search_work *work, struct search_result *result,
                          const struct evaluation *evaluation, struct platform *platform)
{
    struct report *report = evaluation->report;
    report->training = goodput_job(evaluation->job->scenario, report, platform);
    goodput_forecast(evaluation->job->scenario, report);
    result->training = search_training_of(&report->forecast);
    if (result->training.seconds > 0)
        return;
    result->status = SEARCH_ILLEGAL;
    search_table_put_reason(work->table, result,
                            "the training would never end: its failures come faster than it gets on");
}

/* The objective's quantile of its steps. */
static void take_steps(const struct search_work *work, struct search_result *result,
                       const struct evaluation *evaluation, struct platform *platform)
{
    struct fault fault = {""};
    char *text = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&text, &size)};
    result->step =
        tails_quantile(evaluation->job->scenario, platform, search_step_share(work->scenario), &fault, &diag);
    if (diag.out)
        fclose(diag.out);
    if (result->step <= 0 && fault.text[0]) {
        result->status = SEARCH_ILLEGAL;
        search_table_put_reason(work->table, result, fault.text);
    } else if (result->step <= 0)
        put_reason(work->table, result, text ? text : (char[]){""});
    free(text);
}

static void take_run(const struct search_work *work, struct search_result *result, const struct evaluation *evaluation,
                     struct platform *platform)
{
    take_report(result, evaluation->report);
    if (result->status == SEARCH_FITS && search_trains(work->scenario))
        take_training(work, result, evaluation, platform);
    else if (result->status == SEARCH_FITS && search_step_share(work->scenario) > 0)
        take_steps(work, result, evaluation, platform);
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
        search_floors_note(&w->floors, index, outline);
        if (outline->known && outline->fits)
            atomic_store(&w->shared->fitting, true);
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
    struct evaluation_request request = {work->scenario->request,
                                         sets,
                                         count,
                                         OPERATIONS_MAX,
                                         .fits = result->work > 0 && !search_trains(work->scenario),
                                         .plans = w->plans,
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
        take_run(work, result, &evaluation, platform);
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
        atomic_store(&w->shared->failed, errno ? errno : EIO);
}

/* ---- the children ---- */

uint64_t search_index(const struct working *w, uint64_t number)
{
    const struct search_request *request = w->work->request;
    return request->shard - 1 + number * request->shards;
}

static void release(const struct working *w, uint64_t number)
{
    const struct search_table *table = w->work->table;
    if (number % RELEASE_EVERY == 0)
        scratch_release(table->results, table->count * sizeof *table->results);
}

bool search_is_over(const struct working *w)
{
    return atomic_load(&w->shared->stop) || atomic_load(&w->shared->failed) || atomic_load(&w->shared->lost);
}

/* Notes what a candidate took since `started`. */
static void note_cost(const struct working *w, enum step step, uint64_t index, double started)
{
    unsigned class = search_space_class(w->work->space, w->work->scenario, index);
    search_spent_add(&w->shared->spent[step], class, clock_now() - started);
}

static uint64_t number_at(const struct working *w, uint64_t slot)
{
    if (w->floors.table)
        return slot * w->scattered % (w->blocks * SEARCH_BLOCK);
    return slot / SEARCH_BLOCK * w->stride % w->blocks * SEARCH_BLOCK + slot % SEARCH_BLOCK;
}

/* False: there is none that was not taken. */
static bool take(_Atomic uint64_t *next, uint64_t end, uint64_t *number)
{
    for (*number = atomic_load(next); *number < end;)
        if (atomic_compare_exchange_weak(next, number, *number + 1))
            return true;
    return false;
}

/* Whether what was found of others says that the candidate need not be looked at. Until one is known to fit, all are:
 * whether any does is to be said. */
static bool is_passed_unseen(const struct working *w, uint64_t index)
{
    struct search_result *result = &w->work->table->results[index];
    if (!w->floors.table || !atomic_load(&w->shared->fitting))
        return false;
    double floor = search_floors_bound(&w->floors, index);
    if (isinf(floor))
        result->status = SEARCH_ILLEGAL;
    else if (search_bounds_exclude(&w->shared->bounds, floor, 0))
        *result = (struct search_result){.status = SEARCH_PASSED, .work = floor};
    return result->status != SEARCH_UNTRIED;
}

/* Of those that are looked at, what promises to be much faster than all before it is timed at once. */
static void look_at(const struct working *w, uint64_t index, struct platform *platform)
{
    struct search_result *result = &w->work->table->results[index];
    if (is_passed_unseen(w, index))
        return;
    ask(w, index, ASK_OUTLINE, platform);
    if (w->floors.table && result->status == SEARCH_WAITS && search_bounds_promise(&w->shared->bounds, result->work)) {
        ask(w, index, ASK_TIME, platform);
        if (result->status == SEARCH_FITS)
            search_note_timed(w, result);
    }
    write_down(w, index);
}

static void look(const struct working *w, uint64_t slot, struct platform *platform)
{
    uint64_t number = number_at(w, slot), index = search_index(w, number);
    double started = clock_now();
    if (number < w->own && w->work->table->results[index].status == SEARCH_UNTRIED)
        look_at(w, index, platform);
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

void search_note_timed(const struct working *w, const struct search_result *result)
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
    search_note_timed(w, result);
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
    return job && job == results[w->order[next]].job && w->work->scenario->search.alike == ALIKE_ONCE &&
           !search_trains(w->work->scenario) && !search_step_share(w->work->scenario); /* what a training saves, and
              which kernels vary, is no part of what makes jobs the same */
}

/* A candidate and those behind it that may be the same job. */
static void time_alike(const struct working *w, uint64_t first, uint64_t waiting, struct platform *platform)
{
    struct timed timed = {.arena = arena_create()};
    for (uint64_t number = first;
         number < waiting && (number == first || are_one(w, first, number)) && !search_is_over(w); number++) {
        double started = clock_now();
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
    if (step == STEP_LOOK && take(&shared->next[STEP_LOOK], w->blocks * SEARCH_BLOCK, &number))
        return look(w, number, platform), true;
    if (step == STEP_TIME && take(&shared->next[STEP_TIME], atomic_load(&shared->waiting), &number))
        return time_next(w, number, platform), true;
    return false;
}

/* Where there are no processes, the parent's part is done here, too. */
static void work_on(struct working *w, struct platform *platform)
{
    bool alone = getpid() == w->parent;
    while (!search_is_over(w) && atomic_load(&w->shared->step) != STEP_DONE) {
        atomic_fetch_add(&w->shared->busy, 1); /* before the step is read: the parent first changes it, then looks */
        bool busy = do_next(w, (enum step)atomic_load(&w->shared->step), platform);
        atomic_fetch_sub(&w->shared->busy, 1);
        if (!busy && alone)
            w->take_turns(w);
        else if (!busy)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

int search_child(void *user, struct platform *platform, FILE *results, struct diag *diag)
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
