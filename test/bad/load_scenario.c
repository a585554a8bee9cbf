/* SPDX-License-Identifier: Apache-2.0 */
/* load-scenario check FILE [--set KEY=VALUE]...: reads a scenario and reports its mistakes. */
#include "simulator/arena.h"
#include "simulator/scenario.h"

#include <string.h>

int main(int argc, char **argv)
{
    struct scenario_set sets[16];
    struct scenario_request request = {.file = argc > 2 ? argv[2] : "", .sets = sets};
    for (int i = 3; i + 1 < argc && request.set_count < 16; i += 2)
        if (!strcmp(argv[i], "--set"))
            sets[request.set_count++] = (struct scenario_set){.text = argv[i + 1]};
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    bool good = scenario && scenario_check_pipeline(scenario, &diag);
    struct platform platform = {.host_count = 4};
    good = good && scenario_check_platform(scenario, &platform, &diag);
    arena_destroy(arena);
    return !good;
}
