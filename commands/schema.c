/* SPDX-License-Identifier: Apache-2.0 */
#include "job/schema/schema.h"
#include "base/text/names.h"
#include "cluster/months/month.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "job/scenario/scenario_tables.h"

#include <stdio.h>

/* ---- what there is ---- */

static void write_month(FILE *out)
{
    schema_write_file(out, "a description of a month of jobs, for stagesim month", &month_section);
}

static void write_plan(FILE *out)
{
    schema_write_file(out, "the section `plan` of a scenario, in a file of its own", &plan_section);
}

static void write_prices(FILE *out)
{
    schema_write_file(out, "the section `prices` of a scenario, in a file of its own", &prices_section);
}

static const struct kind {
    const char *word;
    void (*write)(FILE *out);
} kinds[] = {{"scenario", schema_write_scenario},
             {"hardware", schema_write_hardware},
             {"framework", schema_write_profile},
             {"model", schema_write_model},
             {"month", write_month},
             {"plan", write_plan},
             {"prices", write_prices}};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- the command ---- */

static bool write_schema(FILE *out, void *user, struct fault *fault)
{
    const struct kind *kind = user;
    (void)fault;
    kind->write(out);
    return true;
}

static int run(const struct command *command, int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'}, {0}};
    const char *output = NULL;
    int code = EXIT_DONE;
    while (option_next(command, argc, argv, "o:", options, &code) != -1)
        output = optarg;
    if (code != EXIT_DONE)
        return code;
    const char *words[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        words[i] = kinds[i].word;
    struct names_text list;
    if (optind + 1 != argc)
        return command_usage(command, "expected one word, %s, got %d", names_list(&list, NULL, words, KINDS, NULL),
                             argc - optind);
    unsigned index = 0;
    if (!words_find(words, KINDS, argv[optind], &index))
        return words_unknown(command, "kind of file", argv[optind], words, KINDS);
    struct kind kind = kinds[index];
    return result_write(command->name, output, write_schema, &kind);
}

const struct command command_schema = {
    .name = "schema",
    .arguments = "KIND [OPTION]...",
    .summary = "prints the JSON Schema of scenarios and data files, for editors",
    .help = "Prints what a file may hold, as JSON Schema (draft 7), from the tables by which stagesim itself\n"
            "reads such files: keys with their meaning, words, units, and bounds. Editors complete and check\n"
            "files with it, see doc/schema.md. KIND is\n\n"
            "  scenario            a scenario\n"
            "  hardware            a product, GPU, cable, network card, library or network of one's own\n"
            "  framework           a framework's profile, also one that calibrate wrote\n"
            "  model               a model in a file of its own\n"
            "  month               a description of a month of jobs\n"
            "  plan, prices        these sections of a scenario, in a file of their own\n\n"
            "  -o, --output FILE   write it there; default: standard output\n\n"
            "example:\n  stagesim schema scenario -o scenario.schema.json\n",
    .run = run,
};
