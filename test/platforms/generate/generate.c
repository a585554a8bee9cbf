/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "platforms/generate/xml.h"
#include "platforms/presets/presets.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

/* The platform as text; the caller frees it. NULL when it was refused. */
static char *generated(struct platform_request request, struct fault *fault)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool done = platform_generate(&request, out, fault);
    fclose(out);
    if (done)
        return text;
    cr_assert(size == 0, "a refused platform leaves nothing behind");
    free(text);
    return NULL;
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL, "%s", path);
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, copy);
    fclose(copy);
    fclose(in);
    return text;
}

Test(generate, shipped_files_are_what_the_presets_give)
{
    static const struct {
        const char *file;
        struct platform_request request;
    } shipped[] = {{"dgx-a100-2.xml", {"dgx-a100", 2, 0, 0, 0}},
                   {"dgx-h100-4.xml", {"dgx-h100", 4, 0, 0, 0}},
                   {"piz-daint-32.xml", {"piz-daint", 32, 0, 0, 0}},
                   {"pcie-a100-8.xml", {"pcie-a100", 1, 0, 0, 0}},
                   {"tpu-v3-16.xml", {"tpu-v3", 4, 0, 0, 0}},
                   {"graphcore-16.xml", {"graphcore-pod64", 4, 0, 0, 0}},
                   {"cerebras-4.xml", {"cerebras-cs2", 4, 0, 0, 0}},
                   {"ideal-8.xml", {"ideal", 8, 0, 0, 0}},
                   {"mesh-8.xml", {"mesh", 8, 0, 0, 0}},
                   {"ring-8.xml", {"ring", 8, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        struct fault fault = {0};
        char path[1024];
        snprintf(path, sizeof path, "%s/platforms/%s", SOURCE_ROOT, shipped[i].file);
        char *file = read_file(path), *text = generated(shipped[i].request, &fault);
        cr_assert(text != NULL, "%s: %s", shipped[i].file, fault.text);
        cr_assert(strcmp(file, text) == 0, "%s is not what 'stagesim platform generate %s --nodes %u' gives",
                  shipped[i].file, shipped[i].request.preset, shipped[i].request.nodes);
        free(file);
        free(text);
    }
}

Test(generate, refusals)
{
    static const struct {
        struct platform_request request;
        const char *text;
    } cases[] = {
        {{"dgx-a10", 2, 0, 0, 0}, "there is no preset 'dgx-a10'; did you mean 'dgx-a100'?"},
        {{"toaster", 2, 0, 0, 0}, "there is no preset 'toaster'; 'stagesim list presets' shows what there is"},
        {{"dgx-a100", 0, 0, 0, 0}, "a platform has at least one node"},
        {{"dgx-a100", 70000, 0, 0, 0},
         "70000 nodes of 8 devices: a platform has 1 to 65536 nodes and at most 1048576 devices"},
        {{"dgx-a100", 65536, 0, 0, 0},
         "65536 nodes in pods of 20: SimGrid would take minutes to find the routes; try --pod 92"},
        {{"dgx-a100", 4000, 0, 4000, 0},
         "4000 nodes in pods of 4000: SimGrid would take minutes to find the routes; try --pod 64"},
        {{"dgx-a100", 2, 9, 0, 0}, "a node of dgx-a100 has 1 to 8 devices, not 9"},
        {{"summit", 2, 4, 0, 0}, "a node of summit has 6 devices, not 4"},
        {{"summit", 5000, 0, 0, 0}, "summit has at most 4608 nodes, not 5000"},
        {{"piz-daint", 32, 0, 8, 0}, "piz-daint has no pods: its fabric is: Aries dragonfly"},
        {{"tpu-v4", 16, 0, 0, 2}, "tpu-v4 has no oversubscription: its fabric is: 3D torus"},
        {{"dgx-a100", 2, 0, 0, 0.5}, "oversubscription 0.5: expected 1 (none) to 1000"},
        {{"tpu-v4", 20, 0, 0, 0},
         "a torus of cubes comes in 2, 4 or 8 nodes and in whole cubes of 4 x 4 x 4 chips, 16 nodes each: try 32 "
         "nodes"},
        {{"tpu-v4", 3, 0, 0, 0},
         "a torus of cubes comes in 2, 4 or 8 nodes and in whole cubes of 4 x 4 x 4 chips, 16 nodes each: try 4 nodes"},
        {{"tpu-v3", 67, 0, 0, 0},
         "67 nodes are 268 chips, which fill no rectangle of at most 32 x 32 chips: try 72 nodes"},
        {{"piz-daint", 37, 0, 0, 0},
         "37 nodes fill no dragonfly of equal groups (4 nodes to a blade, at most 16 blades to a chassis, 6 chassis to "
         "a group, 16 "
         "groups): "
         "try a multiple of 64, or of 384 above 384"},
        {{"graphcore-pod64", 17, 0, 0, 0}, "graphcore-pod64 has at most 16 nodes, not 17"},
        {{"ring", 2, 0, 0, 0}, "a ring has at least 3 nodes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = {0};
        cr_assert(generated(cases[i].request, &fault) == NULL);
        cr_assert(eq(str, fault.text, (char *)cases[i].text));
    }
}

/* What XML gives a meaning is escaped; ASCII's control characters have no place in it; all others stay. */
Test(generate, texts_of_attributes)
{
    char *text, expected[1024], input[512] = "";
    size_t size, length = 0, at = 0;
    for (int c = 1; c < 0x80; c++) {
        const char *escape = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
        input[length++] = (char)c;
        if (escape)
            at += (size_t)snprintf(expected + at, sizeof expected - at, "%s", escape);
        else
            expected[at++] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    expected[at] = input[length] = '\0';
    FILE *out = open_memstream(&text, &size);
    xml_text(out, input);
    fclose(out);
    cr_expect_str_eq(text, expected);
    free(text);
}

/* Links that leave a group of Aries lead to all others alike: their number times the other groups is the same for any
 * number of groups, but for what is rounded. */
Test(generate, links_between_groups)
{
    unsigned counts[5];
    for (uint32_t groups = 2; groups <= 4; groups++) {
        struct fault fault = {0};
        char *text = generated((struct platform_request){.preset = "piz-daint", .nodes = 384 * groups}, &fault);
        const char *parameters = text ? strstr(text, "topo_parameters=\"") : NULL;
        unsigned found;
        cr_assert(parameters != NULL, "%s", fault.text);
        cr_assert_eq(sscanf(parameters, "topo_parameters=\"%u,%u;", &found, &counts[groups]), 2);
        cr_assert_eq(found, groups);
        free(text);
    }
    for (unsigned groups = 3; groups <= 4; groups++)
        cr_expect(counts[2] / (groups - 1) == counts[groups], "%u links of 2 groups, %u of %u", counts[2],
                  counts[groups], groups);
}

static uint32_t route_length(const struct node_graph *node, uint32_t from, uint32_t to, double *narrowest)
{
    struct node_step steps[16];
    uint32_t count = node_route(node, from, to, steps, 16);
    *narrowest = 1e300;
    for (uint32_t i = 0; i < count; i++)
        if (node->cables[steps[i].cable].bandwidth < *narrowest)
            *narrowest = node->cables[steps[i].cable].bandwidth;
    return count;
}

/* Routes follow the pair table of the machine, which the test holds in its own numbering: DGX-1V as nvidia-smi shows
 * it. */
Test(generate, dgx_1v_pairs)
{
    static const unsigned char smi[8][8] = {
        {0, 1, 1, 2, 0, 0, 2, 0}, {1, 0, 2, 1, 0, 0, 0, 2}, {1, 2, 0, 2, 1, 0, 0, 0}, {2, 1, 2, 0, 0, 1, 0, 0},
        {0, 0, 1, 0, 0, 2, 1, 2}, {0, 0, 0, 1, 2, 0, 2, 1}, {2, 0, 0, 0, 1, 2, 0, 1}, {0, 2, 0, 0, 2, 1, 1, 0}};
    static const unsigned order[8] = {0, 3, 2, 1, 7, 4, 5, 6};
    struct arena *arena = arena_create();
    const struct node_graph *node = preset_node(preset_find("dgx-1v"), 8, arena);
    for (unsigned a = 0; a < 8; a++)
        for (unsigned b = 0; b < 8; b++) {
            double width;
            unsigned links = smi[order[a]][order[b]];
            if (a == b)
                continue;
            uint32_t count = route_length(node, a, b, &width);
            cr_assert(links ? count == 1 : count >= 4, "%u to %u", a, b);
            cr_assert(ieee_ulp_eq(dbl, width, links ? links * 20e9 : (order[a] < 4) != (order[b] < 4) ? 6e9 : 12e9, 4));
        }
    arena_destroy(arena);
}

/* Dies pass traffic on: every pair is at most two links apart, along the pattern of the machine. */
Test(generate, frontier_pairs)
{
    static const unsigned char dies[8][8] = {
        {0, 4, 1, 0, 0, 0, 2, 0}, {4, 0, 0, 1, 0, 1, 0, 0}, {1, 0, 0, 4, 2, 0, 0, 0}, {0, 1, 4, 0, 0, 0, 0, 1},
        {0, 0, 2, 0, 0, 4, 1, 0}, {0, 1, 0, 0, 4, 0, 0, 1}, {2, 0, 0, 0, 1, 0, 0, 4}, {0, 0, 0, 1, 0, 1, 4, 0}};
    static const unsigned order[8] = {0, 1, 5, 4, 2, 3, 7, 6};
    struct arena *arena = arena_create();
    const struct node_graph *node = preset_node(preset_find("frontier"), 8, arena);
    for (unsigned a = 0; a < 8; a++)
        for (unsigned b = 0; b < 8; b++) {
            double width, best = 0;
            for (unsigned via = 0; via < 8; via++) {
                double first = dies[order[a]][order[via]], second = dies[order[via]][order[b]];
                double both = first < second ? first : second;
                best = both > best ? both : best;
            }
            unsigned links = dies[order[a]][order[b]];
            if (a == b)
                continue;
            uint32_t count = route_length(node, a, b, &width);
            cr_assert(count == (links ? 1u : best > 0 ? 2u : 3u), "%u to %u takes %u", a, b, count);
            if (count < 3)
                cr_assert(ieee_ulp_eq(dbl, width, (links ? links : best) * 40e9, 4));
        }
    arena_destroy(arena);
}
