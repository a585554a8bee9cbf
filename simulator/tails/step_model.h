/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn for a step, by whom it is of: everybody's numbers come from a stream of his own, so that one more of
 * them changes no other's. */
#ifndef STAGESIM_STEP_MODEL_H
#define STAGESIM_STEP_MODEL_H

#include "platforms/platform.h"
#include "simulator/tails/quick_draw.h"
#include "simulator/tails/step_net.h"
#include "simulator/tails/step_ready.h"
#include "simulator/tails/tails.h"

/* Steps that are drawn side by side. */
enum { STEP_LANES = 4 };

/* Nobody's: a rank that has no forward to pause in front of, a collective within a node. */
#define STEP_NONE UINT32_MAX

/* Of each computation's time the share that a class of kernels has. */
struct kernel_shares {
    const size_t *first;             /* [position]: its first operation in these lists */
    const double *of[TAILS_KERNELS]; /* [first + operation]; NULL: the settings say nothing of the class */
};

struct step_model {
    const struct step_net *net;
    const struct tails_settings *settings;
    const struct kernel_shares *shares;       /* NULL: the settings say nothing of kernels */
    uint32_t ranks, nodes, workers, replicas; /* of the mesh; hosts' nodes; pipeline workers; of the data axis */
    uint32_t micro_batches;
    struct quick_draw operation, forward, backward, weight, optimizer, message, collective; /* of the settings */
    struct quick_draw kernels[TAILS_KERNELS];
    uint32_t *hosts;         /* [rank]: in the platform */
    uint32_t *node_of;       /* [rank]: index into first_hosts */
    uint32_t *first_hosts;   /* [node]: the first of its hosts in the platform, which the node is known by */
    uint32_t *worker_of;     /* [rank]: worker * replicas + replica */
    uint32_t *peers;         /* [net node]: sends: the node that receives; STEP_NONE: the same one */
    bool *crosses;           /* [meeting]: its members are on several nodes */
    uint32_t *forwards;      /* net nodes of forwards, those of a rank behind each other */
    uint32_t *first_forward; /* [ranks + 1] */
    double *even;            /* [worker * 2 + backward]: what makes workers take equally long; NULL: they do */
    uint32_t last;           /* stage */
    double as_others[2]; /* [backward]: what makes the last stage take as long as the others on average; 1: it does */
    struct step_ready *ready; /* NULL: see step_ready_create */
    double *reference;        /* [stage * 2 + backward]: seconds of a micro-batch's; NULL: no trace */
};

/* hosts[rank] as of a job; shares as in the model. Memory from the arena; the others have to live as long. */
struct step_model *step_model_create(const struct step_net *net, const struct tails_settings *settings,
                                     const struct kernel_shares *shares, const struct platform *platform,
                                     const uint32_t *hosts, struct arena *arena);

/* Of a computation; 0: none, or the settings say nothing of the class. */
double step_model_share(const struct step_model *model, const struct step_task *task, int kernel);

/* Whether a change would change anything. */
bool step_model_has(const struct step_model *model, enum tails_change change);

/* The first setting from *next on that meets nothing in the job: what is drawn for it changes no step. Its name, with
 * *why filled in words and *next moved behind it; NULL: there is none. */
const char *step_model_idle(const struct step_model *model, size_t *next, const char **why);

/* A computation of a micro-batch: 0 forward, 1 backward; -1: another one. */
static inline int step_direction(const struct step_task *task)
{
    if (task->type != OPERATION_COMPUTE || task->micro_batch == MICRO_BATCH_NONE)
        return -1;
    return task->kind == STAGESIM_FORWARD                                     ? 0
           : task->kind == STAGESIM_BACKWARD || task->kind == STAGESIM_WEIGHT ? 1
                                                                              : -1;
}

#endif
