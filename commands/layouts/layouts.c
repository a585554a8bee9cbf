/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/process/interruption.h"
#include "commands/cli/command.h"
#include "commands/cli/words.h"
#include "commands/layouts/method.h"
#include "job/scenario/scenario.h"

#include <string.h>

const struct layout_method *const layout_methods[] = {
    &layout_method_axonn,  &layout_method_analytic, &layout_method_advice, &layout_method_accpar,
    &layout_method_hypar,  &layout_method_owt,      &layout_method_data,   &layout_method_mcmc,
    &layout_method_search, &layout_method_balanced, &layout_method_greedy, NULL};

enum { METHODS_MAX = sizeof layout_methods / sizeof *layout_methods };

/* Whether there is a method of the name that was typed; a mistake of usage where not. */
static bool check_name(const struct command *command, const char *name)
{
    const char *names[METHODS_MAX];
    unsigned count = 0, place;
    for (; layout_methods[count]; count++)
        names[count] = layout_methods[count]->name;
    return !name || words_find(names, count, name, &place) ||
           words_unknown(command, "method of layouts", name, names, count) == EXIT_DONE;
}

/* "a", "a or b", "a, b or c" of the methods of a workload, or of all workloads that have methods (NULL). */
static const char *name_all(const char *workload, struct arena *arena)
{
    const char *words[METHODS_MAX], *text = "";
    size_t count = 0;
    for (const struct layout_method *const *m = layout_methods; *m; m++)
        if (workload ? !strcmp((*m)->workload, workload)
                     : m == layout_methods || strcmp((*m)->workload, m[-1]->workload))
            words[count++] = workload ? (*m)->name : (*m)->workload;
    for (size_t i = 0; i < count; i++)
        text = arena_print(arena, "%s%s%s", text, !i ? "" : i + 1 == count ? " or " : ", ", words[i]);
    return text;
}

/* The method that was named, or the first one of the scenario's workload; NULL after it was reported that there is
 * none. */
static const struct layout_method *choose(const struct scenario *scenario, const char *name, struct arena *arena)
{
    const char *workload = scenario->workload->name;
    struct diag diag = {.out = stderr};
    for (const struct layout_method *const *m = layout_methods; *m; m++)
        if (!strcmp((*m)->workload, workload) && (!name || !strcmp((*m)->name, name)))
            return *m;
    const char *own = name_all(workload, arena);
    if (*own)
        diag_error(&diag, scenario_place(scenario, "workload"),
                   "--method %s does not lay out the workload %s; expected --method %s", name, workload, own);
    else
        diag_error(&diag, scenario_place(scenario, "workload"), "layouts are those of the workload %s, not of %s",
                   name_all(NULL, arena), workload);
    return NULL;
}

/* Whether the method takes all options that were given; a mistake of usage where not. */
static bool check_options(const struct command *command, const struct layout_method *method,
                          const struct options *options)
{
    for (int letter = 0; letter < OPTION_LETTERS; letter++)
        if (options->given[letter] && letter != 'l' - 'a' && !strchr(method->takes, 'a' + letter)) {
            command_usage(command, "%s is not for --method %s", options->given[letter], method->name);
            return false;
        }
    return true;
}

static int find_and_print(const struct command *command, const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL,
                                       options->plugins,  .study = true};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    const struct layout_method *method = scenario ? choose(scenario, options->method, arena) : NULL;
    if (!method)
        return EXIT_BAD_INPUT;
    if (!check_options(command, method, options))
        return EXIT_USAGE;
    if (!options->quiet)
        scenario_tell_imported(scenario, &diag);
    interruption_await();
    return method->run(options, scenario, arena);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "flkwdm", argc, argv, arena, &options) && check_name(command, options.method))
        code = options.file_count == 1 ? find_and_print(command, &options, arena)
                                       : command_usage(command, "expected one scenario, got %d", options.file_count);
    arena_destroy(arena);
    interruption_end();
    interruption_forget();
    return code;
}

const struct command command_layouts = {
    .name = "layouts",
    .arguments =
        "SCENARIO [--method axonn|analytic|advice|accpar|hypar|owt|data|mcmc|search|balanced|greedy] [--top K] "
        "[-o FILE] [OPTION]...",
    .summary = "compares ways to divide a job: layouts, divisions of layers, places of tables",
    .help =
        "Of the workload transformer: takes the ranks that the scenario has along x, y, z, tensor and data, and tries "
        "every way to\n"
        "share them out to AxoNN's four dimensions (tensor_parallel: {algorithm: axonn-3d}), with the same samples and "
        "micro-batches.\n"
        "Prints for each what AxoNN's communication model, the analytic engine and, for the first K that fit in "
        "memory, SimGrid say.\n"
        "Of the workload layers: says how many GPUs and parameter servers are worth their while (advice), divides "
        "layers among\n"
        "devices of several kinds, in unequal shares where that is faster (accpar and others), or searches for a "
        "split of every\n"
        "layer (mcmc).\n"
        "Of the workload dlrm: places embedding tables on ranks in several ways, and times them.\n"
        "\n"
        "  --method axonn|analytic          by what the layouts are ordered (axonn)\n"
        "  --method advice                  layers: rules for the number of GPUs and servers, beside simulations of up "
        "to K + 1 numbers\n"
        "  --method accpar|hypar|owt|data   layers: by what each layer is divided; all of these methods are simulated\n"
        "  --method mcmc                    layers: a split of every layer, found by Markov chain Monte Carlo\n"
        "  --method search|balanced|greedy  dlrm: whole tables (greedy); these, and tables cut by rows (balanced); "
        "these, and a local search (search)\n"
        "  -o FILE                          dlrm: write the fastest sharding found; layers: write the division, for "
        "the key split\n"
        "  --budget N                       mcmc: how many strategies are evaluated, over all starts (20000)\n"
        "  --restarts R                     mcmc: number of random starts, in addition to data parallelism and the "
        "strategy of experts (1)\n"
        "  --seed N                         mcmc: seed of the random numbers (0)\n"
        "  --temperature TIME               mcmc: a proposal that is slower by TIME is accepted once in e times "
        "(iteration/100)\n"
        "  --links shared|apart             mcmc: whether messages wait for links that others use (shared), or not "
        "(apart)\n"
        "  --time-limit TIME                mcmc: stop then, with the best so far\n"
        "  --top K                          how many SimGrid simulates and the table shows; 0: none are simulated, 20 "
        "are shown (10)\n"
        "  --format table|csv|json|latex|markdown   what is printed; csv and json have all layouts\n"
        "  --set KEY=VALUE                  any scenario value by its dotted path; repeatable\n"
        "\n"
        "example:\n"
        "  stagesim layouts scenarios/axonn.yaml --top 5\n"
        "  stagesim layouts scenarios/parameter-server.yaml --method advice\n"
        "  stagesim layouts scenarios/dlrm.yaml --method search -o sharding.csv\n"
        "  stagesim layouts scenarios/accpar.yaml --method accpar -o strategy.yaml\n"
        "  stagesim layouts scenarios/nmt.yaml --method mcmc --budget 60000 -o strategy.yaml\n",
    .run = run,
};
