/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that cannot finish, built by hand, and the words in which the analytic engine says why. */
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

enum { WORKERS_MAX = 40 };

static void route(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    static const uint32_t link = 0;
    (void)platform;
    *route = (struct platform_route){1e-6, 1e9, from != to, &link};
}

struct bench {
    struct arena *arena;
    struct mesh mesh;
    struct program_builder *builder;
    uint32_t cost;
};

static struct bench *bench_create(uint32_t workers, uint32_t data)
{
    struct arena *arena = arena_create();
    struct bench *bench = arena_alloc(arena, sizeof *bench);
    *bench = (struct bench){
        .arena = arena,
        .mesh = {.axis_count = 2,
                 .axes = {{.name = "pipeline", .size = workers, .distinct = true}, {.name = "data", .size = data}}}};
    mesh_finish(&bench->mesh, arena);
    bench->builder = program_builder_create(&bench->mesh);
    bench->cost = program_add_cost(bench->builder, &(struct stagesim_cost){.seconds = 1, .bytes = 8});
    return bench;
}

static struct stagesim_identity identity(enum stagesim_kind kind, uint32_t stage, uint32_t micro_batch)
{
    return (struct stagesim_identity){.kind = kind, .stage = stage, .micro_batch = micro_batch, .layer = STAGESIM_NONE};
}

static uint32_t compute(struct bench *bench, uint32_t worker, enum stagesim_kind kind, uint32_t micro_batch)
{
    return program_add_compute(bench->builder, worker, identity(kind, worker, micro_batch), bench->cost);
}

/* `to`'s operation waits for a message that waits for `from`'s. */
static void connect(struct bench *bench, uint32_t from, uint32_t operation, uint32_t to, uint32_t waiting)
{
    uint32_t send, receive;
    program_add_message(bench->builder, from, to,
                        identity(from < to ? STAGESIM_ACTIVATION : STAGESIM_GRADIENT, from, 0), bench->cost, &send,
                        &receive);
    program_add_wait(bench->builder, from, send, operation);
    program_add_wait(bench->builder, to, waiting, receive);
}

/* Runs and checks what is said; NULL: that it finishes. */
static void expect(struct bench *bench, const char *text)
{
    struct program *program = program_finish(bench->builder, bench->arena);
    assignment_create(program, bench->arena);
    struct platform_host hosts[WORKERS_MAX];
    for (uint32_t host = 0; host < WORKERS_MAX; host++)
        hosts[host] = (struct platform_host){.name = "a", .speed = 1};
    uint32_t places[WORKERS_MAX];
    for (uint32_t rank = 0; rank < bench->mesh.ranks; rank++)
        places[rank] = rank;
    struct platform platform = {.host_count = WORKERS_MAX, .hosts = hosts, .route = route};
    struct timeline *timeline = timeline_create(program);
    struct engine_job job = {.program = program, .platform = &platform, .hosts = places, .timeline = timeline};
    struct fault fault = {.text = ""};
    bool finished = engine_analytic.run(&job, &fault);
    cr_expect(finished == !text, "%s", fault.text);
    cr_expect_str_eq(fault.text, text ? text : "");
    cr_expect(fault.refused == (text != NULL), "whose fault it is");
    timeline_destroy(timeline);
    program_builder_destroy(bench->builder);
    arena_destroy(bench->arena);
}

Test(deadlock, two_workers_wait_for_each_other)
{
    struct bench *bench = bench_create(2, 1);
    uint32_t forward = compute(bench, 0, STAGESIM_FORWARD, 3), backward = compute(bench, 1, STAGESIM_BACKWARD, 3);
    connect(bench, 0, forward, 1, backward);
    connect(bench, 1, backward, 0, forward);
    expect(bench, "the program cannot finish: the forward of micro-batch 3 in stage 0 on worker 0 waits for the "
                  "backward of micro-batch 3 in "
                  "stage 1 on worker 1, which waits for the forward of micro-batch 3 in stage 0 on worker 0");
}

/* The same operations in an order that is possible. */
Test(deadlock, none)
{
    struct bench *bench = bench_create(2, 2);
    uint32_t forward = compute(bench, 0, STAGESIM_FORWARD, 3), backward = compute(bench, 1, STAGESIM_BACKWARD, 3);
    connect(bench, 0, forward, 1, backward);
    connect(bench, 1, backward, 0, compute(bench, 0, STAGESIM_BACKWARD, 3));
    expect(bench, NULL);
}

/* The order of one worker's computations is part of the cycle: the earlier one waits for what only the later one sets
 * off. */
Test(deadlock, order_of_a_stream)
{
    struct bench *bench = bench_create(2, 1);
    uint32_t early = compute(bench, 0, STAGESIM_BACKWARD, 0), late = compute(bench, 0, STAGESIM_FORWARD, 1);
    uint32_t other = compute(bench, 1, STAGESIM_BACKWARD, 0);
    connect(bench, 0, late, 1, other);
    connect(bench, 1, other, 0, early);
    expect(bench, "the program cannot finish: the backward of micro-batch 0 in stage 0 on worker 0 waits for the "
                  "backward of micro-batch 0 in "
                  "stage 1 on worker 1, which waits for the forward of micro-batch 1 in stage 0 on worker 0, which "
                  "waits for the backward of "
                  "micro-batch 0 in stage 0 on worker 0");
}

/* Worker 0 is in the all-reduce, to which worker 1 comes only after a message that worker 0 sends after the all-reduce.
 */
Test(deadlock, member_that_never_comes)
{
    struct bench *bench = bench_create(2, 2);
    uint32_t both[] = {0, 1}, data = 1u << 1, group = program_add_group(bench->builder, data, both, 2);
    struct stagesim_identity sync = identity(STAGESIM_GRADIENT_SYNC, 5, STAGESIM_NONE);
    uint32_t here = program_add_collective(bench->builder, 0, group, STAGESIM_ALL_REDUCE, sync, bench->cost);
    uint32_t there = program_add_collective(bench->builder, 1, group, STAGESIM_ALL_REDUCE, sync, bench->cost);
    uint32_t after = compute(bench, 0, STAGESIM_FORWARD, 7), before = compute(bench, 1, STAGESIM_FORWARD, 7);
    program_add_wait(bench->builder, 0, after, here);
    program_add_wait(bench->builder, 1, there, before);
    connect(bench, 0, after, 1, before);
    expect(bench, "the program cannot finish: the forward of micro-batch 7 in stage 0 on worker 0 waits for the "
                  "gradient-sync in stage 5 "
                  "on worker 0, "
                  "which waits for the gradient-sync in stage 5 on worker 1, which waits for the forward of "
                  "micro-batch 7 in stage 1 on "
                  "worker 1, which waits for the forward of micro-batch 7 in stage 0 on worker 0");
}

/* A message that waits for a message that waits for it, without any computation. */
Test(deadlock, nothing_but_transfers)
{
    struct bench *bench = bench_create(2, 1);
    uint32_t send[2], receive[2];
    for (uint32_t i = 0; i < 2; i++)
        program_add_message(bench->builder, i, 1 - i, identity(i ? STAGESIM_GRADIENT : STAGESIM_ACTIVATION, i, 4),
                            bench->cost, &send[i], &receive[1 - i]);
    for (uint32_t i = 0; i < 2; i++)
        program_add_wait(bench->builder, i, send[i], receive[i]);
    expect(bench, "the program cannot finish: sending the activation of micro-batch 4 in stage 0 on worker 0 waits for "
                  "receiving the gradient of "
                  "micro-batch 4 in stage 1 on worker 0, which waits for sending the gradient of micro-batch 4 in "
                  "stage 1 on worker 1, which "
                  "waits for receiving the activation of micro-batch 4 in stage 0 on worker 1, which waits for sending "
                  "the activation of "
                  "micro-batch 4 in stage 0 on worker 0");
}

/* Around many workers: the text stays readable. */
Test(deadlock, long_cycle)
{
    struct bench *bench = bench_create(WORKERS_MAX, 1);
    uint32_t forwards[WORKERS_MAX];
    for (uint32_t worker = 0; worker < WORKERS_MAX; worker++)
        forwards[worker] = compute(bench, worker, STAGESIM_FORWARD, 0);
    for (uint32_t worker = 0; worker < WORKERS_MAX; worker++)
        connect(bench, worker, forwards[worker], (worker + 1) % WORKERS_MAX, forwards[(worker + 1) % WORKERS_MAX]);
    char text[1024] = "the program cannot finish: the forward of micro-batch 0 in stage 0 on worker 0 waits for";
    for (int named = 1; named <= 8; named++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s the forward of micro-batch 0 in stage %d on worker %d", named > 1 ? ", which waits for" : "",
                 WORKERS_MAX - named, WORKERS_MAX - named);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             ", and so on through %d others, the last of which waits for the forward of "
             "micro-batch 0 in stage 0 on worker 0",
             WORKERS_MAX - 9);
    expect(bench, text);
}
