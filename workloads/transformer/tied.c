/* SPDX-License-Identifier: Apache-2.0 */
/* A token embedding that the first stage and the last one need: the output's projection where it is tied, inputs of
 * layers that predict further tokens. Where the two stages are on the same workers there is one; otherwise each has a
 * copy, and their gradients are added up (Megatron-LM, _allreduce_word_embedding_grads of
 * megatron/core/distributed/finalize_model_grads.py and the embedding group of megatron/core/parallel_state.py; one
 * copy: DeepSeek-V3, arXiv 2412.19437, section 3.2.3). */
#include "base/arena.h"
#include "workloads/transformer/transformer.h"

#include <stdlib.h>

static bool holds(const uint32_t *workers, uint32_t count, uint32_t worker)
{
    for (uint32_t i = 0; i < count; i++)
        if (workers[i] == worker)
            return true;
    return false;
}

/* Whether two stages are on the same workers. Where weights travel, each stage's go with all that it needs. */
static bool together(const struct transformer_job *j, uint32_t a, uint32_t b)
{
    uint32_t *workers = array_zeroed(2 * (size_t)j->workers, sizeof *workers);
    if (!workers || j->api->weights_travel(j->job)) {
        free(workers);
        return false;
    }
    uint32_t *others = workers + j->workers, count = j->api->stage_workers(j->job, a, workers, j->workers);
    bool same = count > 0 && j->api->stage_workers(j->job, b, others, j->workers) == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = holds(workers, count, others[i]);
    free(workers);
    return same;
}

void transformer_find_copies(struct transformer_job *j)
{
    bool needed = j->model.tied || j->model.predictions;
    j->embedding_copied = needed && j->stages > 1 && !together(j, 0, j->stages - 1);
}

static double matrix(const struct transformer_job *j)
{
    return transformer_vocabulary_matrix(&j->model) / tensor_weight_parts(&j->tensor);
}

double transformer_further_embedding(const struct transformer_job *j)
{
    return j->embedding_copied && !j->model.tied ? matrix(j) : 0;
}

/* Megatron-LM all-reduces the gradient as it is summed up: all of it with zero 1, though a rank uses its own part then;
 * with zero 2 and 3 ranks hold their parts alone. */
double transformer_tied_gradient(const struct transformer_job *j)
{
    if (!j->embedding_copied || j->parameters->adapter_rank)
        return 0;
    return matrix(j) * j->layout.gradient_bytes / (j->zero >= 2 ? j->sharing : 1);
}
