/* SPDX-License-Identifier: Apache-2.0 */
/* Options of Megatron-LM (megatron/training/arguments.py) and what they are in a scenario: one table for both
 * directions, from a launch script to a scenario and back. */
#ifndef STAGESIM_MEGATRON_OPTIONS_H
#define STAGESIM_MEGATRON_OPTIONS_H

#include <stddef.h>

enum option_role {
    OPTION_VALUE,   /* its value is that of the scenario's key */
    OPTION_SWITCH,  /* without a value: given, the key is `value` */
    OPTION_WORD,    /* its value is one of `value`'s words: "LayerNorm=layer RMSNorm=rms" */
    OPTION_DERIVED, /* says something only together with others: importers and exporters know them by name */
    OPTION_PARTIAL, /* changes time or memory, but no key says so: `text` is what is missed */
    OPTION_IGNORED  /* changes neither time nor memory of an iteration */
};

struct megatron_option {
    const char *name; /* without the dashes; of ignored ones a last '*' stands for any rest */
    const char *nemo; /* as NeMo's YAML names it below `model`, where not the same with underscores; NULL */
    enum option_role role;
    const char *key;    /* of the scenario, such as "model.layers"; NULL: none of its own */
    const char *value;  /* OPTION_SWITCH, OPTION_WORD: see there */
    const char *absent; /* what the key is where the option is not given; NULL: it has to be given, or others say it */
    const char *text;   /* OPTION_PARTIAL: what is missed; OPTION_DERIVED: what it does; NULL */
};

/* All that stagesim knows; a name of NULL ends it. */
extern const struct megatron_option megatron_options[];

/* The option of that name, without dashes; NULL: not known. */
const struct megatron_option *megatron_option_find(const char *name);
/* The same by NeMo's name, with underscores. */
const struct megatron_option *megatron_option_find_nemo(const char *name);
/* The first option, in the order of the table, that is the scenario's key; NULL: none is. */
const struct megatron_option *megatron_option_of_key(const char *key);
/* The scenario's word for a value of an OPTION_WORD ("RMSNorm" is "rms"), or the other way round with `back`; NULL:
 * not known. Writes at most `size` bytes into `text`, which it returns. */
const char *megatron_option_word(const struct megatron_option *option, const char *word, int back, char *text,
                                 size_t size);

#endif
