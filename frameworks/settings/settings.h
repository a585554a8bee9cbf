/* SPDX-License-Identifier: Apache-2.0 */
/* What files of a job say, as keys of a scenario: each with where it came from; and what no key could say. */
#ifndef STAGESIM_SETTINGS_H
#define STAGESIM_SETTINGS_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct node;

/* Weakest first: of two values for one key the stronger counts. */
enum setting_origin {
    SETTING_ASSUMED, /* stagesim's own choice, where no file says */
    SETTING_DEFAULT, /* what the framework does where its key is not given */
    SETTING_GIVEN,   /* a key of a file, or follows from several */
    SETTING_TYPED    /* on the command line */
};

struct source {
    enum setting_origin origin;
    struct place at;  /* of the key; line 0: nowhere */
    const char *text; /* which key, what was made of it: "--num-layers", "hidden_size / num_attention_heads" */
};

struct setting {
    const char *key; /* "model.layers"; beginning with '@': a fact that others follow from, not of the scenario */
    const char *value;
    struct source from;
    struct setting *next;
};

enum remark_kind {
    REMARK_MISSING, /* the scenario needs it, no file says it: text says how to give it */
    REMARK_PARTIAL, /* changes time or memory, and no key says so */
    REMARK_CHOICE,  /* two said something, or something had to be chosen */
    REMARK_UNKNOWN, /* a key that stagesim does not know */
    REMARK_KINDS
};

struct remark {
    enum remark_kind kind;
    struct place at;
    const char *name, *text;
    struct remark *next;
};

/* All memory is the arena's. */
struct settings {
    struct arena *arena;
    struct diag *diag;
    struct setting *first, *last;
    struct remark *remarks, *last_remark;
    unsigned ignored; /* keys that change neither time nor memory */
};

struct source source_given(struct place at, const char *text);
struct source source_default(const char *text);
struct source source_assumed(const char *text);

/* Sets a key. Two files that say different things of it are a mistake, reported at both places; a default that differs
 * from what a file says is a remark. */
void settings_put(struct settings *settings, const char *key, const char *value, struct source from);
void settings_put_count(struct settings *settings, const char *key, uint64_t value, struct source from);
void settings_put_flag(struct settings *settings, const char *key, bool value, struct source from);
/* Changes or removes what is there, without a check: for what follows from all files. */
void settings_replace(struct settings *settings, const char *key, const char *value, struct source from);
void settings_remove(struct settings *settings, const char *key);

/* NULL: not set. */
const struct setting *settings_find(const struct settings *settings, const char *key);
/* The text of a key, or `other`. */
const char *settings_text(const struct settings *settings, const char *key, const char *other);
/* The count of a key, or `other` where it is not set or no count. */
uint64_t settings_count(const struct settings *settings, const char *key, uint64_t other);
/* The product of two counts, UINT64_MAX where it would be more: which no reader takes for a count. */
uint64_t settings_product(uint64_t a, uint64_t b);

__attribute__((format(printf, 5, 6))) void settings_remark(struct settings *settings, enum remark_kind kind,
                                                           struct place at, const char *name, const char *format, ...);
unsigned settings_remarks(const struct settings *settings, enum remark_kind kind);

/* ---- scalars of foreign YAML and JSON files ---- */

/* A key that is there and neither null nor NeMo's ???. */
bool node_given(const struct node *node);
/* Whole numbers as such files write them: 8, "8", 5e8, 1_000. False where it is none. */
bool node_count(const struct node *node, uint64_t *count);
bool node_number(const struct node *node, double *number);
/* true, True, yes, 1, 'true'. False where it is none of these or of their opposites. */
bool node_flag(const struct node *node, bool *flag);

#endif
