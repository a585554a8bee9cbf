/* SPDX-License-Identifier: Apache-2.0 */
/* What has to hold where ranks share sequences or experts, and how evenly their work is divided. */
#include "base/rounded/rounded.h"
#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/transformer.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const context_method_names[] = {"all-gather", "ring", "all-to-all", NULL};
const char *const dispatch_precision_names[] = {"same", "fp8", NULL};
const char *const expert_exchange_names[] = {"all-to-all", "deepep", NULL};

/* ---- context ---- */

static bool exchanges_heads(const struct transformer_job *j)
{
    return j->layout.context > 1 && j->parameters->routing.context_method == CONTEXT_HEADS;
}

static bool check_heads_of(const struct transformer_job *j, const struct transformer_model *m)
{
    uint64_t ranks = (uint64_t)(j->layout.tensor * j->layout.context);
    bool latent = m->kv_rank > 0, queries = m->heads % ranks != 0;
    if (!queries && (latent || m->kv_heads % ranks == 0))
        return true;
    j->api->error(j->job, "context_method",
                  "%llu heads%s cannot be divided over %.0f tensor-parallel ranks and over %.0f context-parallel ones "
                  "in them; expected ring or all-gather",
                  (unsigned long long)(queries ? m->heads : m->kv_heads), queries ? "" : " of keys and values",
                  j->layout.tensor, j->layout.context);
    return false;
}

/* Ranks that exchange heads have as many of each kind, in every layer. */
static bool check_heads(const struct transformer_job *j)
{
    bool ok = !exchanges_heads(j) || check_heads_of(j, &j->model);
    for (uint64_t layer = 0; ok && exchanges_heads(j) && layer < j->model.layers + j->model.predictions; layer++) {
        struct transformer_model own = transformer_model_of_layer(&j->model, layer);
        if (own.mixer != MIXER_NONE && transformer_kind_of(&own)->sharing == SHARING_KEYS)
            ok = check_heads_of(j, &own);
    }
    return ok;
}

static bool check_context(const struct transformer_job *j)
{
    bool twice = j->parameters->routing.context_balance && j->model.causal && !exchanges_heads(j);
    uint32_t context = (uint32_t)j->layout.context, chunks = twice ? 2 : 1;
    if (context == 1 || j->model.sequence % ((uint64_t)chunks * context) == 0)
        return true;
    j->api->error(j->job, "model.sequence",
                  "a sequence of %llu tokens cannot be divided into %u chunks, %s each of %u context-parallel ranks; "
                  "expected a multiple of %u",
                  (unsigned long long)j->model.sequence, chunks * context, chunks == 2 ? "two for" : "one for", context,
                  chunks * context);
    return false;
}

/* A rank whose tokens follow those of i others meets 2 i + 1 half blocks of keys; the mean is the number of ranks. */
static bool set_context_factors(struct transformer_job *j)
{
    uint32_t context = (uint32_t)j->layout.context;
    if (context == 1 || j->parameters->routing.context_balance || !j->model.causal || !j->layout.flash ||
        exchanges_heads(j))
        return true;
    j->division.context_factors = array_zeroed(context, sizeof(double));
    for (uint32_t i = 0; j->division.context_factors && i < context; i++)
        j->division.context_factors[i] = (2.0 * i + 1) / context;
    return j->division.context_factors != NULL;
}

/* ---- experts ---- */

static bool check_counts(const struct transformer_job *j)
{
    const struct transformer_model *m = &j->model;
    uint32_t expert = (uint32_t)j->layout.expert;
    bool ok = true;
    if (m->experts % expert) {
        j->api->error(j->job, "model.experts", "%llu experts cannot be divided over %u expert-parallel ranks",
                      (unsigned long long)m->experts, expert);
        ok = false;
    }
    if (m->top_k > m->experts) {
        j->api->error(j->job, "model.top_k", "a token cannot go to %llu of %llu experts", (unsigned long long)m->top_k,
                      (unsigned long long)m->experts);
        ok = false;
    }
    if (m->experts % m->expert_groups || m->top_groups > m->expert_groups) {
        j->api->error(j->job, "model.expert_groups",
                      "%llu experts in %llu groups, of which a token's lie in %llu: expected groups of equal size",
                      (unsigned long long)m->experts, (unsigned long long)m->expert_groups,
                      (unsigned long long)m->top_groups);
        ok = false;
    }
    if (m->expert_ffn % (uint64_t)j->layout.expert_tensor) {
        j->api->error(j->job, "model.expert_ffn", "expert_ffn %llu cannot be divided over %.0f tensor-parallel ranks",
                      (unsigned long long)m->expert_ffn, j->layout.expert_tensor);
        ok = false;
    }
    return ok;
}

static bool check_load(const struct transformer_job *j)
{
    const struct transformer_routing *r = &j->parameters->routing;
    int ways = (r->expert_imbalance > 1) + (r->expert_tokens.count > 0) + (r->expert_skew > 0);
    const char *key = r->expert_imbalance > 1  ? "expert_imbalance"
                      : r->expert_tokens.count ? "expert_tokens"
                                               : "expert_skew";
    bool ok =
        transformer_refuse(j, r->capacity_factor > 0 && ways, key,
                           "with a capacity_factor every expert computes as many tokens; expected one of the two keys");
    ok &= transformer_refuse(
        j, ways > 1, key,
        "expert_imbalance, expert_tokens and expert_skew say the same in three ways; expected one of them");
    if (r->expert_tokens.count && (double)r->expert_tokens.count != j->layout.expert) {
        j->api->error(j->job, "expert_tokens", "%zu values for %.0f expert-parallel ranks; expected one for each",
                      r->expert_tokens.count, j->layout.expert);
        ok = false;
    }
    if (r->expert_imbalance > j->layout.expert) {
        j->api->error(j->job, "expert_imbalance", "the busiest of %.0f ranks cannot have more than %.0f times the mean",
                      j->layout.expert, j->layout.expert);
        ok = false;
    }
    ok &= transformer_refuse(
        j, r->expert_hidden < 1 && j->layout.recompute == TRANSFORMER_FULL, "expert_hidden",
        "layers that are computed again as a whole send their tokens again, and none of these hides; expected "
        "another schedule.recompute than full");
    return ok & transformer_refuse(
                    j, r->expert_overlap && !(transformer_shared_width(&j->model) > 0), "expert_overlap",
                    "there are no shared experts to compute while tokens travel; expected model.shared_experts");
}

static bool check_experts(const struct transformer_job *j)
{
    if (!j->model.experts)
        return transformer_refuse(
            j, j->layout.expert > 1, "parallel.expert",
            "the model has no experts for the ranks of parallel.expert to share; expected model.experts");
    bool ok = check_counts(j);
    ok &= check_load(j);
    return ok &
           transformer_refuse(
               j, j->layout.tensor > 1 && !j->layout.sequence_parallel, "sequence_parallel",
               "experts are routed to by tensor-parallel ranks for their own tokens; expected sequence_parallel: true");
}

/* The ranks of an expert group in one node, and those in the same place of its nodes. */
static bool set_nodes(struct transformer_job *j)
{
    uint32_t expert = (uint32_t)j->layout.expert, node = (uint32_t)j->parameters->routing.expert_node;
    if (!node)
        return true;
    if (expert % node || !j->api->cut(j->job, "expert", node)) {
        j->api->error(j->job, "expert_node",
                      "%u expert-parallel ranks cannot be divided into nodes of %u; expected a divisor", expert, node);
        return false;
    }
    enum { ROOM = 40 };
    j->division.node = array_zeroed(ROOM, 1);
    j->division.nodes = array_zeroed(ROOM, 1);
    snprintf(j->division.node, ROOM, "expert:%u", node);
    snprintf(j->division.nodes, ROOM, "expert,-expert:%u", node);
    return true;
}

/* An expert and its place among all, which a seed draws (splitmix64: Steele, Lea and Flood 2014). */
struct drawn {
    uint64_t number;
    uint32_t expert;
};

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static int by_number(const void *a, const void *b)
{
    const struct drawn *one = a, *other = b;
    return one->number != other->number ? (one->number < other->number ? -1 : 1)
                                        : (int)one->expert - (int)other->expert;
}

/* Tokens of each rank, whose experts are neighbours: the k-th of the drawn order has k to the power of -skew. */
static bool draw_loads(const struct transformer_job *j, double *loads)
{
    const struct transformer_routing *r = &j->parameters->routing;
    uint32_t experts = (uint32_t)j->model.experts, each = experts / (uint32_t)j->layout.expert;
    struct drawn *order = array_zeroed(experts, sizeof *order);
    for (uint32_t i = 0; order && i < experts; i++)
        order[i] = (struct drawn){mixed((r->expert_seed + 1) * 0x9e3779b97f4a7c15u + i), i};
    if (order)
        qsort(order, experts, sizeof *order, by_number);
    for (uint32_t k = 0; order && k < experts; k++)
        loads[order[k].expert / each] += rounded_pow(k + 1, -r->expert_skew);
    free(order);
    return order != NULL;
}

/* One rank of each group has the busiest experts, the others share what is left. */
static void set_busiest(double *loads, double busiest, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        loads[i] = i ? (ranks - busiest) / (ranks - 1) : busiest;
}

static bool set_expert_factors(struct transformer_job *j)
{
    const struct transformer_routing *r = &j->parameters->routing;
    uint32_t ranks = (uint32_t)j->layout.expert;
    if (ranks <= 1 || (r->expert_imbalance <= 1 && !r->expert_tokens.count && !(r->expert_skew > 0)))
        return true;
    double *loads = j->division.expert_factors = array_zeroed(ranks, sizeof *loads), sum = 0;
    if (!loads || (r->expert_skew > 0 && !draw_loads(j, loads)))
        return false;
    for (uint32_t i = 0; i < r->expert_tokens.count; i++)
        loads[i] = r->expert_tokens.values[i];
    if (r->expert_imbalance > 1)
        set_busiest(loads, r->expert_imbalance, ranks);
    for (uint32_t i = 0; i < ranks; i++)
        sum += loads[i];
    for (uint32_t i = 0; i < ranks; i++) {
        loads[i] *= r->expert_imbalance > 1 ? 1 : ranks / sum;
        j->division.busiest = fmax(j->division.busiest, loads[i]);
    }
    return true;
}

bool transformer_divide(struct transformer_job *j)
{
    bool latent = j->model.kv_rank > 0, shares = j->layout.context > 1 || j->model.experts > 0 || latent;
    j->division = (struct transformer_division){.busiest = 1};
    bool ok = check_context(j);
    ok &= check_heads(j);
    ok &= check_experts(j);
    ok &= transformer_refuse(j, latent && j->model.biases, "model.biases",
                             "matrices of latent attention (kv_rank) have no biases; expected biases: false");
    ok &= transformer_refuse(
        j, shares && j->parameters->profile, "compute.profile",
        "a profile has the times of whole layers, which does not do for experts, latent attention or a shared "
        "sequence");
    ok &= transformer_refuse(
        j, j->model.experts && j->parameters->shard_ranks, "shard_ranks",
        "hybrid sharding is not for layers with experts, whose copies are along other axes than those of the rest");
    return ok && set_nodes(j) && set_context_factors(j) && set_expert_factors(j);
}

void transformer_division_finish(struct transformer_division *division)
{
    free(division->context_factors);
    free(division->expert_factors);
    free(division->node);
    free(division->nodes);
}
