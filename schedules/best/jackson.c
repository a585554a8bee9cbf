/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/jackson.h"

static void heap_add(struct jackson *jackson, struct jackson_piece piece)
{
    uint32_t at = jackson->count++;
    for (; at > 0 && jackson->heap[(at - 1) / 2].tail < piece.tail; at = (at - 1) / 2)
        jackson->heap[at] = jackson->heap[(at - 1) / 2];
    jackson->heap[at] = piece;
}

static void heap_drop(struct jackson *jackson)
{
    struct jackson_piece last = jackson->heap[--jackson->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < jackson->count; child = 2 * at + 1) {
        child += child + 1 < jackson->count && jackson->heap[child + 1].tail > jackson->heap[child].tail;
        if (jackson->heap[child].tail <= last.tail)
            break;
        jackson->heap[at] = jackson->heap[child];
        at = child;
    }
    jackson->heap[at] = last;
}

static void run_until(struct jackson *jackson, int64_t until)
{
    while (jackson->count > 0 && jackson->clock < until) {
        struct jackson_piece *top = &jackson->heap[0];
        if (jackson->clock + top->left > until) {
            top->left -= until - jackson->clock;
            return;
        }
        jackson->clock += top->left;
        if (jackson->clock + top->tail > jackson->latest)
            jackson->latest = jackson->clock + top->tail;
        heap_drop(jackson);
    }
}

void jackson_begin(struct jackson *jackson, int64_t clock, int64_t after)
{
    jackson->count = 0;
    jackson->clock = clock;
    jackson->latest = clock + after;
}

void jackson_add(struct jackson *jackson, int64_t head, int64_t length, int64_t tail)
{
    if (head > jackson->clock) {
        run_until(jackson, head);
        jackson->clock = head;
    }
    heap_add(jackson, (struct jackson_piece){tail, length});
}

int64_t jackson_end(struct jackson *jackson)
{
    run_until(jackson, INT64_MAX);
    return jackson->latest;
}
