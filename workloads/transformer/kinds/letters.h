/* SPDX-License-Identifier: Apache-2.0 */
/* Letters of the kinds of layers: those of Megatron-LM's --hybrid-layer-pattern (megatron/core/ssm/
 * mamba_hybrid_layer_allocation.py) where it has one, and further ones. Documented in doc/layer-kinds.md. */
#ifndef STAGESIM_TRANSFORMER_LETTERS_H
#define STAGESIM_TRANSFORMER_LETTERS_H

#include "workloads/transformer/kinds/model.h"

struct transformer_letter {
    char letter;
    unsigned kind; /* enum transformer_mixer or transformer_feed */
    const char *name;
};

/* By kind, with an entry of letter 0 at the end. */
extern const struct transformer_letter transformer_mixer_letters[], transformer_feed_letters[];

/* The entry of a letter, NULL if there is none. Among mixers `+` is another letter for `*`: latent attention. */
const struct transformer_letter *transformer_mixer_of(char letter);
const struct transformer_letter *transformer_feed_of(char letter);

#endif
