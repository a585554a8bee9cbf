/* SPDX-License-Identifier: Apache-2.0 */
/* Past 20,000 actors stacks have 16 KiB and no guard page. Here they have 8 KiB and a guard page: whatever an actor
 * does fits into half of what it gets there, or this test dies. */
#include "base/arena.h"
#include "base/sanitized.h"
#include "schedules/schedule.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/run/folded_run.h"
#include "test/support/mesh_platform.h"
#include "test/support/pipeline_job.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

/* Messages that queue (bandwidth), stashes that move (bpipe), collectives of several groups (chimera). */
static void run_on_small_stacks(const char *name)
{
    static const char *const config[] = {"contexts/stack-size:8"};
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct setting setting = {
        .workers = 4, .micro_batches = 8, .data = 3, .forward = 1, .backward = 2, .message = 2e9, .gradient = 1e9};
    const struct schedule *schedule = schedule_find(name);
    struct schedule_request request = schedule_request_default(schedule, setting.workers, setting.micro_batches);
    struct plan *plan = schedule->plan(&request);
    struct mesh mesh = {0};
    struct program *program = pipeline_job(plan, &setting, false, &mesh, arena);
    char *file = mesh_platform_write(mesh.ranks, 0.001, 1e9);
    cr_assert(bridge_configure(config, 1, &fault), "%s", fault.text);
    struct platform *platform = bridge_load(file, arena, &fault);
    unlink(file);
    cr_assert_not_null(platform, "%s", fault.text);
    uint32_t *hosts = arena_array(arena, mesh.ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < mesh.ranks; rank++)
        hosts[rank] = rank;
    struct engine_job job = {.program = program, .platform = platform, .hosts = hosts};
    struct folded_run run;
    cr_assert(folded_run(&engine_simgrid, &job, false, arena, &run, &fault), "%s", fault.text);
    timeline_destroy(run.timeline);
    plan_destroy(plan);
    free(file);
    arena_destroy(arena);
}

/* Not where sanitizers make frames larger; they run actors in threads. */
Test(stack, queueing_and_collectives_fit_into_half, .disabled = SANITIZED)
{
    run_on_small_stacks("chimera");
}

Test(stack, moving_stashes_fit_into_half, .disabled = SANITIZED)
{
    run_on_small_stacks("bpipe");
}
