/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/trainings.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/exit_code.h"
#include "base/files/scratch.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "job/write/scenario_write.h"
#include "simulator/engines/progress.h"
#include "training/forecast.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct entry {
    uint64_t block;
    struct training_run runs[TRAININGS_BLOCK]; /* of the last block some are empty */
};

static uint32_t first_of(uint32_t block)
{
    return block * TRAININGS_BLOCK;
}

static uint32_t end_of(const struct trainings *trainings, uint32_t block)
{
    uint64_t end = (uint64_t)first_of(block) + TRAININGS_BLOCK;
    return end < trainings->request->runs ? (uint32_t)end : trainings->request->runs;
}

/* ---- what it is ---- */

static void add_numbers(FILE *out, const struct training_job *job, const struct training_plan *plan)
{
    const struct training_traffic *traffic = &job->traffic;
    const double numbers[] = {job->iteration,       job->tokens,        job->per_step, job->state_bytes,
                              traffic->write,       traffic->slowed,    traffic->load, traffic->write_near,
                              traffic->slowed_near, plan->work,         plan->step,    plan->interval,
                              plan->spares,         plan->far_interval, plan->nodes,   plan->replicas};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(out, "%a\n", numbers[i]);
    for (size_t i = 0; i < plan->component_count; i++)
        fprintf(out, "%a\n", plan->components[i].slow);
}

/* Of the scenario with all its sections, and of what was found out of its job. */
static uint64_t fingerprint(const struct trainings_request *request)
{
    char *text = NULL;
    size_t size = 0;
    const struct scenario *scenario = request->scenario;
    FILE *out = memory_stream_open(&text, &size);
    fprintf(out, "%s %zu\n", STAGESIM_VERSION, sizeof(struct entry));
    scenario_write(out, scenario, ".", false);
    add_numbers(out, request->job, request->plan);
    uint64_t sum = journal_fingerprint_file(JOURNAL_FINGERPRINT, scenario->file);
    if (scenario->platform.file)
        sum = journal_fingerprint_file(sum, scenario->platform.file);
    memory_stream_close(out);
    sum = journal_fingerprint(sum, text, size);
    free(text);
    return sum;
}

bool trainings_create(struct trainings *trainings, const struct trainings_request *request, struct fault *fault)
{
    *trainings =
        (struct trainings){.request = request, .blocks = (request->runs + TRAININGS_BLOCK - 1) / TRAININGS_BLOCK};
    trainings->identity = (struct journal_identity){.kind = "training",
                                                    .title = "stagesim train journal 1\n",
                                                    .fingerprint = fingerprint(request),
                                                    .count = request->runs,
                                                    .shard = request->shard,
                                                    .shards = request->shards};
    trainings->runs = scratch_map(request->runs * sizeof *trainings->runs, fault);
    trainings->known = trainings->runs ? scratch_map(trainings->blocks * sizeof *trainings->known, fault) : NULL;
    return trainings->known != NULL;
}

void trainings_destroy(struct trainings *trainings)
{
    scratch_unmap(trainings->runs, trainings->request->runs * sizeof *trainings->runs);
    scratch_unmap(trainings->known, trainings->blocks * sizeof *trainings->known);
}

/* Whether the runs of a part are known without a gap: all, or those up to one that does not get on. */
static bool knows(const struct trainings *trainings, uint32_t shard, uint32_t shards)
{
    for (uint32_t block = shard - 1; block < trainings->blocks; block += shards) {
        if (!trainings->known[block])
            return false;
        for (uint32_t run = first_of(block); run < end_of(trainings, block); run++)
            if (trainings->runs[run].stuck)
                return true;
    }
    return true;
}

/* ---- processes ---- */

struct shared {
    atomic_uint begun, done; /* of the crew's blocks */
    atomic_bool over;        /* all processes are to stop */
    atomic_int failed;       /* errno of an entry that could not be written */
};

/* Several processes; each takes the first block that no other one has begun. */
struct crew {
    const struct trainings *trainings;
    struct shared *shared;
    uint32_t *blocks, count; /* that are to be done, ascending */
    int journal;             /* -1: none */
    double end;              /* on the clock; INFINITY: never */
};

/* One training that does not get on takes long, and says it of all. */
static bool simulate_block(const struct trainings *trainings, uint32_t block)
{
    for (uint32_t run = first_of(block); run < end_of(trainings, block); run++) {
        trainings->runs[run] = training_simulate(trainings->request->plan, run, NULL);
        if (trainings->runs[run].stuck)
            return false;
    }
    return true;
}

static bool append(const struct trainings *trainings, int journal, uint32_t block)
{
    struct entry entry;
    memset(&entry, 0, sizeof entry);
    entry.block = block;
    memcpy(entry.runs, &trainings->runs[first_of(block)],
           (end_of(trainings, block) - first_of(block)) * sizeof *entry.runs);
    return journal < 0 || journal_append(journal, &entry, sizeof entry);
}

/* An interruption may reach one of the processes alone. */
static bool is_over(const struct crew *crew)
{
    if (interruption_noted() || clock_now() > crew->end)
        atomic_store(&crew->shared->over, true);
    return atomic_load(&crew->shared->over);
}

/* What one of the processes does. */
static int work(void *user, struct isolated *self)
{
    const struct crew *crew = user;
    const struct trainings *trainings = crew->trainings;
    struct shared *shared = crew->shared;
    (void)self;
    while (!is_over(crew)) {
        uint32_t next = atomic_fetch_add(&shared->begun, 1);
        if (next >= crew->count)
            break;
        bool gets_on = simulate_block(trainings, crew->blocks[next]);
        if (!append(trainings, crew->journal, crew->blocks[next]))
            atomic_store(&shared->failed, errno);
        else
            trainings->known[crew->blocks[next]] = true;
        atomic_fetch_add(&shared->done, 1);
        if (!gets_on || atomic_load(&shared->failed))
            atomic_store(&shared->over, true); /* blocks in front of this one are begun, and so will be known */
    }
    return EXIT_DONE;
}

static void watch(const struct crew *crew, struct isolation **processes, unsigned count)
{
    struct progress progress;
    progress_init(&progress, crew->trainings->request->quiet ? NULL : stderr, "train");
    struct engine_progress hook = progress_hook(&progress);
    while (isolate_count(processes, count) > 0) {
        hook.report(hook.user, atomic_load(&crew->shared->done), crew->count);
        is_over(crew);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    progress_finish(&progress);
}

static bool run_processes(const struct crew *crew, struct fault *fault)
{
    const struct trainings_request *request = crew->trainings->request;
    unsigned jobs = request->jobs < crew->count ? request->jobs : crew->count, started = 0;
    struct isolation **processes = array_zeroed(jobs, sizeof(struct isolation *));
    while (started < jobs && (processes[started] = isolate_start_plain(work, (void *)(uintptr_t)crew, fault)))
        started++;
    bool ok = started > 0;
    if (ok)
        *fault = (struct fault){""}; /* fewer do as well */
    watch(crew, processes, started);
    for (unsigned i = 0; i < started; i++) {
        FILE *results;
        int stage;
        ok &= isolate_wait(processes[i], &results, &stage, fault) == EXIT_DONE;
        fclose(results);
    }
    free(processes);
    int failed = atomic_load(&crew->shared->failed);
    return ok && (!failed || fault_set(fault, "%s: cannot be written: %s", request->journal, strerror(failed)));
}

/* What is not known of the part. False with the fault filled, where nothing was said yet. */
static bool run_open(struct trainings *trainings, int journal, struct fault *fault)
{
    const struct trainings_request *request = trainings->request;
    struct crew crew = {.trainings = trainings,
                        .shared = scratch_map(sizeof *crew.shared, fault),
                        .blocks = array_zeroed(trainings->blocks, sizeof *crew.blocks),
                        .journal = journal,
                        .end = request->time_limit > 0 ? clock_now() + request->time_limit : INFINITY};
    for (uint32_t block = request->shard - 1; block < trainings->blocks; block += request->shards)
        if (!trainings->known[block])
            crew.blocks[crew.count++] = block;
    bool ok = crew.shared && (!crew.count || run_processes(&crew, fault));
    trainings->stopped = !knows(trainings, request->shard, request->shards);
    scratch_unmap(crew.shared, sizeof *crew.shared);
    free(crew.blocks);
    return ok;
}

/* ---- all ---- */

static int trouble(const struct fault *fault, int code)
{
    diag_print(stderr, "stagesim: %s\n", fault->text);
    return code;
}

static void take_record(void *user, const void *record, size_t size)
{
    struct trainings *trainings = user;
    struct entry entry;
    if (size != sizeof entry)
        return;
    memcpy(&entry, record, size);
    if (entry.block >= trainings->blocks)
        return;
    uint32_t block = (uint32_t)entry.block;
    memcpy(&trainings->runs[first_of(block)], entry.runs,
           (end_of(trainings, block) - first_of(block)) * sizeof *entry.runs);
    trainings->known[block] = true;
}

int trainings_run(struct trainings *trainings)
{
    struct fault fault = {""};
    const struct trainings_request *request = trainings->request;
    int journal = -1;
    if (request->journal) {
        journal = journal_open(request->journal, &trainings->identity, request->resume, take_record, trainings, &fault);
        if (journal < 0)
            return trouble(&fault, EXIT_BAD_INPUT);
    }
    interruption_await();
    bool ok = run_open(trainings, journal, &fault);
    interruption_forget();
    if (journal >= 0)
        close(journal);
    if (fault.text[0])
        return trouble(&fault, EXIT_FAILED);
    return ok ? EXIT_DONE : EXIT_FAILED; /* out of memory, which was said */
}

int trainings_read(struct trainings *trainings, const char *const *files, size_t count, uint32_t *shards)
{
    struct fault fault = {""};
    for (size_t i = 0; i < count; i++)
        if (!journal_read(files[i], &trainings->identity, shards, take_record, trainings, &fault))
            return trouble(&fault, EXIT_BAD_INPUT);
    return EXIT_DONE;
}

uint32_t trainings_missing(const struct trainings *trainings, uint32_t shards, bool *missing)
{
    uint32_t count = 0;
    memset(missing, 0, shards * sizeof *missing);
    for (uint32_t block = 0; block < trainings->blocks; block++) {
        bool open = !trainings->known[block];
        count += open && !missing[block % shards];
        missing[block % shards] |= open;
    }
    return count;
}

int trainings_merge(struct trainings *trainings, const char *const *files, size_t count)
{
    struct fault fault = {""};
    uint32_t shards = 1;
    int code = trainings_read(trainings, files, count, &shards);
    if (code != EXIT_DONE || knows(trainings, 1, 1))
        return code;
    for (uint32_t block = 0; block < trainings->blocks && !fault.text[0]; block++)
        if (!trainings->known[block])
            fault_set(&fault, "run %u of %u, which part %u/%u has, is missing; run it (again, with --resume)",
                      first_of(block) + 1, trainings->request->runs, block % shards + 1, shards);
    return trouble(&fault, EXIT_BAD_INPUT);
}
