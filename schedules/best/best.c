/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/best.h"

#include "base/arena.h"
#include "schedules/best/beam.h"
#include "schedules/best/exact.h"
#include "schedules/best/improve.h"
#include "schedules/best/learn.h"
#include "schedules/best/periodic.h"
#include "schedules/best/relax.h"
#include "schedules/best/window.h"

#include <math.h>

enum {
    SLICE_FIRST = 4000,
    BEAM_FIRST = 8,
    BEAM_MOST = 1024,
    TABLE_BITS = 18,
    PATTERNS = 32,
    PATTERNS_MOST = 512,
    REPEATS = 16,
    WIDE = 600,
    RATE_TURNS = 2 * PERIODIC_MOST
};

/* What is known of a further micro-batch, in units. */
struct best_rates {
    double least, found; /* no order takes less; by an order that repeats, INFINITY: none */
};

struct search {
    const struct best_request *request;
    const struct instance *instance;
    struct bound *bound;
    struct exact *exact;
    struct learn *prove, *raise; /* for what is shorter than the best, and for what is much shorter; NULL: too large */
    struct periodic *periodic;
    struct relax *relax; /* NULL: no limit that several stages share */
    struct improve *improve;
    struct window *window;
    struct words *best, *found, *steady;
    int64_t *scratch;
    int64_t makespan, least; /* of the best so far; what no order undercuts */
    struct best_rates rates;
    struct budget budget;
    uint32_t round;
    bool gains;      /* the last windows made it shorter */
    bool has_steady; /* an order that repeats, whose beginning and end are mended */
};

/* Keeps words that are shorter. */
static bool offer(struct search *search, const struct words *words)
{
    int64_t makespan = words_makespan(search->instance, words, NULL, search->scratch);
    if (makespan < 0 || makespan >= search->makespan)
        return false;
    search->makespan = makespan;
    words_copy(search->instance, search->best, words);
    return true;
}

/* Something shorter than the best, or anything at all. */
static int64_t below(const struct search *search)
{
    return search->makespan < INT64_MAX ? search->makespan - 1 : INT64_MAX / 8;
}

static bool is_done(const struct search *search)
{
    return search->makespan <= search->least || search->budget.total <= 0 || search->budget.stopped;
}

/* ---- seeds ---- */

static bool same_shape(const struct instance *instance, const struct plan *plan)
{
    bool same = plan->workers == instance->workers && plan->stages == instance->stages && plan->pipelines == 1 &&
                plan->iterations == 1 && plan->micro_batches == instance->batches;
    for (uint32_t stage = 0; same && stage < plan->stages; stage++)
        same = plan_worker(plan, 0, stage) == instance->worker_of[stage];
    return same;
}

/* A worker's order as a word. Where the instance splits backwards and the plan does not, each weight gradient follows
 * its backward. False where the order has slots that the instance does not. */
static bool read_order(const struct instance *instance, const struct plan_order *order, uint32_t expected,
                       uint16_t *chains)
{
    uint32_t count = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        bool follows = slot->kind == SLOT_BACKWARD && instance->kinds == 3 && !slot->split;
        if (slot->kind >= instance->kinds || slot->part != PART_WHOLE || slot->joined || count + 1 + follows > expected)
            return false;
        chains[count++] = (uint16_t)(slot->kind * instance->stages + slot->stage);
        if (follows)
            chains[count++] = (uint16_t)(BEST_WEIGHT * instance->stages + slot->stage);
    }
    return count == expected;
}

static bool read_plan(const struct instance *instance, const struct plan *plan, struct words *words)
{
    bool whole = same_shape(instance, plan);
    for (uint32_t worker = 0; whole && worker < instance->workers; worker++)
        whole = read_order(instance, &plan->orders[worker], words->count[worker], words->chains[worker]);
    return whole;
}

static void take_seeds(struct search *search)
{
    for (const struct plan *const *seed = search->request->seeds; seed && *seed; seed++)
        if (read_plan(search->instance, *seed, search->found))
            offer(search, search->found);
}

/* ---- rounds ---- */

static bool attempt(struct search *search, int64_t most, int64_t slice)
{
    uint32_t round = search->round;
    budget_begin(&search->budget, slice);
    enum exact_end end = exact_try(search->exact, most, (enum exact_rule)(round % EXACT_RULES), round, &search->budget);
    if (end == EXACT_FOUND) {
        exact_words(search->exact, search->found);
        return offer(search, search->found);
    }
    if (end == EXACT_IMPOSSIBLE) {
        int64_t over = exact_over(search->exact);
        over = over > most ? over : most + 1;
        search->least = over < search->makespan ? over : search->makespan;
    }
    return end != EXACT_GIVEN_UP;
}

/* Tries the bound itself, as long as it keeps rising; then a little below the best; then what lies between. */
static void run_round(struct search *search, int64_t slice)
{
    for (int64_t spent = search->budget.total; !is_done(search) && spent - search->budget.total < slice;)
        if (!attempt(search, search->least, slice - (spent - search->budget.total)))
            break;
    for (int64_t spent = search->budget.total; !is_done(search) && spent - search->budget.total < slice;)
        if (!attempt(search, below(search), slice - (spent - search->budget.total)))
            break;
    for (int64_t spent = search->budget.total; !is_done(search) && spent - search->budget.total < slice;) {
        int64_t gap = below(search) - search->least;
        if (!attempt(search,
                     search->least + gap / (search->round % 3 == 0   ? 2
                                            : search->round % 3 == 1 ? 4
                                                                     : 8),
                     slice))
            break;
    }
}

/* Looks for an order that ends by `most`, or proves that there is none. */
static enum exact_end study(struct search *search, struct learn *learn, int64_t most, int64_t slice)
{
    budget_begin(&search->budget, slice);
    learn_guide(learn, search->best);
    enum exact_end end = learn_try(learn, most, &search->budget);
    if (end == EXACT_FOUND) {
        learn_words(learn, search->found);
        if (!offer(search, search->found))
            end = EXACT_GIVEN_UP;
    } else if (end == EXACT_IMPOSSIBLE) {
        search->least = most + 1;
    }
    return end;
}

/* Below the best as long as something is found; then in the middle, which raises the bound where it is proved. */
static void learn_round(struct search *search, int64_t slice)
{
    int64_t until = search->budget.total - slice;
    enum exact_end end = EXACT_FOUND;
    while (end == EXACT_FOUND && !is_done(search) && search->budget.total > until)
        end = study(search, search->prove, below(search), search->budget.total - until);
    until -= slice / 2;
    for (end = EXACT_IMPOSSIBLE; end != EXACT_GIVEN_UP && search->least + 1 < search->makespan && !is_done(search) &&
                                 search->budget.total > until;)
        end = study(search, search->raise, search->least + (search->makespan - 1 - search->least) / 2,
                    search->budget.total - until);
}

/* The bound in the caller's time. Where times were rounded the longest path may be off by half a unit for each
 * operation and message on it. */
static double in_time(const struct instance *instance, int64_t least)
{
    double rounding = instance->exact ? 0 : instance->operations;
    return fmax((double)least - rounding, 0) * instance->unit;
}

static double proven(const struct search *search)
{
    return in_time(search->instance, search->least);
}

static bool report(void *user)
{
    const struct search *search = user;
    const struct best_request *request = search->request;
    struct best_progress progress = {
        .evaluations = request->effort - (uint64_t)search->budget.total,
        .makespan = search->makespan < INT64_MAX ? (double)search->makespan * search->instance->unit : INFINITY,
        .bound = proven(search)};
    return request->report(request->user, &progress);
}

static void improve_best(struct search *search, int64_t slice)
{
    budget_begin(&search->budget, slice);
    words_copy(search->instance, search->found, search->best);
    improve_run(search->improve, search->found, search->least, &search->budget);
    window_run(search->window, search->found, search->least, search->gains ? 4 * slice : slice, &search->budget);
    search->gains = offer(search, search->found);
}

/* The best order's rate may be worse than that of one that is longer, and that a better beginning and end make shorter.
 */
static void improve_steady(struct search *search, int64_t slice)
{
    budget_begin(&search->budget, slice);
    if (!search->has_steady)
        search->has_steady = relax_steady(search->relax, &search->budget, search->steady);
    if (!search->has_steady)
        return;
    words_copy(search->instance, search->found, search->steady);
    window_run(search->window, search->found, search->least, slice, &search->budget);
    words_copy(search->instance, search->steady, search->found);
    offer(search, search->found);
}

static void send_beam(struct search *search, uint32_t width)
{
    budget_begin(&search->budget, INT64_MAX);
    if (beam_search(search->instance, search->bound, width, below(search), &search->budget, search->found))
        offer(search, search->found);
}

/* Orders that repeat, of more micro-batches each time and then of more partial patterns. */
static void repeat_patterns(struct search *search, uint32_t turn, int64_t slice)
{
    const struct instance *instance = search->instance;
    uint32_t width = turn / PERIODIC_MOST < 8 ? (uint32_t)PATTERNS << turn / PERIODIC_MOST : PATTERNS_MOST + 1;
    if (instance->batches < REPEATS || width > PATTERNS_MOST || search->makespan == INT64_MAX)
        return;
    budget_begin(&search->budget, slice);
    if (periodic_try(search->periodic, 1 + turn % PERIODIC_MOST, width, (double)search->makespan / instance->batches,
                     &search->budget, search->found))
        offer(search, search->found);
}

/* Of micro-batches, in units: that of the best order that repeats, or of the whole order again and again; INFINITY:
 * none. */
static double rate(const struct search *search)
{
    uint32_t batches = search->instance->batches;
    if (batches < REPEATS || search->makespan == INT64_MAX)
        return INFINITY;
    return fmin(fmin(periodic_rate(search->periodic), search->rates.found), (double)search->makespan / batches);
}

/* What limits of stashes say of the rate. */
static void relax_rates(struct search *search, int64_t slice)
{
    double found = rate(search);
    if (isinf(found) || search->rates.least >= found)
        return;
    budget_begin(&search->budget, slice);
    relax_rate(search->relax, &search->rates.least, &found, &search->budget);
    search->rates.found = fmin(search->rates.found, found);
}

static void relax_orders(struct search *search, int64_t slice)
{
    budget_begin(&search->budget, slice);
    if (relax_order(search->relax, below(search), &search->budget, search->found))
        offer(search, search->found);
}

/* What limits of stashes tell, and orders that keep them full. Either begins anew each time, so it gets a share of what
 * there was so far. */
static void relax_round(struct search *search, int64_t slice)
{
    int64_t spent = (int64_t)search->request->effort - search->budget.total;
    budget_begin(&search->budget, spent / 3 > 2 * slice ? spent / 3 : 2 * slice);
    relax_raise(search->relax, &search->least, below(search), &search->budget);
    if (!is_done(search))
        relax_orders(search, spent / 4 > slice ? spent / 4 : slice);
    if (!is_done(search))
        relax_rates(search, spent / 8 > slice ? spent / 8 : slice);
}

/* Limits that several stages share, and so many operations that deciding one after the other seldom comes to an end. */
static bool is_wide(const struct search *search)
{
    return search->relax && search->instance->operations >= WIDE;
}

static void run(struct search *search)
{
    int64_t slice = SLICE_FIRST + 2 * (int64_t)search->instance->operations;
    bool wide = is_wide(search);
    /* Any order at all, by each rule. */
    for (search->round = 0; search->round < EXACT_RULES && !is_done(search); search->round++)
        attempt(search, below(search), slice);
    search->gains = true;
    if (wide && search->makespan < INT64_MAX)
        relax_orders(search, search->budget.total);
    for (uint32_t width = BEAM_FIRST, turn = 0; !is_done(search); search->round++, turn++) {
        if ((turn || wide) && search->relax && search->makespan < INT64_MAX)
            relax_round(search, slice);
        if ((turn || wide) && !is_done(search) && search->relax && search->instance->batches >= REPEATS)
            improve_steady(search, slice);
        if (!is_done(search))
            repeat_patterns(search, turn, slice);
        if (!is_done(search) && search->makespan < INT64_MAX)
            improve_best(search, slice / 2);
        if (!is_done(search) && search->makespan < INT64_MAX && search->prove && search->raise)
            learn_round(search, slice);
        if (!is_done(search))
            run_round(search, slice);
        if (!is_done(search) && search->round % 2 == 0 && (int64_t)width * search->instance->operations < slice) {
            send_beam(search, width);
            width = width < BEAM_MOST ? 2 * width : BEAM_MOST;
        }
        slice += slice / 4;
    }
}

/* Looks for a pattern where the search was done without one, and for what limits of stashes say. */
static void find_rate(struct search *search)
{
    int64_t slice = SLICE_FIRST + 2 * (int64_t)search->instance->operations;
    bool none = isinf(periodic_rate(search->periodic));
    for (uint32_t turn = 0; turn < RATE_TURNS && search->budget.total > 0 && !search->budget.stopped; turn++) {
        if (none && rate(search) > search->rates.least)
            repeat_patterns(search, turn, slice / RATE_TURNS);
        if (search->relax)
            relax_rates(search, slice);
        slice += slice / 2;
    }
}

/* ---- the result ---- */

/* A rate in the caller's time; `rounding`: units of which each of its operations and messages may be off by half. */
static double rate_of(const struct search *search, double units, double off)
{
    const struct instance *instance = search->instance;
    double rounding = instance->exact ? 0 : (double)(instance->kinds + 2) * instance->stages * off;
    return isfinite(units) ? fmax(units + rounding, 0) * instance->unit : 0;
}

static struct plan *make_plan(const struct instance *instance, const struct words *words)
{
    struct plan *plan = plan_create(instance->workers, instance->stages, 1, instance->batches);
    uint32_t done[BEST_KINDS * BEST_STAGES_MAX] = {0};
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        plan_place(plan, 0, stage, instance->worker_of[stage]);
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        for (uint32_t i = 0; i < words->count[worker]; i++) {
            uint32_t chain = words->chains[worker][i], kind = chain / instance->stages;
            struct slot *slot =
                plan_append(plan, worker, (enum slot_kind)kind, 0, chain % instance->stages, done[chain]++);
            slot->split = kind == BEST_BACKWARD && instance->kinds == 3;
        }
    return plan;
}

static bool fits(const struct instance_request *instance)
{
    uint64_t operations = (uint64_t)instance->stages * instance->batches * (instance->weight ? 3 : 2);
    uint32_t count[BEST_STAGES_MAX] = {0};
    if (instance->stages > BEST_STAGES_MAX || instance->workers > BEST_STAGES_MAX || operations > BEST_OPERATIONS_MAX)
        return false;
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        if (++count[instance->worker_of[stage]] > BEST_OF_WORKER_MAX)
            return false;
    return true;
}

double best_bound(const struct instance_request *request)
{
    if (!fits(request))
        return 0;
    struct arena *arena = arena_create();
    const struct instance *instance = instance_create(request, arena);
    double bound = in_time(instance, bound_root(bound_create(instance, arena)));
    arena_destroy(arena);
    return bound;
}

bool best_search(const struct best_request *request, struct best_result *result)
{
    if (!fits(&request->instance))
        return false;
    struct arena *arena = arena_create();
    struct search search = {.request = request, .makespan = INT64_MAX, .budget = {.total = (int64_t)request->effort}};
    const struct instance *instance = search.instance = instance_create(&request->instance, arena);
    search.bound = bound_create(instance, arena);
    search.exact = exact_create(instance, search.bound, TABLE_BITS, arena);
    search.prove = learn_create(instance, arena);
    search.raise = learn_create(instance, arena);
    search.periodic = periodic_create(instance, arena);
    search.relax = instance->one_each ? NULL : relax_create(instance, search.budget.total, arena);
    search.improve = improve_create(instance, arena);
    search.window = window_create(instance, arena);
    search.best = words_create(instance, arena);
    search.found = words_create(instance, arena);
    search.steady = words_create(instance, arena);
    search.scratch = arena_array(arena, instance->operations, sizeof(int64_t));
    search.budget.poll = request->report ? report : NULL;
    search.budget.user = &search;
    search.least = bound_root(search.bound);
    search.rates = (struct best_rates){periodic_bound(instance), INFINITY};
    take_seeds(&search);
    if (search.least < INT64_MAX)
        run(&search);
    if (search.least < INT64_MAX)
        find_rate(&search);
    bool any = search.makespan < INT64_MAX;
    *result = (struct best_result){.plan = any ? make_plan(instance, search.best) : NULL,
                                   .makespan = (double)search.makespan * instance->unit,
                                   .bound = proven(&search),
                                   .rate = rate_of(&search, rate(&search), 0.5),
                                   .rate_bound = rate_of(&search, search.rates.least, -0.5),
                                   .optimal = any && instance->exact && search.makespan <= search.least,
                                   .stopped = search.budget.stopped,
                                   .evaluations = request->effort - (uint64_t)search.budget.total};
    exact_finish(search.exact);
    learn_finish(search.prove);
    learn_finish(search.raise);
    window_finish(search.window);
    arena_destroy(arena);
    return true;
}
