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

static char *write_platform(uint32_t hosts)
{
    char *name = strdup("/tmp/stagesim-energy-XXXXXX");
    FILE *out = fdopen(mkstemp(name), "w");
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n",
          out);
    for (uint32_t i = 0; i < hosts; i++)
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

Test(energy, equals_simgrids_own)
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
    char *file = write_platform(mesh.ranks);
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
    free(file);
    timeline_destroy(timeline);
    plan_destroy(plan);
    arena_destroy(arena);
}
