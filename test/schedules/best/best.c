/* SPDX-License-Identifier: Apache-2.0 */
/* The best order: published instances with their optima, all orders of tiny instances tried one by one, and what holds
 * for every result: the checker takes the plan, it takes the time that is said, stashes keep the limit. */
#include "schedules/best/best.h"

#include "base/arena.h"
#include "schedules/best/layers.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_stash.h"
#include "schedules/plan/plan_timing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { STAGES = 16 };

struct example {
    const char *name;
    uint32_t workers, chunks, batches;
    double forward[STAGES], backward[STAGES], weight[STAGES]; /* backward without the weight gradient; weight[0] < 0:
                                                                 not split */
    uint32_t limit;
    double latency, optimum; /* optimum 0: not known */
    bool wave;               /* every second chunk goes back over the workers */
};

struct setting {
    struct best_request request;
    uint32_t worker_of[STAGES], limits[STAGES];
    double whole[STAGES];
};

/* Stashes of a stage that a worker may hold; 0: any number. */
static uint32_t limit_of(const struct instance_request *instance, uint32_t worker)
{
    return instance->limits ? instance->limits[worker] : instance->limit;
}

static void prepare(const struct example *example, uint64_t effort, struct setting *setting)
{
    uint32_t workers = example->workers, stages = workers * example->chunks;
    bool split = example->weight[0] >= 0;
    for (uint32_t stage = 0; stage < stages; stage++) {
        bool back = example->wave && stage / workers % 2;
        setting->worker_of[stage] = back ? workers - 1 - stage % workers : stage % workers;
        setting->whole[stage] = example->backward[stage] + (split ? example->weight[stage] : 0);
    }
    setting->request = (struct best_request){.effort = effort,
                                             .instance = {.workers = workers,
                                                          .stages = stages,
                                                          .batches = example->batches,
                                                          .worker_of = setting->worker_of,
                                                          .forward = example->forward,
                                                          .backward = setting->whole,
                                                          .weight = split ? example->weight : NULL,
                                                          .latency = example->latency,
                                                          .limit = example->limit}};
}

static bool print_mistake(void *user, const struct plan_mistake *mistake)
{
    cr_log_error("%s: %s", (const char *)user, mistake->text);
    return true;
}

static bool keep_quiet(void *user, const struct plan_mistake *mistake)
{
    (void)user;
    (void)mistake;
    return false;
}

/* The plan is one, takes the time that was said, and keeps the limit. */
static void check_result(const struct example *example, const struct best_request *request,
                         const struct best_result *result)
{
    const struct instance_request *instance = &request->instance;
    struct plan_timing timing;
    cr_assert(plan_check(result->plan, &(struct plan_reporter){print_mistake, (void *)example->name}), "%s",
              example->name);
    struct plan_costs costs = {instance->forward, instance->backward, instance->weight, NULL, instance->latency};
    plan_timing_init(&timing, result->plan, &costs);
    cr_assert_float_eq(timing.makespan, result->makespan, 1e-9 * result->makespan, "%s", example->name);
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        if (limit_of(instance, worker))
            cr_assert_leq(timing.peak_in_flight[worker] * example->chunks, limit_of(instance, worker) + 1e-9, "%s",
                          example->name);
    plan_timing_finish(&timing);
    cr_assert_leq(result->bound, result->makespan * (1 + 1e-12), "%s", example->name);
}

static const struct example published[] = {
    {"P1", 3, 1, 7, {1, 1, 1}, {2, 2, 2}, {-1}, 2, 0, 36, false},
    {"P2", 4, 1, 7, {1, 1, 1, 1}, {2, 2, 2, 2}, {-1}, 3, 0, 36, false},
    {"P3", 4, 1, 7, {4, 4, 4, 4}, {8, 8, 8, 8}, {-1}, 4, 1, 134, false},
    {"P4", 4, 1, 7, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, 3, 0, 27, false},
    {"P5", 4, 1, 7, {2, 2, 2, 2}, {3, 3, 3, 3}, {1, 1, 1, 1}, 0, 0, 51, false},
    {"P6", 4, 1, 7, {2, 2, 2, 2}, {3, 3, 3, 3}, {1, 1, 1, 1}, 4, 0, 54, false},
    {"P7", 3, 1, 7, {2, 3, 5}, {3, 6, 7}, {-1}, 0, 0, 98, false},
    {"P8", 3, 1, 7, {2, 3, 5}, {3, 4, 5}, {2, 3, 4}, 3, 1, 105, false},
    {"P9", 4, 1, 7, {5, 2, 4, 3}, {6, 3, 5, 4}, {4, 2, 3, 2}, 3, 0, 118, false},
    {"P10", 5, 1, 9, {2, 2, 2, 2, 2}, {2, 2, 2, 2, 2}, {3, 3, 3, 3, 3}, 3, 0, 86, false},
    /* The time of 1F1B and of ZB-H1 as a span cannot be undercut with as many stashes as workers. */
    {"1f1b", 8, 1, 32, {1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2}, {-1}, 8, 0, 117, false},
    {"zb-h1", 8, 1, 32, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, 8, 0, 103, false},
};

Test(best, published_optima)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct setting setting;
        struct best_result result;
        prepare(&published[i], 100000, &setting);
        cr_assert(best_search(&setting.request, &result));
        check_result(&published[i], &setting.request, &result);
        cr_assert(result.optimal, "%s", published[i].name);
        cr_assert_float_eq(result.makespan, published[i].optimum, 1e-9, "%s: %g", published[i].name, result.makespan);
        plan_destroy(result.plan);
    }
}

/* ---- every order ---- */

struct enumeration {
    const struct setting *setting;
    struct plan *plan;
    uint32_t done[3][STAGES];
    double least;
    uint32_t kinds;
};

/* Is the order of all workers one that can run, and within the limit? Its time then. */
static void judge(struct enumeration *enumeration)
{
    const struct instance_request *instance = &enumeration->setting->request.instance;
    struct plan *plan = enumeration->plan;
    double peaks[STAGES];
    struct plan_timing timing;
    struct plan_costs costs = {instance->forward, instance->backward, instance->weight, NULL, instance->latency};
    if (!plan_check(plan, &(struct plan_reporter){keep_quiet, NULL}))
        return;
    plan_stash_peaks(plan, peaks);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (limit_of(instance, worker) &&
            peaks[worker] * plan->stages / plan->workers > limit_of(instance, worker) + 1e-9)
            return;
    plan_timing_init(&timing, plan, &costs);
    enumeration->least = timing.makespan < enumeration->least ? timing.makespan : enumeration->least;
    plan_timing_finish(&timing);
}

static void enumerate(struct enumeration *enumeration, uint32_t worker)
{
    const struct instance_request *instance = &enumeration->setting->request.instance;
    struct plan_order *order = NULL;
    if (worker == instance->workers) {
        judge(enumeration);
        return;
    }
    order = &enumeration->plan->orders[worker];
    uint32_t own = 0;
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        own += instance->worker_of[stage] == worker;
    if (order->count == (size_t)own * enumeration->kinds * instance->batches) {
        enumerate(enumeration, worker + 1);
        return;
    }
    for (uint32_t kind = 0; kind < enumeration->kinds; kind++)
        for (uint32_t stage = 0; stage < instance->stages; stage++) {
            uint32_t *done = &enumeration->done[kind][stage];
            if (instance->worker_of[stage] != worker || *done == instance->batches ||
                (kind > 0 && enumeration->done[kind - 1][stage] <= *done))
                continue;
            struct slot *slot = plan_append(enumeration->plan, worker, (enum slot_kind)kind, 0, stage, (*done)++);
            slot->split = kind == SLOT_BACKWARD && enumeration->kinds == 3;
            enumerate(enumeration, worker);
            order->count--;
            --*done;
        }
}

static double least_of_all(const struct setting *setting)
{
    const struct instance_request *instance = &setting->request.instance;
    struct enumeration enumeration = {.setting = setting, .least = INFINITY, .kinds = instance->weight ? 3 : 2};
    enumeration.plan = plan_create(instance->workers, instance->stages, 1, instance->batches);
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        plan_place(enumeration.plan, 0, stage, instance->worker_of[stage]);
    enumerate(&enumeration, 0);
    plan_destroy(enumeration.plan);
    return enumeration.least;
}

static uint32_t draw(uint64_t *random, uint32_t least, uint32_t most)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return least + (uint32_t)((*random >> 33) % (most - least + 1));
}

/* Sizes whose orders can be counted through: workers, chunks, micro-batches, split. */
static const uint32_t sizes[][4] = {{2, 1, 4, 0}, {3, 1, 2, 0}, {2, 1, 2, 1}, {2, 2, 1, 1}, {2, 2, 2, 0}, {3, 1, 3, 0}};

static void draw_example(uint64_t *random, const uint32_t *size, struct example *example)
{
    uint32_t stages = size[0] * size[1];
    *example = (struct example){.name = "random", .workers = size[0], .chunks = size[1], .batches = size[2]};
    for (uint32_t stage = 0; stage < stages; stage++) {
        example->forward[stage] = draw(random, 1, 5);
        example->backward[stage] = draw(random, 1, 6);
        example->weight[stage] = size[3] ? (double)draw(random, 1, 5) : -1;
    }
    example->latency = draw(random, 0, 2);
    example->limit = draw(random, 0, 2) ? draw(random, 1, size[2]) * size[1] : 0;
    example->wave = draw(random, 0, 1);
}

Test(best, no_order_of_all_is_better)
{
    uint64_t random = 7;
    for (int i = 0; i < 60; i++) {
        struct example example;
        struct setting setting;
        struct best_result result;
        draw_example(&random, sizes[i % (sizeof sizes / sizeof *sizes)], &example);
        prepare(&example, 100000, &setting);
        cr_assert(best_search(&setting.request, &result));
        double least = least_of_all(&setting);
        if (least == INFINITY) {
            cr_assert_null(result.plan);
            continue;
        }
        check_result(&example, &setting.request, &result);
        cr_assert(result.optimal);
        cr_assert_float_eq(result.makespan, least, 1e-9, "case %d: %g, of all orders %g", i, result.makespan, least);
        plan_destroy(result.plan);
    }
}

/* Workers with limits of their own, in stashes of a chunk, some with none. */
Test(best, no_order_of_all_is_better_with_limits_of_each_worker)
{
    uint64_t random = 21;
    for (int i = 0; i < 60; i++) {
        struct example example;
        struct setting setting;
        struct best_result result;
        draw_example(&random, sizes[i % (sizeof sizes / sizeof *sizes)], &example);
        prepare(&example, 100000, &setting);
        for (uint32_t worker = 0; worker < example.workers; worker++)
            setting.limits[worker] =
                draw(&random, 0, 3) ? draw(&random, example.chunks, example.chunks * example.batches) : 0;
        setting.request.instance.limits = setting.limits;
        cr_assert(best_search(&setting.request, &result));
        double least = least_of_all(&setting);
        check_result(&example, &setting.request, &result);
        cr_assert(result.optimal, "case %d", i);
        cr_assert_float_eq(result.makespan, least, 1e-9, "case %d: %g, of all orders %g", i, result.makespan, least);
        plan_destroy(result.plan);
    }
}

/* The earliest end of what workers keep to, or by `most`, in units; INFINITY: there is none. */
static double end_of_layers_by(const struct setting *setting, const enum layers_keeps *keeps, double most)
{
    struct arena *arena = arena_create();
    const struct instance *instance = instance_create(&setting->request.instance, arena);
    struct layers *layers = layers_create(instance, keeps);
    struct budget budget = {.total = INT64_MAX / 2, .slice = INT64_MAX / 2};
    int64_t end = 0, by = isinf(most) ? INT64_MAX / 4 : llround(most / instance->unit);
    enum layers_end found = layers_try(layers, &(struct layers_request){.most = by}, &budget, &end, NULL);
    cr_assert_neq(found, LAYERS_GIVEN_UP);
    double time = found == LAYERS_FOUND ? (double)end * instance->unit : INFINITY;
    layers_finish(layers);
    arena_destroy(arena);
    return time;
}

static double end_of_layers(const struct setting *setting, const enum layers_keeps *keeps)
{
    return end_of_layers_by(setting, keeps, INFINITY);
}

/* Layers of the whole have the shortest order; those of relaxations have none that is longer. Also where passes take no
 * time. */
Test(best, layers_against_all_orders)
{
    uint64_t random = 5;
    int lower = 0;
    for (int i = 0; i < 90; i++) {
        struct example example;
        struct setting setting;
        enum layers_keeps keeps[STAGES];
        draw_example(&random, sizes[i % (sizeof sizes / sizeof *sizes)], &example);
        for (uint32_t stage = 0; i % 3 == 0 && stage < example.workers * example.chunks; stage++) {
            example.forward[stage] = draw(&random, 0, 2);
            example.backward[stage] = draw(&random, 0, 2);
            example.weight[stage] = example.weight[0] < 0 ? -1 : (double)draw(&random, 0, 1);
        }
        prepare(&example, 1, &setting);
        for (uint32_t worker = 0; worker < example.workers; worker++) {
            setting.limits[worker] =
                draw(&random, 0, 3) ? draw(&random, example.chunks, example.chunks * example.batches) : 0;
            keeps[worker] = LAYERS_ALL;
        }
        setting.request.instance.limits = setting.limits;
        double least = least_of_all(&setting), whole = end_of_layers(&setting, keeps);
        cr_assert(fabs(whole - least) < 1e-9, "case %d: %g, of all orders %g", i, whole, least);
        cr_assert_eq(end_of_layers_by(&setting, keeps, least), whole, "case %d: not found by %g", i, least);
        cr_assert(isinf(end_of_layers_by(&setting, keeps, least - 1)), "case %d: found before %g", i, least);
        for (uint32_t worker = 0; worker < example.workers; worker++)
            keeps[worker] = draw(&random, worker ? LAYERS_DELAY : LAYERS_ONE_AT_A_TIME, LAYERS_ALL);
        double relaxed = end_of_layers(&setting, keeps);
        cr_assert_leq(relaxed, least + 1e-9, "case %d: %g, of all orders %g", i, relaxed, least);
        cr_assert_leq(end_of_layers_by(&setting, keeps, least), least + 1e-9, "case %d: cut off before %g", i, least);
        lower += relaxed < least - 1e-9;
    }
    cr_assert_geq(lower, 10);
}

/* Input gradients that take no time: one that is there at once may still be delayed by a forward that lacks room. The
 * optimum is that of the searches that know nothing of layers. */
Test(best, layers_with_passes_of_no_time)
{
    struct example example = {.name = "no time", .workers = 4, .chunks = 3, .batches = 3, .limit = 4, .latency = 1};
    enum layers_keeps keeps[STAGES];
    struct setting setting;
    for (uint32_t stage = 0; stage < 12; stage++) {
        example.forward[stage] = 1;
        example.weight[stage] = 3;
    }
    prepare(&example, 1, &setting);
    for (uint32_t all = 0; all < 4; all++) {
        for (uint32_t worker = 0; worker < 4; worker++)
            keeps[worker] = worker == all ? LAYERS_ALL : LAYERS_ONE_AT_A_TIME;
        cr_assert_leq(end_of_layers(&setting, keeps), 79, "worker %u", all);
    }
    for (uint32_t worker = 0; worker < 4; worker++)
        keeps[worker] = LAYERS_ALL;
    cr_assert_float_eq(end_of_layers(&setting, keeps), 79, 1e-9);
}

/* With less effort a result is no better and the bound no higher, and both hold; times scaled give the same order. */
Test(best, effort_and_units)
{
    struct example example = {"uneven", 4, 2, 6, {0}, {0}, {0}, 6, 0.25, 0, true};
    uint64_t random = 11;
    for (uint32_t stage = 0; stage < 8; stage++) {
        example.forward[stage] = draw(&random, 1, 4);
        example.backward[stage] = draw(&random, 1, 5);
        example.weight[stage] = draw(&random, 1, 3);
    }
    struct setting setting;
    struct best_result little, much, scaled;
    prepare(&example, 2000, &setting);
    cr_assert(best_search(&setting.request, &little));
    setting.request.effort = 60000;
    cr_assert(best_search(&setting.request, &much));
    check_result(&example, &setting.request, &much);
    cr_assert_leq(much.makespan, little.makespan);
    cr_assert_geq(much.bound, little.bound);
    for (uint32_t stage = 0; stage < 8; stage++) {
        example.forward[stage] *= 1e-3;
        example.backward[stage] *= 1e-3;
        example.weight[stage] *= 1e-3;
    }
    example.latency *= 1e-3;
    prepare(&example, 60000, &setting);
    cr_assert(best_search(&setting.request, &scaled));
    for (uint32_t worker = 0; worker < 4; worker++) {
        cr_assert_eq(much.plan->orders[worker].count, scaled.plan->orders[worker].count);
        cr_assert_eq(memcmp(much.plan->orders[worker].slots, scaled.plan->orders[worker].slots,
                            scaled.plan->orders[worker].count * sizeof(struct slot)),
                     0);
    }
    plan_destroy(little.plan);
    plan_destroy(much.plan);
    plan_destroy(scaled.plan);
}

/* Two chunks and room for one: nothing can run. */
Test(best, impossible_limit)
{
    struct example example = {"impossible", 2, 2, 2, {1, 1, 1, 1}, {2, 2, 2, 2}, {-1}, 1, 0, 0, false};
    struct setting setting;
    struct best_result result;
    prepare(&example, 1000, &setting);
    cr_assert(best_search(&setting.request, &result));
    cr_assert_null(result.plan);
}
