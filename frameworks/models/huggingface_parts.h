/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of huggingface.h share; for them only. */
#ifndef STAGESIM_HUGGINGFACE_PARTS_H
#define STAGESIM_HUGGINGFACE_PARTS_H

#include "base/document.h"
#include "frameworks/models/huggingface.h"

struct config;

#define HUGGINGFACE_PAGE "doc/import.md"

/* An architecture: what its code says and no file. */
struct huggingface_family {
    const char *type;               /* model_type */
    bool rms, gated, tied, dropout; /* tied, dropout: where the file does not say */
    const char *biases;             /* "true", "false", or the key that says so */
    const char *position_key;       /* of learned positions; NULL: none */
    uint64_t positions_more;        /* positions beside those */
    uint64_t head_size;             /* where the file has none; 0: hidden / heads */
    uint64_t kv_heads;              /* where the file has none; 0: as many as heads */
    uint64_t norms;                 /* 0: two */
    bool qk_norm;
    uint64_t window, window_period;      /* where the file has none; a period of 0: all layers have the window */
    const char *ffn_key;                 /* of the width of feed-forward blocks; NULL: as in most files */
    bool no_ffn;                         /* all layers have experts, or a list of widths: a file may have no such key */
    bool counts_layers;                  /* a list may stand for their number */
    void (*read)(struct config *config); /* what only this architecture has; NULL */
};

enum { CONFIG_WRONG_MAX = 64, CONFIG_LAYERS_MAX = 10000 };

/* A file while it is read. */
struct config {
    const struct node *root; /* the map of the language model, or one in it */
    const struct node *top;  /* of the whole file */
    struct settings *settings;
    const struct huggingface_family *family;
    const struct node **used; /* keys that were looked up */
    size_t used_count;
    const struct node *wrong[CONFIG_WRONG_MAX]; /* wrong_count of them: values that were reported */
    size_t wrong_count;
};

/* The first of the keys (one blank between) that is there, even if null; NULL: none. All of them count as read. */
const struct node *config_find(struct config *config, const char *keys);
/* The same, NULL where it is null. */
const struct node *config_get(struct config *config, const char *keys);
/* A count of the first of the keys that is given; `other` where none is, or after a mistake. */
uint64_t config_count(struct config *config, const char *keys, uint64_t other);
/* The same, where 0 is a mistake; `other` is not 0. */
uint64_t config_positive(struct config *config, const char *keys, uint64_t other);
bool config_flag(struct config *config, const char *key, bool other);
/* Puts the count of one of the keys. Without it the default `other` where that is not 0; where it is, a mistake if the
 * key is `needed`. Returns the count, 0 if there is none. */
uint64_t config_put_count(struct config *config, const char *key, const char *keys, uint64_t other, bool needed);
/* Puts what the architecture says. */
void config_put_fixed(struct config *config, const char *key, const char *value);
void config_put_flag(struct config *config, const char *key, const char *name, bool other);
/* The key of a file. */
struct source config_given(const struct node *node);
/* "model_type gemma2, where sliding_window is not given" */
struct source config_default(const struct config *config, const char *name);
struct source config_fixed(const struct config *config);

/* ---- huggingface_layers.c: layers that differ, experts, latent attention ---- */

/* Windows, which some layers have, as sliding_window and layer_types say. */
void config_read_window(struct config *config);
void config_read_qwen_window(struct config *config);
void config_read_mixtral(struct config *config);
void config_read_qwen_moe(struct config *config);
void config_read_gpt_oss(struct config *config);
void config_read_deepseek(struct config *config);
void config_read_glm_experts(struct config *config);
void config_read_dots(struct config *config);
/* Parts of those: experts, by the keys of their number and width; latent attention; experts of Qwen. */
void config_put_experts(struct config *config, const char *count, const char *inner);
void config_read_latent(struct config *config);
void config_read_qwen_experts(struct config *config);
/* Groups of experts; `third`: with DeepSeek-V3's defaults. */
void config_read_groups(struct config *config, bool third);
/* Reports a key, where it is given and not 0 or false, that would need `what`, no kind of layer that stagesim has. */
void config_refuse(struct config *config, const char *key, const char *what);

/* ---- huggingface_sequence.c: layers as letters of doc/layer-kinds.md ---- */

/* What a list calls a layer, and its letter; the last has no word. */
struct config_word {
    const char *word;
    char letter;
};

/* A letter for each layer of the model, all of them this one; memory of the arena. */
char *config_letters(struct config *config, char letter);
/* Puts them, as short as they begin again. */
void config_put_letters(struct config *config, const char *key, char *letters, struct source from);
/* Letters of a list of words; a list may be longer than the model. False with the mistake reported. */
bool config_list_letters(struct config *config, const struct node *list, const struct config_word *words,
                         char *letters);
/* Puts the letters of a list of the file, or without it one for all layers. */
void config_put_list(struct config *config, const char *key, const char *list, const struct config_word *words,
                     char other);
/* Puts model.feeds of a list of layers with experts (1, sparse) and without. */
void config_put_feeds(struct config *config, const char *list);
/* Puts shared experts by the keys of their number (default 1) and of the width of all; nothing where that is not given.
 */
void config_put_shared(struct config *config, const char *count, const char *width);
/* Puts normalisations of queries and keys, over each head or over all of a token together. */
void config_put_qk_norm(struct config *config, bool other);
/* Goes into a map of the file; returns the one before, which the caller puts back into config->root. */
const struct node *config_enter(struct config *config, const char *key);

/* ---- huggingface_hybrids.c, huggingface_sparse.c, huggingface_feeds.c: architectures ---- */

void config_read_qwen_hybrid(struct config *config);
void config_read_nemotron(struct config *config);
void config_read_kimi_linear(struct config *config);
void config_read_minimax(struct config *config);
void config_read_nas(struct config *config);
void config_read_sparse(struct config *config);
void config_read_deepseek_v4(struct config *config);
void config_read_minimax_m3(struct config *config);
void config_read_mimo_v2(struct config *config);
void config_read_gemma4(struct config *config);
void config_read_llama4(struct config *config);
void config_read_apertus(struct config *config);
void config_read_ling(struct config *config);
void config_read_hunyuan(struct config *config);
void config_read_hunyuan_experts(struct config *config);
void config_read_granite(struct config *config);
void config_read_lfm2(struct config *config);

/* ---- huggingface_towers.c ---- */

/* Puts the tower of a vision_config, where its code is known. Both return the map that was read, or NULL. */
const struct node *config_read_image_tower(struct config *config);
/* Puts the tower of an audio_config, or says that it is left out. */
const struct node *config_read_audio_tower(struct config *config);

/* ---- huggingface_unknown.c ---- */

/* Reports an architecture that is not known: which kinds of layers it names that stagesim lacks, and how to describe it
 * by hand. */
void config_report_unknown(struct config *config, const struct node *type, const char *const names[], size_t count);

#endif
