/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/choice.h"

double choice_value(const struct choice *choice, const struct choice_job *job, uint32_t size)
{
    double value = choice->forward * job->objective[size],
           before = job->now <= job->most ? job->objective[job->now] : 0;
    if (size > job->now)
        value -= job->grow * (choice->grow_new ? job->objective[size] : before);
    else if (size < job->now)
        value -= job->shrink * before;
    return value;
}
