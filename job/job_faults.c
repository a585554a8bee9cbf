/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a job, said at the place of the key that is to blame. */
#include "job/job_parts.h"

#include <stdarg.h>
#include <stdio.h>

void job_error(struct stagesim_job *job, const char *key, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    diag_error(job->diag, scenario_blame(job->scenario, key, message), "%s", message);
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
