/* SPDX-License-Identifier: Apache-2.0 */
/* A platform that is made from a preset's structure is to the bit what SimGrid makes of the preset's file: every preset
 * with every option that it takes. */
#include "base/arena.h"
#include "platforms/presets/presets.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/same_platform.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options, but for the preset; one that a preset refuses is tried without it. */
static const struct platform_request variants[] = {
    {.nodes = 1},
    {.nodes = 16},
    {.nodes = 11, .pod = 3, .oversubscription = 2.7},
    {.nodes = 5, .per_node = 3, .pod = 2},
    {.nodes = 4, .nic = "roce-200", .pod = 2},
    {.nodes = 6, .pod = 3, .rails = RAILS_SPINE},
    {.nodes = 6, .pod = 3, .rails = RAILS_NVLINK},
    {.nodes = 22, .pod = 3, .group = 6, .oversubscription = 2, .group_oversubscription = 3},
    {.nodes = 10, .pod = 2, .sites = 2, .site_rate = 50e9, .site_latency = 0.03},
    {.nodes = 12, .pod = 2, .group = 4, .rails = RAILS_NVLINK},
    {.nodes = 6, .pod = 3, .rails = RAILS_PLANES},
    {.nodes = 11, .pod = 3, .group = 6, .flow_rate = 7e9, .flow_window = 1e6},
    {.nodes = 12, .pod = 2, .group = 4, .group_direct = true, .flow_window = 1e6},
    {.nodes = 11, .pod = 3, .ecmp = true, .paths = 5, .flows = 3, .seed = 9},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static bool comes_in(const struct platform_request *request, struct arena *arena)
{
    struct fault fault = {""};
    struct design design;
    return preset_design(request, arena, &design, &fault);
}

/* The variant as far as the preset takes it; false for one that is another's twin then. */
static bool request_of(const struct preset *preset, unsigned variant, struct platform_request *request,
                       struct arena *arena)
{
    *request = variants[variant];
    request->preset = preset->name;
    if (comes_in(request, arena))
        return true;
    if (request->rails || request->nic || request->ecmp || request->group || request->sites)
        return false;
    request->per_node = 0;
    if (!comes_in(request, arena)) {
        request->pod = 0;
        request->oversubscription = 0;
    }
    return comes_in(request, arena);
}

static struct platform *by_simgrid(const struct platform_request *request, struct arena *arena, struct fault *fault)
{
    char name[] = "/tmp/stagesim-preset-XXXXXX";
    FILE *out = fdopen(mkstemp(name), "w");
    bool written = out && platform_generate(request, out, fault) && fclose(out) == 0;
    struct platform *platform = written && bridge_configure(NULL, 0, fault) ? bridge_load(name, arena, fault) : NULL;
    unlink(name);
    return platform;
}

ParameterizedTestParameters(preset_platform, equals_the_file)
{
    static int cases[1024];
    size_t presets, count = 0;
    preset_table(&presets, &(struct diag){0});
    for (size_t i = 0; i < presets * VARIANTS; i++) /* a preset's variants, another half of them for the next one */
        if (in_sample((unsigned)(i + i / VARIANTS)))
            cases[count++] = (int)i;
    return cr_make_param_array(int, cases, count);
}

ParameterizedTest(int *number, preset_platform, equals_the_file, .timeout = 120)
{
    size_t presets;
    const struct preset *preset = preset_table(&presets, &(struct diag){0})[*number / VARIANTS];
    struct arena *arena = arena_create();
    struct platform_request request;
    struct fault fault = {""}, other = {""};
    char difference[512] = "";
    if (request_of(preset, (unsigned)(*number % VARIANTS), &request, arena)) {
        struct platform *own = preset_platform(&request, "preset", arena, &fault);
        struct platform *loaded = by_simgrid(&request, arena, &other);
        if (strstr(other.text, "SimGrid 4.1, which reads this file"))
            cr_skip_test("%s", other.text);
        cr_assert_eq(own != NULL, loaded != NULL, "%s: '%s' and '%s'", preset->name, fault.text, other.text);
        cr_assert(!own ||
                      same_platform(own, loaded, own->host_count > 100 ? 20000 : 0, 1, difference, sizeof difference),
                  "%s of %u nodes, variant %d: %s", preset->name, request.nodes, *number % VARIANTS, difference);
        cr_assert(own || !strcmp(fault.text, other.text), "%s: '%s' and '%s'", preset->name, fault.text, other.text);
    }
    arena_destroy(arena);
}
