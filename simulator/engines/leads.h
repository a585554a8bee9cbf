/* SPDX-License-Identifier: Apache-2.0 */
/* Whether an instance of a group that is ahead of others that are alike can stay so. */
#ifndef STAGESIM_LEADS_H
#define STAGESIM_LEADS_H

#include "simulator/program/program.h"

/* Between any two collectives of the group that follow each other its instances wait for each other: the later ones
 * begin when all of the earlier ones have ended. Then no lead grows, and groups that are alike stay together. False
 * also where this is not seen. */
bool group_waits(const struct program *program, uint32_t group);

#endif
