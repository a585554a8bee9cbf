/* SPDX-License-Identifier: Apache-2.0 */
/* Files that say a job key by key: one table for each format. A file is of a format when it has several keys that only
 * this format has. */
#ifndef STAGESIM_IMPORT_FORMATS_H
#define STAGESIM_IMPORT_FORMATS_H

#include "base/document.h"
#include "frameworks/settings/settings.h"

struct arena;

enum row_kind {
    ROW_COUNT,  /* the value, a count */
    ROW_PLAIN,  /* the value as it is, a number */
    ROW_TOKENS, /* a count of tokens, of which model.sequence make one */
    ROW_SPARE,  /* a count, where no row before it gave the key */
    ROW_RATIO,  /* `words` times the key of that name, up to a multiple: "model.hidden", "model.hidden 256" */
    ROW_HALF,   /* times the second key of `words`, if there is one; half of that where the first is true */
    ROW_SHARDS, /* ranks that share what stage `words` shares; 1: none, 0 and below: all */
    ROW_CHUNKS, /* chunks of a pipeline's worker */
    ROW_FLAG,   /* true or false */
    ROW_NOT,    /* the opposite */
    ROW_ABOVE,  /* a number: whether it is above 0 */
    ROW_WORD,   /* one of `words`: "bfloat16=bf16 float32=fp32" */
    ROW_ONE,    /* where it is true, `words` */
    ROW_REFUSED /* the file is of another kind: `words` say why, and what was expected */
};

struct format_row {
    const char *path; /* "model.d_model"; "?parallel.tensor": only where it is no map */
    enum row_kind kind;
    const char *key; /* of the scenario, or a fact that begins with '@' */
    const char *words;
    const char *absent; /* its value where the key is not given; NULL: not said */
};

struct format_fact {
    const char *key, *value, *why; /* what the framework always has */
    const char *needs, *value_of;  /* only where this key has that value; NULL: always */
    const char *beside;            /* not beside this key, where a remark says what is left out; NULL: beside all */
};

struct format {
    const char *name, *profile; /* "nanotron"; of `framework:`, NULL: none */
    const char *const *marks;   /* keys of which it has at least `need` */
    unsigned need;
    const struct format_row *rows;
    const struct format_fact *facts;
    const char *const *ignored, *const *partial; /* as of reading_account */
};

extern const struct format format_nemo_rl, format_verl, format_openrlhf;
extern const struct format format_internevo, format_olmo, format_olmo_core;
extern const struct format format_nanotron, format_neox, format_foundry, format_maxtext, format_axolotl, format_factory;
/* All, ended by NULL. */
extern const struct format *const formats[];

/* The format of which a file has the most marks, and enough; NULL: none. */
const struct format *formats_find(const struct node *root, struct arena *arena);
void formats_read(const struct format *format, const struct node *root, struct settings *settings);

#endif
