/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/blocks/blocks.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/exit_code.h"
#include "base/files/scratch.h"
#include "base/isolate.h"
#include "base/process/clock.h"
#include "base/process/interruption.h"
#include "job/write/scenario_write.h"
#include "simulator/engines/progress.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint32_t first_of(const struct blocks *blocks, uint32_t block)
{
    return block * blocks->request->per_block;
}

static uint32_t end_of(const struct blocks *blocks, uint32_t block)
{
    uint64_t end = (uint64_t)first_of(blocks, block) + blocks->request->per_block;
    return end < blocks->request->items ? (uint32_t)end : blocks->request->items;
}

static char *item_of(const struct blocks *blocks, uint32_t item)
{
    return (char *)blocks->items + item * blocks->request->size;
}

static size_t bytes_of(const struct blocks *blocks, uint32_t block)
{
    return (end_of(blocks, block) - first_of(blocks, block)) * blocks->request->size;
}

/* ---- records: a block's number, and its items; of the last block some are empty ---- */

static size_t record_size(const struct blocks *blocks)
{
    return sizeof(uint64_t) + blocks->request->per_block * blocks->request->size;
}

static void take_record(void *user, const void *record, size_t size)
{
    struct blocks *blocks = user;
    uint64_t block;
    if (size != record_size(blocks))
        return;
    memcpy(&block, record, sizeof block);
    if (block >= blocks->count)
        return;
    memcpy(item_of(blocks, first_of(blocks, (uint32_t)block)), (const char *)record + sizeof block,
           bytes_of(blocks, (uint32_t)block));
    blocks->known[block] = true;
}

static bool append(const struct blocks *blocks, int journal, uint32_t block)
{
    uint64_t number = block;
    if (journal < 0)
        return true;
    char *record = array_zeroed(record_size(blocks), 1);
    memcpy(record, &number, sizeof number);
    memcpy(record + sizeof number, item_of(blocks, first_of(blocks, block)), bytes_of(blocks, block));
    bool ok = journal_append(journal, record, record_size(blocks));
    int failed = errno;
    free(record);
    errno = failed;
    return ok;
}

/* ---- what they are ---- */

uint64_t blocks_fingerprint(const struct scenario *scenario, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = memory_stream_open(&text, &length);
    fprintf(out, "%s %zu\n", STAGESIM_VERSION, size);
    scenario_write(out, scenario, ".", false);
    uint64_t sum = journal_fingerprint_file(JOURNAL_FINGERPRINT, scenario->file);
    if (scenario->platform.file)
        sum = journal_fingerprint_file(sum, scenario->platform.file);
    memory_stream_close(out);
    sum = journal_fingerprint(sum, text, length);
    free(text);
    return sum;
}

bool blocks_create(struct blocks *blocks, const struct blocks_request *request, struct fault *fault)
{
    *blocks = (struct blocks){.request = request,
                              .identity = request->identity,
                              .count = (request->items + request->per_block - 1) / request->per_block};
    blocks->identity.count = request->items;
    blocks->identity.shard = request->shard;
    blocks->identity.shards = request->shards;
    blocks->items = scratch_map(request->items * request->size, fault);
    blocks->known = blocks->items ? scratch_map(blocks->count * sizeof *blocks->known, fault) : NULL;
    return blocks->known != NULL;
}

void blocks_destroy(struct blocks *blocks)
{
    scratch_unmap(blocks->items, blocks->request->items * blocks->request->size);
    scratch_unmap(blocks->known, blocks->count * sizeof *blocks->known);
}

/* Whether the items of a part are known without a gap: all, or those up to one that ends them. */
static bool knows(const struct blocks *blocks, uint32_t shard, uint32_t shards)
{
    for (uint32_t block = shard - 1; block < blocks->count; block += shards) {
        if (!blocks->known[block])
            return false;
        for (uint32_t item = first_of(blocks, block); item < end_of(blocks, block); item++)
            if (blocks->request->ends && blocks->request->ends(item_of(blocks, item)))
                return true;
    }
    return true;
}

/* ---- processes ---- */

struct shared {
    atomic_uint begun, done; /* of the crew's blocks */
    atomic_bool over;        /* all processes are to stop */
    atomic_int failed;       /* errno of a record that could not be written */
};

/* Several processes; each takes the first block that no other one has begun. */
struct crew {
    const struct blocks *all;
    struct shared *shared;
    uint32_t *blocks, count; /* that are to be done, ascending */
    int journal;             /* -1: none */
    double end;              /* on the clock; INFINITY: never */
};

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
    const struct blocks *all = crew->all;
    struct shared *shared = crew->shared;
    (void)self;
    while (!is_over(crew)) {
        uint32_t next = atomic_fetch_add(&shared->begun, 1);
        if (next >= crew->count)
            break;
        uint32_t block = crew->blocks[next], first = first_of(all, block);
        bool goes_on = all->request->fill(all->request->user, first, end_of(all, block) - first, item_of(all, first));
        if (!append(all, crew->journal, block))
            atomic_store(&shared->failed, errno);
        else
            all->known[block] = true;
        atomic_fetch_add(&shared->done, 1);
        if (!goes_on || atomic_load(&shared->failed))
            atomic_store(&shared->over, true); /* blocks in front of this one are begun, and so will be known */
    }
    return EXIT_DONE;
}

static void watch(const struct crew *crew, struct isolation **processes, unsigned count)
{
    struct progress progress;
    progress_init(&progress, crew->all->request->bar, crew->all->request->command);
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
    const struct blocks_request *request = crew->all->request;
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
static bool run_open(struct blocks *blocks, int journal, struct fault *fault)
{
    const struct blocks_request *request = blocks->request;
    struct crew crew = {.all = blocks,
                        .shared = scratch_map(sizeof *crew.shared, fault),
                        .blocks = array_zeroed(blocks->count, sizeof *crew.blocks),
                        .journal = journal,
                        .end = request->time_limit > 0 ? clock_now() + request->time_limit : INFINITY};
    for (uint32_t block = request->shard - 1; block < blocks->count; block += request->shards)
        if (!blocks->known[block])
            crew.blocks[crew.count++] = block;
    bool ok = crew.shared && (!crew.count || run_processes(&crew, fault));
    blocks->stopped = !knows(blocks, request->shard, request->shards);
    scratch_unmap(crew.shared, sizeof *crew.shared);
    free(crew.blocks);
    return ok;
}

/* ---- all ---- */

static int trouble(const struct blocks *blocks, const struct fault *fault, int code)
{
    diag_print(blocks->request->out, "stagesim: %s\n", fault->text);
    return code;
}

int blocks_run(struct blocks *blocks)
{
    struct fault fault = {""};
    const struct blocks_request *request = blocks->request;
    int journal = -1;
    if (request->journal) {
        journal = journal_open(request->journal, &blocks->identity, request->resume, take_record, blocks, &fault);
        if (journal < 0)
            return trouble(blocks, &fault, EXIT_BAD_INPUT);
    }
    bool ok = run_open(blocks, journal, &fault);
    if (journal >= 0)
        close(journal);
    if (fault.text[0])
        return trouble(blocks, &fault, EXIT_FAILED);
    return ok ? EXIT_DONE : EXIT_FAILED; /* out of memory, which was said */
}

int blocks_read(struct blocks *blocks, const char *const *files, size_t count, uint32_t *shards)
{
    struct fault fault = {""};
    for (size_t i = 0; i < count; i++)
        if (!journal_read(files[i], &blocks->identity, shards, take_record, blocks, &fault))
            return trouble(blocks, &fault, EXIT_BAD_INPUT);
    return EXIT_DONE;
}

uint32_t blocks_missing(const struct blocks *blocks, uint32_t shards, bool *missing)
{
    uint32_t count = 0;
    memset(missing, 0, shards * sizeof *missing);
    for (uint32_t block = 0; block < blocks->count; block++) {
        bool open = !blocks->known[block];
        count += open && !missing[block % shards];
        missing[block % shards] |= open;
    }
    return count;
}

int blocks_merge(struct blocks *blocks, const char *const *files, size_t count)
{
    struct fault fault = {""};
    uint32_t shards = 1;
    int code = blocks_read(blocks, files, count, &shards);
    if (code != EXIT_DONE || knows(blocks, 1, 1))
        return code;
    for (uint32_t block = 0; block < blocks->count && !fault.text[0]; block++)
        if (!blocks->known[block])
            fault_set(&fault, "%s %u of %u, which part %u/%u has, is missing; run it (again, with --resume)",
                      blocks->request->item, first_of(blocks, block) + 1, blocks->request->items, block % shards + 1,
                      shards);
    return trouble(blocks, &fault, EXIT_BAD_INPUT);
}
