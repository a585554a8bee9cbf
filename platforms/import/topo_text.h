/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that tools print for people, as they are pasted: words of lines with their places, without escape sequences
 * of terminals and without the '#' before commented lines. */
#ifndef STAGESIM_TOPO_TEXT_H
#define STAGESIM_TOPO_TEXT_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

struct topo_word {
    const char *text; /* in the arena */
    unsigned column;  /* counted from 1, in the file as it is */
};

struct topo_line {
    struct topo_word *words;
    uint32_t count;
    unsigned number; /* counted from 1 */
};

struct topo_text {
    const char *name;        /* the file's in messages */
    struct topo_line *lines; /* those with words */
    uint32_t count;
    bool comments; /* '#' begins one, to the end of the line */
    struct arena *arena;
    struct fault *fault;
};

/* Memory from the arena. */
void topo_text_split(struct topo_text *text, const char *from, size_t size);
/* Fills the fault with a mistake at a word, or behind the last word of a line; returns false. */
__attribute__((format(printf, 4, 5))) bool topo_text_mistake(const struct topo_text *text, const struct topo_line *line,
                                                             uint32_t word, const char *format, ...);

/* Whether a word is letters and a number: "GPU", "GPU12". */
bool topo_is_numbered(const char *word, const char *letters);

#endif
