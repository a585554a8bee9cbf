/* SPDX-License-Identifier: Apache-2.0 */
/* keys: prints the tables of doc/scenario.md. keys FILE: loads a scenario and reports its mistakes. keys --ignored:
 * prints the table of doc/import.md. */
#include "base/arena.h"
#include "frameworks/import/import.h"
#include "job/scenario/scenario.h"

#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        scenario_print_keys(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--ignored")) {
        import_print_ignored(stdout);
        return 0;
    }
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    struct scenario_request request = {.file = argv[1]};
    bool good = scenario_load(&request, arena, &diag);
    arena_destroy(arena);
    return !good;
}
