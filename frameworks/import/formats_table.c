/* SPDX-License-Identifier: Apache-2.0 */
/* All formats; of some the name alone is known. */
#include "frameworks/import/formats.h"

#include <stddef.h>

static const char *const olmo_marks[] = {"model.weight_tying",
                                         "model.mlp_ratio",
                                         "model.layer_norm_type",
                                         "model.rope",
                                         "fsdp.wrapping_strategy",
                                         "save_interval_unsharded",
                                         "model.embedding_size",
                                         "model.max_sequence_length",
                                         "model.d_model",
                                         "model.activation_type",
                                         "canceled_check_interval",
                                         "model.block",
                                         "model._CLASS_",
                                         "train_module",
                                         NULL};

static const struct format format_olmo = {"OLMo", NULL, olmo_marks, 3, NULL, NULL, NULL, NULL};

static const char *const internevo_marks[] = {"parallel.zero1",  "parallel.tensor", "parallel.pipeline",
                                              "data.micro_num",  "data.micro_bsz",  "hybrid_zero_optimizer",
                                              "beta2_scheduler", "VOCAB_SIZE",      NULL};

static const struct format format_internevo = {"InternEvo", NULL, internevo_marks, 3, NULL, NULL, NULL, NULL};

const struct format *const formats[] = {&format_nanotron, &format_neox,    &format_foundry,  &format_axolotl,
                                        &format_factory,  &format_maxtext, &format_olmo,     &format_internevo,
                                        &format_nemo_rl,  &format_verl,    &format_openrlhf, NULL};
