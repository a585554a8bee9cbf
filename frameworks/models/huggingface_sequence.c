/* SPDX-License-Identifier: Apache-2.0 */
/* Layers as a sequence of kinds: letters of doc/layer-kinds.md from the lists and periods of a file. */
#include "base/arena.h"
#include "base/quantity.h"
#include "frameworks/models/huggingface_parts.h"

#include <string.h>

char *config_letters(struct config *c, char letter)
{
    uint64_t layers = settings_count(c->settings, "model.layers", 0);
    layers = layers < CONFIG_LAYERS_MAX ? layers : CONFIG_LAYERS_MAX;
    char *text = arena_alloc(c->settings->arena, layers + 1);
    memset(text, letter, layers);
    text[layers] = 0;
    return text;
}

void config_put_letters(struct config *c, const char *key, char *letters, struct source from)
{
    size_t length = strlen(letters), period = 1;
    for (size_t i = 0; i < length; i++)
        if (letters[i] != letters[i % period]) {
            period++;
            i = 0;
        }
    if (length)
        letters[period < length ? period : length] = 0;
    if (length)
        settings_put(c->settings, key, letters, from);
}

/* The letter of a word: pairs of words and letters, NULL at the end; 0: none has it. */
static char letter_of(const char *text, const struct config_word *words)
{
    for (; words->word; words++)
        if (!strcmp(words->word, text))
            return words->letter;
    return 0;
}

static const char *list_words(struct config *c, const struct config_word *words)
{
    const char *text = words->word;
    for (words++; words->word; words++)
        text = arena_print(c->settings->arena, "%s, %s", text, words->word);
    return text;
}

bool config_list_letters(struct config *c, const struct node *list, const struct config_word *words, char *letters)
{
    size_t index = 0, length = strlen(letters);
    for (const struct node *each = list->kind == NODE_LIST ? list->first : NULL; each; each = each->next, index++) {
        char letter = each->kind == NODE_SCALAR ? letter_of(each->text, words) : 0;
        if (!letter) {
            diag_error(c->settings->diag, each->at, "a layer of type %s; expected %s",
                       node_describe(each, c->settings->arena), list_words(c, words));
            return false;
        }
        if (index < length)
            letters[index] = letter;
    }
    if (list->kind == NODE_LIST && index >= length) /* layers that predict further tokens may follow */
        return true;
    diag_error(c->settings->diag, list->at, "%s has %zu layers, the model %zu; expected one value for each", list->key,
               index, length);
    return false;
}

void config_put_list(struct config *c, const char *key, const char *list, const struct config_word *words, char other)
{
    const struct node *node = config_get(c, list);
    char *letters = config_letters(c, other);
    if (node && !config_list_letters(c, node, words, letters))
        return;
    const char *first = arena_print(c->settings->arena, "%.*s", (int)strcspn(list, " "), list);
    config_put_letters(c, key, letters, node ? config_given(node) : config_default(c, first));
}

/* ---- feed-forward blocks and experts ---- */

void config_put_feeds(struct config *c, const char *list)
{
    static const struct config_word words[] = {{"0", '-'},     {"1", 'E'},    {"dense", '-'}, {"sparse", 'E'},
                                               {"false", '-'}, {"true", 'E'}, {NULL, 0}};
    config_put_list(c, "model.feeds", list, words, 'E');
}

void config_put_shared(struct config *c, const char *count, const char *width)
{
    uint64_t experts = config_count(c, count, 1), inner = config_count(c, width, 0);
    const struct node *node = config_get(c, width);
    if (!node || !inner || !experts)
        return;
    settings_put_count(c->settings, "model.shared_experts", experts, config_given(node));
    settings_put_count(c->settings, "model.shared_ffn", inner, config_given(node));
}

/* ---- normalisations of queries and keys ---- */

void config_put_qk_norm(struct config *c, bool other)
{
    static const char *const key = "use_qk_norm qk_layernorm";
    const struct node *type = config_get(c, "qk_norm_type");
    const struct node *node = config_get(c, key);
    bool used = config_flag(c, key, other);
    settings_put_flag(c->settings, "model.qk_norm", used, node ? config_given(node) : config_default(c, "use_qk_norm"));
    if (used && type && type->kind == NODE_SCALAR && !strcmp(type->text, "per_layer"))
        settings_put(c->settings, "model.qk_norm_whole", "true", source_given(type->key_at, type->key));
}

/* ---- nested maps ---- */

const struct node *config_enter(struct config *c, const char *key)
{
    const struct node *outer = c->root, *inner = config_get(c, key);
    if (inner && inner->kind == NODE_MAP)
        c->root = inner;
    return outer;
}
