/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of unequal shape, as models found by search have them: `block_configs` of config.json, and of the file that
 * Megatron-LM's --heterogeneous-layers-config-path names. */
#ifndef STAGESIM_FRAMEWORKS_MODELS_UNEQUAL_H
#define STAGESIM_FRAMEWORKS_MODELS_UNEQUAL_H

#include "base/document.h"
#include "frameworks/settings/settings.h"

/* Sets model.layer_kv_heads, model.layer_ffn and model.ffn from the list, which has an entry for each of model.layers;
 * needs model.hidden and model.heads. NULL, or another number of entries, is a mistake, which is reported at `at`. */
void unequal_read(const struct node *list, struct place at, struct source from, struct settings *settings);

#endif
