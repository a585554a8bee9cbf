/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/cache.h"

#include <math.h>

enum { FLOAT = 4 }; /* bytes: states of scans are kept in fp32 */

/* Heads of keys and values, or of latent attention one narrow vector that all heads share and all ranks have. */
static void attend(const struct transformer_model *m, double tensor, double element, struct generation_cache *cache)
{
    struct transformer_widths widths = transformer_widths_of(m);
    double narrow = (double)(m->kv_rank + m->rope_size), heads = (double)m->heads / tensor;
    cache->direct = 2 * (widths.query + widths.output) / tensor;
    cache->token = element * (m->kv_rank ? narrow : (widths.key + (m->keys_are_values ? 0 : widths.value)) / tensor);
    cache->pair = m->kv_rank ? 2 * heads * (narrow + (double)m->kv_rank) : cache->direct;
}

static void pick(const struct transformer_model *m, double element, struct generation_cache *cache)
{
    bool blocks = m->mixer == MIXER_BLOCK_SPARSE, own = m->mixer != MIXER_SPARSE_SHARED;
    cache->most = (double)m->index_top * (blocks ? (double)m->index_block : 1);
    cache->looked = own ? element * (double)m->index_size : 0;
    cache->look = own ? 2 * (double)(m->index_heads * m->index_size) : 0;
}

static void carry(double heads, double key, double value, double tensor, struct generation_cache *cache)
{
    cache->state = FLOAT * heads * key * value / tensor;
}

bool generation_cache_of(const struct transformer_model *m, double tensor, double element,
                         struct generation_cache *cache)
{
    *cache = (struct generation_cache){.most = INFINITY};
    switch (m->mixer) {
    case MIXER_ATTENTION:
    case MIXER_LOCAL:
        attend(m, tensor, element, cache);
        cache->most = m->window ? (double)m->window : INFINITY;
        cache->forgets = m->window > 0;
        return true;
    case MIXER_SPARSE:
    case MIXER_SPARSE_SHARED:
    case MIXER_BLOCK_SPARSE:
        attend(m, tensor, element, cache);
        pick(m, element, cache);
        return true;
    case MIXER_MAMBA:
        carry((double)m->mamba_heads, (double)m->mamba_head_size, (double)m->mamba_state, tensor, cache);
        return true;
    case MIXER_GATED_DELTA:
    case MIXER_KIMI_DELTA:
        carry((double)m->linear_value_heads, (double)m->linear_key_size, (double)m->linear_value_size, tensor, cache);
        return true;
    case MIXER_LIGHTNING:
        carry((double)m->heads, (double)m->head_size, (double)m->head_size, tensor, cache);
        return true;
    case MIXER_SHORT:
        carry((double)m->hidden, 1, (double)m->convolution - 1, tensor, cache);
        return true;
    case MIXER_NONE:
        return true;
    default:
        return false;
    }
}
