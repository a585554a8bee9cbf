/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that jobs share are those that would be made anew: for each schedule of the table, requests are drawn from so
 * few that most plans come from the store, and differ in everything that a request has, also in what a kept plan must
 * not depend on: times, the costs of stages, the grain of slices. */
#include "schedules/plan_store.h"

#include "base/arena.h"
#include "schedules/schedule.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROUNDS = 60, STAGES_MAX = 64 };

static uint64_t state = 11;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void draw_option(const struct schedule_option *option, int64_t *value)
{
    int64_t most = 0;
    if (!strcmp(option->key, "effort"))
        *value = 100;
    else if (draw(2))
        return;
    else if (!option->names)
        *value =
            (option->stashes ? SCHEDULE_STASH : 1) *
            (option->least + draw(option->most - option->least < 3 ? (uint32_t)(option->most - option->least) + 1 : 3));
    else {
        while (option->names[most + 1])
            most++;
        *value = draw((uint32_t)most + 1);
    }
}

static struct schedule_request draw_request(const struct schedule *schedule, const struct plan_costs *costs)
{
    struct schedule_request request = schedule_request_default(schedule, 2 + 2 * draw(2), 8 + 4 * draw(2));
    request.iterations = schedule->crosses ? 1 + draw(2) : 1;
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
        draw_option(&schedule->options[i], &request.options[i]);
    request.forward = 1 + draw(2);
    request.backward = 2 + 3 * draw(2);
    request.weight = request.backward / 2;
    request.grain = draw(2) ? 0.125 : 0;
    request.costs = draw(2) ? costs : NULL;
    return request;
}

static bool same_orders(const struct plan *a, const struct plan *b)
{
    bool same = a->workers == b->workers && a->stages == b->stages && a->micro_batches == b->micro_batches;
    for (uint32_t worker = 0; same && worker < a->workers; worker++) {
        const struct plan_order *x = &a->orders[worker], *y = &b->orders[worker];
        same = x->count == y->count && !memcmp(x->slots, y->slots, x->count * sizeof *x->slots);
    }
    return same;
}

Test(plan_store, plans_are_those_made_anew)
{
    double forward[STAGES_MAX], backward[STAGES_MAX], weight[STAGES_MAX], shares[STAGES_MAX];
    struct plan_costs costs = {.forward = forward,
                               .backward = backward,
                               .weight = weight,
                               .latency = 0.25,
                               .attention = {shares, shares},
                               .transfer = 0.5};
    struct plan_store *store = plan_store_create();
    struct plan_reporter silent = {0};
    unsigned compared = 0, shared = 0;
    for (unsigned i = 0; i < STAGES_MAX; i++) {
        forward[i] = 1 + i % 3;
        backward[i] = 2 + i % 2;
        weight[i] = 1;
        shares[i] = 0.3;
    }
    for (size_t at = 0; schedule_table[at]; at++) {
        const struct schedule *schedule = schedule_table[at];
        const struct plan *before[4] = {NULL};
        for (unsigned round = 0; round < (schedule->searches ? 3 : ROUNDS); round++) {
            struct schedule_request request = draw_request(schedule, &costs);
            struct schedule_refusal refusal;
            bool own;
            if (!schedule_fits(schedule, &request, &refusal))
                continue;
            const struct plan *taken = plan_store_take(store, schedule, &request, &silent, &own);
            struct plan *anew = schedule->plan(&request);
            cr_assert(taken && anew && same_orders(taken, anew), "%s, %u workers, %u micro-batches, round %u",
                      schedule->name, request.workers, request.micro_batches, round);
            for (unsigned i = 0; i < 4 && !own; i++)
                if (before[i] == taken) {
                    shared++;
                    break;
                }
            before[round % 4] = own ? NULL : taken;
            compared++;
            if (own)
                plan_destroy((struct plan *)taken);
            plan_destroy(anew);
        }
    }
    cr_expect(compared > 500 && shared > 100, "%u plans, %u of them kept ones", compared, shared);
    plan_store_destroy(store);
}
