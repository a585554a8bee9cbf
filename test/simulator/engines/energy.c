/* SPDX-License-Identifier: Apache-2.0 */
/* The report's energy against SimGrid's own energy plug-in, a second computation from the same platform. */
#include "analysis/figures/report.h"
#include "base/arena.h"
#include "schedules/schedule.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/pipeline_job.h"

#include <criterion/criterion.h>
#include <math.h>
#include <simgrid/host.h>
#include <simgrid/plugins/energy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every other host starts in its second state, which is slower and takes fewer watts, but for the idle ones: SimGrid's
 * plug-in has the first state's until a host does something. */
static char *write_platform(uint32_t hosts, bool states)
{
    char *name = strdup("/tmp/stagesim-energy-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n",
          out);
    for (uint32_t i = 0; i < hosts; i++)
        if (states)
            fprintf(out,
                    "<host id=\"g-%u\" speed=\"1Gf,0.5Gf\" pstate=\"%u\"><prop id=\"wattage_per_state\" "
                    "value=\"%u:%u,%u:%u\"/></host>\n",
                    i, i % 2, 50 + i, 400 + 10 * i, 50 + i, 250 + i);
        else
            fprintf(out, "<host id=\"g-%u\" speed=\"1Gf\"><prop id=\"wattage_per_state\" value=\"%u:%u\"/></host>\n", i,
                    50 + i, 400 + 10 * i);
    fputs("<link id=\"l\" bandwidth=\"1GBps\" latency=\"1ms\"/>\n", out);
    for (uint32_t i = 0; i < hosts; i++)
        for (uint32_t j = i + 1; j < hosts; j++)
            fprintf(out, "<route src=\"g-%u\" dst=\"g-%u\"><link_ctn id=\"l\"/></route>\n", i, j);
    fputs("</zone></platform>\n", out);
    fclose(out);
    return name;
}

/* Returns the time of the job. */
static double compare_energy(bool states)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    struct setting setting = {
        .workers = 4, .micro_batches = 8, .data = 2, .forward = 1, .backward = 2, .message = 2e8, .gradient = 1e9};
    const struct schedule *schedule = schedule_find("1f1b");
    struct schedule_request request = schedule_request_default(schedule, setting.workers, setting.micro_batches);
    struct plan *plan = schedule->plan(&request);
    struct mesh mesh = {0};
    struct program *program = pipeline_job(plan, &setting, false, &mesh, arena);
    char *file = write_platform(mesh.ranks, states);
    cr_assert(bridge_configure(NULL, 0, &fault));
    sg_host_energy_plugin_init();
    struct platform *platform = bridge_load(file, arena, &fault);
    unlink(file);
    cr_assert_not_null(platform, "%s", fault.text);
    uint32_t hosts[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct timeline *timeline = timeline_create(program);
    struct engine_job job = {.program = program, .platform = platform, .hosts = hosts, .timeline = timeline};
    cr_assert(engine_simgrid.run(&job, &fault), "%s", fault.text);
    struct run_description run = {.scenario_file = "energy",
                                  .scenario_name = "energy",
                                  .workload = "stages",
                                  .engine = "simgrid",
                                  .hosts = hosts};
    struct report *report = report_create(&run, timeline, platform, arena);
    double expected = 0;
    for (uint32_t i = 0; i < mesh.ranks; i++)
        expected += sg_host_get_consumed_energy(platform->hosts[i].handle);
    cr_assert(fabs(report->energy - expected) <= 1e-9 * expected, "report %.12g J, SimGrid %.12g J", report->energy,
              expected);
    double time = report->iteration;
    free(file);
    timeline_destroy(timeline);
    plan_destroy(plan);
    arena_destroy(arena);
    return time;
}

Test(energy, equals_simgrids_own)
{
    compare_energy(false);
}

/* A host in the slower state takes twice as long for each of its 8 micro-batches of 3 s. */
Test(energy, in_each_hosts_state)
{
    double time = compare_energy(true);
    cr_assert(time > 48 && time < 72, "%g s", time);
}
