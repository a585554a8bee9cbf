/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that describe the collective library of a machine; doc/collectives.md has the table. */
#ifndef STAGESIM_PLATFORM_LIBRARY_H
#define STAGESIM_PLATFORM_LIBRARY_H

#include "base/diagnostics.h"
#include "platforms/platform.h"
#include "platforms/routing.h"

#include <stdio.h>

/* Whether a property's name is one of the library's, right or wrong: they begin with "collective_" or "routing". */
bool library_owns(const char *key);
/* Number `index` of the library's properties, those of routing behind them; false behind the last. */
bool library_property(unsigned index, struct platform_property *property);
/* Reads one property that library_owns. False with the fault filled when there is none of that name or the value is
 * wrong. */
bool library_set(struct platform_library *library, const char *key, const char *value, struct fault *fault);
/* To be called after the last library_set: orders the protocols, gives those of the network the node's values where
 * they have none of their own, completes launch times. */
void library_complete(struct platform_library *library);
/* Completes launch times only: those that are not given are, in this order, the default of their scope, and over nodes
 * what counts within nodes. */
void library_complete_launches(struct platform_library *library);
/* Writes the properties as XML, each on a line of `indent` blanks. */
void library_write(FILE *out, const struct platform_library *library, unsigned indent);
/* Launch times and protocols of one scope only. */
void library_write_regime(FILE *out, const struct platform_regime *regime, enum platform_scope scope, unsigned indent);

/* A kind of collectives (enum stagesim_collective) as properties call it: "all_reduce". */
const char *library_kind_name(unsigned kind);
/* Whether a property is one that library_write_regime writes for the scope. */
bool library_in_regime(const char *key, enum platform_scope scope);
/* The protocols of groups of a scope, *count of them; none: a single one without start whose ratios are 1. */
const struct platform_protocol *library_protocols(const struct platform_library *library, enum platform_scope scope,
                                                  uint32_t *count);
/* The ratios that transfers of a scope take in a protocol of library_protocols; name, latency and efficiency are set.
 */
struct platform_protocol library_transfers(const struct platform_library *library,
                                           const struct platform_protocol *protocol, enum platform_scope scope);
/* The same of the messages of an all-to-all, in a protocol of their own. */
struct platform_protocol library_messages(const struct platform_library *library,
                                          const struct platform_protocol *protocol, enum platform_scope scope);

#endif
