/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of a batch system: which jobs came when, how large they were and how long they ran. Read from the Standard
 * Workload Format, from what Slurm's `sacct -P` prints, from published logs of GPU clusters, or from a table of our own
 * (doc/arrival-logs.md). */
#ifndef STAGESIM_ARRIVAL_LOG_H
#define STAGESIM_ARRIVAL_LOG_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

enum arrival_format { ARRIVALS_SWF, ARRIVALS_SACCT, ARRIVALS_CSV, ARRIVALS_HELIOS, ARRIVALS_UNKNOWN };
extern const char *const arrival_format_names[ARRIVALS_UNKNOWN + 1]; /* "swf", "sacct", ..., NULL */

/* One job. What the log does not say is negative, or 0 where it is a count, or NULL. */
struct arrival {
    const char *name;    /* as the log numbers or calls it */
    const char *kind;    /* column `type` of our own table */
    const char *user;    /* who it is of */
    double submit;       /* seconds since the log's time 0 */
    double wait;         /* seconds that it waited then */
    double run;          /* seconds that it ran */
    double limit;        /* seconds that it had asked for */
    double iterations;   /* column `iterations` of our own table */
    uint32_t priority;   /* the higher the sooner */
    uint32_t nodes;      /* 0: `processors` says */
    uint32_t processors; /* SWF: processors; sacct: GPUs, or CPUs of a job without */
    struct place at;
};

struct arrival_log {
    const char *file;
    enum arrival_format format;
    struct arrival *arrivals; /* count of them, by submit time; those of the same time in the order of the file */
    size_t count;
    size_t passed_over; /* jobs that never ran, or still do; parts of jobs */
    uint32_t nodes;     /* of the machine, where the log says so; 0: it does not */
    uint32_t processors;
};

/* What is longer, or later, is refused: seconds. */
#define ARRIVAL_SECONDS_MAX 1e10
/* Larger files are refused; bytes. */
#define ARRIVAL_BYTES_MAX ((size_t)512 << 20)

/* Reads text in memory, which stays until the log is used no more; memory from the arena. ARRIVALS_UNKNOWN: the format
 * is told from the text. `name` stands in messages. NULL after mistakes, all of which are reported, also where no job
 * ran. */
struct arrival_log *arrival_log_parse(const char *name, const char *text, size_t size, enum arrival_format format,
                                      struct arena *arena, struct diag *diag);
/* The same for a file; why it cannot be read at all is reported at `at`. */
struct arrival_log *arrival_log_load(const char *file, struct place at, enum arrival_format format, struct arena *arena,
                                     struct diag *diag);

/* ---- between the readers ---- */

struct arrival_reader {
    struct arrival_log *log;
    const char *text, *end;
    size_t capacity; /* of log->arrivals */
    struct arena *arena;
    struct diag *diag;
};

/* Room for one more job, all unknown but its place; belongs to the log once log->count is raised. */
struct arrival *arrival_log_room(struct arrival_reader *reader, unsigned line);
void arrival_read_swf(struct arrival_reader *reader);
void arrival_read_sacct(struct arrival_reader *reader);
void arrival_read_csv(struct arrival_reader *reader);
void arrival_read_helios(struct arrival_reader *reader);

#endif
