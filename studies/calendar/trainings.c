/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/calendar/trainings.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "job/write/scenario_write.h"
#include "simulator/engines/progress.h"
#include "training/forecast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64 };

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

static void *share(size_t bytes, struct fault *fault)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    fault_set(fault, "no memory for so many trainings: %s", strerror(errno));
    return NULL;
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
    trainings->runs = share(request->runs * sizeof *trainings->runs, fault);
    trainings->known = trainings->runs ? share((trainings->blocks + 1) * sizeof *trainings->known, fault) : NULL;
    return trainings->known != NULL;
}

void trainings_destroy(struct trainings *trainings)
{
    if (trainings->runs)
        munmap(trainings->runs, trainings->request->runs * sizeof *trainings->runs);
    if (trainings->known)
        munmap((void *)(uintptr_t)trainings->known, (trainings->blocks + 1) * sizeof *trainings->known);
}

/* ---- processes ---- */

/* One of several processes. */
struct worker {
    const uint32_t *blocks; /* that are to be done, count of them; this one does every of-th from the number-th on */
    uint32_t count, number, of;
    int journal; /* -1: none */
    double end;  /* on the clock; 0: never */
    pid_t process;
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
static bool is_over(const struct trainings *trainings, const struct worker *worker)
{
    if (interruption_noted() || (worker->end > 0 && clock_now() > worker->end))
        trainings->known[trainings->blocks] = true;
    return trainings->known[trainings->blocks];
}

/* An exit code. */
static int work(const struct trainings *trainings, const struct worker *worker)
{
    for (uint32_t i = worker->number; i < worker->count; i += worker->of) {
        if (is_over(trainings, worker))
            return EXIT_DONE;
        bool gets_on = simulate_block(trainings, worker->blocks[i]);
        if (!append(trainings, worker->journal, worker->blocks[i]))
            return EXIT_FAILED;
        trainings->known[worker->blocks[i]] = true;
        if (!gets_on)
            return EXIT_DONE;
    }
    return EXIT_DONE;
}

static void start(const struct trainings *trainings, struct worker *worker)
{
    pid_t parent = getpid();
    worker->process = worker->of > 1 ? fork() : -1;
    if (worker->process == 0) {
        isolate_bond(parent);
        _exit(work(trainings, worker));
    }
}

/* Whether it has ended; *failed, if not as it should. */
static bool has_ended(const struct worker *worker, bool *failed)
{
    int status = 0;
    if (worker->process <= 0)
        return true;
    if (waitpid(worker->process, &status, WNOHANG) != worker->process)
        return false;
    *failed |= status != 0;
    return true;
}

static uint32_t count_known(const struct trainings *trainings, const struct worker *worker)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->count; i++)
        count += trainings->known[worker->blocks[i]];
    return count;
}

/* Where no process can be made, its share is done in this one. */
static bool run_workers(struct trainings *trainings, struct worker *workers, uint32_t of)
{
    struct progress progress;
    bool failed = false;
    uint32_t running = of;
    progress_init(&progress, trainings->request->quiet ? NULL : stderr, "train");
    struct engine_progress hook = progress_hook(&progress);
    for (uint32_t i = 0; i < of; i++)
        start(trainings, &workers[i]);
    for (uint32_t i = 0; i < of; i++)
        if (workers[i].process < 0)
            failed |= work(trainings, &workers[i]) != EXIT_DONE;
    while (running) {
        hook.report(hook.user, count_known(trainings, workers), workers->count);
        is_over(trainings, workers);
        running = 0;
        for (uint32_t i = 0; i < of; i++) {
            workers[i].process = has_ended(&workers[i], &failed) ? 0 : workers[i].process;
            running += workers[i].process > 0;
        }
        if (running)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    progress_finish(&progress);
    return !failed;
}

static bool run_open(struct trainings *trainings, int journal)
{
    const struct trainings_request *request = trainings->request;
    struct worker workers[PROCESSES_MAX];
    uint32_t *blocks = array_zeroed(trainings->blocks, sizeof *blocks), count = 0;
    for (uint32_t block = request->shard - 1; block < trainings->blocks; block += request->shards)
        if (!trainings->known[block])
            blocks[count++] = block;
    uint32_t of = request->jobs < PROCESSES_MAX ? request->jobs : PROCESSES_MAX;
    of = of < count ? of : count;
    for (uint32_t i = 0; i < of; i++)
        workers[i] = (struct worker){.blocks = blocks,
                                     .count = count,
                                     .number = i,
                                     .of = of,
                                     .journal = journal,
                                     .end = request->time_limit > 0 ? clock_now() + request->time_limit : 0};
    bool ok = !count || run_workers(trainings, workers, of);
    trainings->stopped = count && count_known(trainings, workers) < count && trainings_count(trainings) == 0;
    free(blocks);
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
    bool ok = run_open(trainings, journal);
    interruption_forget();
    if (journal >= 0)
        close(journal);
    if (ok)
        return EXIT_DONE;
    fault_set(&fault,
              journal < 0 ? "a process of the simulation ended early"
                          : "%s: cannot be written, or a process of the simulation ended early",
              request->journal);
    return trouble(&fault, EXIT_FAILED);
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
    if (code != EXIT_DONE || trainings_count(trainings))
        return code;
    for (uint32_t block = 0; block < trainings->blocks && !fault.text[0]; block++)
        if (!trainings->known[block])
            fault_set(&fault, "run %u of %u, which part %u/%u has, is missing; run it (again, with --resume)",
                      first_of(block) + 1, trainings->request->runs, block % shards + 1, shards);
    return trouble(&fault, EXIT_BAD_INPUT);
}

uint32_t trainings_count(const struct trainings *trainings)
{
    for (uint32_t block = 0; block < trainings->blocks; block++) {
        if (!trainings->known[block])
            return 0;
        for (uint32_t run = first_of(block); run < end_of(trainings, block); run++)
            if (trainings->runs[run].stuck)
                return run + 1;
    }
    return trainings->request->runs;
}
