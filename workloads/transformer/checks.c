/* SPDX-License-Identifier: Apache-2.0 */
/* What has to hold among the keys. */
#include "workloads/transformer/kinds/tower.h"
#include "workloads/transformer/transformer.h"

#include <math.h>

static bool check_divided_by(const struct transformer_job *j, const char *key, uint64_t value, const char *what,
                             uint32_t ranks)
{
    if (value % ranks == 0)
        return true;
    j->api->error(j->job, key, "%s %llu cannot be divided over %u tensor-parallel ranks", what,
                  (unsigned long long)value, ranks);
    return false;
}

static bool check_divisible(const struct transformer_job *j, const char *key, uint64_t value, const char *what)
{
    return check_divided_by(j, key, value, what, (uint32_t)j->layout.tensor);
}

static bool check_count(const struct transformer_job *j, const char *key, double count, uint64_t stated)
{
    if (!stated || (double)stated == count)
        return true;
    j->api->error(j->job, key,
                  "the shape gives %.0f parameters, not the %llu that are stated; expected a shape of that many, or "
                  "another number",
                  count, (unsigned long long)stated);
    return false;
}

static bool check_parameters_count(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    bool all = check_count(j, "model.parameters", transformer_parameters(m), m->parameters);
    all &= check_count(j, "model.further_parameters", transformer_further_parameters(m), m->further_parameters);
    for (enum transformer_tower_kind kind = TOWER_IMAGES; kind < TRANSFORMER_TOWERS; kind++)
        all &= check_count(j, kind == TOWER_IMAGES ? "model.tower_parameters" : "model.audio_parameters",
                           tower_parameters(m, kind), m->towers[kind].parameters);
    return check_count(j, "model.active_parameters", transformer_active_parameters(m), m->active_parameters) && all;
}

bool transformer_check_shape(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    bool ok = true;
    if (m->hidden % m->heads && !j->parameters->model.head_size) {
        j->api->error(j->job, "model.heads", "hidden %llu cannot be divided over %llu heads; give head_size",
                      (unsigned long long)m->hidden, (unsigned long long)m->heads);
        ok = false;
    }
    ok &= check_divisible(j, "model.heads", m->heads, "heads");
    ok &= transformer_check_kv_heads(j, "model.kv_heads", m->heads, m->kv_heads);
    ok &= check_divisible(j, "model.ffn", m->ffn, "ffn");
    ok &= check_divided_by(j, "model.hidden", m->hidden, "hidden", (uint32_t)j->layout.width);
    if (j->layout.sequence_parallel)
        ok &= check_divisible(j, "sequence_parallel", m->sequence, "the sequence of");
    if (m->norms == 3 || m->norms == 5 || m->norms == 6) {
        j->api->error(j->job, "model.norms", "a layer has 1, 2, 4 or 7 normalisations, not %llu",
                      (unsigned long long)m->norms);
        ok = false;
    }
    if (m->window && !m->causal) {
        j->api->error(j->job, "model.window", "a window is of tokens before a token: the model has to be causal");
        ok = false;
    }
    ok &= transformer_check_kinds(j);
    return check_parameters_count(j) && ok;
}

/* Sizes of the axes that the algorithm works on. */
static bool check_grid(const struct transformer_job *j)
{
    const struct transformer_tensor *t = &j->tensor;
    const char *name = tensor_algorithm_names[t->algorithm];
    bool flat = t->algorithm == TENSOR_SUMMA, square = flat || t->algorithm == TENSOR_TESSERACT;
    const char *expected = NULL;
    if (t->algorithm == TENSOR_MEGATRON && t->x * t->y * t->z > 1)
        expected = "the axis tensor, or a tensor_parallel.algorithm that works on x, y and z";
    else if (t->algorithm != TENSOR_MEGATRON && t->tensor > 1)
        expected = "the axes x, y and z in place of tensor";
    else if (square && (t->x != t->y || (flat && t->z > 1)))
        expected = flat ? "as many ranks along x as along y, and one along z" : "as many ranks along x as along y";
    else if (t->algorithm == TENSOR_CUBE && (t->x != t->y || t->y != t->z))
        expected = "as many ranks along x as along y and along z";
    if (expected)
        j->api->error(j->job, "tensor_parallel.algorithm", "%s on tensor %u, x %u, y %u, z %u; expected %s", name,
                      t->tensor, t->x, t->y, t->z, expected);
    return !expected;
}

/* What is not known of other algorithms than Megatron's. */
static bool check_tensor(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    const char *name = tensor_algorithm_names[j->tensor.algorithm];
    bool ok = check_grid(j);
    if (j->tensor.algorithm == TENSOR_MEGATRON)
        return ok;
    uint32_t parts = tensor_row_parts(&j->tensor);
    uint64_t samples = (uint64_t)j->api->micro_batch_size(j->job);
    if (samples % parts) {
        j->api->error(j->job, "tensor_parallel.algorithm",
                      "micro-batches of %llu samples cannot be divided over %u ranks, as %s does",
                      (unsigned long long)samples, parts, name);
        ok = false;
    }
    if (p->sequence_parallel || p->profile) {
        j->api->error(j->job, p->profile ? "compute.profile" : "sequence_parallel",
                      "%s is for megatron-1d, the algorithm is %s",
                      p->profile ? "a profile of whole layers" : "sequence_parallel", name);
        ok = false;
    }
    if (j->layout.context > 1) {
        j->api->error(j->job, "tensor_parallel.algorithm",
                      "sequences are shared along the axis context beside megatron-1d, not %s", name);
        ok = false;
    }
    if (j->model.experts || j->model.kv_rank) {
        j->api->error(j->job, j->model.experts ? "model.experts" : "model.kv_rank",
                      "%s is for megatron-1d, the algorithm is %s",
                      j->model.experts ? "a layer with experts" : "latent attention", name);
        ok = false;
    }
    if (j->tensor.algorithm == TENSOR_AXONN && j->tensor.z > 1 && (p->zero || p->distributed_optimizer)) {
        j->api->error(j->job, p->zero ? "zero" : "distributed_optimizer",
                      "axonn-3d shards along z already; expected zero: 0");
        ok = false;
    }
    return ok;
}

/* Exchanges beside products: those are of sequence parallelism, and known map by map. */
static bool check_overlap(const struct transformer_job *j)
{
    const struct transformer_parameters *p = j->parameters;
    const char *expected = j->tensor.algorithm != TENSOR_MEGATRON          ? "tensor_parallel.algorithm: megatron-1d"
                           : j->tensor.tensor > 1 && !p->sequence_parallel ? "sequence_parallel: true"
                           : p->profile ? "times from a table: a profile has whole layers"
                                        : NULL;
    if (p->product_overlap && expected)
        j->api->error(j->job, "tensor_overlap",
                      "tensor_overlap is for the linear maps of sequence parallelism; expected %s", expected);
    return !p->product_overlap || !expected;
}

bool transformer_check_keys(const struct transformer_job *j)
{
    bool ok = check_tensor(j);
    ok = check_overlap(j) && ok;
    ok = transformer_check_owners(j) && ok;
    if (j->layout.samples <= 0) {
        j->api->error(
            j->job, NULL,
            "the size of a micro-batch is not known; expected batch.micro, or batch.global and batch.micro_batches");
        ok = false;
    }
    bool chosen = j->parameters->kernels && j->parameters->kernels < KERNELS_AUTO;
    if (chosen && (j->parameters->efficiency > 0 || j->parameters->table || j->parameters->profile)) {
        j->api->error(j->job, "compute.kernels",
                      "kernels choose among installed tables; expected no efficiency, table or profile beside them");
        ok = false;
    }
    if (j->parameters->adapter_rank && (j->tensor.algorithm != TENSOR_MEGATRON || j->parameters->profile)) {
        j->api->error(j->job, "adapter_rank", "adapters are for megatron-1d and times of operators%s",
                      j->parameters->profile ? ", not a profile of whole layers" : "");
        ok = false;
    }
    if (j->parameters->efficiency > 0 && j->parameters->table) {
        j->api->error(j->job, "compute.efficiency",
                      "efficiency and table are two ways to say the same; expected one of them");
        ok = false;
    }
    return ok;
}
