/* SPDX-License-Identifier: Apache-2.0 */
/* When a task ran. Seconds, or any one unit. */
#ifndef STAGESIM_MOMENT_H
#define STAGESIM_MOMENT_H

struct moment {
    double start;      /* its stream reached it and what it waits for was done: it is posted */
    double data_start; /* send, receive, collective: data began to move; otherwise equal to start */
    double end;
};

#endif
