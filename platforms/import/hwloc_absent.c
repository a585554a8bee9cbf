/* SPDX-License-Identifier: Apache-2.0 */
/* Where hwloc is not there. */
#include "platforms/import/parts.h"

bool import_hwloc_text(struct import *import, const char *name, const char *text, size_t size,
                       const struct xml_facts *facts, const struct import_options *options, struct fault *fault)
{
    (void)import, (void)text, (void)size, (void)facts, (void)options;
    return fault_set(fault, "%s: it is a file of hwloc, and this stagesim was built without hwloc", name);
}

bool import_hwloc_here(struct import *import, const struct import_options *options, struct fault *fault)
{
    (void)import, (void)options;
    return fault_set(fault, "this stagesim was built without hwloc, which reads the machine");
}
