/* SPDX-License-Identifier: Apache-2.0 */
/* How a command, or a process that works for it, ends. */
#ifndef STAGESIM_EXIT_CODE_H
#define STAGESIM_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_BAD_INPUT = 1, /* the user's files or values are wrong; nothing was written */
    EXIT_USAGE = 2,     /* the command line is wrong */
    EXIT_FAILED = 3,    /* the simulation failed, or trouble outside the input */
    EXIT_CLOSED = 44,   /* of a process that works for it: a plug-in closed descriptors that are not its own */
    EXIT_AHEAD = 45     /* of such a process: it has simulated one iteration, and the next may take another time */
};

#endif
