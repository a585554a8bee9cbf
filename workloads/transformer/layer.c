/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/layer.h"

#include "workloads/transformer/kinds/kinds.h"
#include "workloads/transformer/transformer.h"

#include <math.h>

/* Numbers of parts that stand apart, see struct stagesim_part. */
enum { TOGETHER, RING, RING_END, SCORES, SHARED, ROUTED, LINEAR };

void transformer_add_exchange(struct stagesim_exchanges *exchanges, struct stagesim_exchange exchange)
{
    unsigned count = 0;
    while (count < STAGESIM_EXCHANGES_MAX && exchanges->items[count].bytes > 0)
        count++;
    if (count < STAGESIM_EXCHANGES_MAX)
        exchanges->items[count] = exchange;
}

/* A block whose exchanges are set by the caller. */
static struct stagesim_part plain_part(const struct transformer_job *j, enum transformer_block block, uint32_t layer)
{
    struct stagesim_part part = transformer_part(j, block, layer);
    part.forward_exchanges = part.backward_exchanges = (struct stagesim_exchanges){.items = {{.bytes = 0}}};
    return part;
}

static void add_exchanges(struct stagesim_exchanges *to, const struct stagesim_exchanges *from)
{
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX && from->items[i].bytes > 0; i++)
        transformer_add_exchange(to, from->items[i]);
}

static bool computes_again(const struct transformer_job *j)
{
    return j->layout.recompute == TRANSFORMER_FULL;
}

/* The number of a part that stands apart: by the layer's kind where documents make each kind vary by itself. */
static uint32_t apart_of(const struct transformer_job *j, uint32_t layer, uint32_t number)
{
    return number && j->packing.sequences ? number + (LINEAR + 1) * j->layer_kinds[layer] : number;
}

/* Products over scores vary with the documents of a micro-batch and rank. */
static void vary(const struct transformer_job *j, uint32_t layer, struct stagesim_part *core)
{
    core->factors = transformer_kind_of(&j->model)->attends ? transformer_document_factors(j, layer) : NULL;
    core->varies = core->factors ? transformer_documents_axis : NULL;
    core->apart = core->factors ? apart_of(j, layer, SCORES) : TOGETHER;
}

/* ---- a shared sequence ---- */

/* A share of a part's computation, without its exchanges. */
static struct stagesim_part share_of_part(const struct stagesim_part *part, double share)
{
    return (struct stagesim_part){.layer = part->layer,
                                  .forward = share * part->forward,
                                  .backward = share * part->backward,
                                  .weight = share * part->weight,
                                  .forward_flops = share * part->forward_flops,
                                  .backward_flops = share * part->backward_flops,
                                  .weight_flops = share * part->weight_flops,
                                  .varies = part->varies,
                                  .factors = part->factors};
}

static void add_work(struct stagesim_part *to, const struct stagesim_part *from)
{
    to->forward += from->forward;
    to->backward += from->backward;
    to->weight += from->weight;
    to->forward_flops += from->forward_flops;
    to->backward_flops += from->backward_flops;
    to->weight_flops += from->weight_flops;
}

/* Keys and values of all of a sequence's tokens, as a rank needs them. */
static double key_value_bytes(const struct transformer_job *j)
{
    const struct transformer_kind *kind = transformer_kind_of(&j->model);
    struct transformer_widths widths = transformer_widths_of(&j->model);
    double column = j->layout.element_bytes * j->layout.samples * (double)j->model.sequence;
    if (kind->shared_columns)
        return column * kind->shared_columns(&j->model, &j->layout);
    return column * (widths.key + widths.value) / j->layout.tensor;
}

/* Whether ranks that share a sequence exchange tokens for heads in this layer. */
static bool exchanges_heads(const struct transformer_job *j)
{
    enum kind_sharing sharing = transformer_kind_of(&j->model)->sharing;
    return sharing == SHARING_HEADS ||
           (sharing == SHARING_KEYS && j->parameters->routing.context_method == CONTEXT_HEADS);
}

/* Of a rank's heads, in fp32. */
static double state_bytes(const struct transformer_job *j)
{
    enum { FLOAT = 4 };
    return FLOAT * j->layout.samples * transformer_kind_of(&j->model)->state(&j->model) / j->layout.tensor;
}

double transformer_shared_buffer(const struct transformer_job *at)
{
    struct transformer_widths widths = transformer_widths_of(&at->model);
    double column = at->layout.element_bytes * at->layout.samples * (double)at->model.sequence / at->layout.tensor;
    if (transformer_kind_of(&at->model)->sharing == SHARING_STATES)
        return at->layout.context * state_bytes(at);
    if (exchanges_heads(at))
        return (column * widths.query + column * (widths.key + widths.value)) / at->layout.context;
    double bytes = key_value_bytes(at);
    return at->parameters->routing.context_method == CONTEXT_RING ? 2 * bytes / at->layout.context : bytes;
}

static struct stagesim_exchange context_exchange(enum stagesim_collective collective, enum stagesim_moment moment,
                                                 double bytes, double buffers)
{
    return (struct stagesim_exchange){collective, STAGESIM_CONTEXT, moment, "context", bytes, buffers, false};
}

/* Every rank has gathered all keys and values before the products over scores; in the backward again, and their
 * gradients are summed up and scattered. */
static uint32_t gathered_attention(const struct transformer_job *j, struct stagesim_part *parts)
{
    double bytes = key_value_bytes(j), times = computes_again(j) ? 2 : 1;
    transformer_add_exchange(&parts[0].forward_exchanges,
                             context_exchange(STAGESIM_ALL_GATHER, STAGESIM_AFTER, bytes, 1));
    transformer_add_exchange(&parts[2].backward_exchanges,
                             context_exchange(STAGESIM_ALL_GATHER, STAGESIM_AFTER, times * bytes, times));
    transformer_add_exchange(&parts[1].backward_exchanges,
                             context_exchange(STAGESIM_REDUCE_SCATTER, STAGESIM_AFTER, bytes, 1));
    parts[1].apart = parts[1].varies ? apart_of(j, parts[1].layer, SCORES) : TOGETHER;
    return 3;
}

/* A rank computes with one block of keys and values while it passes it on: c - 1 of c steps run beside a transfer. In
 * the backward the block's gradient travels with it. */
static uint32_t ring_attention(const struct transformer_job *j, struct stagesim_part *parts)
{
    double steps = j->layout.context - 1, block = key_value_bytes(j) / j->layout.context,
           again = computes_again(j) ? 1 : 0;
    struct stagesim_part core = parts[1], last = parts[2], end = share_of_part(&core, 1 / j->layout.context);
    parts[1] = share_of_part(&core, steps / j->layout.context);
    parts[1].apart = apart_of(j, core.layer, RING);
    transformer_add_exchange(&parts[1].forward_exchanges,
                             context_exchange(STAGESIM_SEND_RECEIVE, STAGESIM_BESIDE, steps * block, steps));
    transformer_add_exchange(
        &parts[1].backward_exchanges,
        context_exchange(STAGESIM_SEND_RECEIVE, STAGESIM_BESIDE, (2 + again) * steps * block, (1 + again) * steps));
    if (!core.varies) {
        add_work(&parts[2], &end);
        return 3;
    }
    parts[2] = end;
    parts[2].apart = apart_of(j, core.layer, RING_END);
    parts[3] = last;
    return 4;
}

/* A rank gives away the other ranks' heads of its tokens and gets their tokens of its own heads, of queries, keys and
 * values before the products over scores, and of what these give behind them. The backward is the same the other way.
 */
static uint32_t exchanged_attention(const struct transformer_job *j, struct stagesim_part *parts)
{
    struct transformer_widths widths = transformer_widths_of(&j->model);
    double column =
        j->layout.element_bytes * j->layout.samples * (double)j->model.sequence / j->layout.context / j->layout.tensor;
    double in = column * (widths.query + widths.key + widths.value), out = column * widths.output;
    transformer_add_exchange(&parts[0].forward_exchanges, context_exchange(STAGESIM_ALL_TO_ALL, STAGESIM_AFTER, in, 3));
    transformer_add_exchange(&parts[1].forward_exchanges,
                             context_exchange(STAGESIM_ALL_TO_ALL, STAGESIM_AFTER, out, 1));
    if (computes_again(j))
        transformer_add_exchange(&parts[2].backward_exchanges,
                                 context_exchange(STAGESIM_ALL_TO_ALL, STAGESIM_AFTER, in + out, 4));
    transformer_add_exchange(&parts[2].backward_exchanges,
                             context_exchange(STAGESIM_ALL_TO_ALL, STAGESIM_AFTER, out, 1));
    transformer_add_exchange(&parts[1].backward_exchanges,
                             context_exchange(STAGESIM_ALL_TO_ALL, STAGESIM_AFTER, in, 3));
    return 3;
}

/* Every rank computes its tokens from an empty state, and gathers what all others' leave: in the backward the same with
 * gradients (flash-linear-attention's context parallelism, fla/ops/cp @ bc3b101d). */
static uint32_t passed_states(const struct transformer_job *j, struct stagesim_part *parts)
{
    double bytes = j->layout.context * state_bytes(j), times = computes_again(j) ? 2 : 1;
    transformer_add_exchange(&parts[1].forward_exchanges,
                             context_exchange(STAGESIM_ALL_GATHER, STAGESIM_AFTER, bytes, 1));
    transformer_add_exchange(&parts[1].backward_exchanges,
                             context_exchange(STAGESIM_ALL_GATHER, STAGESIM_AFTER, times * bytes, times));
    return 3;
}

/* A linear map whose exchanges run beside it. */
static struct stagesim_part hiding_part(const struct transformer_job *j, enum transformer_block block, uint32_t layer)
{
    struct stagesim_part part = transformer_part(j, block, layer);
    part.apart = LINEAR;
    return part;
}

/* Projections, products over scores, and what joins them to the rest. */
static void cut_attention(const struct transformer_job *j, uint32_t layer, const struct stagesim_part *whole,
                          struct stagesim_part *parts)
{
    parts[1] = plain_part(j, BLOCK_CORE, layer);
    vary(j, layer, &parts[1]);
    if (tensor_hides_exchanges(&j->tensor)) {
        parts[0] = hiding_part(j, BLOCK_PROJECTIONS, layer);
        parts[2] = hiding_part(j, BLOCK_JOIN, layer);
        return;
    }
    parts[0] = plain_part(j, BLOCK_PROJECTIONS, layer);
    parts[2] = plain_part(j, BLOCK_JOIN, layer);
    add_exchanges(&parts[2].forward_exchanges, &whole->forward_exchanges);
    add_exchanges(&parts[0].backward_exchanges, &whole->backward_exchanges);
}

static uint32_t attention_parts(const struct transformer_job *j, uint32_t layer, struct stagesim_part *parts)
{
    struct stagesim_part whole = transformer_part(j, BLOCK_ATTENTION, layer);
    bool varies = j->packing.sequences && transformer_kind_of(&j->model)->attends;
    if (j->layout.context <= 1 && !tensor_hides_exchanges(&j->tensor) && !varies) {
        parts[0] = whole;
        return 1;
    }
    cut_attention(j, layer, &whole, parts);
    if (j->layout.context <= 1)
        return 3;
    if (transformer_kind_of(&j->model)->sharing == SHARING_STATES)
        return passed_states(j, parts);
    if (exchanges_heads(j))
        return exchanged_attention(j, parts);
    if (j->division.context_factors && transformer_kind_of(&j->model)->attends) {
        parts[1].varies = "context";
        parts[1].factors = j->division.context_factors;
    }
    return j->parameters->routing.context_method == CONTEXT_RING ? ring_attention(j, parts)
                                                                 : gathered_attention(j, parts);
}

/* ---- experts ---- */

/* Elements of so many copies of the tokens of a rank, or of all that share its matrices, as experts get them. */
static double routed_elements(const struct transformer_job *j, double copies, bool all)
{
    const struct transformer_layout *l = &j->layout;
    double tokens =
        l->samples * (double)j->model.sequence / l->context / (l->sequence_parallel && !all ? l->tensor : 1);
    return tokens * copies * transformer_expert_width(&j->model) * l->padding * j->division.busiest;
}

/* How likely none of `some` is among `drawn` of `all`, drawn without putting back. */
static double chance_of_none(double all, double some, double drawn)
{
    double chance = 1;
    for (double i = 0; i < drawn && chance > 0; i++)
        chance *= fmax(0, all - some - i) / (all - i);
    return chance;
}

/* How likely just `hits` of `some` are among them. */
static double chance_of(double all, double some, double drawn, double hits)
{
    double ways = 1;
    if (hits > some || drawn - hits > all - some)
        return 0;
    for (double i = 0; i < hits; i++)
        ways *= (drawn - i) / (i + 1) * (some - i) / (all - i);
    return ways * chance_of_none(all - hits, some - hits, drawn - hits);
}

/* Of `nodes`, or ranks, with equally many experts, those that have some of a token's: the mean over all choices of
 * top_k experts of top_groups of their groups. Groups that neither fill nodes nor are filled by them are taken as none.
 */
static double holders_of_token(const struct transformer_model *m, double nodes)
{
    double all = (double)m->experts, groups = (double)m->expert_groups, top = (double)m->top_groups,
           drawn = (double)m->top_k, each = groups / nodes, open = all * top / groups, used = 0;
    if (each < 1 && floor(nodes / groups) == nodes / groups)
        return nodes * top / groups * (1 - chance_of_none(open, all / nodes, drawn));
    if (floor(each) != each || each < 1)
        return nodes * (1 - chance_of_none(all, all / nodes, drawn));
    for (double hits = 1; hits <= each && hits <= top; hits++)
        used += chance_of(groups, each, top, hits) * (1 - chance_of_none(open, all * hits / groups, drawn));
    return nodes * used;
}

/* All-to-alls to the experts' ranks, or back. Between nodes a token travels once to each node that has some of its
 * experts, and within the node to each of them (DeepSeek-V3, section 3.2.2). DeepEP and Hybrid-EP send it once to each
 * rank, between nodes and within them at the same time. */
static void add_tokens(const struct transformer_job *j, struct stagesim_exchanges *exchanges,
                       enum stagesim_moment moment, double element, bool hidden)
{
    bool deepep = j->parameters->routing.exchange == EXCHANGE_DEEPEP;
    double copies = deepep ? holders_of_token(&j->model, j->layout.expert) : (double)j->model.top_k;
    struct stagesim_exchange exchange = {
        STAGESIM_ALL_TO_ALL, STAGESIM_EXPERT, moment, "expert", element * routed_elements(j, copies, false), 1, hidden};
    if (j->parameters->routing.expert_node) {
        double nodes = (double)j->layout.expert / (double)j->parameters->routing.expert_node;
        exchange.axes = j->division.nodes;
        exchange.bytes = element * routed_elements(j, holders_of_token(&j->model, nodes), false);
        transformer_add_exchange(exchanges, exchange);
        exchange.moment = deepep && moment == STAGESIM_AFTER ? STAGESIM_TOGETHER : moment;
        exchange.axes = j->division.node;
        exchange.bytes = element * routed_elements(j, copies, false);
    }
    transformer_add_exchange(exchanges, exchange);
}

/* In blocks of a forward and a backward a part of them hides. */
static void add_all_to_all(const struct transformer_job *j, struct stagesim_exchanges *exchanges,
                           enum stagesim_moment moment, double element)
{
    double hidden = j->parameters->routing.expert_hidden;
    if (hidden < 1)
        add_tokens(j, exchanges, moment, element * (1 - hidden), false);
    if (hidden > 0)
        add_tokens(j, exchanges, moment, element * hidden, true);
}

static void dispatch(const struct transformer_job *j, struct stagesim_exchanges *exchanges, enum stagesim_moment moment)
{
    unsigned scaling = j->parameters->precision == FP8 ? j->parameters->scaling : SCALING_TENSOR;
    double narrow =
        transformer_scaling_message((enum transformer_scaling)scaling, transformer_expert_width(&j->model), false);
    bool fp8 = j->parameters->routing.dispatch == DISPATCH_FP8;
    add_all_to_all(j, exchanges, moment, fp8 ? narrow : j->layout.element_bytes);
}

static void combine(const struct transformer_job *j, struct stagesim_exchanges *exchanges, enum stagesim_moment moment)
{
    add_all_to_all(j, exchanges, moment, j->layout.element_bytes);
}

/* Ranks that share an expert's matrices gather the tokens that came to each of them, and scatter the sums. */
static void add_tensor(const struct transformer_job *j, struct stagesim_exchanges *exchanges,
                       enum stagesim_collective collective)
{
    double bytes = j->layout.element_bytes * routed_elements(j, (double)j->model.top_k, true);
    if (j->layout.expert_tensor > 1)
        transformer_add_exchange(exchanges, (struct stagesim_exchange){collective, STAGESIM_TENSOR, STAGESIM_AFTER,
                                                                       "tensor", bytes, 1, false});
}

/* Parts of a layer with experts; without shared ones `shared` is NULL. */
struct expert_layer {
    struct stagesim_part *router, *shared, *experts, *sum;
    bool overlaps;
};

/* Forward: router, tokens to their experts (beside the shared ones where these overlap), experts, tokens back, sum. */
static void add_forward(const struct transformer_job *j, const struct expert_layer *layer)
{
    struct stagesim_part *before = layer->shared ? layer->shared : layer->router;
    if (layer->overlaps)
        dispatch(j, &layer->shared->forward_exchanges, STAGESIM_BESIDE);
    else
        dispatch(j, &layer->router->forward_exchanges, STAGESIM_AFTER);
    add_tensor(j, &before->forward_exchanges, STAGESIM_ALL_GATHER);
    add_tensor(j, &layer->experts->forward_exchanges, STAGESIM_REDUCE_SCATTER);
    combine(j, &layer->experts->forward_exchanges, STAGESIM_AFTER);
}

/* The same the other way, with gradients; where all is computed again tokens travel again. */
static void add_backward(const struct transformer_job *j, const struct expert_layer *layer)
{
    struct stagesim_exchanges *first = &layer->sum->backward_exchanges;
    if (computes_again(j)) {
        dispatch(j, first, STAGESIM_AFTER);
        add_tensor(j, first, STAGESIM_ALL_GATHER);
        add_tensor(j, first, STAGESIM_REDUCE_SCATTER);
        combine(j, first, STAGESIM_AFTER);
    }
    dispatch(j, first, STAGESIM_AFTER);
    add_tensor(j, first, STAGESIM_ALL_GATHER);
    add_tensor(j, &layer->experts->backward_exchanges, STAGESIM_REDUCE_SCATTER);
    if (layer->overlaps)
        combine(j, &layer->shared->backward_exchanges, STAGESIM_BESIDE);
    else
        combine(j, &layer->experts->backward_exchanges, STAGESIM_AFTER);
}

/* What shared experts exchange among tensor-parallel ranks is what the feed-forward block in their place would. */
static void add_shared_exchanges(const struct transformer_job *j, uint32_t layer, struct stagesim_part *shared)
{
    struct stagesim_part dense = transformer_part(j, BLOCK_FFN, layer);
    add_exchanges(&shared->forward_exchanges, &dense.forward_exchanges);
    add_exchanges(&shared->backward_exchanges, &dense.backward_exchanges);
}

/* The experts of a layer take at least what the host needs to launch and cast them one by one, less what it hides: in
 * the forward it waits for the router, for it has to know how many tokens each expert gets, and then works while the
 * tokens travel; in the backward it waits for nothing and works while all else of the layer runs. */
static void add_host(const struct transformer_job *j, const struct expert_layer *layer, uint32_t number)
{
    double experts = (double)j->model.experts / j->layout.expert, most = (double)j->parameters->dispatched_most;
    double host = (most > 0 ? fmin(experts, most) : experts) * j->parameters->expert_dispatch;
    if (host <= 0 || j->profile.rows[PROFILE_LAYER])
        return;
    struct stagesim_exchanges tokens = {0};
    dispatch(j, &tokens, STAGESIM_AFTER);
    double travel = transformer_exchanges_seconds(j, &tokens);
    layer->experts->forward = fmax(layer->experts->forward, host - travel);
    double rest = layer->router->backward + layer->sum->backward + (layer->shared ? layer->shared->backward : 0) +
                  plain_part(j, BLOCK_ATTENTION, number).backward + 2 * travel;
    double backward = 2 * host - rest;
    if (layer->experts->backward > 0 && backward > layer->experts->backward) {
        layer->experts->weight *= backward / layer->experts->backward;
        layer->experts->backward = backward;
    }
}

static uint32_t expert_parts(const struct transformer_job *j, uint32_t number, struct stagesim_part *parts)
{
    uint32_t count = 0;
    struct expert_layer layer = {.router = &parts[count++]};
    if (transformer_shared_width(&j->model) > 0)
        layer.shared = &parts[count++];
    layer.experts = &parts[count++];
    layer.sum = &parts[count++];
    layer.overlaps = j->parameters->routing.expert_overlap && layer.shared;
    *layer.router = plain_part(j, BLOCK_ROUTER, number);
    *layer.experts = plain_part(j, BLOCK_EXPERTS, number);
    *layer.sum = plain_part(j, BLOCK_COMBINE, number);
    if (layer.shared) {
        *layer.shared = plain_part(j, BLOCK_SHARED, number);
        layer.shared->apart = layer.overlaps ? SHARED : TOGETHER;
    }
    if (j->division.expert_factors) {
        layer.experts->apart = ROUTED;
        layer.experts->varies = "expert";
        layer.experts->factors = j->division.expert_factors;
    }
    add_forward(j, &layer);
    add_backward(j, &layer);
    add_host(j, &layer, number);
    if (layer.shared)
        add_shared_exchanges(j, number, layer.shared);
    return count;
}

/* Where something is exchanged at every linear map each is a part. */
static uint32_t linear_parts(const struct transformer_job *j, uint32_t layer, struct stagesim_part *parts)
{
    static const enum transformer_block blocks[] = {BLOCK_PROJECTIONS, BLOCK_CORE, BLOCK_JOIN, BLOCK_FIRST,
                                                    BLOCK_SECOND};
    uint32_t count = sizeof blocks / sizeof *blocks;
    for (uint32_t i = 0; i < count; i++)
        parts[i] = transformer_part(j, blocks[i], layer);
    vary(j, layer, &parts[1]);
    return count;
}

uint32_t transformer_layer_parts(const struct transformer_job *job, uint32_t layer, struct stagesim_part *out)
{
    const struct transformer_job at = transformer_at_layer(job, layer), *j = &at;
    if (j->tensor.algorithm != TENSOR_MEGATRON)
        return linear_parts(j, layer, out);
    uint32_t count = j->model.mixer == MIXER_NONE ? 0 : attention_parts(j, layer, out);
    if (j->model.feed == FEED_NONE)
        return count;
    if (j->model.feed == FEED_EXPERTS && j->model.experts)
        return count + expert_parts(j, layer, out + count);
    if (!tensor_hides_exchanges(&j->tensor)) {
        out[count] = transformer_part(j, BLOCK_FFN, layer);
        return count + 1;
    }
    out[count] = hiding_part(j, BLOCK_FIRST, layer);
    out[count + 1] = hiding_part(j, BLOCK_SECOND, layer);
    return count + 2;
}
