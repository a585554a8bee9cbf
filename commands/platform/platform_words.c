/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the command read alike, and where they write. */
#include "commands/platform/platform_command.h"

#include "base/diagnostics.h"
#include "base/quantity.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "platforms/hardware/hardware.h"
#include "platforms/presets/presets.h"

bool platform_read_count(const char *text, uint32_t most, uint32_t *count)
{
    uint64_t value;
    if (!quantity_count(text, &value, &(struct quantity_reason){""}) || value < 1 || value > most)
        return false;
    *count = (uint32_t)value;
    return true;
}

bool platform_read_ratio(const char *text, double *ratio)
{
    return quantity_parse(QUANTITY_RATIO, text, ratio, &(struct quantity_reason){""}) && *ratio >= 1 && *ratio <= 1000;
}

int platform_read_preset(const struct command *command, const char *name, const struct preset **preset)
{
    struct diag diag = {.out = stderr};
    *preset = preset_read(name, (struct place){0}, &diag);
    diag_rest(&diag);
    if (diag.errors)
        return EXIT_BAD_INPUT;
    if (!*preset)
        *preset = preset_find(name);
    if (*preset)
        return 0;
    size_t count;
    const char *const *names = hardware_names(HARDWARE_PRODUCT, &count);
    const char *near = diag_nearest(name, names, count);
    if (near)
        return command_usage(command, "'%s' is no preset; did you mean '%s'?", name, near);
    return command_usage(command, "'%s' is no preset; `stagesim list presets` shows what there is", name);
}

int platform_write_result(const char *path, bool (*write)(FILE *out, void *user, struct fault *fault), void *user)
{
    return result_write("platform", path, write, user);
}
