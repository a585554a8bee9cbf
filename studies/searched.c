/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/searched.h"

#include <stddef.h>

const struct searched searched_shapes[] = {
    {1, "loop", "split"}, {1, "loop", "whole"}, {2, "loop", "split"}, {2, "loop", "whole"},
    {2, "wave", "split"}, {2, "wave", "whole"}, {4, "loop", "split"}, {4, "loop", "whole"},
    {4, "wave", "split"}, {4, "wave", "whole"}, {0, NULL, NULL},
};
_Static_assert(sizeof searched_shapes / sizeof *searched_shapes == SEARCHED_SHAPES + 1, "as many as are said");
