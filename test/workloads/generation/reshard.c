/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that go from one layout of weights to another, counted element by element. */
#include "workloads/generation/reshard.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>

enum { LAYERS = 4, WHOLE = 24, DIVIDED = 144, EXPERTS = 8, EXPERT = 144, ENDS = 144, TRIES = 300 };
enum { LAYER = WHOLE + DIVIDED + EXPERTS * EXPERT, OUTSIDE = 2 * (ENDS + WHOLE), ELEMENTS = OUTSIDE + LAYERS * LAYER };

static uint64_t state = 1;

static uint32_t draw(const uint32_t *from, uint32_t count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from[(state >> 33) % count];
}

/* Whether an element of `size`, `index` of them, is in part `part` of `parts`. */
static bool is_in(uint32_t index, uint32_t size, uint32_t part, uint32_t parts)
{
    return index / (size / parts) == part;
}

static bool has_expert(const struct reshard_layout *l, uint32_t r, uint32_t expert, uint32_t index)
{
    uint32_t ranks = l->tensor * l->data, t = r % l->tensor, d = r / l->tensor;
    if (l->sharded)
        return is_in(index, EXPERT, t * l->data + d, ranks);
    return is_in(expert, EXPERTS, r / l->expert_tensor % l->expert, l->expert) &&
           is_in(index, EXPERT, r % l->expert_tensor, l->expert_tensor);
}

static bool has_divided(const struct reshard_layout *l, uint32_t r, uint32_t index)
{
    uint32_t t = r % l->tensor, d = r / l->tensor;
    if (l->sharded)
        return is_in(index, DIVIDED, t * l->data + d, l->tensor * l->data);
    return is_in(index, DIVIDED, t, l->tensor);
}

static bool has_whole(const struct reshard_layout *l, uint32_t r, uint32_t index)
{
    return !l->sharded || is_in(index, WHOLE, r / l->tensor, l->data);
}

/* The input and the output, each a matrix and what is whole; a tied matrix is the output's, and there is no other. */
static bool has_end(const struct reshard_layout *l, bool tied, uint32_t stage, uint32_t r, uint32_t element)
{
    uint32_t inside = element % (ENDS + WHOLE);
    bool output = element >= ENDS + WHOLE, first = stage == 0, last = stage == l->pipeline - 1;
    if (inside >= ENDS)
        return (output ? last : first) && has_whole(l, r, inside - ENDS);
    if (tied)
        return output && (first || last) && has_divided(l, r, inside);
    return (output ? last : first) && has_divided(l, r, inside);
}

/* Elements: the ends, then layer by layer what is whole, divided, and the experts. */
static bool has(const struct reshard_layout *l, bool tied, uint32_t rank, uint32_t element)
{
    uint32_t ranks = l->tensor * l->data, stage = rank / ranks, r = rank % ranks;
    if (element < OUTSIDE)
        return has_end(l, tied, stage, r, element);
    uint32_t layer = (element - OUTSIDE) / LAYER, inside = (element - OUTSIDE) % LAYER;
    if (!is_in(layer, LAYERS, stage, l->pipeline))
        return false;
    if (inside < WHOLE)
        return has_whole(l, r, inside);
    if (inside < WHOLE + DIVIDED)
        return has_divided(l, r, inside - WHOLE);
    inside -= WHOLE + DIVIDED;
    return has_expert(l, r, inside / EXPERT, inside % EXPERT);
}

static struct reshard_layout random_layout(void)
{
    static const uint32_t sizes[] = {1, 2, 3, 4}, stages[] = {1, 2, 4}, twos[] = {1, 2, 4, 8}, yes[] = {0, 0, 1};
    struct reshard_layout l = {draw(sizes, 4), draw(sizes, 4), draw(stages, 3), 1, 1, draw(yes, 3)};
    if (l.sharded)
        return l;
    do {
        l.expert = draw(twos, 4);
        l.expert_tensor = draw(sizes, 4);
    } while (l.tensor * l.data % (l.expert * l.expert_tensor));
    return l;
}

static struct reshard_model model_of(struct reshard_layer *layers, bool tied)
{
    for (int i = 0; i < LAYERS; i++)
        layers[i] = (struct reshard_layer){2 * WHOLE, 2 * DIVIDED, 2 * EXPERT, EXPERTS};
    return (struct reshard_model){layers, LAYERS, tied ? 0 : 2 * ENDS, 2 * ENDS, 2 * WHOLE, 2 * WHOLE, tied};
}

/* Bytes, two an element, that a rank of each layout has. */
static double count_common(bool tied, const struct reshard_layout *from, uint32_t source,
                           const struct reshard_layout *to, uint32_t target)
{
    double common = 0;
    for (uint32_t e = 0; e < ELEMENTS; e++)
        common += has(from, tied, source, e) && has(to, tied, target, e) ? 2 : 0;
    return common;
}

/* Whether all that is said of a target's bytes is what was counted. */
static bool is_counted(const struct reshard_model *model, const struct reshard_layout *from,
                       const struct reshard_layout *to, uint32_t target)
{
    double held = count_common(model->tied, to, target, to, target), sent = 0;
    double wrong = fabs(reshard_held(model, to, target) - held);
    for (uint32_t source = 0; source < reshard_ranks(from); source++) {
        wrong +=
            fabs(reshard_common(model, from, source, to, target) - count_common(model->tied, from, source, to, target));
        sent += reshard_sent(model, from, source, to, target);
    }
    return !(wrong > 0) && fabs(sent - held) <= 1e-9 * held;
}

/* How many random pairs of layouts are counted right before one is not. */
static int count_right(const struct reshard_model *model)
{
    int right = 0;
    for (bool good = true; good && right < TRIES; right += good) {
        struct reshard_layout from = random_layout(), to = random_layout();
        uint32_t last = reshard_ranks(&to) - 1;
        good = is_counted(model, &from, &to, (uint32_t)right % (last + 1)) && is_counted(model, &from, &to, last);
    }
    return right;
}

Test(reshard, counts_every_element)
{
    struct reshard_layer layers[LAYERS];
    for (int tied = 0; tied < 2; tied++) {
        struct reshard_model model = model_of(layers, tied);
        cr_assert(eq(dbl, reshard_bytes(&model), 2.0 * (ELEMENTS - tied * ENDS)));
        cr_assert(eq(int, count_right(&model), TRIES));
    }
}
