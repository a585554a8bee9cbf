/* SPDX-License-Identifier: Apache-2.0 */
/* A request to `stagesim serve --stdio`: a line with one JSON object, as doc/serve.md says, which becomes the words of
 * a command line. */
#ifndef STAGESIM_SERVE_REQUEST_H
#define STAGESIM_SERVE_REQUEST_H

#include "base/diagnostics.h"
#include "commands/cli/command.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct request {
    const char *id;                /* as JSON: a text in quotes, a number, or "null" where the line has none */
    const struct command *command; /* NULL: another request is cancelled */
    const char *of;                /* the id of that one, as JSON */
    char **words;                  /* argv of the command, whose name comes first; NULL behind the last */
    int word_count;
    double seconds, megabytes; /* limits; 0: none is given */
};

/* Reads a line of that size, without its end. A request names one of the commands, NULL behind the last, but not
 * `serve`. `empty` is the file of a scenario that has no keys: one that is given as
 * an object is made of it. Memory comes from the arena. False with the fault filled when it cannot be meant; the id is
 * then the line's, if it was read. */
bool request_read(const char *line, size_t size, const struct command *const *commands, const char *empty,
                  struct request *request, struct arena *arena, struct fault *fault);

#endif
