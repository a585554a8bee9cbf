/* SPDX-License-Identifier: Apache-2.0 */

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/figure.h"
#include "base/files/output.h"
#include "base/process/apart.h"
#include "base/process/crash.h"
#include "base/process/guard.h"
#include "base/room.h"
#include "base/sanitized.h"
#include "base/standard_streams.h"
#include "base/table.h"
#include "cluster/cluster.h"
#include "commands/cli/command.h"
#include "commands/cli/help_text.h"
#include "commands/serve/serve.h"
#include "platforms/hardware/hardware.h"

#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line each. */
/* clang-format off */
const struct command *const command_table[] = {
    &command_run,
    &command_compare,
    &command_check,
    &command_schedule,
    &command_collective,
    &command_kernel,
    &command_layouts,
    &command_search,
    &command_sweep,
    &command_train,
    &command_plan,
    &command_month,
    &command_calibrate,
    &command_explain,
    &command_import,
    &command_export,
    &command_platform,
    &command_report,
    &command_list,
    &command_schema,
    &command_serve,
    NULL,
};
/* clang-format on */

static void print_help(FILE *out)
{
    size_t width = table_terminal_width(out);
    struct arena *arena = arena_create();
    help_text_print(out,
                    "stagesim predicts how a deep-learning job trains on a GPU cluster: iteration\n"
                    "time, bubbles and their causes, memory, traces and pictures, from a scenario\n"
                    "(YAML) and a SimGrid platform (XML).\n\n"
                    "usage: stagesim COMMAND [ARGUMENT]...\n\ncommands:\n",
                    width);
    for (const struct command *const *command = command_table; *command; command++)
        help_text_print(out, arena_print(arena, "  %-11s %s\n", (*command)->name, (*command)->summary), width);
    help_text_print(
        out,
        "\n`stagesim help COMMAND` explains a command. Options of run, compare and check:\n"
        "  --engine simgrid|analytic|both   --set KEY=VALUE   --trace perfetto,csv   --picture svg,png,pdf\n"
        "  --report   --quiet\n"
        "\nexample:\n  stagesim compare scenarios/demo.yaml --schedules gpipe,1f1b,chimera -o out --picture svg\n"
        "\nexit codes: 0 done, 1 bad input (nothing written), 2 wrong usage, 3 the simulation failed\n",
        width);
    arena_destroy(arena);
}

static int print_command_help(const struct command *command)
{
    struct arena *arena = arena_create();
    const char *text = arena_print(arena, "stagesim %s: %s\n\nusage: stagesim %s %s\n\n%s", command->name,
                                   command->summary, command->name, command->arguments, command->help);
    help_text_print(stdout, text, table_terminal_width(stdout));
    arena_destroy(arena);
    return EXIT_DONE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return print_command_help(command);
    bool quiet = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        quiet |= !strcmp(argv[i], "--quiet");
    if (!quiet && command != &command_serve)
        guard_start();
    guard_doing("%s", command->name);
    return command->run(command, argc, argv);
}

static int unknown_command(const char *name)
{
    const char *names[32];
    size_t count = 0;
    while (command_table[count] && count < sizeof names / sizeof *names) {
        names[count] = command_table[count]->name;
        count++;
    }
    const char *nearest = diag_nearest(name, names, count);
    diag_print(stderr, "stagesim: '%s' is no command", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fputs("\n`stagesim --help` lists the commands.\n", stderr);
    return EXIT_USAGE;
}

/* NULL where there is none of that name. */
static const struct command *find_command(const char *name)
{
    for (const struct command *const *command = command_table; *command; command++)
        if (!strcmp((*command)->name, name))
            return *command;
    return NULL;
}

/* `stagesim help`, or with a command's name what its --help prints. */
static int help(int argc, char **argv)
{
    const struct command *command = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && strcmp(argv[2], "--help") != 0)
        return command ? print_command_help(command) : unknown_command(argv[2]);
    print_help(stdout);
    return EXIT_DONE;
}

static int run_arguments(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "help"))
        return help(argc, argv);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("stagesim " STAGESIM_VERSION);
        return EXIT_DONE;
    }
    const struct command *command = find_command(argv[1]);
    return command ? run_command(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    struct fault fault = {""};
    if (!standard_streams_open())
        return EXIT_FAILED;
    crash_catch(output_remove_all);
    setlocale(LC_NUMERIC, "C");
    unsetenv("POSIXLY_CORRECT"); /* options may stand behind other arguments */
    room_set_limit();
    apart_ready();
    cluster_register();
    serve_offer(command_table);
    static char buffer[1 << 18]; /* what is printed waits in it until all of it is known to be finite */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    int code = run_arguments(argc, argv);
    if (code == EXIT_DONE && !figures_finite(&fault)) {
        __fpurge(stdout);
        fprintf(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    if (!standard_output_finish(&fault) && code == EXIT_DONE) {
        fprintf(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    hardware_forget();
    apart_done(code);
    if (!SANITIZED)
        _exit(code); /* all is written; what libraries do at the end may need memory that there is not */
    return code;
}
