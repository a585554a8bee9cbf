/* SPDX-License-Identifier: Apache-2.0 */
/* The order of every schedule, with each value of each option in turn, is the one in the
 * golden file. A line has the schedule, workers, micro-batches, option, makespan and most stashes for forwards of 3 and
 * backwards of 5 (weight gradients 2 of them), and a digest of all slots (FNV-1a). The other tests say what must hold
 * of an order; this one that no order changes unnoticed. Whoever changes one on purpose looks at it
 * (`stagesim schedule`), and writes the file again with UPDATE_ORDERS=1 in the environment. Schedules that search have
 * no one order. */
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[][2] = {{1, 2}, {2, 4}, {4, 4}, {4, 8}, {4, 11}, {6, 12}, {8, 8}};
static const struct times times = {.forward = 3, .backward = 5, .weight = 2, .latency = 0.25};

static void mix(uint64_t *hash, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        *hash = (*hash ^ (value & 0xff)) * 0x100000001b3u;
}

static uint64_t digest(const struct plan *plan)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        mix(&hash, plan->weight_versions[worker]);
        mix(&hash, plan->staleness[worker]);
        for (size_t i = 0; i < plan->orders[worker].count; i++) {
            const struct slot *slot = &plan->orders[worker].slots[i];
            mix(&hash, (uint64_t)slot->micro_batch << 32 | (uint64_t)slot->stage << 16 | slot->pipeline);
            mix(&hash,
                (uint64_t)slot->kind << 24 | (uint64_t)slot->part << 16 | (uint64_t)slot->joined << 8 | slot->split);
        }
    }
    return hash;
}

static void print_one(FILE *out, const struct schedule *schedule, const struct schedule_request *request,
                      const struct schedule_option *option, int64_t value)
{
    struct schedule_refusal refusal = {.text = ""};
    fprintf(out, "%s %u %u", schedule->name, request->workers, request->micro_batches);
    if (option && option->names)
        fprintf(out, " %s=%s", option->key, option->names[value]);
    else if (option)
        fprintf(out, " %s=%" PRId64, option->key, value);
    if (!schedule_fits(schedule, request, &refusal)) {
        fprintf(out, ": refused\n");
        return;
    }
    struct plan *plan = harness_plan(schedule->name, request);
    struct outcome outcome = harness_run(schedule->name, request, times);
    fprintf(out, ": %.6g %.6g %016" PRIx64 "\n", outcome.makespan, outcome.peak_most, digest(plan));
    plan_destroy(plan);
}

static struct schedule_request request_of(const struct schedule *schedule, size_t size)
{
    struct schedule_request request = schedule_request_default(schedule, sizes[size][0], sizes[size][1]);
    request.forward = times.forward;
    request.backward = times.backward;
    request.weight = times.weight;
    return request;
}

/* The default, all words, and the least numbers. */
static void print_options(FILE *out, const struct schedule *schedule, size_t size)
{
    struct schedule_request request = request_of(schedule, size);
    print_one(out, schedule, &request, NULL, 0);
    for (size_t i = 0; schedule->options && schedule->options[i].key; i++) {
        const struct schedule_option *option = &schedule->options[i];
        int64_t first = option->names ? 0 : option->least, last = first + 3;
        for (int64_t value = first; option->names ? option->names[value] != NULL : value <= last; value++) {
            request = request_of(schedule, size);
            request.options[i] = value;
            if (value != option->initial && (option->names || value <= option->most))
                print_one(out, schedule, &request, option, value);
        }
    }
}

static bool searches(const struct schedule *schedule)
{
    for (const struct schedule_option *option = schedule->options; option && option->key; option++)
        if (!strcmp(option->key, "effort"))
            return true;
    return false;
}

static void print_all(FILE *out)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes && !searches(*schedule); size++)
            print_options(out, *schedule, size);
}

Test(all_orders, golden)
{
    const char *file = SOURCE_ROOT "/test/schedules/golden/orders.txt";
    char *text = NULL, expected[512], found[512];
    size_t size = 0;
    FILE *now = open_memstream(&text, &size);
    print_all(now);
    fclose(now);
    if (getenv("UPDATE_ORDERS")) {
        FILE *out = fopen(file, "w");
        cr_assert(out && fwrite(text, 1, size, out) == size && fclose(out) == 0);
    }
    FILE *golden = fopen(file, "r");
    now = fmemopen(text, size, "r");
    cr_assert(golden && now);
    for (unsigned line = 1; fgets(found, sizeof found, now); line++) {
        cr_assert(fgets(expected, sizeof expected, golden), "line %u: more than in the file: %s", line, found);
        cr_expect_str_eq(found, expected, "line %u: %s is not %s", line, found, expected);
    }
    cr_assert(!fgets(expected, sizeof expected, golden), "the file has more: %s", expected);
    fclose(golden);
    fclose(now);
    free(text);
}
