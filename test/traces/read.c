/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of traces: what real profiles hold, counted by other programs (HolisticTraceAnalysis), and small files
 * whose content is known. */
#include "base/arena.h"
#include "base/intervals.h"
#include "traces/recorded.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES SOURCE "/test/validation/traces/"

static struct recorded *load(const char *file)
{
    struct diag diag = {.out = stderr};
    struct recorded *recorded = recorded_read(&file, 1, &diag);
    cr_assert(recorded, "%s", file);
    return recorded;
}

/* Microseconds in which some operation runs that is communication, or is not. */
static double busy(const struct recorded *recorded, bool communication, struct interval **kept, size_t *count)
{
    struct interval *intervals = array_zeroed(recorded->count, sizeof *intervals);
    *count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (communication ? operation->waiting : operation->kind == RECORDED_COMPUTE)
            intervals[(*count)++] = (struct interval){operation->begin, operation->end};
    }
    *count = intervals_unite(intervals, *count);
    *kept = intervals;
    return intervals_length(intervals, *count) * 1e6;
}

static size_t count_of(const struct recorded *recorded, enum recorded_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < recorded->count; i++)
        count += recorded->operations[i].kind == kind;
    return count;
}

/* Exact in decimals; HolisticTraceAnalysis, whose times are doubles of 2^42 us, finds 115655.843, 46876.492 and
 * 7317.026.
 */
Test(traces, resnet)
{
    struct recorded *recorded = load(SAMPLES "resnet50-ddp-2xA100-rank0.json.gz");
    struct interval *compute, *nccl;
    size_t compute_count, nccl_count;
    cr_expect_float_eq(busy(recorded, false, &compute, &compute_count), 115655.847, 1e-4);
    cr_expect_float_eq(busy(recorded, true, &nccl, &nccl_count), 46876.493, 1e-4);
    cr_expect_float_eq(1e6 * intervals_common(compute, compute_count, nccl, nccl_count), 7317.025, 1e-4);
    cr_expect_eq(count_of(recorded, RECORDED_COMPUTE) + count_of(recorded, RECORDED_COLLECTIVE), 2700);
    cr_expect_eq(count_of(recorded, RECORDED_COLLECTIVE), 21);
    double bytes = 0, begin = INFINITY, end = -INFINITY;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind == RECORDED_COLLECTIVE) {
            bytes += operation->bytes;
            cr_expect_eq(recorded->groups[operation->group].size, 2);
            cr_expect_str_eq(recorded->groups[operation->group].name, "0");
        }
        if (operation->kind == RECORDED_COMPUTE || operation->kind == RECORDED_COLLECTIVE) {
            begin = fmin(begin, operation->begin);
            end = fmax(end, operation->end);
        }
    }
    cr_expect_eq(bytes, 307323096);
    cr_expect_eq(recorded->world, 2);
    cr_expect_eq(recorded->ranks[0].number, 0);
    cr_expect_str_eq(recorded->ranks[0].device, "NVIDIA A100-PG509-200");
    cr_expect_float_eq((end - begin) * 1e6, 660551.005, 1e-4);
    free(compute);
    free(nccl);
    recorded_destroy(recorded);
}

Test(traces, rocm)
{
    struct recorded *recorded = load(SAMPLES "resnet-ddp-8xMI300X-rank0.json.gz");
    size_t known = 0;
    for (size_t i = 0; i < recorded->count; i++)
        known += recorded->operations[i].kind == RECORDED_COLLECTIVE && !isnan(recorded->operations[i].bytes);
    cr_expect_eq(count_of(recorded, RECORDED_COLLECTIVE), 17);
    cr_expect(known > 0 && known < 17, "%zu", known); /* by correlation and External id; not all join */
    cr_expect_eq(recorded->world, 8);
    recorded_destroy(recorded);
}

Test(traces, older_fields)
{
    static const char *const files[] = {SAMPLES "dlrm-128gpu-rank1.json.gz", SAMPLES "dlrm-128gpu-rank0.json.gz"};
    struct diag diag = {.out = stderr};
    struct recorded *recorded = recorded_read(files, 2, &diag);
    cr_assert(recorded);
    cr_expect_eq(recorded->rank_count, 2);
    cr_expect_eq(recorded->ranks[0].number, 0);
    cr_expect_eq(recorded->ranks[1].number, 1);
    cr_expect_eq(recorded->world, 128);
    recorded_destroy(recorded);
    recorded = load(SAMPLES "dlrm-128gpu-rank0.json.gz");
    struct interval *compute, *nccl;
    size_t compute_count, nccl_count;
    cr_expect_float_eq(busy(recorded, false, &compute, &compute_count), 210320, 0.001);
    cr_expect_float_eq(busy(recorded, true, &nccl, &nccl_count), 396199, 0.001);
    cr_expect_float_eq(1e6 * intervals_common(compute, compute_count, nccl, nccl_count), 59216, 0.001);
    free(compute);
    free(nccl);
    recorded_destroy(recorded);
}

Test(traces, cuda_events)
{
    static const struct {
        const char *file;
        size_t operations, stream_waits, event_syncs, stream_syncs, context_syncs;
        double microseconds; /* kernels alone, without copies */
    } samples[] = {{SAMPLES "cuda-events/simple_add.json.gz", 98, 20, 0, 16, 5, 10670},
                   {SAMPLES "cuda-events/alexnet.json.gz", 98, 20, 0, 16, 5, 10630},
                   {SAMPLES "cuda-events/cuda_event_sync.json.gz", 5, 0, 2, 1, 1, 49}};
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        struct recorded *recorded = load(samples[s].file);
        struct interval *compute;
        size_t count, counts[4] = {0};
        static const char *const names[] = {"Stream Wait Event", "Event Sync", "Stream Sync", "Context Sync"};
        cr_expect_float_eq(busy(recorded, false, &compute, &count), samples[s].microseconds, 1e-4);
        for (size_t i = 0; i < recorded->sync_count; i++)
            for (size_t n = 0; n < 4; n++)
                counts[n] +=
                    !strcmp(recorded_name_of(recorded, &recorded->operations[recorded->syncs[i].operation]), names[n]);
        cr_expect_eq(count_of(recorded, RECORDED_COMPUTE) + count_of(recorded, RECORDED_MEMORY), samples[s].operations);
        cr_expect(counts[0] == samples[s].stream_waits && counts[1] == samples[s].event_syncs &&
                  counts[2] == samples[s].stream_syncs && counts[3] == samples[s].context_syncs);
        free(compute);
        recorded_destroy(recorded);
    }
}

/* ---- small files ---- */

static struct recorded *read_text(const char *text, char **said)
{
    char path[] = "/tmp/stagesim-trace-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    size_t size;
    FILE *out = open_memstream(said, &size);
    struct diag diag = {.out = out};
    const char *name = path;
    struct recorded *recorded = recorded_read(&name, 1, &diag);
    fclose(out);
    unlink(path);
    return recorded;
}

Test(traces, refusals)
{
    static const char *const bad[][2] = {
        {"{\"traceEvents\": [{\"ph\": \"X\"", "it was cut"},
        {"{\"a\": 1}", "it has no traceEvents"},
        {"7", "a trace is an object with traceEvents, or a list of events"},
        {"[3]", "an event is an object"},
        {"[]", "it has no operation of a training"},
        {"{\"traceEvents\": []}", "it has no operation of a training"},
        {"[{\"ph\":\"X\",\"cat\":\"forward-compute\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":1,\"args\":{\"mb_id\":0}}]",
         "has args.step"},
        {"[{\"ph\":\"X\",\"cat\":\"forward-compute\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":1,\"args\":{\"step\":0,"
         "\"mb_id\":0}}]",
         "thread 0 has no name"},
        {"[{\"ph\":\"X\",\"cat\":\"forward-compute\",\"pid\":\"x\",\"tid\":0,\"ts\":1,\"dur\":1}]",
         "pid and tid of an event are whole numbers"},
        {"rank,stream,id,kind,stage,micro_batch,start_s,data_start_s,end_s\n0,compute,0,F,0,0,2,2,1\n",
         "ends before it starts"},
        {"rank,stream,id,kind,stage,micro_batch,start_s,data_start_s,end_s,waits_for\n0,compute,0,F,0,0,0,0,1,7\n",
         "it waits for operation 7, which rank 0 does not have"},
        {"rank,stream,id,kind,stage,micro_batch,start_s,data_start_s,end_s\n0,compute,0,F,0,0,0,0,1\n0,compute,0,F,0,1,"
         "1,1,2\n",
         "rank 0 has two operations with the id 0"},
        {"rank,stream,kind\n", "id"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *said = NULL;
        struct recorded *recorded = read_text(bad[i][0], &said);
        cr_expect_null(recorded);
        cr_expect(strstr(said, bad[i][1]), "%s: %s", bad[i][0], said);
        recorded_destroy(recorded);
        free(said);
    }
}

Test(traces, operations_table)
{
    char *said = NULL;
    struct recorded *recorded =
        read_text("rank,stream,id,kind,stage,micro_batch,start_s,data_start_s,end_s,bytes,peer,waits_for\n"
                  "1,compute,0,F,1,0,3,3,5,,,1\n1,receive:0:activation,1,activation,1,0,0,2,3,8,0,\n"
                  "0,compute,0,F,0,0,0,0,2,,,\n0,send:1:activation,1,activation,0,0,2,2,3,8,1,0\n",
                  &said);
    cr_assert(recorded, "%s", said);
    cr_expect_eq(recorded->rank_count, 2);
    cr_expect_eq(recorded->count, 4);
    cr_expect_eq(recorded->wait_count, 2);
    for (size_t i = 0; i < recorded->wait_count; i++) {
        const struct recorded_operation *operation = &recorded->operations[recorded->waits[i].operation],
                                        *awaited = &recorded->operations[recorded->waits[i].awaited];
        cr_expect_eq(recorded_rank_of(recorded, operation), recorded_rank_of(recorded, awaited));
        cr_expect_leq(awaited->end, operation->begin);
    }
    recorded_destroy(recorded);
    free(said);
}

/* Times that one double does not hold: the difference of two is exact to a nanosecond. */
Test(traces, large_times)
{
    char *said = NULL;
    struct recorded *recorded = read_text(
        "{\"traceEvents\": "
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":1682725898236567.125,"
        "\"dur\":0.25,\"args\":{\"stream\":7}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,"
        "\"ts\":1682725898236569.001,\"dur\":1,\"args\":{\"stream\":7}}]}",
        &said);
    cr_assert(recorded, "%s", said);
    cr_expect_float_eq(recorded->operations[1].begin - recorded->operations[0].begin, 1.876e-6, 1e-15);
    recorded_destroy(recorded);
    free(said);
}
