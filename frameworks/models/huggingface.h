/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face's config.json as the section `model` of a scenario. Keys and defaults are those of transformers'
 * configuration_NAME.py. */
#ifndef STAGESIM_HUGGINGFACE_H
#define STAGESIM_HUGGINGFACE_H

#include "frameworks/settings/settings.h"

struct node;

/* Whether a document is such a file: it has a model_type, or the map text_config. */
bool huggingface_is_config(const struct node *root);
/* Puts the keys model.* that follow from the file. The sequence is not among them: no such file has one. False after a
 * mistake was reported: a model_type that is not known, a shape that is not given or cannot be said. */
bool huggingface_read(const struct node *root, struct settings *settings);
/* A table of the keys that change neither time nor memory, for the documentation. */
extern const char *const huggingface_ignored[];

#endif
