/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/slurm_array.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/words/shell_word.h"
#include "commands/cli/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A part that is not there after so many submissions is given up. */
enum { TASKS_MAX = 256, ROUNDS = 4 };

/* An array of tasks, each a shard. */
struct array {
    const struct slurm_work *work;
    const char *program;   /* this one */
    const char *arguments; /* of the command, quoted for a shell: without --slurm, --shard, -o */
    const char *parts;     /* directory */
    bool best;             /* it simulates the best of a search; otherwise it does the work */
    uint32_t shards;
    struct arena *arena;
};

/* ---- the shell ---- */

/* The first line that a command prints; NULL with what it wrote to standard error on ours. */
static const char *first_line(const char *command, struct arena *arena)
{
    char line[1024] = "";
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return NULL;
    bool any = fgets(line, sizeof line, pipe) != NULL;
    char rest[1024];
    while (fread(rest, 1, sizeof rest, pipe) > 0) {}
    if (pclose(pipe) != 0 && !any)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return arena_copy(arena, line);
}

/* The arguments of the command itself. */
static const char *own_arguments(int argc, char **argv, struct arena *arena)
{
    static const char *const with_value[] = {"-o", "--output", "--jobs", "--time-limit", NULL};
    static const char *const alone[] = {"--resume", "--quiet", NULL};
    const char *text = "";
    for (int i = 1; i < argc; i++) {
        bool dropped = !strncmp(argv[i], "--slurm", 7);
        for (int k = 0; alone[k]; k++)
            dropped |= !strcmp(argv[i], alone[k]);
        for (int k = 0; with_value[k]; k++) {
            size_t length = strlen(with_value[k]);
            bool value = !strcmp(argv[i], with_value[k]);
            bool joined = !strncmp(argv[i], with_value[k], length) && (argv[i][1] != '-' || argv[i][length] == '=');
            i += value;
            dropped |= value || joined;
            if (value || joined)
                break;
        }
        if (!dropped)
            text = arena_print(arena, "%s %s", text, shell_word(argv[i], arena));
    }
    return text;
}

/* ---- the array ---- */

static uint32_t array_limit(struct arena *arena)
{
    const char *line = first_line("scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *//p'", arena);
    unsigned long limit = line ? strtoul(line, NULL, 10) : 0;
    return limit > 1 ? (uint32_t)limit - 1 : 1000;
}

/* "1,4,7" of the shards that are missing; NULL: all are. */
static const char *task_list(const bool *missing, uint32_t shards, struct arena *arena)
{
    const char *text = missing ? "" : arena_print(arena, "1-%u", shards);
    for (uint32_t i = 0; i < shards; i++)
        if (missing && missing[i])
            text = arena_print(arena, "%s%s%u", text, *text ? "," : "", i + 1);
    return text;
}

/* The job's number; NULL after the mistake was reported. */
static const char *submit(const struct array *array, const bool *missing)
{
    struct arena *arena = array->arena;
    const char *task = arena_print(
        arena, "exec %s %s%s%s%s --quiet --jobs 1 --resume --shard \"$SLURM_ARRAY_TASK_ID/%u\" -o %s",
        shell_word(array->program, arena), array->work->command, array->arguments, array->best ? " --merge " : "",
        array->best ? shell_word(array->parts, arena) : "", array->shards, shell_word(array->parts, arena));
    const char *command =
        arena_print(arena, "sbatch --parsable --job-name=stagesim-%s --output=%s --array=%s %s --wrap %s",
                    array->work->command, shell_word(arena_print(arena, "%s/slurm-%%A_%%a.log", array->parts), arena),
                    task_list(missing, array->shards, arena), array->work->options->slurm, shell_word(task, arena));
    const char *line = first_line(command, arena);
    if (line && *line >= '0' && *line <= '9')
        return arena_print(arena, "%.*s", (int)strspn(line, "0123456789"), line);
    fputs("stagesim: sbatch did not take the job\n", stderr);
    return NULL;
}

/* Until the queue has no task of the job any more. */
static void await(const struct array *array, const char *job)
{
    const char *command = arena_print(array->arena, "squeue -h -j %s -o %%i 2>/dev/null", job);
    struct arena *scratch = arena_create();
    const char *line;
    while ((line = first_line(command, scratch)) && *line)
        nanosleep(&(struct timespec){1, 0}, NULL);
    arena_destroy(scratch);
}

/* ---- what is there ---- */

/* What the work is likely to cost decides on the number of tasks. Each takes every n-th piece of it, so that all cost
 * about the same. */
static uint32_t count_shards(const struct array *array)
{
    double tasks = ceil(array->work->seconds / SLURM_TASK_SECONDS);
    uint32_t most = array_limit(array->arena);
    most = most < TASKS_MAX ? most : TASKS_MAX;
    return tasks < 2 ? 2 : tasks > most ? most : (uint32_t)tasks;
}

/* Submits, waits and looks, until all parts are there. */
static int run_array(const struct array *array)
{
    bool *missing = arena_array(array->arena, array->shards, sizeof *missing);
    uint32_t count = array->shards;
    int code = EXIT_DONE;
    memset(missing, true, array->shards * sizeof *missing);
    for (int round = 0; count && round < ROUNDS && code == EXIT_DONE; round++) {
        const char *job = submit(array, missing);
        if (!job)
            return EXIT_FAILED;
        if (!array->work->options->quiet)
            fprintf(stderr, "%s %u of %u parts as job %s\n", round ? "submitted again:" : "submitted:", count,
                    array->shards, job);
        await(array, job);
        code = array->work->find_missing(array->work->user, array->parts, array->shards, missing, &count);
    }
    if (code == EXIT_DONE && count) {
        fprintf(stderr, "stagesim: %u of %u parts are not complete after %d submissions; their logs are in %s\n", count,
                array->shards, ROUNDS, array->parts);
        code = EXIT_FAILED;
    }
    return code;
}

/* This program with the arguments of the command and more behind them. */
static int run_self(const struct array *array, const char *more)
{
    fflush(NULL);
    int status = system(arena_print(array->arena, "exec %s %s%s %s", shell_word(array->program, array->arena),
                                    array->work->command, array->arguments, more));
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static void remove_parts(const struct array *array)
{
    if (system(arena_print(array->arena, "rm -r -- %s", shell_word(array->parts, array->arena))) != 0)
        fprintf(stderr, "note: %s could not be removed\n", array->parts);
}

int slurm_array_run(const struct slurm_work *work, int argc, char **argv, struct arena *arena)
{
    static char program[4096];
    struct fault fault = {""};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    const struct options *options = work->options;
    size_t end = strlen(options->output);
    while (end > 1 && options->output[end - 1] == '/')
        end--;
    struct array array = {.work = work,
                          .program = program,
                          .arguments = own_arguments(argc, argv, arena),
                          .parts = arena_print(arena, "%.*s.parts", (int)end, options->output),
                          .arena = arena};
    bool made;
    if (!parts_directory(array.parts, &made, &fault)) {
        fprintf(stderr, "stagesim: %s\n", fault.text);
        return EXIT_BAD_INPUT;
    }
    array.shards = count_shards(&array);
    int code = run_array(&array);
    if (code == EXIT_DONE && work->best) {
        array.best = true;
        array.shards = work->best < options->jobs || !options->jobs ? work->best : options->jobs;
        const char *job = submit(&array, NULL);
        if (job)
            await(&array, job); /* what is not simulated there is simulated here */
    }
    if (code == EXIT_DONE)
        code = run_self(&array, arena_print(arena, "%s -o %s --merge %s", options->quiet ? "--quiet" : "",
                                            shell_word(options->output, arena), shell_word(array.parts, arena)));
    if (code == EXIT_DONE)
        remove_parts(&array);
    else
        parts_directory_remove(array.parts, made);
    return code;
}
