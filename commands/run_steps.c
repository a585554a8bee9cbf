/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/run_steps.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/clock.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/cli/parts.h"
#include "commands/cli/slurm_array.h"

#include <math.h>
#include <stdlib.h>

/* The option that shares steps out; NULL: none was given. */
static const char *sharing_option(const struct options *options)
{
    return options->shard            ? "--shard"
           : options->merge          ? "--merge"
           : options->slurm          ? "--slurm"
           : options->resume         ? "--resume"
           : options->time_limit > 0 ? "--time-limit"
           : options->jobs           ? "--jobs"
                                     : NULL;
}

int run_steps_sharing(const struct command *command, const struct options *options, const struct scenario *scenario,
                      struct arena *arena, const struct tails_sharing **sharing)
{
    const char *option = sharing_option(options);
    *sharing = NULL;
    if (!scenario->tails.given || scenario->kind)
        return option ? command_usage(command,
                                      "%s is for the steps that --quantiles draws, of a job; expected "
                                      "--quantiles, or a section tails",
                                      option)
                      : EXIT_DONE;
    struct tails_sharing *steps = arena_alloc(arena, sizeof *steps);
    *steps = (struct tails_sharing){.how = tails_request_of(scenario)};
    if (!parts_request(options, "steps", &steps->how, arena))
        return EXIT_BAD_INPUT;
    steps->how.bar = NULL; /* the simulation has one */
    if (options->merge)
        steps->files =
            parts_list(options->files + 1, (size_t)options->file_count - 1, "run", &steps->file_count, arena);
    if (options->merge && !steps->files)
        return EXIT_BAD_INPUT;
    *sharing = steps;
    return EXIT_DONE;
}

static int simulate_part(void *request)
{
    struct simulation_result result = {0};
    int code = simulate(request, &result);
    gantt_destroy(result.gantt);
    free(result.parts);
    return code;
}

int run_steps_part(const struct options *options, struct simulation_request *request)
{
    request->print = false;
    return parts_run(options->output, simulate_part, request);
}

/* ---- Slurm ---- */

struct array {
    const struct blocks_request *request;
    struct arena *arena;
};

static int find_missing(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count)
{
    const struct array *array = user;
    return parts_missing(array->request, "run", parts, shards, missing, count, array->arena);
}

/* What a run with another number of steps takes; 0: it failed. */
static double measure(const struct scenario *scenario, const char *change)
{
    struct scenario_set set = {NULL, change};
    struct simulation_result result = {0};
    double started = clock_now();
    int code = simulate_changed(scenario, &set, 1, &result);
    return code == EXIT_DONE ? clock_now() - started : 0;
}

int run_steps_on_slurm(const struct options *options, const struct simulation_request *request, int argc, char **argv,
                       struct arena *arena)
{
    enum { TRIED = 100 };
    struct array array = {.request = &request->steps->how, .arena = arena};
    double without = measure(request->scenario, "tails.quantiles=false");
    double with = measure(request->scenario, arena_print(arena, "tails.steps=%d", (int)TRIED));
    if (!(with > 0))
        return EXIT_BAD_INPUT;
    struct slurm_work work = {.command = "run",
                              .options = options,
                              .seconds =
                                  fmax(with - without, 0) / TRIED * request->scenario->tails.steps * parts_processors(),
                              .find_missing = find_missing,
                              .user = &array};
    return slurm_array_run(&work, argc, argv, arena);
}
