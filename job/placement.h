/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank is on which host. */
#ifndef STAGESIM_PLACEMENT_H
#define STAGESIM_PLACEMENT_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"

/* Fills hosts[rank] with indices into the platform's hosts, as the scenario's `placement` says:
 * order: rank i is on host i.
 * nic-aware: all ranks of one pipeline worker are on hosts of one network interface (property `nic`), so that only
 * messages between pipeline workers cross from one kind to another (Holmes, Yang et al., ICPP 2024). Workers take the
 * hosts of one kind until there are not enough left for another worker; kinds come in the order of their first hosts.
 * The platform has a host for every rank. False with the mistake reported where the hosts of the kinds do not suffice.
 */
bool placement_fill(const struct scenario *scenario, const struct platform *platform, uint32_t *hosts,
                    struct diag *diag);

/* Whether that is the order of the hosts. */
bool placement_is_order(const struct scenario *scenario, const uint32_t *hosts);

#endif
