/* SPDX-License-Identifier: Apache-2.0 */
/* The command of examples/command: its line, and what it says of a wrong command line and of a missing scenario. */
#include "commands/cli/command.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

extern const struct command command_ranks;

static int run(const char *argument, const char *more)
{
    char *words[] = {(char *)(size_t) "ranks", (char *)(size_t)argument, (char *)(size_t)more, NULL};
    int code = command_ranks.run(&command_ranks, more ? 3 : 2, words);
    fflush(stdout);
    return code;
}

Test(example_command, prints_a_line, .init = cr_redirect_stdout)
{
    cr_assert_eq(run(SOURCE_ROOT "/scenarios/demo.yaml", "--set=parallel.data=2"), EXIT_DONE);
    cr_assert_stdout_eq_str("demo: 8 ranks, 2 replicas of 4 pipeline workers\n");
}

Test(example_command, wants_one_scenario)
{
    cr_assert_eq(run("a.yaml", "b.yaml"), EXIT_USAGE);
}

Test(example_command, says_what_is_missing)
{
    cr_assert_eq(run("missing.yaml", NULL), EXIT_BAD_INPUT);
}
