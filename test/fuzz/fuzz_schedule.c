/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of schedule files with the plan checker behind it. What they accept is evaluated, written out and
 * read again: the same plan must come back. */
#include "base/arena.h"
#include "commands/schedule/schedule_output.h"
#include "schedules/plan/plan_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void expect_same(const struct plan *left, const struct plan *right)
{
    if (!right || left->workers != right->workers || left->stages != right->stages ||
        left->pipelines != right->pipelines || left->micro_batches != right->micro_batches)
        abort();
    for (uint32_t worker = 0; worker < left->workers; worker++) {
        const struct plan_order *order = &left->orders[worker], *other = &right->orders[worker];
        if (order->count != other->count ||
            memcmp(order->slots, other->slots, order->count * sizeof *order->slots) != 0)
            abort();
    }
}

static void write_and_read_again(const struct plan *plan, struct diag *diag)
{
    double *ones = array_grow(NULL, &(size_t){0}, plan->stages, sizeof *ones);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        ones[stage] = 1;
    struct plan_costs costs = {.forward = ones, .backward = ones, .weight = ones, .latency = 0.5};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &costs);
    struct schedule_view view = {.name = "fuzz", .plan = plan, .timing = &timing};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    schedule_text_write(out, &view, (struct schedule_text_style){80, true});
    schedule_json_write(out, &view);
    rewind(out);
    schedule_csv_write(out, &view);
    long end = ftell(out);
    fclose(out);
    struct plan *again = plan_file_parse("again", text, (size_t)end, diag);
    expect_same(plan, again);
    plan_destroy(again);
    free(text);
    plan_timing_finish(&timing);
    free(ones);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct diag diag = {.out = fopen("/dev/null", "w")};
    struct plan *plan = plan_file_parse("input", (const char *)data, size, &diag);
    if (!plan != (diag.errors > 0))
        abort();
    if (plan)
        write_and_read_again(plan, &diag);
    plan_destroy(plan);
    fclose(diag.out);
    return 0;
}
