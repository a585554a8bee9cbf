/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/replay.h"

#include <stdlib.h>

void replay_destroy(struct replay *replay)
{
    if (!replay)
        return;
    free(replay->jobs);
    free(replay->decisions);
    free(replay->changes);
    free(replay->stays);
    free(replay);
}

double replay_efficiency(const struct replay *replay)
{
    return replay->dedicated > 0 ? replay->work / replay->dedicated : 0;
}

double replay_attainment(const struct replay *replay)
{
    return replay->best > 0 ? replay->work / replay->best : 0;
}
