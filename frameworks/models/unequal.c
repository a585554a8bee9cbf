/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as megatron/core/transformer/heterogeneous/heterogeneous_config.py @ 1296a819 reads them. */
#include "frameworks/models/unequal.h"

#include "base/arena.h"

#include <inttypes.h>

enum { INNER_UNIT = 256 };

/* A key of a block that is neither absent nor null. */
static const struct node *value_of(const struct node *block, const char *key)
{
    const struct node *node = node_get(block, key);
    return node_given(node) ? node : NULL;
}

/* As wide as other layers where the block does not say. */
static uint64_t inner_of(struct settings *settings, const struct node *block)
{
    const struct node *whole = value_of(block, "ffn_hidden_size"), *node = value_of(block, "ffn_mult");
    uint64_t inner = settings_count(settings, "model.ffn", 0);
    double times, hidden = (double)settings_count(settings, "model.hidden", 0);
    if (whole && node_count(whole, &inner) && inner)
        return inner;
    if (!whole && !node && inner)
        return inner;
    if (whole || !node || !node_number(node, &times) || !(times > 0 && times < 1000)) {
        diag_error(settings->diag, block->at, "%s is %s; expected a positive number",
                   whole ? "ffn_hidden_size" : "ffn_mult",
                   whole || node ? node_describe(whole ? whole : node, settings->arena) : "not given");
        return 0;
    }
    inner = (uint64_t)(2 * times * hidden / 3);
    return (inner + INNER_UNIT - 1) / INNER_UNIT * INNER_UNIT;
}

/* A flag of a block; false where it is absent or null. */
static bool flag_of(struct settings *settings, const struct node *block, const char *key)
{
    bool flag = false;
    const struct node *node = value_of(block, key);
    if (node && !node_flag(node, &flag))
        diag_error(settings->diag, node->at, "%s is %s; expected true or false", key,
                   node_describe(node, settings->arena));
    return flag;
}

/* Whether a layer has a block; one that is a linear map is no kind of layer that stagesim has. */
static bool is_there(struct settings *settings, const struct node *layer, const struct node *block, const char *name)
{
    if (!block || block->kind != NODE_MAP) {
        diag_error(settings->diag, block ? block->at : layer->at,
                   "an entry of block_configs has no map of its %s; expected one, with no_op: true where it has none",
                   name);
        return false;
    }
    if (flag_of(settings, block, "replace_with_linear")) {
        diag_error(
            settings->diag, block->at,
            "the %s is a linear map, which is no kind of layer; expected attention, a feed-forward block or no_op",
            name);
        return false;
    }
    return !flag_of(settings, block, "no_op");
}

static uint64_t kv_heads_of(struct settings *settings, const struct node *block)
{
    uint64_t heads = settings_count(settings, "model.heads", 0), group = 0, count = 0;
    const struct node *groups = value_of(block, "num_query_groups"), *node = value_of(block, "n_heads_in_group");
    if (groups && node_count(groups, &count) && count && heads % count == 0)
        return count;
    if (!groups && node && node_count(node, &group) && group && heads % group == 0)
        return heads / group;
    diag_error(settings->diag, block->at, "%s is %s; expected a divisor of %" PRIu64 " heads",
               groups ? "num_query_groups" : "n_heads_in_group",
               groups || node ? node_describe(groups ? groups : node, settings->arena) : "not given", heads);
    return 0;
}

void unequal_read(const struct node *list, struct place at, struct source from, struct settings *settings)
{
    const char *heads = "[", *widths = "[";
    uint64_t widest = 0;
    if (!list || list->kind != NODE_LIST || list->count != settings_count(settings, "model.layers", 0)) {
        diag_error(settings->diag, at,
                   "the file has no block_configs with an entry for each layer, which layers of unequal shape need; "
                   "expected %" PRIu64,
                   settings_count(settings, "model.layers", 0));
        return;
    }
    for (const struct node *each = list->first; each; each = each->next) {
        const struct node *map = each->kind == NODE_MAP ? each : NULL;
        const struct node *attention = node_get(map, "attention"), *ffn = node_get(map, "ffn");
        ffn = ffn ? ffn : node_get(map, "mlp");
        uint64_t kv = is_there(settings, each, attention, "attention") ? kv_heads_of(settings, attention) : 0;
        uint64_t inner = is_there(settings, each, ffn, "feed-forward block") ? inner_of(settings, ffn) : 0;
        widest = inner > widest ? inner : widest;
        heads = arena_print(settings->arena, "%s%s%" PRIu64, heads, each == list->first ? "" : ", ", kv);
        widths = arena_print(settings->arena, "%s%s%" PRIu64, widths, each == list->first ? "" : ", ", inner);
    }
    settings_put(settings, "model.layer_kv_heads", arena_print(settings->arena, "%s]", heads), from);
    settings_put(settings, "model.layer_ffn", arena_print(settings->arena, "%s]", widths), from);
    if (widest && !settings_find(settings, "model.ffn"))
        settings_put_count(settings, "model.ffn", widest, from);
}
