/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of ranks that differ: the members of a collective end together, and so do the two ends of a message. */
#ifndef STAGESIM_PROFILE_CLOCKS_H
#define STAGESIM_PROFILE_CLOCKS_H

#include "traces/recorded.h"

/* A rank whose ends differ from those of others by the same time all along has another clock: its times are changed,
 * and a note says by how much. Differences go from rank to rank, from the first one on; ranks that share nothing with
 * it keep their times. */
void clocks_align(struct recorded *recorded);

#endif
