/* SPDX-License-Identifier: Apache-2.0 */
/* Variants of a scenario, as --schedules and --what-if name them. */
#ifndef STAGESIM_VARIANTS_H
#define STAGESIM_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* The words of --schedules: "all", or names and schedule files separated by commas. `labels` are what they are called:
 * a file by its name without .csv. Memory from the arena. False after every mistake was reported on standard error. */
struct schedule_words {
    const char **words, **labels; /* [count] */
    size_t count;
    bool all;
};
bool variants_schedules(const char *text, struct schedule_words *words, struct arena *arena);

/* "NAME: CHANGE, ...", "CHANGE, ..." or a name alone, which changes nothing. Memory from the arena. */
struct what_if_words {
    const char *label;
    const char *set; /* as --set takes it: what_if=["nic=0.5", ...] */
};
struct what_if_words variants_what_if(const char *text, struct arena *arena);

#endif
