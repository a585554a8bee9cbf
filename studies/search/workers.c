/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/workers.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/scratch.h"
#include "base/isolate.h"
#include "base/numbers/divisor.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "simulator/engines/progress.h"
#include "studies/search/sharing.h"
#include "studies/simulation.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the order of candidates ---- */

/* Candidates are looked at in blocks that lie far apart, so that those which are known when the time is up are of all
 * kinds; those of one block have much in common. */
static void make_blocks(struct working *w)
{
    static const double golden = 0.618033988749895;
    w->blocks = (w->own + SEARCH_BLOCK - 1) / SEARCH_BLOCK;
    w->stride = (uint64_t)(golden * (double)w->blocks);
    while (common_divisor(w->stride, w->blocks) > 1)
        w->stride++;
    w->scattered = (uint64_t)(golden * (double)(w->blocks * SEARCH_BLOCK));
    while (common_divisor(w->scattered, w->blocks * SEARCH_BLOCK) > 1)
        w->scattered++;
}

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
        uint64_t index = search_index(w, number);
        if (results[index].status == SEARCH_WAITS)
            w->order[count++] = index;
        else if (first && results[index].status == SEARCH_FITS)
            search_note_timed(w, &results[index]);
    }
    if (count > begin)
        qsort_r(w->order + begin, count - begin, sizeof *w->order, by_bound, results);
    atomic_store(&w->shared->turn, begin);
    atomic_store(&w->shared->waiting, count);
    atomic_store(&w->shared->step, STEP_TIME);
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
    *showing = (struct showing){.begun = clock_now()};
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
    double time = clock_now(), spans = time - showing->begun;
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

static void begin_looking(struct turns *turns)
{
    double time = clock_now();
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
        turns->graced = clock_now() + grace;
    return clock_now() > turns->graced;
}

static bool take_turns(struct working *w)
{
    struct turns *turns = w->turns;
    struct shared *shared = w->shared;
    bool looked = atomic_load(&shared->done[STEP_LOOK]) == w->blocks * SEARCH_BLOCK;
    switch (atomic_load(&shared->step)) {
    case STEP_LOOK:
        if (looked || turns->graced > 0 || (turns->look_until > 0 && clock_now() > turns->look_until))
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
    struct shared *shared = w->shared;
    struct showing showing;
    begin_showing(&showing, w);
    for (unsigned running; (running = isolate_count(processes, count)) > 0;) {
        if (has_to_stop(w->turns, shared))
            atomic_store(&shared->stop, true);
        if (!search_is_over(w) && take_turns(w))
            show_step(&showing, (enum step)atomic_load(&shared->step));
        else if (running < count && atomic_load(&shared->step) != STEP_DONE)
            atomic_store(&shared->lost, true);
        show(&showing, w, running);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    progress_finish(&showing.progress);
    return atomic_load(&shared->stop) || atomic_load(&shared->done[STEP_LOOK]) < w->blocks * SEARCH_BLOCK;
}

static int run_processes(struct working *w, bool *stopped)
{
    const struct search_request *request = w->work->request;
    struct simulation_visit visit = {w->work->scenario, search_child, w};
    struct arena *arena = arena_create();
    unsigned jobs = request->jobs < w->own ? request->jobs : (unsigned)(w->own ? w->own : 1), started = 0;
    struct isolation **processes = arena_array(arena, jobs, sizeof *processes);
    struct fault fault = {""};
    struct turns turns = {.limit = request->time_limit, .end = clock_now() + request->time_limit, .first = true};
    begin_looking(&turns);
    w->turns = &turns;
    w->take_turns = take_turns;
    w->parent = getpid();
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
    w.shared = scratch_map(sizeof *w.shared, &fault);
    w.order = w.shared ? scratch_map(count * sizeof *w.order, &fault) : NULL;
    bool floors = request->fastest && !request->exhaustive;
    int code = w.order && (!floors || search_floors_create(&w.floors, work->scenario, work->space, &fault))
                   ? EXIT_DONE
                   : EXIT_FAILED;
    if (code == EXIT_DONE) {
        w.shared->bounds.kept = request->kept;
        w.shared->bounds.fastest = request->fastest;
        w.shared->bounds.ceiling = request->ceiling;
        code = run_processes(&w, stopped);
    } else {
        diag_print(stderr, "stagesim: %s\n", fault.text);
    }
    if (code == EXIT_DONE && atomic_load(&w.shared->failed)) {
        diag_print(stderr, "stagesim: %s: cannot be written: %s\n", request->journal,
                   strerror(atomic_load(&w.shared->failed)));
        code = EXIT_FAILED;
    }
    search_floors_finish(&w.floors);
    scratch_unmap(w.order, count * sizeof *w.order);
    scratch_unmap(w.shared, sizeof *w.shared);
    return code;
}
