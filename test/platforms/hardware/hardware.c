/* SPDX-License-Identifier: Apache-2.0 */
/* The data files that stagesim comes with: every one is read without a mistake, is called what its file is, and is used
 * by another one or by name. How a definition takes over from another one. */
#include "platforms/hardware/hardware.h"

#include "base/arena.h"
#include "platforms/device.h"
#include "platforms/hardware/hardware_files.h"
#include "platforms/hardware/hardware_take.h"
#include "platforms/presets/interfaces.h"
#include "platforms/presets/library_read.h"
#include "platforms/presets/presets.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct place nobody = {0};
/* By enum hardware. */
static const char *const folders[HARDWARE_KINDS] = {"products",  "devices",  "wires", "cards",
                                                    "libraries", "networks", "links"};

static bool read_one(const struct hardware_text *text, struct diag *diag)
{
    const char *folder = text->folder, *name = text->name;
    struct node value = {.kind = NODE_SCALAR, .text = name, .at = {"(stagesim)/test", 1, 1}};
    if (strcmp(folder, "products") == 0) {
        const struct preset *preset = preset_read(name, nobody, diag);
        struct arena *arena = arena_create();
        bool built = preset && node_plan_build(&preset->plan, preset->devices, arena, diag);
        arena_destroy(arena);
        return built;
    }
    if (strcmp(folder, "devices") == 0)
        return device_value("device", &value, diag) != NULL;
    if (strcmp(folder, "wires") == 0)
        return wire_value("wire", &value, diag) != NULL;
    if (strcmp(folder, "cards") == 0)
        return interface_value(name, diag) != NULL;
    if (strcmp(folder, "libraries") == 0)
        return design_library_find(name, nobody, diag) != NULL;
    if (strcmp(folder, "networks") == 0)
        return design_network_find(name, nobody, diag) != NULL;
    return strcmp(folder, "links") == 0 && (strcmp(name, "pcie") == 0 ? pcie_raw(1) : nvlink_raw(1)) > 0;
}

Test(hardware, every_file_is_read)
{
    for (size_t i = 0; i < hardware_text_count; i++) {
        const struct hardware_text *text = &hardware_texts[i];
        struct diag diag = {.out = stderr};
        cr_expect(read_one(text, &diag) && diag.errors == 0, "%s/%s", text->folder, text->name);
        for (int kind = 0; kind < HARDWARE_KINDS; kind++)
            if (strcmp(folders[kind], text->folder) == 0) {
                const struct node *map = hardware_find((enum hardware)kind, text->name, nobody, &diag);
                cr_expect_str_eq(node_get(map, "name")->text, text->name);
                cr_expect(hardware_has((enum hardware)kind, text->name));
            }
    }
}

/* Whether another embedded file has the word. */
static bool is_mentioned(const struct hardware_text *text)
{
    size_t length = strlen(text->name);
    for (size_t i = 0; i < hardware_text_count; i++) {
        const struct hardware_text *other = &hardware_texts[i];
        for (const char *at = other->text; other != text && at + length <= other->text + other->size; at++)
            if (memcmp(at, text->name, length) == 0)
                return true;
    }
    return false;
}

/* Other releases of a library are taken by name alone: h100-nccl-2.23 beside h100. */
static bool is_release(const struct hardware_text *text)
{
    for (size_t i = 0; i < hardware_text_count; i++) {
        const struct hardware_text *other = &hardware_texts[i];
        size_t length = strlen(other->name);
        if (other != text && strcmp(other->folder, text->folder) == 0 && is_mentioned(other) &&
            strncmp(text->name, other->name, length) == 0 && text->name[length] == '-')
            return true;
    }
    return false;
}

Test(hardware, no_wire_library_or_network_is_idle)
{
    for (size_t i = 0; i < hardware_text_count; i++) {
        const char *folder = hardware_texts[i].folder;
        bool library = strcmp(folder, "libraries") == 0;
        if (library || strcmp(folder, "wires") == 0 || strcmp(folder, "networks") == 0)
            cr_expect(is_mentioned(&hardware_texts[i]) || (library && is_release(&hardware_texts[i])),
                      "%s/%s is used by nothing", folder, hardware_texts[i].name);
    }
}

static struct node *parsed(const char *text, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    return document_parse_kind(&document_scenario, "user.yaml", text, strlen(text), arena, &diag);
}

Test(hardware, taking_over)
{
    struct arena *arena = arena_create();
    struct node *base = parsed("{a: 1, m: {x: 1, y: 2}, l: [1, 2], source: far, confidence: H}", arena);
    struct node *both = hardware_take_over(base, parsed("{m: {y: 3, z: 4}, l: [5], b: 6}", arena), arena);
    cr_expect_str_eq(node_find(both, "a")->text, "1");
    cr_expect_str_eq(node_find(both, "m.x")->text, "1");
    cr_expect_str_eq(node_find(both, "m.y")->text, "3");
    cr_expect_str_eq(node_find(both, "m.z")->text, "4");
    cr_expect_eq(node_find(both, "l")->count, 1);
    cr_expect_str_eq(node_find(both, "b")->text, "6");
    cr_expect_str_eq(node_find(both, "source")->text, "user.yaml, which takes over from: far");
    cr_expect_str_eq(node_find(both, "confidence")->text, "L");
    cr_expect_str_eq(node_find(base, "m.y")->text, "2", "the base is left as it is");
    both = hardware_take_over(base, parsed("{name: other}", arena), arena);
    cr_expect_str_eq(node_find(both, "source")->text, "far");
    cr_expect_str_eq(node_find(both, "confidence")->text, "H");
    arena_destroy(arena);
}

Test(hardware, cables_keep_their_number)
{
    struct arena *arena = arena_create();
    struct node *base = parsed("{cables: {card: {wire: ndr, links: 4}}}", arena);
    struct node *map = parsed("{cables: {card: xdr}}", arena);
    hardware_spread_cables(base, arena);
    hardware_spread_cables(map, arena);
    struct node *both = hardware_take_over(base, map, arena);
    cr_expect_str_eq(node_find(both, "cables.card.wire")->text, "xdr");
    cr_expect_str_eq(node_find(both, "cables.card.links")->text, "4");
    arena_destroy(arena);
}

Test(hardware, names_are_in_order)
{
    size_t count;
    const char *const *names = hardware_names(HARDWARE_PRODUCT, &count);
    cr_assert_geq(count, 42);
    cr_expect_str_eq(names[0], "dgx-1v");
    cr_expect_str_eq(names[count - 1], "ring");
    cr_expect_not(hardware_has(HARDWARE_PRODUCT, "no-such"));
}
