/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the fuzzer's dictionary: the words of the scenario's tables. */
#include "job/scenario/scenario_tables.h"
#include "schedules/schedule.h"
#include "simulator/collectives/algorithm.h"
#include "workloads/workload_table.h"

#include <stdio.h>

static void print_words(const char *const *words)
{
    for (; words && *words; words++)
        printf("\"%s\"\n", *words);
}

static void print_fields(const struct stagesim_field *fields)
{
    for (; fields && fields->key; fields++) {
        printf("\"%s: \"\n", fields->key);
        print_words(fields->names);
        if (fields->rows)
            print_fields(fields->rows->fields);
    }
}

int main(void)
{
    static const char *const texts[] = {"jobs:",    "scenario: ", "placement: rail",
                                        "copies: ", "start: ",    "jobs.a.",
                                        "1.5us",    "80GiB",      "400Gbps",
                                        "312Tf",    "0.6",        "parallel.pipeline=",
                                        "1e400",    ".nan",       "&a",
                                        "*a",       "!!int",      "---",
                                        "? ",       "- ",         "[",
                                        "]",        "{",          "}",
                                        NULL};
    const struct fields_section *const sections[] = {
        &root_section,   &parallel_section, &batch_section,    &schedule_section, &communication_section,
        &search_section, &plan_section,     &prices_section,   &output_section,   &simgrid_section,
        &memory_section, &power_section,    &training_section, &failures_section, &checkpoint_section,
        &tails_section,  &imported_section};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        print_fields(sections[i]->fields);
    for (const struct collective_algorithm *const *algorithm = collective_algorithms; *algorithm; algorithm++)
        printf("\"%s\"\n", (*algorithm)->name);
    print_words(section_names);
    print_words(axis_names);
    print_words(texts);
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        printf("\"%s\"\n", (*schedule)->name);
        for (const struct schedule_option *option = (*schedule)->options; option && option->key; option++) {
            printf("\"%s: \"\n", option->key);
            print_words(option->names);
        }
    }
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++) {
        printf("\"%s\"\n", (*workload)->name);
        print_fields((*workload)->fields);
    }
    return 0;
}
