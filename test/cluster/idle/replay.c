/* SPDX-License-Identifier: Apache-2.0 */
/* Replays that are worked out by hand. */
#include "cluster/idle/replay.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>

static void expect(const char *what, double is, double should)
{
    cr_assert(fabs(is - should) <= 1e-9 * fabs(should), "%s is %.12g, expected %.12g", what, is, should);
}

struct world {
    struct arena *arena;
    struct idle_log *log;
    struct idle_moments moments;
    struct idle_job jobs[2];
    struct replay_request request;
};

/* Node 0 is idle for 100 s, node 1 from 20 to 60 s. A job makes 10 samples a second on one node and 18 on two; it loses
 * 2 s when it grows and 1 s when it shrinks. */
static void make(struct world *world)
{
    static const struct curve_point points[] = {{1, 10}, {2, 18}};
    struct arena *arena = world->arena = arena_create();
    struct idle_span *spans = arena_array(arena, 2, sizeof *spans);
    spans[0] = (struct idle_span){0, 0, 200};
    spans[1] = (struct idle_span){1, 20, 60};
    world->log = idle_log_create(NULL, 2, spans, 2, arena);
    world->moments = idle_log_moments(world->log, 0, 100, arena);
    for (int i = 0; i < 2; i++)
        world->jobs[i] =
            (struct idle_job){.name = "a", .curve = curve_create(points, 2, 1, 2, arena), .grow = 2, .shrink = 1};
    world->request = (struct replay_request){.moments = &world->moments,
                                             .node_count = 2,
                                             .jobs = world->jobs,
                                             .job_count = 1,
                                             .policy = {.chooser = &chooser_optimal, .forward = 30, .running = 10}};
}

/* 0 s: node 0; growing from nothing costs nothing. 20 s: 30 * 18 - 2 * 10 = 520 is more than 30 * 10: both nodes, 20
 * samples are lost. 60 s: node 1 leaves, and with it 18 samples. */
Test(replay, one_job)
{
    struct world world;
    make(&world);
    struct replay *replay = replay_run(&world.request, world.arena);
    const struct job_figures *job = replay->jobs;
    expect("gross", job->gross, 20 * 10 + 40 * 18 + 40 * 10);
    expect("samples", job->samples, 1320 - 20 - 18);
    expect("work", replay->work, 1282);
    expect("idle node time", replay->idle_time, 140);
    expect("used node time", replay->used_time, 140);
    expect("dedicated", replay->dedicated, 100 * (10 + 0.4 * 8)); /* 1.4 nodes on average */
    expect("efficiency", replay_efficiency(replay), 1282. / 1320);
    expect("best", replay->best, 60 * 10 + 40 * 18);
    expect("attainment", replay_attainment(replay), 1282. / 1320);
    cr_assert(replay->rescales == 2 && job->grown == 2 && job->shrunk == 0);
    cr_assert(replay->preemptions == 1 && job->preempted == 1 && job->nodes_lost == 1);
    cr_assert(replay->decision_count == 3 && replay->change_count == 3 && replay->stay_count == 2);
    cr_assert(replay->finished == 0 && job->ended == INFINITY);
    replay_destroy(replay);
    world.request.policy.forward = 2; /* 2 * 18 - 20 is less than 2 * 10: one node is all it gets */
    replay = replay_run(&world.request, world.arena);
    expect("samples without growing", replay->work, 1000);
    replay_destroy(replay);
    arena_destroy(world.arena);
}

/* A second job waits behind the first one, which ends with 400 samples: at 20 s it has 200, 180 after growing, and at
 * 180 + 18 t = 400, t = 12.222 s, it is done. The second one gets both nodes at once and loses 18 with node 1 at 60 s.
 */
Test(replay, jobs_end_and_follow)
{
    struct world world;
    make(&world);
    world.jobs[0].samples = 400;
    world.request.job_count = 2;
    world.request.policy.running = 1;
    struct replay *replay = replay_run(&world.request, world.arena);
    double end = 20 + 220. / 18;
    expect("samples", replay->jobs[0].samples, 400);
    expect("end", replay->jobs[0].ended, end);
    expect("begin", replay->jobs[1].began, end);
    expect("samples of the second", replay->jobs[1].samples, (60 - end) * 18 - 18 + 400);
    double first = (20 * 1 + (end - 20) * 2) / end, second = ((60 - end) * 2 + 40) / (100 - end);
    expect("dedicated", replay->jobs[0].dedicated, end * (10 + 8 * (first - 1)));
    expect("dedicated of the second", replay->jobs[1].dedicated, (100 - end) * (10 + 8 * (second - 1)));
    cr_assert(replay->finished == 1 && replay->rescales == 3 && replay->decision_count == 4);
    replay_destroy(replay);
    arena_destroy(world.arena);
}

/* Speed-up over one node: the same job counted by 10 samples. Two jobs that come together share: one node each where
 * that is worth more. */
Test(replay, speed_up_and_two_jobs)
{
    struct world world;
    make(&world);
    world.request.policy.objective = OBJECTIVE_SPEED_UP;
    struct replay *replay = replay_run(&world.request, world.arena);
    expect("work in seconds of a node", replay->work, 128.2);
    replay_destroy(replay);
    world.request.job_count = 2;
    replay = replay_run(&world.request, world.arena); /* the first job has node 0, the second node 1 for 40 s */
    expect("samples", replay->jobs[0].samples, 1000);
    expect("samples of the second", replay->jobs[1].samples, 400 - 10);
    expect("best", replay->best, 100 + 40);
    expect("dedicated", replay->dedicated, 2 * 100 * 0.7); /* 1.4 nodes for two: 0.7 of a node, at 0.7 of its rate */
    replay_destroy(replay);
    arena_destroy(world.arena);
}

/* A curve that is measured: the job runs 5 s with one node; from 20 s on with two, which takes 2 s to grow and 5 s;
 * from 27 s on its curve is known. It loses what known ones lose. With a linear belief it would have grown as well. */
Test(replay, profiling)
{
    static const double sizes[] = {1, 2};
    struct world world;
    make(&world);
    world.request.policy.profile = 5;
    world.request.policy.profile_sizes = sizes;
    world.request.policy.profile_count = 2;
    world.jobs[0].knowledge = PROFILED;
    struct replay *replay = replay_run(&world.request, world.arena);
    expect("profiling", replay->jobs[0].profiling, 2 + 5);
    expect("samples", replay->work, 1320 - 20 - 18); /* at 20 s one size is known, and a line through it: it grows */
    cr_assert_eq(replay->decision_count, 4);
    replay_destroy(replay);
    world.moments = idle_log_moments(world.log, 20, 40, world.arena); /* both are there: two nodes for 7 s, then one */
    replay = replay_run(&world.request, world.arena);
    expect("profiling", replay->jobs[0].profiling, 2 + 5 + 1 + 5);
    /* 18 for 7 s; 1 s of that is lost in shrinking; 10 for 6 s; 2 s of that are lost in growing; 18 for 27 s */
    expect("samples", replay->work, 7 * 18 - 18 + 6 * 10 - 20 + 27 * 18);
    replay_destroy(replay);
    arena_destroy(world.arena);
}
