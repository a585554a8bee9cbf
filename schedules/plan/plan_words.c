/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_words.h"

#include <stdio.h>

struct plan_words plan_words_of(unsigned kind, unsigned part)
{
    static const char *const kinds[] = {"forward",
                                        "backward",
                                        "weight gradient",
                                        "eviction",
                                        "fetch",
                                        "recomputation",
                                        "handing on of weights for the forward",
                                        "handing on of weights for the backward",
                                        "handing on of the gradient",
                                        "output pass",
                                        "gradient pass of the output"};
    struct plan_words words;
    snprintf(words.text, sizeof words.text, "%s%s",
             part == PART_WHOLE ? "the "
             : part == PART_A   ? "half a of the "
                                : "half b of the ",
             kinds[kind]);
    return words;
}
