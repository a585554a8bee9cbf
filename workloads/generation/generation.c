/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/generation.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "workloads/generation/cost.h"

#include <math.h>

const char *const generation_type_names[GENERATION_TYPES + 1] = {"bf16", "fp8", "fp4", "fp8_block", NULL};

enum { WIDE = 2, ROWS_KNOWN = 1 << 15 };

/* Products of all layers, or of the output, by the tokens of a rank; seconds 0: not known yet. */
struct known {
    struct generation_work layers[ROWS_KNOWN];
    struct generation_work experts[ROWS_KNOWN]; /* by those of all replicas */
    struct generation_work output[ROWS_KNOWN];
    double exchange[ROWS_KNOWN];
};

struct generation {
    struct generation_request request;
    struct transformer_model model; /* with heads that ranks repeat */
    struct generation_layers *layers;
    uint32_t layer_count;
    uint32_t expert_layers;
    double weights; /* bytes of a GPU */
    struct known *known;
};

/* ---- how it is divided ---- */

static bool check(const struct generation_request *r, struct fault *fault)
{
    const struct transformer_model *m = r->model;
    const struct generation_layout *l = &r->layout;
    uint32_t ranks = l->tensor * l->data;
    if (m->heads % l->tensor)
        return fault_set(fault, "%u tensor-parallel ranks cannot share %llu heads; expected a divisor", l->tensor,
                         (unsigned long long)m->heads);
    if (m->kv_heads > l->tensor ? m->kv_heads % l->tensor : l->tensor % m->kv_heads)
        return fault_set(fault, "%u tensor-parallel ranks cannot share %llu heads of keys and values", l->tensor,
                         (unsigned long long)m->kv_heads);
    if (l->pipeline > m->layers)
        return fault_set(fault, "there are %u pipeline stages of %llu layers; expected no more", l->pipeline,
                         (unsigned long long)m->layers);
    if (l->expert > 1 && !m->experts)
        return fault_set(fault, "the model has no experts to be divided among %u ranks", l->expert);
    if (ranks % l->expert || (m->experts && m->experts % l->expert))
        return fault_set(fault,
                         "experts are divided among %u of %u ranks; expected a divisor of them and of %llu experts",
                         l->expert, ranks, (unsigned long long)m->experts);
    return true;
}

static struct transformer_layout layout_of(const struct generation *g, double tokens)
{
    const struct generation_layout *l = &g->request.layout;
    return (struct transformer_layout){.samples = tokens,
                                       .tensor = l->tensor,
                                       .width = 1,
                                       .gathered_rows = 1,
                                       .context = 1,
                                       .expert = l->expert,
                                       .expert_tensor = (double)l->tensor * l->data / l->expert,
                                       .padding = 1,
                                       .flash = true,
                                       .element_bytes = WIDE,
                                       .gradient_bytes = WIDE};
}

static bool find_layers(struct generation *g, struct arena *arena, struct fault *fault)
{
    g->layers = arena_array(arena, g->model.layers + 1, sizeof *g->layers);
    for (uint64_t layer = 0; layer < g->model.layers; layer++) {
        struct transformer_model own = transformer_model_of_layer(&g->model, layer);
        uint32_t kind = 0;
        while (kind < g->layer_count && !transformer_layers_alike(&g->layers[kind].own, &own))
            kind++;
        if (kind == g->layer_count) {
            g->layers[g->layer_count++] = (struct generation_layers){.own = own};
            if (!generation_cache_of(&own, g->request.layout.tensor, generation_element(g->request.cache),
                                     &g->layers[kind].cache))
                return fault_set(fault, "it is not known what layer %llu keeps of tokens that were generated",
                                 (unsigned long long)layer);
            g->layers[kind].grid =
                attention_grid_create(&g->request.device, g->request.cache, &own, g->request.layout.tensor, arena);
        }
        g->layers[kind].count++;
        g->expert_layers += own.feed == FEED_EXPERTS;
    }
    return true;
}

/* ---- memory ---- */

static double layer_weights(const struct generation *g, const struct transformer_model *own)
{
    const struct generation_layout *l = &g->request.layout;
    double element = generation_element(g->request.weights);
    double divided = transformer_attention_divided(own), whole = transformer_attention_whole(own), experts = 0;
    if (own->feed == FEED_DENSE) {
        divided += transformer_ffn_divided(own);
        whole += transformer_ffn_whole(own);
    } else if (own->feed == FEED_EXPERTS) {
        divided += transformer_shared_divided(own);
        whole += transformer_router_whole(own);
        experts = (double)own->experts * transformer_expert(own) / ((double)l->tensor * l->data);
    }
    return element * (divided / l->tensor + whole + experts);
}

static void find_weights(struct generation *g)
{
    const struct generation_layout *l = &g->request.layout;
    double layers = 0;
    for (uint32_t i = 0; i < g->layer_count; i++)
        layers += g->layers[i].count * layer_weights(g, &g->layers[i].own);
    double ends = WIDE * transformer_vocabulary_matrix(&g->model) / l->tensor;
    bool both = l->pipeline == 1 && !g->model.tied;
    g->weights = layers / l->pipeline + ends * (both ? 2 : 1);
}

const char *generation_attention_source(const struct generation *g)
{
    for (uint32_t i = 0; i < g->layer_count; i++)
        if (g->layers[i].grid)
            return attention_grid_source(g->layers[i].grid);
    return NULL;
}

double generation_weights(const struct generation *g)
{
    return g->weights;
}

static bool forgets(const struct generation_cache *cache, double longest)
{
    return cache->forgets && cache->most < longest;
}

double generation_token_bytes(const struct generation *g, double longest)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->layer_count; i++) {
        const struct generation_cache *cache = &g->layers[i].cache;
        sum += g->layers[i].count * ((forgets(cache, longest) ? 0 : cache->token) + cache->looked);
    }
    return sum / g->request.layout.pipeline;
}

double generation_sequence_bytes(const struct generation *g, double longest)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->layer_count; i++) {
        const struct generation_cache *cache = &g->layers[i].cache;
        sum += g->layers[i].count * ((forgets(cache, longest) ? cache->token * cache->most : 0) + cache->state);
    }
    return sum / g->request.layout.pipeline;
}

/* ---- steps ---- */

/* With so many tokens of a replica. */
static struct generation_products products_of(const struct generation *g, double tokens)
{
    return (struct generation_products){.device = &g->request.device,
                                        .layout = layout_of(g, tokens),
                                        .weight = generation_element(g->request.weights),
                                        .routed = tokens * g->request.layout.data};
}

static struct generation_work layers_work(const struct generation *g, double tokens)
{
    struct generation_products products = products_of(g, tokens);
    struct generation_work sum = generation_block_work(&products, &g->model, BLOCK_INPUT), work;
    for (uint32_t i = 0; i < g->layer_count; i++) {
        work = generation_layer_work(&products, &g->layers[i].own, g->layers[i].cache.state > 0);
        generation_add(&sum, &work, g->layers[i].count);
    }
    return sum;
}

/* Experts get the tokens of all replicas. */
static struct generation_work experts_work(const struct generation *g, double routed)
{
    struct generation_products products = products_of(g, routed / g->request.layout.data);
    struct generation_work sum = {0}, work;
    for (uint32_t i = 0; i < g->layer_count; i++) {
        if (g->layers[i].own.feed != FEED_EXPERTS)
            continue;
        work = generation_experts_work(&products, &g->layers[i].own);
        generation_add(&sum, &work, g->layers[i].count);
    }
    return sum;
}

static struct generation_work output_work(const struct generation *g, double tokens)
{
    struct generation_products products = products_of(g, tokens);
    return generation_block_work(&products, &g->model, BLOCK_OUTPUT);
}

/* Ranks to which a token is sent: once to each that has some of its experts. */
static double copies(const struct generation *g)
{
    double ranks = (double)g->request.layout.tensor * g->request.layout.data;
    return ranks * (1 - rounded_pow(1 - 1 / ranks, (double)g->model.top_k));
}

/* Two sums along tensor in each layer, the way to the experts and back, and from stage to stage. */
static double exchange_seconds(const struct generation *g, double tokens)
{
    const struct generation_layout *l = &g->request.layout;
    const struct generation_network *network = &g->request.network;
    double bytes = WIDE * tokens * (double)g->model.hidden, seconds = 0;
    if (l->tensor > 1)
        seconds += (2 * (double)g->model.layers - (l->data > 1 ? g->expert_layers : 0)) *
                   network->seconds(network->user, GENERATION_SUM, bytes);
    if (l->data > 1 && g->expert_layers)
        seconds += 2 * g->expert_layers *
                   network->seconds(network->user, GENERATION_EXPERTS,
                                    WIDE * tokens * copies(g) * transformer_expert_width(&g->model));
    if (l->pipeline > 1)
        seconds += l->pipeline * network->seconds(network->user, GENERATION_STAGE, bytes);
    return seconds;
}

static struct generation_work layers_at(struct generation *g, double rows, double *exchange)
{
    if (rows >= ROWS_KNOWN) {
        *exchange = exchange_seconds(g, rows);
        return layers_work(g, rows);
    }
    struct generation_work *known = &g->known->layers[(uint32_t)rows];
    if (!(known->seconds > 0)) {
        *known = layers_work(g, rows);
        g->known->exchange[(uint32_t)rows] = exchange_seconds(g, rows);
    }
    *exchange = g->known->exchange[(uint32_t)rows];
    return *known;
}

static struct generation_work experts_at(struct generation *g, double routed)
{
    if (!g->expert_layers || routed >= ROWS_KNOWN)
        return experts_work(g, routed);
    struct generation_work *known = &g->known->experts[(uint32_t)routed];
    if (!(known->seconds > 0))
        *known = experts_work(g, routed);
    return *known;
}

static struct generation_work output_at(struct generation *g, double rows)
{
    if (rows >= ROWS_KNOWN)
        return output_work(g, rows);
    struct generation_work *known = &g->known->output[(uint32_t)rows];
    if (!(known->seconds > 0))
        *known = output_work(g, rows);
    return *known;
}

/* Of those that go on, or of pieces of prompts, the part that the group with the most of them has. */
static double part_of(double groups, double count)
{
    return groups > 1 && count > 0 ? fmin(1, ceil(count / groups - 1e-9) / count) : 1;
}

/* A step of the group of sequences that has the most: replicas have theirs, and pipelines one in each stage. */
static struct generation_work step_work(struct generation *g, const struct generation_step *step, double *attention,
                                        double *exchange)
{
    double stages = g->request.layout.pipeline, groups = stages * g->request.layout.data;
    double checked = 1 + g->request.speculative;
    double going = part_of(groups, step->decoding), filled = part_of(groups, step->pieces);
    double rows = ceil(step->decoding * going * checked + step->prefill * filled - 1e-9);
    double routed = ceil(step->decoding * part_of(stages, step->decoding) * checked +
                         step->prefill * part_of(stages, step->pieces) - 1e-9);
    double drawn = step->sampled * part_of(groups, step->sampled) * checked;
    struct generation_work sum = layers_at(g, fmax(rows, 1), exchange), work;
    *attention = 0;
    work = experts_at(g, fmax(routed, 1));
    generation_add(&sum, &work, 1);
    for (uint32_t i = 0; i < g->layer_count; i++) {
        work = generation_attention_work(&g->request.device, &g->layers[i], step->decoding * going,
                                         step->context * going, step->prefill * filled, step->pairs * filled);
        *attention += g->layers[i].count * work.seconds;
        generation_add(&sum, &work, g->layers[i].count);
    }
    if (drawn > 0) {
        work = output_at(g, ceil(drawn - 1e-9));
        generation_add(&sum, &work, 1);
    }
    return sum;
}

double generation_seconds(struct generation *g, const struct generation_step *step, struct generation_parts *parts)
{
    const struct generation_device *device = &g->request.device;
    double attention, exchange;
    double host = g->request.layout.pipeline * device->host + g->request.speculative * g->request.draft;
    struct generation_work work = step_work(g, step, &attention, &exchange);
    double computing = work.seconds + exchange;
    if (step->prefill > 0) /* no graph has such steps, and operators wait for their launch */
        computing = fmax(computing, work.operators * device->eager);
    /* Replicas have hosts' processes of their own. */
    double sampled = step->sampled * part_of(g->request.layout.data, step->sampled);
    host += sampled * device->waits + fmax(0, sampled * device->sequence - computing);
    if (parts)
        *parts = (struct generation_parts){work.seconds - attention, attention, exchange, host};
    return computing + host;
}

double generation_least(struct generation *g, const struct generation_step *step)
{
    double attention, exchange;
    struct generation_work work = step_work(g, step, &attention, &exchange);
    const struct generation_device *device = &g->request.device;
    return fmax(work.bytes / device->bandwidth, work.flops / device->peak + work.wide_flops / device->wide_peak);
}

struct generation *generation_create(const struct generation_request *request, struct arena *arena, struct fault *fault)
{
    struct generation *g = arena_alloc(arena, sizeof *g);
    g->request = *request;
    g->model = *request->model;
    if (!check(request, fault))
        return NULL;
    if (g->model.kv_heads < request->layout.tensor)
        g->model.kv_heads = request->layout.tensor;
    g->model.repeated = request->layout.tensor;
    if (!find_layers(g, arena, fault))
        return NULL;
    find_weights(g);
    g->known = arena_alloc(arena, sizeof *g->known);
    return g;
}
