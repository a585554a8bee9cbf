/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of a batch system: which jobs came when, how large they were and how long they ran. Read from the Standard
 * Workload Format, from what Slurm's `sacct -P` prints, from published logs of GPU clusters (Helios, Acme, Philly,
 * Alibaba's PAI and Lingjun), or from a table of our own (doc/arrival-logs.md). */
#ifndef STAGESIM_ARRIVAL_LOG_H
#define STAGESIM_ARRIVAL_LOG_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;

enum arrival_format {
    ARRIVALS_SWF,
    ARRIVALS_SACCT,
    ARRIVALS_CSV,
    ARRIVALS_HELIOS,
    ARRIVALS_PHILLY,
    ARRIVALS_PAI,
    ARRIVALS_LINGJUN,
    ARRIVALS_UNKNOWN
};
extern const char *const arrival_format_names[ARRIVALS_UNKNOWN + 1]; /* "swf", "sacct", ..., NULL */

/* How a job came to its end. */
enum arrival_status { STATUS_UNKNOWN, STATUS_DONE, STATUS_FAILED, STATUS_CANCELLED, ARRIVAL_STATUSES };
extern const char *const arrival_status_names[ARRIVAL_STATUSES + 1]; /* "", "done", "failed", "cancelled", NULL */

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
    enum arrival_status status;
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

/* A file in memory; its name stands in messages. */
struct arrival_text {
    const char *name, *text;
    size_t size;
};

/* Reads text in memory; memory from the arena. ARRIVALS_UNKNOWN: the format is told from the text. `beside` is a second
 * file, which PAI and Lingjun have; NULL: there is none. NULL after mistakes, all of which are reported, also where no
 * job ran. */
struct arrival_log *arrival_log_parse(const struct arrival_text *text, const struct arrival_text *beside,
                                      enum arrival_format format, struct arena *arena, struct diag *diag);
/* The same for a file; why it cannot be read at all is reported at `at`. */
struct arrival_log *arrival_log_load(const char *file, struct place at, enum arrival_format format, struct arena *arena,
                                     struct diag *diag);

/* ---- between the readers ---- */

struct arrival_reader {
    struct arrival_log *log;
    const char *text, *end;
    const struct arrival_text *beside; /* NULL: there is none */
    size_t capacity;                   /* of log->arrivals */
    struct arena *arena;
    struct diag *diag;
};

/* Room for one more job, all unknown but its place; belongs to the log once log->count is raised. */
struct arrival *arrival_log_room(struct arrival_reader *reader, unsigned line);
void arrival_read_swf(struct arrival_reader *reader);
void arrival_read_sacct(struct arrival_reader *reader);
void arrival_read_csv(struct arrival_reader *reader);
void arrival_read_helios(struct arrival_reader *reader);
void arrival_read_philly(struct arrival_reader *reader);
void arrival_read_pai(struct arrival_reader *reader);
void arrival_read_lingjun(struct arrival_reader *reader);

/* What others call it: COMPLETED, Pass, Terminated, Succeeded; CANCELLED, Killed, Stopped; whatever else there is has
 * failed, and nothing is unknown. */
enum arrival_status arrival_status_of(const char *text, size_t size);

#endif
