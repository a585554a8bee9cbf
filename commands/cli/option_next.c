/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/option_next.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <string.h>

const char *option_near(const char *typed, const struct option *options, struct arena *arena)
{
    size_t count = 0;
    while (options[count].name)
        count++;
    const char **names = arena_array(arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = options[i].name;
    bool named = !strncmp(typed, "--", 2);
    const char *near =
        named ? diag_nearest(arena_print(arena, "%.*s", (int)strcspn(typed + 2, "="), typed + 2), names, count) : NULL;
    return near ? arena_print(arena, "; did you mean '--%s'?", near) : "";
}

static void refuse(const struct command *command, int option, const char *typed, const struct option *options)
{
    struct arena *arena = arena_create();
    if (option == ':')
        command_usage(command, "option '%s' needs a value", typed);
    else if (optopt > 0 && optopt < 256 && strncmp(typed, "--", 2) != 0)
        command_usage(command, "unknown option '%s'", (char[]){'-', (char)optopt, 0});
    else
        command_usage(command, "unknown option '%s'%s", typed, option_near(typed, options, arena));
    arena_destroy(arena);
}

int option_next(const struct command *command, int argc, char *const *argv, const char *letters,
                const struct option *options, int *code)
{
    struct arena *arena = arena_create();
    bool ordered = letters[0] == '-'; /* behind which getopt wants its ':' */
    const char *quiet = arena_print(arena, "%s:%s", ordered ? "-" : "", letters + ordered);
    opterr = 0;
    int option = getopt_long(argc, argv, quiet, options, NULL);
    if (option == '?' || option == ':') {
        refuse(command, option, argv[optind - 1], options);
        *code = EXIT_USAGE;
        option = -1;
    }
    arena_destroy(arena);
    return option;
}
