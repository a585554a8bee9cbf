/* SPDX-License-Identifier: Apache-2.0 */
/* An optimizer whose state is in the host's memory, and whose step is the host's (ZeRO-Offload: Ren et al. 2021, arXiv
 * 2101.06840): gradients go there, weights come back, and the state moves in that memory. One after the other. */
#include "workloads/transformer/transformer.h"

double transformer_offload_seconds(const struct transformer_job *j, double parameters)
{
    const struct transformer_parameters *p = j->parameters;
    double moved = parameters * p->optimizer_offload;
    if (!(moved > 0))
        return 0;
    return moved * (j->layout.gradient_bytes + j->state.weight) / p->offload_rate +
           moved * j->state.update / p->host_bandwidth;
}

bool transformer_check_offload(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    const char *wrong = NULL;
    if (!(p->optimizer_offload > 0))
        return true;
    if (!(p->host_bandwidth > 0))
        wrong = "the host's step takes as long as its memory needs: expected transformer.host_bandwidth as well";
    else if (p->optimizer == OPTIMIZER_MUON)
        wrong =
            "products of Muon on a host are not known: expected another optimizer, or none of its state on the host";
    if (wrong)
        j->api->error(j->job, "optimizer_offload", "%s", wrong);
    return !wrong;
}
