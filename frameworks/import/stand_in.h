/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for launchers: a user's own script calls them in place of torchrun and others, and they note how. */
#ifndef STAGESIM_IMPORT_STAND_IN_H
#define STAGESIM_IMPORT_STAND_IN_H

/* Programs that have one; NULL ends them. */
extern const char *const stand_in_names[];
/* Lines of the script that each of them is; NULL ends them. */
extern const char *const stand_in_text[];

#endif
