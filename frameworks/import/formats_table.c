/* SPDX-License-Identifier: Apache-2.0 */
/* All formats; of some the name alone is known. */
#include "frameworks/import/formats.h"

#include <stddef.h>

const struct format *const formats[] = {&format_nanotron,
                                        &format_neox,
                                        &format_foundry,
                                        &format_axolotl,
                                        &format_factory,
                                        &format_maxtext,
                                        &format_olmo,
                                        &format_olmo_core,
                                        &format_nemo_rl,
                                        &format_internevo,
                                        &format_verl,
                                        &format_openrlhf,
                                        NULL};
