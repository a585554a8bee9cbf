/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of huggingface.h share; for them only. */
#ifndef STAGESIM_HUGGINGFACE_PARTS_H
#define STAGESIM_HUGGINGFACE_PARTS_H

#include "base/document.h"
#include "frameworks/models/huggingface.h"

struct config;

/* An architecture: what its code says and no file. */
struct huggingface_family {
    const char *type;               /* model_type */
    bool rms, gated, tied, dropout; /* tied, dropout: where the file does not say */
    const char *biases;             /* "true", "false", or the key that says so */
    const char *position_key;       /* of learned positions; NULL: none */
    uint64_t positions_more;        /* positions beside those */
    uint64_t head_size;             /* where the file has none; 0: hidden / heads */
    uint64_t norms;                 /* 0: two */
    bool qk_norm;
    uint64_t window, window_period;      /* where the file has none; a period of 0: all layers have the window */
    void (*read)(struct config *config); /* what only this architecture has; NULL */
};

enum { CONFIG_WRONG_MAX = 64 };

/* A file while it is read. */
struct config {
    const struct node *root; /* the map of the language model */
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
bool config_flag(struct config *config, const char *key, bool other);
/* Puts the count of one of the keys. Without it the default `other` where that is not 0; where it is, a mistake if the
 * key is `needed`. Returns the count, 0 if there is none. */
uint64_t config_put_count(struct config *config, const char *key, const char *keys, uint64_t other, bool needed);
/* Puts what the architecture says. */
void config_put_fixed(struct config *config, const char *key, const char *value);
void config_put_flag(struct config *config, const char *key, const char *name, bool other);
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

#endif
