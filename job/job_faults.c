/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a job, said at the place of the key that is to blame. */
#include "job/job_parts.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void job_error(struct stagesim_job *job, const char *key, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diag_error(job->diag, scenario_blame(job->scenario, key, message), "%s", message);
}

static void tell(struct stagesim_job *building, const char *text)
{
    enum { NOTES_MAX = 16 };
    struct job *job = building->job;
    for (size_t i = 0; i < job->note_count; i++)
        if (!strcmp(job->notes[i], text))
            return;
    if (!job->notes)
        job->notes = arena_array(building->arena, NOTES_MAX, sizeof *job->notes);
    if (job->note_count < NOTES_MAX)
        job->notes[job->note_count++] = text;
}

void job_tell(struct stagesim_job *building, const char *path, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    tell(building, arena_print(building->arena, "%s: %s", path, message));
}

void job_note(struct stagesim_job *building, const char *key, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *workload = building->scenario->workload->name;
    bool whole = !key || strchr(key, '.');
    tell(building, whole ? arena_print(building->arena, "%s: %s", key ? key : workload, message)
                         : arena_print(building->arena, "%s.%s: %s", workload, key, message));
}

bool job_expect(struct stagesim_job *job, bool fine, const char *format, ...)
{
    if (fine || job->refused)
        return fine && !job->refused;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job_error(job, NULL, "the workload builds no valid program: %s", text);
    job->refused = true;
    return false;
}
