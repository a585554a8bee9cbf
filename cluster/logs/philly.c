/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_job_log of Philly (Microsoft, ATC 2019): a list of jobs in JSON, each with its attempts and their GPUs. A job
 * runs for as long as all of its attempts did. */
#include "base/arena.h"
#include "base/json/json_reader.h"
#include "cluster/logs/arrival_time.h"

#include <math.h>
#include <string.h>

struct job {
    const char *name, *user;
    double submit, start, run; /* seconds; negative: not known */
    bool open;                 /* its last attempt has not ended */
    uint32_t gpus;             /* of the largest attempt */
    enum arrival_status status;
};

/* Text in memory as a source of JSON. */
static size_t give(void *user, char *buffer, size_t size, struct fault *fault)
{
    struct arrival_reader *reader = user;
    (void)fault;
    size_t left = (size_t)(reader->end - reader->text), taken = left < size ? left : size;
    memcpy(buffer, reader->text, taken);
    reader->text += taken;
    return taken;
}

/* The value of a key as a time; negative: null, "None" or nothing. */
static double time_of(struct json_reader *json)
{
    double seconds = -1;
    size_t size = 0;
    enum json_piece piece = json_next(json);
    if (piece == JSON_NULL)
        return -1;
    const char *text = piece == JSON_STRING ? json_piece_text(json, &size) : "";
    if (piece != JSON_STRING ||
        (size > 0 && strcmp(text, "None") != 0 && !arrival_time(text, size, ' ', false, &seconds)))
        json_refuse(json, "no time; expected one such as \"2017-10-07 01:11:39\", or null");
    return seconds;
}

/* Whether another piece of this kind comes in the list or object that was begun; otherwise it has ended: all else is
 * refused. */
static bool more(struct json_reader *json, enum json_piece wanted, const char *what)
{
    enum json_piece piece = json_next(json);
    if (piece != wanted && piece != (wanted == JSON_KEY ? JSON_OBJECT_END : JSON_ARRAY_END))
        json_refuse(json, "expected %s, or the end of the %s", what, wanted == JSON_KEY ? "object" : "list");
    return piece == wanted;
}

/* NULL: null, or nothing. */
static const char *text_of(struct json_reader *json, struct arena *arena)
{
    size_t size;
    enum json_piece piece = json_next(json);
    if (piece != JSON_STRING && piece != JSON_NULL)
        json_refuse(json, "expected a text, or null");
    if (piece != JSON_STRING)
        return NULL;
    const char *text = json_piece_text(json, &size);
    return size ? arena_print(arena, "%.64s", text) : NULL;
}

/* How many GPUs a server gave. */
static uint32_t read_server(struct json_reader *json)
{
    uint32_t gpus = 0;
    while (more(json, JSON_KEY, "a key")) {
        if (strcmp(json_piece_text(json, NULL), "gpus") != 0) {
            json_skip(json);
            continue;
        }
        if (json_next(json) != JSON_ARRAY_BEGIN) {
            json_refuse(json, "gpus are no list; expected one such as [\"gpu0\"]");
            return 0;
        }
        while (more(json, JSON_STRING, "the name of a GPU"))
            gpus++;
    }
    return gpus;
}

static void read_attempt(struct json_reader *json, struct job *job)
{
    double start = -1, end = -1;
    uint64_t gpus = 0;
    while (more(json, JSON_KEY, "a key")) {
        const char *key = json_piece_text(json, NULL);
        bool starts = !strcmp(key, "start_time"), detail = !strcmp(key, "detail");
        if (starts || !strcmp(key, "end_time"))
            *(starts ? &start : &end) = time_of(json);
        else if (!detail)
            json_skip(json);
        else if (json_next(json) == JSON_ARRAY_BEGIN)
            while (more(json, JSON_OBJECT_BEGIN, "a server with its GPUs"))
                gpus += read_server(json);
        else
            json_refuse(json, "detail is no list of servers");
    }
    job->open = end < 0;
    if (start < 0 || end < start)
        return;
    job->run = fmax(0, job->run) + end - start;
    job->start = job->start < 0 ? start : fmin(job->start, start);
    if (gpus > job->gpus)
        job->gpus = (uint32_t)fmin((double)gpus, UINT32_MAX);
}

static void read_key(struct arrival_reader *reader, struct json_reader *json, struct job *job)
{
    char key[32];
    strncpy(key, json_piece_text(json, NULL), sizeof key - 1);
    key[sizeof key - 1] = '\0';
    if (!strcmp(key, "jobid"))
        job->name = text_of(json, reader->arena);
    else if (!strcmp(key, "user"))
        job->user = text_of(json, reader->arena);
    else if (!strcmp(key, "submitted_time"))
        job->submit = time_of(json);
    else if (!strcmp(key, "status")) {
        const char *status = text_of(json, reader->arena);
        job->status = arrival_status_of(status, status ? strlen(status) : 0);
    } else if (strcmp(key, "attempts") != 0)
        json_skip(json);
    else if (json_next(json) == JSON_ARRAY_BEGIN)
        while (more(json, JSON_OBJECT_BEGIN, "an attempt"))
            read_attempt(json, job);
    else
        json_refuse(json, "attempts are no list");
}

/* Jobs without an attempt that ran, or without GPUs, and those that still ran are passed over. */
static void take(struct arrival_reader *reader, const struct job *job, unsigned line)
{
    if (job->submit < 0) {
        diag_error(reader->diag, (struct place){reader->log->file, line, 1}, "the job has no submitted_time");
        return;
    }
    if (!(job->run > 0) || job->open || job->gpus == 0) {
        reader->log->passed_over++;
        return;
    }
    struct arrival *arrival = arrival_log_room(reader, line);
    reader->log->count++;
    arrival->name = job->name ? job->name : arena_print(reader->arena, "%zu", reader->log->count);
    arrival->user = job->user;
    arrival->submit = job->submit;
    arrival->wait = fmax(0, job->start - job->submit);
    arrival->run = job->run;
    arrival->processors = job->gpus;
    arrival->status = job->status;
}

void arrival_read_philly(struct arrival_reader *reader)
{
    struct json_reader *json = json_reader_create(reader->log->file, give, reader);
    struct place at;
    bool trouble;
    if (json_next(json) != JSON_ARRAY_BEGIN)
        json_refuse(json, "expected a list of jobs, as cluster_job_log has it");
    while (more(json, JSON_OBJECT_BEGIN, "a job")) {
        struct job job = {.submit = -1, .start = -1, .run = -1};
        unsigned line = json_place(json).line;
        while (more(json, JSON_KEY, "a key"))
            read_key(reader, json, &job);
        if (!json_reader_failed(json, &at, &trouble))
            take(reader, &job, line);
    }
    json_next(json); /* which finds what stands behind the list */
    const char *wrong = json_reader_failed(json, &at, &trouble);
    if (wrong)
        diag_error(reader->diag, at, "%s", wrong);
    json_reader_destroy(json);
    arrival_shift(reader->log);
}
