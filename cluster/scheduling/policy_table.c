/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/queue_state.h"

const struct queue_policy *const queue_policies[] = {&queue_fcfs,     &queue_easy,    &queue_conservative,
                                                     &queue_shortest, &queue_fair,    &queue_priority,
                                                     &queue_gang,     &queue_elastic, NULL};

const char *queue_policy_name(const struct queue_policy *policy)
{
    return policy->name;
}

const char *queue_policy_title(const struct queue_policy *policy)
{
    return policy->title;
}

const char *queue_policy_summary(const struct queue_policy *policy)
{
    return policy->summary;
}

const char *queue_policy_changes(const struct queue_policy *policy)
{
    return policy->changes;
}

bool queue_policy_preempts(const struct queue_policy *policy)
{
    return policy->preempts;
}

bool queue_policy_shares(const struct queue_policy *policy)
{
    return policy->shares;
}

bool queue_policy_endures(const struct queue_policy *policy)
{
    return policy->endures;
}

bool queue_policy_resizes(const struct queue_policy *policy)
{
    return policy->resizes;
}
