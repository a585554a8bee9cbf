/* SPDX-License-Identifier: Apache-2.0 */
/* Steps without a fixed order, of random jobs with random times: nothing runs before its inputs, no rank runs two
 * computations at a time or holds more stashes than in its order, and everything runs. Arguments: cases [seed]. */
#include "simulator/tails/step_ready.h"

#include "base/arena.h"
#include "simulator/engines/engine.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned failures;

static void check(bool good, const char *what, uint64_t seed, uint32_t node)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "job %llu, node %u: %s\n", (unsigned long long)seed, node, what);
}

struct walked {
    const struct step_net *net;
    const double *seconds, *ends;
    uint64_t seed;
};

static bool is_computation(const struct step_net *net, uint32_t node)
{
    return net->tasks[node].type == OPERATION_COMPUTE && net->tasks[node].micro_batch != MICRO_BATCH_NONE;
}

static double start_of(const struct walked *w, uint32_t node)
{
    return w->ends[node] - w->seconds[node];
}

/* Waits of the net that are not the order itself: those between other ranks, of messages for what they carry, and of
 * collectives and optimizers for everything. */
static void check_waits(const struct walked *w, double slack)
{
    for (uint32_t node = 0; node < w->net->count; node++)
        for (uint32_t i = w->net->first_wait[node]; i < w->net->first_wait[node + 1]; i++) {
            uint32_t other = w->net->waits[i];
            const struct step_task *a = &w->net->tasks[node], *b = &w->net->tasks[other];
            bool ordered = a->rank == b->rank && ((is_computation(w->net, node) && is_computation(w->net, other)) ||
                                                  (a->type == OPERATION_SEND && b->type == OPERATION_SEND));
            check(ordered || start_of(w, node) >= w->ends[other] - slack, "begins before what it waits for", w->seed,
                  node);
        }
}

/* The passes of a micro-batch through neighbouring stages of one rank, and its backward behind its forward. */
static bool must_follow(const struct step_task *a, const struct step_task *b)
{
    if (a->micro_batch != b->micro_batch)
        return false;
    if (a->kind == STAGESIM_FORWARD)
        return (b->kind == STAGESIM_FORWARD && b->stage == a->stage + 1) ||
               (b->kind == STAGESIM_BACKWARD && b->stage == a->stage);
    return a->kind == STAGESIM_BACKWARD && ((b->kind == STAGESIM_BACKWARD && b->stage + 1 == a->stage) ||
                                            (b->kind == STAGESIM_WEIGHT && b->stage == a->stage));
}

/* Every pair of a rank's computations. */
static void check_rank(const struct walked *w, const uint32_t *nodes, uint32_t count, double slack)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            uint32_t a = nodes[i], b = nodes[k];
            if (i < k)
                check(start_of(w, a) >= w->ends[b] - slack || start_of(w, b) >= w->ends[a] - slack, "two at a time",
                      w->seed, a);
            if (must_follow(&w->net->tasks[a], &w->net->tasks[b]))
                check(start_of(w, b) >= w->ends[a] - slack, "before its input", w->seed, b);
        }
}

static int32_t holds(const struct walked *w, const uint32_t *nodes, uint32_t count, uint32_t node)
{
    const struct step_task *task = &w->net->tasks[node];
    bool split = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct step_task *other = &w->net->tasks[nodes[i]];
        split |=
            other->kind == STAGESIM_WEIGHT && other->stage == task->stage && other->micro_batch == task->micro_batch;
    }
    return task->kind == STAGESIM_FORWARD ? 1 : (task->kind == STAGESIM_WEIGHT) == split ? -1 : 0;
}

static const double *ends_of_nodes;
static const struct step_net *by_operation_net;

/* In which they ran. */
static int by_end(const void *left, const void *right)
{
    double a = ends_of_nodes[*(const uint32_t *)left], b = ends_of_nodes[*(const uint32_t *)right];
    return (a > b) - (a < b);
}

static int by_operation(const void *left, const void *right)
{
    uint32_t a = by_operation_net->tasks[*(const uint32_t *)left].operation,
             b = by_operation_net->tasks[*(const uint32_t *)right].operation;
    return (a > b) - (a < b);
}

static int32_t peak_of(const struct walked *w, const uint32_t *nodes, uint32_t count)
{
    int32_t held = 0, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        held += holds(w, nodes, count, nodes[i]);
        most = held > most ? held : most;
    }
    return most;
}

static void check_ranks(const struct walked *w, double slack)
{
    uint32_t *nodes = array_zeroed(w->net->count, sizeof *nodes);
    for (uint32_t rank = 0; rank < w->net->program->mesh->ranks; rank++) {
        uint32_t count = 0;
        for (uint32_t node = 0; node < w->net->count; node++)
            if (is_computation(w->net, node) && w->net->tasks[node].rank == rank)
                nodes[count++] = node;
        check_rank(w, nodes, count, slack);
        by_operation_net = w->net;
        qsort(nodes, count, sizeof *nodes, by_operation);
        int32_t limit = peak_of(w, nodes, count);
        ends_of_nodes = w->ends;
        qsort(nodes, count, sizeof *nodes, by_end);
        check(peak_of(w, nodes, count) <= limit, "more stashes than in its order", w->seed, rank);
    }
    free(nodes);
}

static bool try_job(uint64_t seed)
{
    struct arena *arena = arena_create();
    struct random random = {seed ^ 0x5eed};
    struct fault fault = {""};
    struct random_job *job = random_job_create(seed, seed % 2, arena);
    struct timeline *timeline = timeline_create(job->program);
    struct engine_job run = {
        .program = job->program, .platform = &job->platform, .hosts = job->hosts, .timeline = timeline};
    check(engine_analytic.run(&run, &fault), fault.text, seed, 0);
    struct step_net *net = step_net_create(timeline, arena, &fault);
    struct step_ready *ready = step_ready_create(net, arena);
    if (ready) {
        double *seconds = arena_array(arena, net->count, sizeof *seconds),
               *ends = arena_array(arena, net->count, sizeof *ends), all = 0;
        for (uint32_t node = 0; node < net->count; node++) {
            double least = is_computation(net, node) ? 1e-3 * job->scale : 0; /* all that a rank runs takes time */
            seconds[node] = (net->seconds[node] + least) * (0.2 + 2 * random_unit(&random));
            all += seconds[node];
        }
        double last = 0, length = step_ready_seconds(ready, seconds, 1);
        for (uint32_t node = 0; node < net->count; node++) {
            ends[node] = ready->ends[node];
            check(ends[node] >= seconds[node] * (1 - 1e-9), "never runs", seed, node);
            last = fmax(last, ends[node]);
        }
        check(fabs(last - length) <= 1e-12 * length, "does not end last", seed, 0);
        struct walked walked = {net, seconds, ends, seed};
        check_waits(&walked, 1e-9 * all);
        check_ranks(&walked, 1e-9 * all);
    }
    timeline_destroy(timeline);
    arena_destroy(arena);
    return ready != NULL;
}

int main(int argc, char **argv)
{
    unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300, walked = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    puts("1..1");
    for (unsigned i = 0; i < cases; i++)
        walked += try_job(seed + i);
    if (argc <= 2 && walked < cases / 5)
        failures++;
    printf("# %u of %u random jobs\n%sok 1 - random jobs\n", walked, cases, failures ? "not " : "");
    return failures ? 1 : 0;
}
