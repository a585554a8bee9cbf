/* SPDX-License-Identifier: Apache-2.0 */
/* The keys whose values are fitted. */
#include "studies/calibrate/calibrate.h"

#include "base/arena.h"
#include "base/number_text.h"

const struct calibration_key calibration_keys[TUNING_PARAMETERS] = {
    {"compute.clock", "clock", "clock over that of the table or kernels", false},
    {"compute.step", "fixed time", "the host's time in an iteration", true},
    {"compute.dispatch", "dispatch", "the host's time for an operator", true},
};

const char *calibration_value_text(enum tuning_parameter parameter, double value, struct arena *arena)
{
    char text[NUMBER_TEXT_MAX + 1];
    text[number_write(text, value)] = '\0';
    return calibration_keys[parameter].seconds ? arena_print(arena, "%ss", text) : arena_copy(arena, text);
}
