/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs and how many parameter servers are worth their while, by two rules of thumb (Zou et al., "Distributed
 * Training Large-Scale Deep Architectures", arXiv 1709.06622), beside the simulation. The paper states that there are
 * such rules; the formulas here are stagesim's own derivation, see doc/layouts.md. */
#ifndef STAGESIM_SPEEDUP_H
#define STAGESIM_SPEEDUP_H

#include "job/scenario/scenario.h"

/* ---- the rules ---- */

/* With R = overhead / computing of one GPU, where the overheads of several follow each other: G GPUs are as fast as
 * this many of them, at most that many, and this share of G. */
double speedup_of(double ratio, double gpus);
double speedup_limit(double ratio); /* (1 + R) / R; infinite without overhead */
double speedup_efficiency(double ratio, double gpus);
/* The GPUs, as a real number, that reach an efficiency above 0 and at most 1; infinite without overhead. */
double speedup_gpus(double ratio, double efficiency);
/* The parameter servers, as a real number, whose links carry what all workers exchange while these compute: `exchanged`
 * bytes that a worker sends and receives in a round, `bandwidth` of a server's link, `computing` seconds of a round. */
double speedup_servers(double exchanged, double workers, double bandwidth, double computing);

/* ---- the advice ---- */

struct speedup_row {
    uint32_t count;   /* GPUs, or servers */
    double predicted; /* GPUs: the speed-up; servers: the seconds below which their links let no round end */
    double iteration; /* simulated seconds; NaN: not simulated */
    double simulated; /* GPUs: the speed-up of the simulation; NaN likewise */
};

enum { SPEEDUP_ROWS = 24 };

struct speedup_advice {
    uint32_t workers;                      /* of the scenario */
    double computing, overhead, ratio;     /* seconds of an iteration of one GPU: computing, and not hidden; R */
    struct speedup_row gpus[SPEEDUP_ROWS]; /* 1, 2, 4, ... and as many as the scenario has */
    size_t gpu_count;
    double exchanged, bandwidth, servers; /* bytes, bytes per second; servers needed; bandwidth 0: not known */
    struct speedup_row server_rows[SPEEDUP_ROWS];
    size_t server_count; /* 0 where the scenario has no servers of their own */
    bool stopped;        /* before all of it was simulated */
};

/* Simulates a data-parallel scenario of the workload layers with one GPU and with at most `top` other numbers of them,
 * then with as many numbers of servers. Returns an exit code after every mistake was reported on standard error. Stops
 * early when the command awaits interruptions and one comes. */
int speedup_advise(const struct scenario *scenario, size_t top, struct speedup_advice *advice);

#endif
