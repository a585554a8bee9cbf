/* SPDX-License-Identifier: Apache-2.0 */
/* Messages by which nobody learns what is wrong: a finding. */
#ifndef TEST_WORDS_H
#define TEST_WORDS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void give_up(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* Conversions that SimGrid and the standard library give up at without saying what was converted, and what is said of a
 * process that crashed. `text` is a message without its place. */
static inline void check_words(const char *text)
{
    static const char *const starts[] = {"the simulation's process", "the process called exit", "nonsense in a route"};
    static const char *const whole[] = {"stod", "stoi", "stol", "map::at", "std::bad_alloc"};
    if (!*text)
        give_up("no message", "");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            give_up("a process crashed", text);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(text, whole[i]) == 0)
            give_up("a message that says nothing", text);
}

#endif
