/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of schedule files with the plan checker behind them. What they accept is evaluated, written out
 * and read again, in their own form and in PyTorch's: the same plan must come back. */
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
    struct plan *again = plan_file_parse("again", text, (size_t)end, PYTORCH_TODAY, diag);
    expect_same(plan, again);
    plan_destroy(again);
    free(text);
    plan_timing_finish(&timing);
    free(ones);
}

static char *for_pytorch(const struct plan *plan, bool communication, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    plan_pytorch_write(plan, communication, out);
    fclose(out);
    return text;
}

/* What PyTorch's files can hold reads back from both forms, and is written as before. */
static void write_for_pytorch(const struct plan *plan, struct diag *diag)
{
    struct fault fault = {""};
    size_t sizes[2], size;
    if (!plan_pytorch_holds(plan, &fault))
        return;
    char *texts[2] = {for_pytorch(plan, false, &sizes[0]), for_pytorch(plan, true, &sizes[1])};
    for (int i = 0; i < 2; i++) {
        struct plan *again = plan_file_parse("again", texts[i], sizes[i], PYTORCH_TODAY, diag);
        if (!again)
            abort();
        char *text = for_pytorch(again, i, &size);
        if (size != sizes[i] || memcmp(text, texts[i], size) != 0)
            abort();
        plan_destroy(again);
        free(text);
    }
    free(texts[0]);
    free(texts[1]);
}

static void read_older(const char *text, size_t size)
{
    struct diag diag = {.out = NULL};
    if (plan_pytorch_recognise(text, size))
        plan_destroy(plan_pytorch_parse("older", text, size, PYTORCH_OLDER, &diag));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct diag diag = {.out = fopen("/dev/null", "w")};
    struct plan *plan = plan_file_parse("input", (const char *)data, size, PYTORCH_TODAY, &diag);
    if (!plan != (diag.errors > 0))
        abort();
    if (plan) {
        write_and_read_again(plan, &diag);
        write_for_pytorch(plan, &diag);
    }
    plan_destroy(plan);
    read_older((const char *)data, size);
    fclose(diag.out);
    return 0;
}
