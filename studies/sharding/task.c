/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sharding/task.h"

double sharding_bytes(const struct sharding_task *task, const struct dlrm_placement *placement, uint32_t rank)
{
    double bytes = 0;
    for (uint32_t i = 0; i < task->count; i++) {
        struct dlrm_share share = dlrm_placement_share(placement, &task->tables[i], i, rank);
        if (share.any)
            bytes +=
                task->bytes[i] * (share.rows / task->tables[i].rows) * (share.width / (double)task->tables[i].width);
    }
    return bytes;
}

bool sharding_fits(const struct sharding_task *task, const struct dlrm_placement *placement)
{
    for (uint32_t rank = 0; rank < task->ranks && task->room > 0; rank++)
        if (sharding_bytes(task, placement, rank) > task->room)
            return false;
    return true;
}
