/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of idle nodes: what is read, what is refused where, and the moments at which something changes. */
#include "cluster/idle/idle_log.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct idle_log *parse(const char *text, struct arena *arena, char **mistakes)
{
    size_t size;
    struct diag diag = {.out = open_memstream(mistakes, &size)};
    struct idle_log *log = idle_log_parse("log.csv", text, strlen(text), arena, &diag);
    fclose(diag.out);
    cr_assert_eq(log == NULL, diag.errors > 0);
    return log;
}

Test(idle_log, reads)
{
    struct arena *arena = arena_create();
    char *mistakes;
    struct idle_log *log = parse("# two nodes\nfrom,node,to\n5,n10,\n3,n2,7.5\n9,n2,12\n", arena, &mistakes);
    cr_assert_not_null(log, "%s", mistakes);
    cr_assert(log->node_count == 2 && !strcmp(log->names[0], "n2") && !strcmp(log->names[1], "n10"));
    cr_assert(log->count == 3 && log->end == 12);
    cr_assert(log->spans[1].node == 1 && log->spans[1].from == 5 && log->spans[1].to == 12);
    free(mistakes);
    arena_destroy(arena);
}

Test(idle_log, refuses)
{
    static const char *const bad[][2] = {
        {"node,from,to\n", "log.csv: error: the log has no span in which a node is idle"},
        {"node,from\na,1\n", "log.csv:1:"},
        {"node,from,to\n,1,2\n", "log.csv:2:1: error: the node has no name"},
        {"node,from,to\na,4,2\n", "log.csv:2:5: error: the span ends at 2 s and begins at 4 s, expected a later end"},
        {"node,from,to\na,-1,2\n", "log.csv:2:3: error: 'from' is -1, expected seconds from 0 to 1e12"},
        {"node,from,to\na,x,2\n", "log.csv:2:3: error:"},
        {"node,from,to\na,5,9\nb,1,2\na,1,6\n",
         "log.csv:2: error: node 'a' is idle from 5 s, and by line 4 it still is"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena *arena = arena_create();
        char *mistakes;
        cr_assert_null(parse(bad[i][0], arena, &mistakes));
        cr_assert_eq(strncmp(mistakes, bad[i][1], strlen(bad[i][1])), 0, "%s", mistakes);
        free(mistakes);
        arena_destroy(arena);
    }
}

/* Nodes leave before others join; what is idle at the start of the window joins then, and nothing ends with it. */
Test(idle_log, moments)
{
    struct arena *arena = arena_create();
    char *mistakes;
    struct idle_log *log = parse("node,from,to\n0,0,10\n1,4,8\n2,8,10\n1,10,30\n3,2,3\n", arena, &mistakes);
    cr_assert_not_null(log, "%s", mistakes);
    struct idle_moments moments = idle_log_moments(log, 5, 10, arena);
    cr_assert_eq(moments.count, 3);
    const struct idle_moment *at = moments.items;
    cr_assert(at[0].time == 0 && at[0].left_count == 0 && at[0].joined_count == 2 && at[0].joined[1] == 1);
    cr_assert(at[1].time == 3 && at[1].left_count == 1 && at[1].left[0] == 1 && at[1].joined[0] == 2);
    cr_assert(at[2].time == 5 && at[2].left_count == 2 && at[2].left[1] == 2 && at[2].joined_count == 1);
    free(mistakes);
    arena_destroy(arena);
}
