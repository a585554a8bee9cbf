/* SPDX-License-Identifier: Apache-2.0 */
/* The heuristic of Zero Bubble for any times of forward, input gradient, weight gradient and message, within a limit of
 * stashes: ZB-1p holds as many as 1F1B, ZB-2p twice as many. The order is made by going through time once: warm-up
 * forwards as long as the first gradient is on its way, then a forward and a backward in turn, with weight gradients
 * where a worker would wait or needs room. Three switches of this pass are tried in all eight ways; the first with the
 * smallest span of a worker counts: where workers step on their own, that is how often an iteration can begin. Where
 * all step together, workers that begin late end late, and it is the time until all are done that counts; then
 * ZB-H1's order comes behind them. Times are whole numbers, so that the
 * unit does not matter. */
#include "base/arena.h"
#include "schedules/kit/stage_times.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

enum { OPTION_MEMORY, OPTION_STASH, OPTION_OPTIMIZER };
enum { ONE_P, TWO_P, UNLIMITED };
enum { HALF, WHOLE };

static const char *const memories[] = {"1p", "2p", "none", NULL};
static const char *const stashes[] = {"half", "whole", NULL};

static const struct schedule_option options[] = {
    [OPTION_MEMORY] = {.key = "memory",
                       .names = memories,
                       .initial = ONE_P,
                       .most = 1 << 20,
                       .doc = "limit of a worker's stashes: as many as workers (1p), twice as many (2p), no limit "
                              "(none), a number such as 3.5, or a list with one for each worker",
                       .stashes = true},
    [OPTION_STASH] = {.key = "stash",
                      .names = stashes,
                      .initial = HALF,
                      .doc = "what of a stash the weight gradient still needs: half of it, or all"},
    [OPTION_OPTIMIZER] = OPTIMIZER_OPTION,
    {0},
};

struct switches {
    bool wait, prefer_backward, fill;
};

struct line {
    int64_t free, first, idle;
    int64_t *ends[BEST_KINDS]; /* [micro_batch] */
    uint32_t done[BEST_KINDS];
    int64_t stash;
    uint8_t *word; /* kinds in order */
    uint32_t length;
};

struct pass {
    const struct instance *instance;
    bool together; /* all workers step together */
    struct switches switches;
    struct line *lines;    /* [worker] */
    const int64_t *limits; /* [worker], in halves of a stash; 0: any number */
    int64_t change[BEST_KINDS];
    int64_t most_idle; /* of a worker */
    bool failed;       /* the limit leaves no room */
};

static int64_t length_of(const struct pass *pass, uint32_t kind, uint32_t worker)
{
    return pass->instance->length[kind][worker];
}

/* When the next operation of a kind has its input; 0: it waits for nothing on another worker. */
static int64_t input(const struct pass *pass, uint32_t kind, uint32_t worker)
{
    const struct line *lines = pass->lines;
    uint32_t batch = lines[worker].done[kind];
    if (kind == BEST_FORWARD && worker > 0)
        return lines[worker - 1].ends[kind][batch] + pass->instance->latency;
    if (kind == BEST_BACKWARD && worker + 1 < pass->instance->workers)
        return lines[worker + 1].ends[kind][batch] + pass->instance->latency;
    return 0;
}

static void put(struct pass *pass, uint32_t kind, uint32_t worker)
{
    struct line *line = &pass->lines[worker];
    int64_t start = larger(line->free, input(pass, kind, worker));
    if (line->length)
        line->idle += start - line->free;
    else
        line->first = start;
    pass->most_idle = larger(pass->most_idle, line->idle);
    line->free = start + length_of(pass, kind, worker);
    line->ends[kind][line->done[kind]++] = line->free;
    line->stash += pass->change[kind];
    line->word[line->length++] = (uint8_t)kind;
}

static bool weight_pends(const struct pass *pass, uint32_t worker)
{
    return pass->lines[worker].done[BEST_WEIGHT] < pass->lines[worker].done[BEST_BACKWARD];
}

static bool forward_left(const struct pass *pass, uint32_t worker)
{
    return pass->lines[worker].done[BEST_FORWARD] < pass->instance->batches;
}

/* How much longer than this worker the one that waited most has waited. */
static int64_t slack(const struct pass *pass, uint32_t worker)
{
    return pass->most_idle - pass->lines[worker].idle;
}

/* Weight gradients before something that starts at `until`. */
static void use_gap(struct pass *pass, uint32_t worker, int64_t until)
{
    const struct line *line = &pass->lines[worker];
    while (weight_pends(pass, worker) && line->free + length_of(pass, BEST_WEIGHT, worker) <= until)
        put(pass, BEST_WEIGHT, worker);
    if (weight_pends(pass, worker) && line->free < until &&
        (pass->switches.fill || until - line->free > slack(pass, worker)))
        put(pass, BEST_WEIGHT, worker);
}

static void make_room(struct pass *pass, uint32_t worker, int64_t need)
{
    while (pass->limits[worker] && pass->lines[worker].stash + need > pass->limits[worker]) {
        if (!weight_pends(pass, worker)) {
            pass->failed = true;
            return;
        }
        put(pass, BEST_WEIGHT, worker);
    }
}

/* ---- warm-up ---- */

/* Forwards that fit before the first gradient comes back. */
static uint32_t count_warm(const struct pass *pass, uint32_t worker, int64_t *back)
{
    const struct line *line = &pass->lines[worker];
    int64_t clock = line->free, forward = length_of(pass, BEST_FORWARD, worker);
    int64_t arrival = *back + pass->instance->latency, change = pass->change[BEST_FORWARD];
    uint32_t count = 0;
    while (line->done[BEST_FORWARD] + count < pass->instance->batches &&
           (!pass->limits[worker] || line->stash + (count + 1) * change <= pass->limits[worker]) &&
           !(pass->switches.wait ? clock + forward > arrival : clock >= arrival)) {
        count++;
        clock += forward;
    }
    *back = larger(clock, arrival) + length_of(pass, BEST_BACKWARD, worker);
    return count;
}

static void warm_up(struct pass *pass, uint32_t *warm)
{
    uint32_t workers = pass->instance->workers, last = workers - 1;
    for (uint32_t worker = 0; worker < workers; worker++)
        put(pass, BEST_FORWARD, worker);
    int64_t back = pass->lines[last].free + length_of(pass, BEST_BACKWARD, last);
    warm[last] = 0;
    for (uint32_t worker = last; worker-- > 0;)
        warm[worker] = count_warm(pass, worker, &back);
    for (uint32_t worker = 1; worker < workers; worker++) {
        while (warm[worker] > 0 && warm[worker] >= warm[worker - 1] &&
               pass->lines[worker].done[BEST_FORWARD] + warm[worker] < pass->instance->batches)
            warm[worker]--;
        warm[worker] = warm[worker] < warm[worker - 1] ? warm[worker] : warm[worker - 1];
    }
    for (uint32_t worker = 0; worker < workers; worker++)
        for (uint32_t i = 0; i < warm[worker]; i++)
            put(pass, BEST_FORWARD, worker);
    for (uint32_t worker = workers; worker-- > 0;)
        put(pass, BEST_BACKWARD, worker);
}

/* ---- a forward and a backward in turn ---- */

/* Time of the weight gradients that a further forward needs the room of. */
static int64_t room_time(const struct pass *pass, uint32_t worker)
{
    const struct line *line = &pass->lines[worker];
    int64_t stash = line->stash, time = 0;
    uint32_t pending = line->done[BEST_BACKWARD] - line->done[BEST_WEIGHT];
    for (; pass->limits[worker] && pending > 0 && stash + pass->change[BEST_FORWARD] > pass->limits[worker];
         pending--) {
        stash += pass->change[BEST_WEIGHT];
        time += length_of(pass, BEST_WEIGHT, worker);
    }
    return time;
}

/* Whether a worker should leave its next forward for later, so that the gradient that it could pass on does not wait.
 */
static bool holds_back(const struct pass *pass, uint32_t worker)
{
    const struct line *line = &pass->lines[worker], *next = line + 1;
    if (!pass->switches.prefer_backward || worker + 1 == pass->instance->workers ||
        line->done[BEST_FORWARD] < next->done[BEST_FORWARD] + 2)
        return false;
    int64_t most = next->free + length_of(pass, BEST_FORWARD, worker + 1) + length_of(pass, BEST_BACKWARD, worker + 1) +
                   pass->instance->latency;
    if (line->free >= most)
        return true;
    return line->free + length_of(pass, BEST_FORWARD, worker) + room_time(pass, worker) > most &&
           most - line->free <= slack(pass, worker);
}

static void forwards(struct pass *pass, bool *wants)
{
    uint32_t workers = pass->instance->workers;
    for (uint32_t worker = workers; worker-- > 0;) {
        wants[worker] = forward_left(pass, worker) && !holds_back(pass, worker);
        if (worker + 1 < workers)
            wants[worker] = wants[worker] && wants[worker + 1];
    }
    for (uint32_t worker = 0; worker < workers && !pass->failed; worker++) {
        if (!wants[worker])
            continue;
        make_room(pass, worker, pass->change[BEST_FORWARD]);
        if (worker > 0)
            use_gap(pass, worker, input(pass, BEST_FORWARD, worker));
        if (!pass->failed)
            put(pass, BEST_FORWARD, worker);
    }
}

static void backwards(struct pass *pass)
{
    uint32_t workers = pass->instance->workers;
    for (uint32_t worker = workers; worker-- > 0 && !pass->failed;) {
        make_room(pass, worker, pass->change[BEST_BACKWARD]);
        if (worker + 1 < workers)
            use_gap(pass, worker, input(pass, BEST_BACKWARD, worker));
        while (worker == 0 && !forward_left(pass, worker) && weight_pends(pass, worker))
            put(pass, BEST_WEIGHT, worker);
        if (!pass->failed)
            put(pass, BEST_BACKWARD, worker);
    }
}

/* What counts of an order whose slots are there but for weight gradients, or INT64_MAX where the limit leaves no
 * room. */
static int64_t finish(struct pass *pass)
{
    int64_t cost = 0;
    for (uint32_t worker = 0; worker < pass->instance->workers && !pass->failed; worker++) {
        const struct line *line = &pass->lines[worker];
        while (weight_pends(pass, worker))
            put(pass, BEST_WEIGHT, worker);
        cost = larger(cost, pass->together ? line->free : line->free - line->first);
    }
    return pass->failed ? INT64_MAX : cost;
}

static int64_t run_pass(struct pass *pass, struct arena *arena)
{
    const struct instance *instance = pass->instance;
    uint32_t *warm = arena_array(arena, instance->workers, sizeof *warm);
    bool *wants = arena_array(arena, instance->workers, sizeof *wants);
    warm_up(pass, warm);
    for (uint32_t i = 1; i < instance->batches && !pass->failed; i++) {
        forwards(pass, wants);
        backwards(pass);
    }
    return finish(pass);
}

/* ---- orders that follow from counts ---- */

/* The kind of a worker's next slot in ZB-H1's order. */
static uint32_t next_of_h1(const struct pass *pass, uint32_t worker)
{
    const uint32_t *done = pass->lines[worker].done;
    uint32_t batches = pass->instance->batches, due = pass->instance->workers - worker + done[BEST_BACKWARD];
    if (weight_pends(pass, worker) && done[BEST_WEIGHT] + worker < done[BEST_BACKWARD])
        return BEST_WEIGHT;
    return done[BEST_FORWARD] < (due < batches ? due : batches) ? BEST_FORWARD : BEST_BACKWARD;
}

/* The same in turn: forwards while there is room for them, then a gradient, its weight gradient and a forward. */
static uint32_t next_in_turn(const struct pass *pass, uint32_t worker)
{
    const struct line *line = &pass->lines[worker];
    int64_t in_flight = line->done[BEST_FORWARD] - line->done[BEST_BACKWARD];
    if (weight_pends(pass, worker))
        return BEST_WEIGHT;
    bool room = in_flight < pass->instance->workers - worker &&
                (!pass->limits[worker] || line->stash + pass->change[BEST_FORWARD] <= pass->limits[worker]);
    return room && forward_left(pass, worker) ? BEST_FORWARD : BEST_BACKWARD;
}

static bool input_is_there(const struct pass *pass, uint32_t kind, uint32_t worker)
{
    const struct line *line = &pass->lines[worker];
    if (kind == BEST_FORWARD)
        return worker == 0 || line[-1].done[kind] > line->done[kind];
    return kind == BEST_WEIGHT || worker + 1 == pass->instance->workers || line[1].done[kind] > line->done[kind];
}

/* Every worker runs its next slots as soon as their inputs are there. */
static int64_t run_counted(struct pass *pass, uint32_t (*next)(const struct pass *pass, uint32_t worker))
{
    for (bool moved = true; moved && !pass->failed;) {
        moved = false;
        for (uint32_t worker = 0; worker < pass->instance->workers && !pass->failed; worker++) {
            const struct line *line = &pass->lines[worker];
            for (uint32_t kind; line->done[BEST_BACKWARD] < pass->instance->batches &&
                                input_is_there(pass, kind = next(pass, worker), worker);) {
                pass->failed |= pass->limits[worker] && line->stash + pass->change[kind] > pass->limits[worker];
                put(pass, kind, worker);
                moved = true;
            }
        }
    }
    return finish(pass);
}

static struct line *create_lines(const struct instance *instance, struct arena *arena)
{
    struct line *lines = arena_array(arena, instance->workers, sizeof *lines);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        for (uint32_t kind = 0; kind < BEST_KINDS; kind++)
            lines[worker].ends[kind] = arena_array(arena, instance->batches, sizeof(int64_t));
        lines[worker].word = arena_array(arena, (size_t)3 * instance->batches, 1);
    }
    return lines;
}

/* Halves of a stash that each worker may hold; 0: any number. */
static const int64_t *limits_of(const struct schedule_request *request, struct arena *arena)
{
    int64_t *limits = arena_array(arena, request->workers, sizeof *limits);
    int64_t words[] = {
        [ONE_P] = 2 * (int64_t)request->workers, [TWO_P] = 4 * (int64_t)request->workers, [UNLIMITED] = 0};
    bool word = schedule_option_is_word(&options[OPTION_MEMORY], request->options[OPTION_MEMORY]);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        limits[worker] = word ? words[request->options[OPTION_MEMORY]]
                              : 2 * schedule_stashes_of(request, OPTION_MEMORY, worker) / SCHEDULE_STASH;
    return limits;
}

/* The lines of the best of all passes. With at least D stashes none of them fails; where all do, there are those in
 * turn. */
static struct line *best_pass(const struct schedule_request *request, const struct instance *instance,
                              struct arena *arena)
{
    enum { SWITCHED = 8, H1 = SWITCHED, IN_TURN };
    struct line *best = NULL;
    int64_t least = INT64_MAX;
    const int64_t *limits = limits_of(request, arena);
    bool together = request->options[OPTION_OPTIMIZER] == 1, half = request->options[OPTION_STASH] == HALF;
    for (uint32_t i = 0; i <= IN_TURN; i++) {
        struct pass pass = {
            .instance = instance, .together = together, .switches = {!(i & 4), !(i & 2), !(i & 1)}, .limits = limits};
        pass.change[BEST_FORWARD] = 2;
        pass.change[BEST_BACKWARD] = half ? -1 : 0;
        pass.change[BEST_WEIGHT] = half ? -1 : -2;
        if ((i == H1 && !together) || (i == IN_TURN && best))
            continue;
        pass.lines = create_lines(instance, arena);
        int64_t cost = i < SWITCHED ? run_pass(&pass, arena) : run_counted(&pass, i == H1 ? next_of_h1 : next_in_turn);
        if (cost < least) {
            least = cost;
            best = pass.lines;
        }
    }
    return best;
}

/* One iteration of a worker, from micro-batch `first` on. */
static void append(struct plan *plan, const struct line *line, uint32_t worker, uint32_t first)
{
    uint32_t done[BEST_KINDS] = {0};
    for (uint32_t i = 0; i < line->length; i++) {
        enum slot_kind kind = (enum slot_kind)line->word[i];
        plan_append(plan, worker, kind, 0, worker, first + done[kind]++)->split = kind == SLOT_BACKWARD;
    }
}

static const struct line *find_lines(const struct schedule_request *request, struct arena *arena)
{
    uint32_t *worker_of = arena_array(arena, request->workers, sizeof *worker_of);
    for (uint32_t stage = 0; stage < request->workers; stage++)
        worker_of[stage] = stage;
    struct instance_request problem = {.workers = request->workers,
                                       .stages = request->workers,
                                       .batches = request->micro_batches,
                                       .worker_of = worker_of};
    stage_times_fill(request, request->workers, true, &problem, arena);
    return best_pass(request, instance_create(&problem, arena), arena);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct schedule_request spelled = optimizer_request(request, OPTION_OPTIMIZER);
    struct plan *plan = plan_create_looped(&spelled, request->workers);
    optimizer_apply(request, OPTION_OPTIMIZER, plan);
    const struct line *lines = find_lines(request, arena);
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        plan_expect(plan, worker, (size_t)lines[worker].length * spelled.iterations);
        for (uint32_t iteration = 0; iteration < spelled.iterations; iteration++)
            append(plan, &lines[worker], worker, iteration * request->micro_batches);
    }
    arena_destroy(arena);
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    bool word = schedule_option_is_word(&options[OPTION_MEMORY], request->options[OPTION_MEMORY]);
    for (uint32_t worker = 0; !word && worker < request->workers; worker++)
        if (schedule_stashes_of(request, OPTION_MEMORY, worker) < SCHEDULE_STASH)
            return schedule_refuse(refusal, REFUSED_OPTION, "memory",
                                   "zb-auto needs room for a stash on every worker, worker %u has less", worker);
    return true;
}

const struct schedule schedule_zb_auto = {
    .name = "zb-auto",
    .summary = "ZB-1p and ZB-2p: a split backward placed for these very times, within a limit of stashes",
    .when = "in place of zb-h1 and zb-h2 where stages are unequal or messages slow",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241, and its implementation",
    .crosses = true,
    .split_backward = true,
    .plain = true,
    .adapts = true,
    .options = options,
    .stages = stages_one_per_worker,
    .fits = fits,
    .plan = generate,
};
