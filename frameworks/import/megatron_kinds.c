/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of several kinds as options of Megatron-LM name them: the letters of a hybrid model, attention variants,
 * residual streams, layers that predict further tokens. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- the letters of a hybrid model ---- */

static const char letters[] = "M*-EG+D";

/* What the letters say: layers of one block each, stages between bars, after each slash a layer that predicts. */
struct pattern {
    const struct argument *argument;
    char *layers;       /* without bars */
    const char *layout; /* in the notation of pipeline layouts; NULL: no bars */
    const char *rest;   /* from the first slash on; NULL: none */
};

static void refuse(struct arguments *a, const struct argument *argument, char letter)
{
    diag_error(a->settings->diag, argument->at, "%s has '%c', which is no kind of layer that stagesim has; expected %s",
               argument->label, letter, "M, G, *, +, D, - and E, | between stages, / before layers that predict");
}

static bool split(struct arguments *a, struct pattern *p)
{
    const char *text = argument_text(a, p->argument->option->name, "");
    struct arena *arena = a->settings->arena;
    size_t length = strcspn(text, "/"), count = 0;
    const char *layout = "E";
    bool bars = false;
    p->layers = arena_alloc(arena, length + 1);
    p->rest = text[length] ? text + length : NULL;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '|' && !strchr(letters, text[i])) {
            refuse(a, p->argument, text[i]);
            return false;
        }
        bars |= text[i] == '|';
        layout = arena_print(arena, "%s%c", layout, text[i] == '|' ? '|' : 't');
        if (text[i] != '|')
            p->layers[count++] = text[i];
    }
    p->layers[count] = 0;
    p->layout = bars ? layout : NULL;
    return count > 0;
}

/* Slashes, each before the letters of one layer, which has one block that mixes tokens and one that follows. */
static uint64_t read_predictions(struct arguments *a, const struct argument *argument, const char *text)
{
    struct arena *arena = a->settings->arena;
    const char *mixers = "", *feeds = "";
    uint64_t count = 0;
    for (; *text; count++) {
        size_t length = strcspn(text += *text == '/', "/");
        char mixer = '.', feed = '.';
        for (size_t i = 0; i < length; i++) {
            bool follows = text[i] == '-' || text[i] == 'E';
            char *place = follows ? &feed : &mixer;
            if (!strchr(letters, text[i]) || *place != '.') {
                diag_error(a->settings->diag, argument->at,
                           "%s: a layer that predicts a further token is '%.*s'; expected one letter of what mixes "
                           "tokens and one of what follows, such as *E",
                           argument->label, (int)length, text);
                return 0;
            }
            *place = text[i] == '+' ? '*' : text[i];
        }
        mixers = arena_print(arena, "%s%c", mixers, mixer);
        feeds = arena_print(arena, "%s%c", feeds, feed);
        text += length;
    }
    if (count) {
        settings_put(a->settings, "model.prediction_mixers", mixers, argument_source(a, argument));
        settings_put(a->settings, "model.prediction_feeds", feeds, argument_source(a, argument));
    }
    return count;
}

static void put_predictions(struct arguments *a, uint64_t count, const struct argument *argument)
{
    if (count)
        settings_put_count(a->settings, "model.predictions", count, argument_source(a, argument));
}

static void read_pattern(struct arguments *a)
{
    const struct argument *now = argument_find(a, "hybrid-layer-pattern"),
                          *before = argument_find(a, "hybrid-override-pattern");
    const struct argument *further = argument_find(a, "mtp-hybrid-override-pattern");
    struct pattern p = {.argument = now ? now : before};
    if (!p.argument || !split(a, &p))
        return;
    struct source from = argument_source(a, p.argument);
    uint64_t layers = strlen(p.layers);
    settings_remove(a->settings, "model.layers");
    settings_put_count(a->settings, "model.layers", layers, from);
    settings_put(a->settings, "model.pattern", p.layers, from);
    uint64_t count = argument_count(a, "mtp-num-layers", 0);
    if (p.rest)
        count = read_predictions(a, p.argument, p.rest);
    else if (further && count)
        read_predictions(a, further, argument_text(a, "mtp-hybrid-override-pattern", ""));
    settings_remove(a->settings, "model.predictions");
    put_predictions(a, count, p.argument);
    for (uint64_t i = 0; p.layout && i < count; i++)
        p.layout = arena_print(a->settings->arena, "%sm", p.layout);
    if (p.layout)
        settings_put(a->settings, "@layout", arena_print(a->settings->arena, "%sL", p.layout), from);
}

/* ---- attention variants ---- */

static void put_linear(struct arguments *a, const struct argument *variant)
{
    const struct argument *given = argument_find(a, "linear-attention-freq");
    const char *text = argument_text(a, "linear-attention-freq", "");
    uint64_t layers = argument_count(a, "num-layers", 0), every;
    size_t count = 0;
    char *list = arena_alloc(a->settings->arena, MEGATRON_LAYERS_MAX + 1), *end = list;
    if (given && megatron_read_list(text, list, &count)) {
        for (size_t i = 0; i < count; i++)
            list[i] = list[i] == '1' ? 'G' : '*';
        end = list + count;
    } else {
        every = given ? argument_count(a, "linear-attention-freq", 4) : 1;
        for (uint64_t i = 0; i < layers && i < MEGATRON_LAYERS_MAX && every; i++)
            *end++ = every > 1 && (i + 1) % every == 0 ? '*' : 'G';
    }
    *end = 0;
    if (*list)
        settings_put(a->settings, "model.mixers", list, argument_source(a, given ? given : variant));
}

static void read_variant(struct arguments *a)
{
    const struct argument *variant = argument_find(a, "experimental-attention-variant");
    const char *name = argument_text(a, "experimental-attention-variant", "");
    if (!variant || settings_find(a->settings, "model.pattern"))
        return;
    if (!strcmp(name, "gdn") || !strcmp(name, "gated_delta_net"))
        put_linear(a, variant);
    else if (!strcmp(name, "dsa"))
        settings_put(a->settings, "model.mixers", "D", argument_source(a, variant));
    else
        diag_error(a->settings->diag, variant->at,
                   "%s is '%s', which is no kind of layer that stagesim has; expected gdn, gated_delta_net or dsa",
                   variant->label, name);
}

/* What the options of a kind say counts where layers are of that kind. */
static void put_shape(struct arguments *a)
{
    static const struct {
        const char *option, *key, *letters;
    } shape[] = {{"mamba-state-dim", "model.mamba_state", "M"},
                 {"mamba-head-dim", "model.mamba_head_size", "M"},
                 {"mamba-num-groups", "model.mamba_groups", "M"},
                 {"mamba-num-heads", "model.mamba_heads", "M"},
                 {"linear-conv-kernel-dim", "model.convolution", "G"},
                 {"linear-key-head-dim", "model.linear_key_size", "G"},
                 {"linear-value-head-dim", "model.linear_value_size", "G"},
                 {"linear-num-key-heads", "model.linear_key_heads", "G"},
                 {"linear-num-value-heads", "model.linear_value_heads", "G"},
                 {"dsa-indexer-n-heads", "model.index_heads", "D"},
                 {"dsa-indexer-head-dim", "model.index_size", "D"},
                 {"dsa-indexer-topk", "model.index_top", "D"}};
    const char *kinds = settings_text(a->settings, "model.pattern", settings_text(a->settings, "model.mixers", ""));
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        const struct argument *given = argument_find(a, shape[i].option);
        if (given && strpbrk(kinds, shape[i].letters))
            settings_put_count(a->settings, shape[i].key, argument_count(a, shape[i].option, 0),
                               argument_source(a, given));
    }
    const struct argument *loss = argument_find(a, "dsa-indexer-loss-coeff");
    if (loss && strchr(kinds, 'D') && strtod(argument_text(a, "dsa-indexer-loss-coeff", "0"), NULL) > 0)
        settings_put(a->settings, "model.index_trained", "true", argument_source(a, loss));
}

static void read_streams(struct arguments *a)
{
    const struct argument *given = argument_find(a, "mhc-num-residual-streams");
    if (!argument_is_on(a, "enable-mhc-connections"))
        return;
    settings_put_count(a->settings, "model.streams", argument_count(a, "mhc-num-residual-streams", 4),
                       given ? argument_source(a, given) : argument_absent(a, "mhc-num-residual-streams"));
}

void megatron_read_kinds(struct arguments *a)
{
    put_predictions(a, argument_count(a, "mtp-num-layers", 0), argument_find(a, "mtp-num-layers"));
    read_pattern(a);
    read_variant(a);
    put_shape(a);
    read_streams(a);
}
