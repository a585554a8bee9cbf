/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sweep.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/paths.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "job/scenario/scenario_kind.h"
#include "job/write/scenario_write.h"
#include "simulator/engines/progress.h"
#include "studies/choice_run.h"
#include "studies/simulation.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REASON_MAX = 4096 };

size_t sweep_value(const struct sweep *sweep, size_t combination, size_t axis)
{
    const struct sweep_request *request = sweep->request;
    for (size_t i = request->axis_count; i-- > axis + 1;)
        combination /= request->axes[i].count;
    return combination % request->axes[axis].count;
}

/* ---- one combination ---- */

/* All keys of a value behind those that there are, with room for `more` others. */
static void add_sets(const char *value, struct scenario_set **sets, size_t *count, size_t more, struct arena *arena)
{
    size_t added;
    const struct scenario_set *own = sweep_axis_sets(value, &added, arena);
    struct scenario_set *all = arena_array(arena, *count + added + more, sizeof *all);
    if (*count)
        memcpy(all, *sets, *count * sizeof *all);
    memcpy(all + *count, own, added * sizeof *all);
    *count += added;
    *sets = all;
}

/* What is to be loaded; texts in the arena. */
static struct scenario_request request_of(const struct sweep *sweep, size_t combination, struct arena *arena)
{
    const struct sweep_request *request = sweep->request;
    struct scenario_request scenario = request->scenario;
    size_t count = 0, capacity = request->axis_count;
    struct scenario_set *sets = arena_array(arena, capacity, sizeof *sets);
    for (size_t i = 0; i < request->axis_count; i++) {
        const struct sweep_axis *axis = &request->axes[i];
        const char *value = axis->values[sweep_value(sweep, combination, i)];
        if (axis->kind == SWEEP_SCHEDULES)
            scenario.schedule = value;
        else if (axis->kind == SWEEP_SETS) /* there is no second axis of them */
            add_sets(value, &sets, &count, capacity, arena);
        else if (axis->kind == SWEEP_WHAT_IFS)
            sets[count++] = (struct scenario_set){"--what-if", value};
        else
            sets[count++] = (struct scenario_set){"--set", arena_print(arena, "%s=%s", axis->key, value)};
    }
    return scenario_request_with(&scenario, sets, count, arena);
}

static void refuse(const struct sweep *sweep, struct sweep_result *result, const char *reason)
{
    memset(result, 0, sizeof *result);
    result->status = SWEEP_NOT_RUN;
    snprintf(result->row.scenario, sizeof result->row.scenario, "%s", sweep->name);
    snprintf(result->row.reason, sizeof result->row.reason, "%s", reason);
}

/* A value of an axis that changes nothing in this combination is no point of the sweep. */
static void check_axes(const struct sweep *sweep, const struct scenario *scenario, struct arena *arena,
                       struct diag *diag)
{
    for (size_t i = 0; i < sweep->request->axis_count; i++) {
        const struct sweep_axis *axis = &sweep->request->axes[i];
        const struct scenario_unmet *unmet = axis->key ? scenario_unmet_find(scenario, axis->key) : NULL;
        if (unmet && unmet->refused)
            diag_error(diag, unmet->at, "%s %s", unmet->path, scenario_unmet_text(unmet, arena));
    }
}

/* NULL with the reason in the result. What is trouble, and not the combination's fault, fills the fault. */
static struct scenario *load(const struct sweep *sweep, size_t combination, struct arena *arena,
                             struct sweep_result *result, struct fault *fault)
{
    char *text = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&text, &size)};
    struct scenario_request request = request_of(sweep, combination, arena);
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (scenario && scenario->kind && !scenario->kind->rows && !scenario->kind->figure) {
        diag_error(&diag, (struct place){0}, "a scenario of %s has no iteration time to sweep over; expected run",
                   scenario->kind->summary);
        scenario = NULL;
    }
    bool fits = scenario && (!scenario->schedule || scenario_check_pipeline(scenario, &diag));
    if (fits)
        check_axes(sweep, scenario, arena, &diag);
    fits = fits && !diag.errors;
    if (diag.out)
        fclose(diag.out);
    if (diag.trouble || !text)
        fault_set(fault, "%s", text && *text ? diag_first(text) : "there was no memory");
    else if (!fits)
        refuse(sweep, result, diag_first(text));
    free(text);
    return fits ? scenario : NULL;
}

/* ---- several at a time ---- */

struct lane {
    struct isolation *isolation; /* NULL: free */
    struct arena *arena;
    struct simulation_request request;
    size_t combination;
    struct simulation_result one; /* of one iteration, where the combination is run again; no rows: it is not */
};

struct working {
    struct sweep *sweep;
    struct lane *lanes; /* [jobs] */
    size_t next, done;  /* combinations of this shard that were begun, and that are known */
    size_t own;         /* of this shard */
    int journal;        /* -1: none */
    struct fault fault;
};

struct entry {
    uint64_t combination;
    struct sweep_result result;
};

static size_t combination_of(const struct working *working, size_t number)
{
    const struct sweep_request *request = working->sweep->request;
    return request->shard - 1 + number * request->shards;
}

static void note(struct working *working, size_t combination)
{
    struct entry entry;
    memset(&entry, 0, sizeof entry);
    entry.combination = combination;
    entry.result = working->sweep->results[combination];
    working->done++;
    if (working->journal >= 0 && !journal_append(working->journal, &entry, sizeof entry))
        fault_set(&working->fault, "%s: cannot be written: %s", working->sweep->request->journal, strerror(errno));
}

/* What a combination stands for that leaves its schedule open; its own run says what cannot be run. */
static struct scenario *choose(struct scenario *scenario, struct arena *arena)
{
    int code;
    struct scenario *chosen = scenario ? choice_make(scenario, arena, &code) : NULL;
    return chosen ? chosen : scenario;
}

/* Starts the next combination that is open; those that cannot be loaded are known at once. */
static void begin(struct working *working, struct lane *lane)
{
    struct sweep *sweep = working->sweep;
    while (working->next < working->own && !lane->isolation && !working->fault.text[0]) {
        size_t combination = combination_of(working, working->next++);
        struct sweep_result *result = &sweep->results[combination];
        if (result->status != SWEEP_OPEN)
            continue;
        lane->arena = arena_create();
        lane->combination = combination;
        lane->request = (struct simulation_request){
            .scenario = choose(load(sweep, combination, lane->arena, result, &working->fault), lane->arena),
            .quiet = true,
            .split = true,
            .settles = true};
        lane->one.row_count = 0;
        lane->request.mistakes = lane->request.scenario ? tmpfile() : NULL;
        if (lane->request.mistakes)
            lane->isolation = simulation_start(&lane->request, &working->fault);
        if (lane->isolation)
            return;
        if (lane->request.mistakes)
            fclose(lane->request.mistakes);
        else if (lane->request.scenario)
            fault_set(&working->fault, "a temporary file cannot be made");
        arena_destroy(lane->arena);
        if (result->status != SWEEP_OPEN)
            note(working, combination);
    }
}

/* The first mistake of the simulation. */
static void refuse_simulated(const struct sweep *sweep, struct sweep_result *result, FILE *mistakes)
{
    char text[REASON_MAX];
    rewind(mistakes);
    text[fread(text, 1, sizeof text - 1, mistakes)] = '\0';
    refuse(sweep, result, *text ? diag_first(text) : "the simulation failed");
}

/* The next iteration may take another time: whether the lane finds out. `simulated` has what one takes. */
static bool run_again(struct working *working, struct lane *lane, const struct simulation_result *simulated)
{
    lane->one = *simulated;
    lane->one.gantt = NULL;
    lane->request = simulation_again(&lane->request, simulated, lane->arena);
    lane->isolation = lane->request.scenario ? simulation_start(&lane->request, &working->fault) : NULL;
    return lane->isolation != NULL;
}

/* What the combination's runs have come to. Of one that was given up nothing is known. */
static void take_result(struct working *working, struct lane *lane, int code, const struct simulation_result *simulated)
{
    struct sweep *sweep = working->sweep;
    struct sweep_result *result = &sweep->results[lane->combination];
    const struct simulation_result *one = lane->one.row_count ? &lane->one : NULL;
    const struct simulation_result *last =
        code == EXIT_DONE && (!one || simulation_is_unlike(simulated)) ? simulated : one;
    bool given_up = code != EXIT_DONE && (sweep->stopped || working->fault.text[0]);
    if (!given_up && last) {
        result->status = SWEEP_RAN;
        result->row = last->rows[last->row_count - 1];
        if (code != EXIT_DONE)
            simulation_note_unsettled(&result->row, lane->arena);
    } else if (!given_up) {
        refuse_simulated(sweep, result, lane->request.mistakes);
    }
    if (result->status != SWEEP_OPEN)
        note(working, lane->combination);
}

static void finish(struct working *working, struct lane *lane)
{
    struct simulation_result simulated;
    int code = simulation_finish(&lane->request, lane->isolation, &simulated);
    bool again = code == EXIT_AHEAD && !working->sweep->stopped && run_again(working, lane, &simulated);
    if (!again)
        take_result(working, lane, code, &simulated);
    simulation_free(&simulated);
    if (again)
        return;
    fclose(lane->request.mistakes);
    arena_destroy(lane->arena);
    lane->isolation = NULL;
}

/* Those that run are given up. */
static void stop(struct working *working)
{
    working->sweep->stopped = true;
    working->next = working->own;
    for (unsigned i = 0; i < working->sweep->request->jobs; i++)
        if (working->lanes[i].isolation)
            isolate_signal(working->lanes[i].isolation, SIGKILL);
}

static bool look_after(struct working *working)
{
    bool busy = false;
    for (unsigned i = 0; i < working->sweep->request->jobs; i++) {
        struct lane *lane = &working->lanes[i];
        if (lane->isolation && !isolate_runs(lane->isolation))
            finish(working, lane);
        if (!lane->isolation)
            begin(working, lane);
        busy |= lane->isolation != NULL;
    }
    return busy;
}

static void work(struct working *working)
{
    const struct sweep_request *request = working->sweep->request;
    struct progress progress;
    progress_init(&progress, request->quiet ? NULL : stderr, "sweep");
    struct engine_progress hook = progress_hook(&progress);
    double started = clock_now();
    while (look_after(working)) {
        bool late = request->time_limit > 0 && clock_now() - started > request->time_limit;
        if (!working->sweep->stopped && (late || interruption_noted() || working->fault.text[0]))
            stop(working);
        hook.report(hook.user, working->done, working->own);
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
    progress_finish(&progress);
}

/* ---- the sweep ---- */

static void take_record(void *user, const void *record, size_t size)
{
    struct sweep *sweep = user;
    struct entry entry;
    if (size != sizeof entry)
        return;
    memcpy(&entry, record, size);
    if (entry.combination < sweep->count)
        sweep->results[entry.combination] = entry.result;
}

/* Of the scenario with all its sections, the platform's file, and what is varied. */
static uint64_t fingerprint(const struct sweep *sweep)
{
    char *text = NULL;
    size_t size = 0;
    const struct sweep_request *request = sweep->request;
    FILE *out = memory_stream_open(&text, &size);
    fprintf(out, "%s %s\n", STAGESIM_VERSION, request->scenario.file);
    for (size_t i = 0; i < request->scenario.set_count; i++)
        fprintf(out, "%s\n", request->scenario.sets[i].text);
    for (size_t i = 0; i < request->axis_count; i++)
        for (size_t k = 0; k < request->axes[i].count; k++)
            fprintf(out, "%s %s\n", request->axes[i].key, request->axes[i].values[k]);
    uint64_t sum = journal_fingerprint_file(JOURNAL_FINGERPRINT, request->scenario.file);
    if (sweep->base)
        scenario_write(out, sweep->base, ".", false);
    if (sweep->base && sweep->base->platform.file)
        sum = journal_fingerprint_file(sum, sweep->base->platform.file);
    memory_stream_close(out);
    sum = journal_fingerprint(sum, text, size);
    free(text);
    return sum;
}

static const struct scenario *find_base(const struct sweep *sweep, struct arena *arena, struct fault *fault)
{
    struct diag silent = {0};
    struct sweep_result result;
    const struct scenario *scenario = scenario_load(&sweep->request->scenario, arena, &silent);
    if (silent.trouble)
        fault_set(fault, "%s: a file of it cannot be read", sweep->request->scenario.file);
    for (size_t i = 0; i < sweep->count && !scenario && !fault->text[0]; i++)
        scenario = load(sweep, i, arena, &result, fault);
    return scenario;
}

static int trouble(const struct fault *fault, int code)
{
    diag_print(stderr, "stagesim: %s\n", fault->text);
    return code;
}

int sweep_create(struct sweep *sweep, const struct sweep_request *request, struct arena *arena)
{
    struct fault fault = {""};
    const char *file = request->scenario.file;
    *sweep = (struct sweep){.request = request, .arena = arena, .count = 1};
    sweep->name = path_name(path_name(file, ".yaml", arena), ".yml", arena);
    if (!path_check_readable(file, &fault))
        return trouble(&fault, EXIT_BAD_INPUT);
    for (size_t i = 0; i < request->axis_count; i++) {
        sweep->count *= request->axes[i].count;
        if (sweep->count > SWEEP_MOST) {
            fault_set(&fault, "the sweep has more than %d combinations", SWEEP_MOST);
            return trouble(&fault, EXIT_BAD_INPUT);
        }
    }
    sweep->results = arena_array(arena, sweep->count, sizeof *sweep->results);
    memset(sweep->results, 0, sweep->count * sizeof *sweep->results);
    sweep->base = find_base(sweep, arena, &fault);
    if (sweep->base)
        sweep->name = sweep->base->name;
    sweep->identity = (struct journal_identity){.kind = "sweep",
                                                .title = "stagesim sweep journal 1\n",
                                                .fingerprint = fingerprint(sweep),
                                                .count = sweep->count,
                                                .shard = request->shard,
                                                .shards = request->shards};
    return fault.text[0] ? trouble(&fault, EXIT_FAILED) : EXIT_DONE;
}

int sweep_run(struct sweep *sweep)
{
    const struct sweep_request *request = sweep->request;
    struct working working = {.sweep = sweep, .journal = -1};
    working.own = sweep->count / request->shards + (request->shard - 1 < sweep->count % request->shards);
    if (request->journal) {
        working.journal =
            journal_open(request->journal, &sweep->identity, request->resume, take_record, sweep, &working.fault);
        if (working.journal < 0)
            return trouble(&working.fault, EXIT_BAD_INPUT);
    }
    for (size_t i = 0; i < sweep->count; i++)
        working.done += sweep->results[i].status != SWEEP_OPEN;
    working.lanes = array_zeroed(request->jobs, sizeof *working.lanes);
    work(&working);
    free(working.lanes);
    if (working.journal >= 0)
        close(working.journal);
    return working.fault.text[0] ? trouble(&working.fault, EXIT_FAILED) : EXIT_DONE;
}

int sweep_read(struct sweep *sweep, const char *const *files, size_t count, uint32_t *shards)
{
    struct fault fault = {""};
    for (size_t i = 0; i < count; i++)
        if (!journal_read(files[i], &sweep->identity, shards, take_record, sweep, &fault))
            return trouble(&fault, EXIT_BAD_INPUT);
    return EXIT_DONE;
}

uint32_t sweep_missing(const struct sweep *sweep, uint32_t shards, bool *missing)
{
    uint32_t count = 0;
    memset(missing, 0, shards * sizeof *missing);
    for (size_t i = 0; i < sweep->count; i++) {
        bool open = sweep->results[i].status == SWEEP_OPEN;
        count += open && !missing[i % shards];
        missing[i % shards] |= open;
    }
    return count;
}

int sweep_merge(struct sweep *sweep, const char *const *files, size_t count)
{
    struct fault fault = {""};
    uint32_t shards = 1;
    int code = sweep_read(sweep, files, count, &shards);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->results[i].status == SWEEP_OPEN) {
            fault_set(&fault,
                      "combination %zu of %zu, which part %zu/%u has, is missing; run it (again, with --resume)", i + 1,
                      sweep->count, i % shards + 1, shards);
            return trouble(&fault, EXIT_BAD_INPUT);
        }
    return EXIT_DONE;
}
