/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/choice.h"

const struct chooser *const chooser_table[] = {&chooser_optimal, &chooser_greedy, &chooser_equal, &chooser_first, NULL};

const char *const chooser_names[] = {"optimal", "greedy", "equal", "first", NULL};
