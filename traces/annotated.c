/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/annotated.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "forward 1.3": stage 1, micro-batch 3. */
static bool read_numbers(const char *text, struct recorded_operation *operation)
{
    char *dot, *end;
    unsigned long stage = strtoul(text, &dot, 10);
    if (dot == text || *dot != '.')
        return false;
    unsigned long micro_batch = strtoul(dot + 1, &end, 10);
    if (end == dot + 1 || *end || stage >= RECORDED_NO_STAGE || micro_batch >= RECORDED_NONE)
        return false;
    operation->stage = (uint16_t)stage;
    operation->micro_batch = (uint32_t)micro_batch;
    operation->sequence = operation->micro_batch;
    return true;
}

/* What an annotation is; false: something else. */
static bool classify(const char *name, struct recorded_operation *operation)
{
    static const struct {
        const char *start;
        enum recorded_kind kind;
        enum recorded_work work;
    } words[] = {{"forward ", RECORDED_COMPUTE, RECORDED_FORWARD},
                 {"backward ", RECORDED_COMPUTE, RECORDED_BACKWARD},
                 {"optimizer", RECORDED_COMPUTE, RECORDED_OPTIMIZER},
                 {"gloo:send", RECORDED_SEND, RECORDED_UNKNOWN},
                 {"gloo:recv", RECORDED_RECEIVE, RECORDED_UNKNOWN},
                 {"gloo:all_reduce", RECORDED_COLLECTIVE, RECORDED_GRADIENT_SYNC}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool numbers = words[i].work == RECORDED_FORWARD || words[i].work == RECORDED_BACKWARD;
        size_t length = strlen(words[i].start);
        if (strncmp(name, words[i].start, length) != 0 || (!numbers && name[length]) ||
            (numbers && !read_numbers(name + length, operation)))
            continue;
        operation->kind = (uint8_t)words[i].kind;
        operation->work = (uint8_t)words[i].work;
        return true;
    }
    return false;
}

static int by_begin(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    const struct recorded_operation *a = &recorded->operations[*(const uint32_t *)left],
                                    *b = &recorded->operations[*(const uint32_t *)right];
    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin) : (a > b) - (a < b);
}

/* A receive is for the computation behind it, a send of the one before it; each kind is numbered within its step. */
static void number(struct recorded *recorded, const uint32_t *order, size_t count)
{
    uint32_t next[RECORDED_KINDS][RECORDED_WORKS] = {{0}}, step = RECORDED_NONE;
    bool forward = true;
    for (size_t i = 0; i < count; i++) {
        struct recorded_operation *operation = &recorded->operations[order[i]];
        if (operation->step != step)
            memset(next, 0, sizeof next);
        step = operation->step;
        bool ahead = forward;
        for (size_t k = i + 1; k < count && operation->kind == RECORDED_RECEIVE; k++) {
            uint8_t work = recorded->operations[order[k]].work;
            ahead = work == RECORDED_FORWARD;
            if (work == RECORDED_FORWARD || work == RECORDED_BACKWARD)
                break;
        }
        if (operation->work == RECORDED_FORWARD || operation->work == RECORDED_BACKWARD)
            forward = operation->work == RECORDED_FORWARD;
        else if (operation->kind == RECORDED_SEND)
            operation->work = forward ? RECORDED_ACTIVATION : RECORDED_GRADIENT;
        else if (operation->kind == RECORDED_RECEIVE)
            operation->work = ahead ? RECORDED_ACTIVATION : RECORDED_GRADIENT;
        if (operation->micro_batch == RECORDED_NONE)
            operation->sequence = next[operation->kind][operation->work]++;
    }
}

bool annotated_take(struct recorded *recorded, size_t first)
{
    size_t kept = first, computations = 0;
    uint32_t stage = RECORDED_NONE;
    for (size_t i = first; i < recorded->count; i++) {
        struct recorded_operation probe = recorded->operations[i];
        if (recorded_works(&probe))
            return false;
        bool is = probe.kind == RECORDED_ANNOTATION && probe.step != RECORDED_NONE &&
                  classify(recorded_name_of(recorded, &probe), &probe);
        if (is && probe.stage != RECORDED_NO_STAGE) {
            computations++;
            stage = probe.stage;
        }
    }
    if (!computations)
        return false;
    for (size_t i = first; i < recorded->count; i++) {
        struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_ANNOTATION || operation->step == RECORDED_NONE ||
            !classify(recorded_name_of(recorded, operation), operation))
            continue;
        if (operation->stage != RECORDED_NO_STAGE) /* all of a kind are alike, whatever their numbers */
            operation->name = operation->work == RECORDED_FORWARD ? recorded_name(recorded, "forward", 7)
                                                                  : recorded_name(recorded, "backward", 8);
        else if (operation->kind != RECORDED_COLLECTIVE)
            operation->stage = (uint16_t)stage;
        recorded->operations[kept++] = *operation;
    }
    recorded->count = kept;
    uint32_t *order = array_zeroed(kept - first, sizeof *order);
    for (size_t i = first; i < kept; i++)
        order[i - first] = (uint32_t)i;
    qsort_r(order, kept - first, sizeof *order, by_begin, recorded);
    number(recorded, order, kept - first);
    free(order);
    recorded->ranks[recorded_rank_of(recorded, &recorded->operations[first])].stage = stage;
    return true;
}

/* ---- waiting ---- */

/* A member of what begins together: the two ends of a message, or the replicas of a stage in a collective. */
struct party {
    uint32_t step, place, sequence, operation; /* place: of a message, replica and the stage that it goes to or comes
                                                  from; of a collective, the stage */
    uint8_t kind, work;
};

static int by_meeting(const void *left, const void *right)
{
    const struct party *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

/* Ranks of a stage are numbered in the order of their ranks: the n-th of each stage are the n-th replica. */
static void give_replicas(struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->rank_count; i++) {
        uint32_t before = 0;
        for (size_t k = 0; k < recorded->rank_count; k++)
            before += recorded->ranks[k].stage == recorded->ranks[i].stage &&
                      recorded->ranks[k].number < recorded->ranks[i].number;
        recorded->ranks[i].data = before;
    }
}

static struct party party_of(const struct recorded *recorded, uint32_t index)
{
    const struct recorded_operation *operation = &recorded->operations[index];
    const struct recorded_rank *rank = &recorded->ranks[recorded_rank_of(recorded, operation)];
    struct party party = {operation->step, rank->stage,         operation->sequence,
                          index,           RECORDED_COLLECTIVE, operation->work};
    if (operation->kind == RECORDED_COLLECTIVE)
        return party;
    bool forward = operation->work == RECORDED_ACTIVATION, send = operation->kind == RECORDED_SEND;
    party.kind = RECORDED_SEND;
    party.place = rank->data << 16 | (send == forward ? rank->stage + 1 : rank->stage); /* the later stage */
    return party;
}

/* Data move from the last begin on; of a message until the receive's end. */
static void cut(struct recorded *recorded, const struct party *parties, size_t count)
{
    double begin = -INFINITY, end = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const struct recorded_operation *operation = &recorded->operations[parties[i].operation];
        begin = fmax(begin, operation->begin);
        end = operation->kind == RECORDED_SEND ? end : fmin(end, operation->end);
    }
    for (size_t i = 0; i < count && count > 1; i++) {
        struct recorded_operation *operation = &recorded->operations[parties[i].operation];
        operation->end = operation->kind == RECORDED_SEND ? fmin(operation->end, end) : operation->end;
        operation->begin = fmin(begin, operation->end);
    }
}

void annotated_join(struct recorded *recorded)
{
    struct party *parties = array_zeroed(recorded->count, sizeof *parties);
    size_t count = 0;
    give_replicas(recorded);
    for (uint32_t i = 0; i < recorded->count; i++)
        if (recorded_works(&recorded->operations[i]) && recorded->operations[i].kind != RECORDED_COMPUTE)
            parties[count++] = party_of(recorded, i);
    if (count)
        qsort(parties, count, sizeof *parties, by_meeting);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && parties[end].kind == parties[i].kind && parties[end].work == parties[i].work &&
                          parties[end].step == parties[i].step && parties[end].place == parties[i].place &&
                          parties[end].sequence == parties[i].sequence;
             end++) {}
        cut(recorded, &parties[i], end - i);
    }
    free(parties);
}
