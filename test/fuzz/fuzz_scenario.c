/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes everything between a scenario's text and the checked struct, reports included. The input is a scenario, then
 * overrides (KEY=VALUE), then perhaps a replacing schedule, separated by NUL bytes. */
#include "base/arena.h"
#include "cluster/cluster.h"
#include "job/scenario/scenario.h"
#include "test/support/memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETS_MAX = 8 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Cross-field checks that come after loading. */
static void check_further(const struct scenario *scenario, struct diag *diag)
{
    struct platform platform = {.host_count = 16};
    scenario_check_platform(scenario, &platform, diag);
    if (scenario_check_pipeline(scenario, diag) && scenario->schedule &&
        scenario_schedule_request(scenario).workers != scenario->workers)
        abort();
    scenario_workload_place(scenario, "forward");
    scenario_workload_place(scenario, "model.layers");
    if (scenario->mesh.ranks != (uint64_t)scenario->mesh.positions * scenario->mesh.replicas ||
        (scenario->mesh.positions != scenario->workers && scenario->mesh.replicas != 1))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char name[MEMORY_FILE_NAME];
    struct scenario_set sets[SETS_MAX];
    struct scenario_request request = {.file = name, .sets = sets, .kinds = true};
    cluster_register();
    struct arena *arena = arena_create();
    struct diag diag = {.out = fopen("/dev/null", "w")};
    size_t length = strnlen((const char *)data, size);
    int descriptor = memory_file(data, length, name);
    for (size_t at = length + 1; at < size;) {
        size_t part = strnlen((const char *)data + at, size - at);
        char *text = arena_print(arena, "%.*s", (int)part, (const char *)data + at);
        if (strchr(text, '=') && request.set_count < SETS_MAX)
            sets[request.set_count++] =
                (struct scenario_set){.option = part % 7 == 0 ? "--engine" : NULL, .text = text};
        else
            request.schedule = text;
        at += part + 1;
    }
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (!scenario != (diag.errors > 0))
        abort();
    if (scenario && !scenario->kind)
        check_further(scenario, &diag);
    fclose(diag.out);
    close(descriptor);
    arena_destroy(arena);
    return 0;
}
