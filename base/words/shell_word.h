/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGESIM_SHELL_WORD_H
#define STAGESIM_SHELL_WORD_H

struct arena;

/* A word for a shell, in quotes where it wants them. Memory from the arena. */
const char *shell_word(const char *word, struct arena *arena);

#endif
