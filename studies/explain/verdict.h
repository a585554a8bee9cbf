/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what a step's time is made of. */
#ifndef STAGESIM_EXPLAIN_VERDICT_H
#define STAGESIM_EXPLAIN_VERDICT_H

#include "studies/explain/losses.h"

struct arena;

extern const char *const loss_names[LOSS_KINDS];

/* Whether a part has a row of its own: the ones of a model only where there is one. */
bool loss_shown(const struct losses *losses, enum loss_kind kind);

/* The part that costs most; LOSS_KINDS: none costs anything. */
enum loss_kind loss_worst(const struct losses *losses);

/* Three sentences: what a step takes and would take, what costs most and who it is, what to try and what that gives.
 * Memory from the arena. */
const char *verdict_text(const struct losses *losses, struct arena *arena);

#endif
