/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-V for any times: the order is made by going through time once, within the stashes of 1F1B. Warm-up forwards of the
 * first chunk run while the second one's are on their way; then every worker takes a backward and a forward in turn, of
 * the chunk that is behind or whose input is there, and weight gradients go where it would wait or needs room. A weight
 * gradient longer than a gap goes there as well when the worker would otherwise have waited longer than any other, now
 * or in a first run. Two switches are tried both ways; the first pass in which the worker that waits most waits least
 * counts. Times are whole numbers, so that the unit does not matter. */
#include "base/arena.h"
#include "schedules/kit/stage_times.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

enum { CHUNKS = 2, PASSES = BEST_KINDS * CHUNKS };

/* A worker's order so far. */
struct line {
    int64_t free, idle;
    int64_t *ends[BEST_WEIGHT][CHUNKS]; /* [micro_batch] */
    uint32_t done[BEST_KINDS][CHUNKS];
    uint32_t stash;    /* in halves of a chunk's */
    uint8_t *word;     /* kind * CHUNKS + chunk, in order */
    uint32_t length;   /* of the word */
    uint32_t weighted; /* its backwards before this place of the word have their weight gradient */
};

struct pass {
    const struct instance *instance;
    bool fill_backward, fill_forward;
    const int64_t *approved; /* [worker]: how long it may wait; NULL: not known */
    int64_t most_approved, most_idle;
    struct line *lines; /* [worker] */
    bool *wants_first;  /* [worker]: its next backward is of the first chunk */
};

static uint32_t stage_of(const struct pass *pass, uint32_t chunk, uint32_t worker)
{
    return chunk ? pass->instance->stages - 1 - worker : worker;
}

static int64_t length_of(const struct pass *pass, uint32_t kind, uint32_t chunk, uint32_t worker)
{
    return pass->instance->length[kind][stage_of(pass, chunk, worker)];
}

/* The worker on which the input of a kind and chunk is made, this one where it is the same, or UINT32_MAX where there
 * is none. Forwards of the first chunk and backwards of the second come from the worker before. */
static uint32_t source_of(const struct pass *pass, uint32_t kind, uint32_t chunk, uint32_t worker)
{
    uint32_t last = pass->instance->workers - 1;
    if ((kind == BEST_FORWARD) == (chunk == 0))
        return worker ? worker - 1 : UINT32_MAX;
    return worker < last ? worker + 1 : worker;
}

/* When the input of the next operation is there; -1: there is none to wait for. */
static int64_t input(const struct pass *pass, uint32_t kind, uint32_t chunk, uint32_t worker)
{
    uint32_t source = source_of(pass, kind, chunk, worker);
    if (source == UINT32_MAX || source == worker)
        return -1;
    return pass->lines[source].ends[kind][chunk][pass->lines[worker].done[kind][chunk]] + pass->instance->latency;
}

static void put(struct pass *pass, uint32_t kind, uint32_t chunk, uint32_t worker)
{
    struct line *line = &pass->lines[worker];
    int64_t arrival = kind == BEST_WEIGHT ? -1 : input(pass, kind, chunk, worker);
    int64_t start = line->free > arrival ? line->free : arrival;
    line->idle += line->length ? start - line->free : 0;
    pass->most_idle = line->idle > pass->most_idle ? line->idle : pass->most_idle;
    line->free = start + length_of(pass, kind, chunk, worker);
    if (kind < BEST_WEIGHT)
        line->ends[kind][chunk][line->done[kind][chunk]] = line->free;
    line->done[kind][chunk]++;
    line->stash = kind == BEST_FORWARD ? line->stash + 2 : line->stash - 1;
    line->word[line->length++] = (uint8_t)(kind * CHUNKS + chunk);
}

static uint32_t passed(const struct line *line, uint32_t kind)
{
    return line->done[kind][0] + line->done[kind][1];
}

static bool forward_left(const struct pass *pass, uint32_t chunk, uint32_t worker)
{
    return pass->lines[worker].done[BEST_FORWARD][chunk] < pass->instance->batches;
}

/* ---- weight gradients ---- */

static bool weight_pends(const struct line *line)
{
    return passed(line, BEST_WEIGHT) < passed(line, BEST_BACKWARD);
}

/* The chunk of the oldest weight gradient that is left. */
static uint32_t next_weight(struct line *line)
{
    while (line->word[line->weighted] / CHUNKS != BEST_BACKWARD)
        line->weighted++;
    return line->word[line->weighted] % CHUNKS;
}

static void put_weight(struct pass *pass, uint32_t worker)
{
    struct line *line = &pass->lines[worker];
    uint32_t chunk = next_weight(line);
    line->weighted++;
    put(pass, BEST_WEIGHT, chunk, worker);
}

/* How much longer a worker may wait than it has. */
static int64_t slack(const struct pass *pass, uint32_t worker)
{
    int64_t allowed = pass->approved ? pass->most_approved - pass->approved[worker] : 0;
    return (allowed > pass->most_idle ? allowed : pass->most_idle) - pass->lines[worker].idle;
}

/* Weight gradients before an operation whose input comes at `until`; `longer`: also one that ends later. */
static void use_gap(struct pass *pass, uint32_t worker, int64_t until, bool longer)
{
    struct line *line = &pass->lines[worker];
    while (weight_pends(line) && line->free + length_of(pass, BEST_WEIGHT, next_weight(line), worker) <= until)
        put_weight(pass, worker);
    if (longer && until >= 0 && weight_pends(line) && until - line->free > slack(pass, worker))
        put_weight(pass, worker);
}

/* ---- warm-up ---- */

static void first_forwards(struct pass *pass)
{
    uint32_t workers = pass->instance->workers;
    for (uint32_t worker = 0; worker < workers; worker++)
        put(pass, BEST_FORWARD, 0, worker);
    for (uint32_t worker = workers; worker-- > 0;) {
        const struct line *line = &pass->lines[worker];
        while (worker + 1 < workers && line->stash + (2 + 2 * worker) * 2 <= 4 * workers &&
               line->free + length_of(pass, BEST_FORWARD, 0, worker) <= input(pass, BEST_FORWARD, 1, worker) &&
               forward_left(pass, 0, worker))
            for (uint32_t other = 0; other <= worker; other++)
                put(pass, BEST_FORWARD, 0, other);
        put(pass, BEST_FORWARD, 1, worker);
    }
}

/* Whether a worker is behind the one before it. */
static bool is_behind(const struct pass *pass, uint32_t worker)
{
    const struct line *line = &pass->lines[worker], *before = line - 1;
    uint32_t own = line->done[BEST_FORWARD][1], others = before->done[BEST_FORWARD][1];
    return passed(line, BEST_FORWARD) < passed(before, BEST_FORWARD) ||
           (own <= others && others < pass->instance->batches);
}

static void level_forwards(struct pass *pass)
{
    uint32_t workers = pass->instance->workers, chunk = 0;
    for (uint32_t worker = 1; worker < workers; worker++)
        for (; is_behind(pass, worker); chunk = !chunk)
            for (uint32_t other = workers; other-- > worker;)
                if (forward_left(pass, chunk, other))
                    put(pass, BEST_FORWARD, chunk, other);
}

/* ---- a backward and a forward in turn ---- */

static bool wants_first_chunk(const struct pass *pass, uint32_t worker)
{
    const uint32_t *done = pass->lines[worker].done[BEST_BACKWARD];
    if (done[0] >= done[1])
        return false;
    return worker + 1 == pass->instance->workers || pass->lines[worker + 1].done[BEST_BACKWARD][0] > done[0] ||
           done[1] == pass->instance->batches;
}

static void put_backward(struct pass *pass, uint32_t chunk, uint32_t worker)
{
    use_gap(pass, worker, input(pass, BEST_BACKWARD, chunk, worker), chunk == 0 || pass->fill_backward);
    put(pass, BEST_BACKWARD, chunk, worker);
}

static void backwards(struct pass *pass)
{
    uint32_t workers = pass->instance->workers;
    for (uint32_t worker = 0; worker < workers; worker++)
        pass->wants_first[worker] = wants_first_chunk(pass, worker);
    for (uint32_t worker = workers; worker-- > 0;)
        if (pass->wants_first[worker])
            put_backward(pass, 0, worker);
    for (uint32_t worker = 0; worker < workers; worker++)
        if (!pass->wants_first[worker])
            put_backward(pass, 1, worker);
}

/* The chunk of the worker's next forward, or CHUNKS where it runs none. */
static uint32_t choose_forward(const struct pass *pass, uint32_t worker)
{
    const struct line *line = &pass->lines[worker];
    const uint32_t *done = line->done[BEST_FORWARD];
    if (done[1] >= pass->instance->batches)
        return CHUNKS;
    if (done[1] >= done[0])
        return 0;
    if (worker + 1 == pass->instance->workers || line[1].done[BEST_FORWARD][1] > done[1])
        return 1;
    bool there = worker == 0 || line[-1].done[BEST_FORWARD][0] > done[0];
    return forward_left(pass, 0, worker) && there ? 0 : CHUNKS;
}

static void forwards(struct pass *pass)
{
    uint32_t workers = pass->instance->workers;
    for (uint32_t worker = 0; worker < workers; worker++) {
        struct line *line = &pass->lines[worker];
        uint32_t chunk = choose_forward(pass, worker);
        if (chunk == CHUNKS)
            continue;
        while (line->stash + 2 > 4 * workers && weight_pends(line))
            put_weight(pass, worker);
        use_gap(pass, worker, input(pass, BEST_FORWARD, chunk, worker), pass->fill_forward);
        put(pass, BEST_FORWARD, chunk, worker);
    }
}

/* ---- all passes ---- */

static struct line *create_lines(const struct instance *instance, struct arena *arena)
{
    struct line *lines = arena_array(arena, instance->workers, sizeof *lines);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        for (uint32_t i = 0; i < BEST_WEIGHT * CHUNKS; i++)
            lines[worker].ends[i / CHUNKS][i % CHUNKS] = arena_array(arena, instance->batches, sizeof(int64_t));
        lines[worker].word = arena_array(arena, (size_t)PASSES * instance->batches, 1);
    }
    return lines;
}

/* One way through time; the lines. */
static struct line *run_pass(struct pass *pass, struct arena *arena)
{
    const struct instance *instance = pass->instance;
    pass->lines = create_lines(instance, arena);
    pass->wants_first = arena_array(arena, instance->workers, sizeof *pass->wants_first);
    pass->most_idle = pass->most_approved = 0;
    for (uint32_t worker = 0; pass->approved && worker < instance->workers; worker++)
        pass->most_approved =
            pass->approved[worker] > pass->most_approved ? pass->approved[worker] : pass->most_approved;
    first_forwards(pass);
    level_forwards(pass);
    for (uint64_t i = 0; i < 2 * (uint64_t)instance->batches; i++) {
        backwards(pass);
        forwards(pass);
    }
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        while (weight_pends(&pass->lines[worker]))
            put_weight(pass, worker);
    return pass->lines;
}

struct choice {
    struct line *lines;
    int64_t most_idle;
};

/* A pass, and again with what the workers waited in it as long as they then wait less. */
static struct choice run_again(struct pass pass, struct arena *arena)
{
    struct choice best = {run_pass(&pass, arena), pass.most_idle};
    for (bool better = best.most_idle > 0; better;) {
        int64_t *idle = arena_array(arena, pass.instance->workers, sizeof *idle);
        for (uint32_t worker = 0; worker < pass.instance->workers; worker++)
            idle[worker] = pass.lines[worker].idle;
        pass.approved = idle;
        run_pass(&pass, arena);
        better = pass.most_idle < best.most_idle;
        if (better)
            best = (struct choice){pass.lines, pass.most_idle};
    }
    return best;
}

static const struct line *best_pass(const struct instance *instance, struct arena *arena)
{
    struct choice best = {NULL, INT64_MAX};
    for (unsigned i = 0; i < 4 && best.most_idle > 0; i++) { /* less than nothing is not possible */
        struct pass pass = {.instance = instance, .fill_backward = !(i & 2), .fill_forward = !(i & 1)};
        struct choice choice = run_again(pass, arena);
        if (choice.most_idle < best.most_idle)
            best = choice;
    }
    return best.lines;
}

static void append(struct plan *plan, const struct line *line, uint32_t worker, uint32_t first)
{
    uint32_t done[PASSES] = {0};
    for (uint32_t i = 0; i < line->length; i++) {
        uint32_t pass = line->word[i];
        enum slot_kind kind = (enum slot_kind)(pass / CHUNKS);
        uint32_t stage = pass % CHUNKS ? plan->stages - 1 - worker : worker;
        plan_append(plan, worker, kind, 0, stage, first + done[pass]++)->split = kind == SLOT_BACKWARD;
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct schedule_request spelled = optimizer_request(request, 0);
    uint32_t workers = request->workers, count = request->micro_batches;
    struct plan *plan = plan_create_waves(&spelled, 2 * workers);
    optimizer_apply(request, 0, plan);
    uint32_t *worker_of = arena_array(arena, plan->stages, sizeof *worker_of);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        worker_of[stage] = plan_worker(plan, 0, stage);
    struct instance_request problem = {
        .workers = workers, .stages = plan->stages, .batches = count, .worker_of = worker_of};
    stage_times_fill(request, plan->stages, true, &problem, arena);
    const struct line *lines = best_pass(instance_create(&problem, arena), arena);
    for (uint32_t worker = 0; worker < workers; worker++) {
        plan_expect(plan, worker, (size_t)PASSES * plan->micro_batches);
        for (uint32_t iteration = 0; iteration < spelled.iterations; iteration++)
            append(plan, &lines[worker], worker, iteration * count);
    }
    arena_destroy(arena);
    return plan;
}

const struct schedule schedule_zb_v_greedy = {
    .name = "zb-v-greedy",
    .summary = "ZB-V whose order is made for these very times, at the memory of 1F1B",
    .when = "in place of zb-v where they do not",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, and its implementation",
    .crosses = true,
    .split_backward = true,
    .plain = true,
    .adapts = true,
    .options = optimizer_options,
    .stages = stages_two_per_worker,
    .plan = generate,
};
