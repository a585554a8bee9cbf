/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim serve` needs of main, and what it says of itself, also where it is not there. */
#ifndef STAGESIM_SERVE_H
#define STAGESIM_SERVE_H

#include "commands/cli/command.h"

/* The commands that requests may name, NULL behind the last; serve itself is none of them. They stay the caller's. */
void serve_offer(const struct command *const *commands);

#define SERVE_ARGUMENTS "--stdio [OPTION]..."
#define SERVE_SUMMARY "answer requests of a program, one JSON object a line"
#define SERVE_HELP                                                                                                     \
    "Reads requests from standard input and writes answers to standard output, one JSON object a line: for\n"          \
    "programs that ask often. doc/serve.md has the members of both. It never opens a network port.\n\n"                \
    "  --stdio          requests come from standard input, and end with it\n"                                          \
    "  --jobs N         requests that run at the same time (as many as processors)\n"                                  \
    "  --seconds S      a request that takes longer is ended\n"                                                        \
    "  --megabytes M    memory of a request's process\n"                                                               \
    "\nexample:\n  stagesim serve --stdio --seconds 60\n"

#endif
