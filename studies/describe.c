/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/describe.h"

void job_describe(const struct job *job, struct run_description *run)
{
    const struct scenario *scenario = job->scenario;
    *run = (struct run_description){.scenario_file = scenario->file,
                                    .scenario_name = scenario->name,
                                    .platform_file = scenario->platform.text,
                                    .workload = scenario->workload->name,
                                    .schedule = scenario->schedule_name,
                                    .micro_batch_size = (double)scenario->micro_batch_size,
                                    .figures = job->figures,
                                    .asynchronous = job->asynchronous,
                                    .staleness = job->staleness,
                                    .hosts = job->hosts,
                                    .reserve = scenario->reserve};
}
