/* SPDX-License-Identifier: Apache-2.0 */
/* Imports of hwloc files that are written here, each with one peculiarity. */
#include "base/arena.h"
#include "platforms/import/import.h"
#include "test/support/imports.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

/* One GPU under four names is one GPU; version 2.9.0 wrote twice the rate of NVLink 3 and 4, others did not. */
Test(import, doubled_nvlink_of_2_9_0)
{
    static const struct {
        const char *version, *product;
        unsigned rate;
        double expected;
    } cases[] = {{"2.9.0", "NVIDIA A100-SXM4-40GB", 400000, 200},
                 {"2.9.1", "NVIDIA A100-SXM4-40GB", 200000, 200},
                 {"2.9.0", "Tesla V100-SXM2-16GB", 50000, 50},
                 {"2.9.0", "NVIDIA H100 80GB HBM3", 900000, 450}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        const char *text = hwloc_text(cases[i].version, hwloc_two_gpus(cases[i].product, 15.75, arena),
                                      hwloc_matrix_of_two(cases[i].rate, arena), arena);
        const struct import *import = imported_text(text, &imported_plain, arena);
        cr_assert(eq(u32, import->gpu_count, 2));
        cr_assert(imported_near(import->links[1], cases[i].expected));
        cr_assert(
            eq(int, imported_finding(import, IMPORT_MEASURED, "halved"), cases[i].rate != cases[i].expected * 1000));
        arena_destroy(arena);
    }
}

Test(import, impossible_sum_is_reported)
{
    struct arena *arena = arena_create();
    const char *text = hwloc_text("2.10.0", hwloc_two_gpus("NVIDIA A100-SXM4-40GB", 15.75, arena),
                                  hwloc_matrix_of_two(600000, arena), arena);
    cr_assert(imported_finding(imported_text(text, &imported_plain, arena), IMPORT_MEASURED,
                               "more than the 300 GB/s of a A100-SXM4-40GB"));
    arena_destroy(arena);
}

/* Without speeds: the model's generation, or what the user says. */
Test(import, missing_speeds)
{
    struct arena *arena = arena_create();
    const char *text = hwloc_text("2.8.0", hwloc_two_gpus("NVIDIA A100-PCIE-40GB", 0, arena), "", arena);
    const struct import_options gen3 = {.pcie_generation = 3, .pcie_lanes = 8};
    const struct import *from_model = imported_text(text, &imported_plain, arena),
                        *from_user = imported_text(text, &gen3, arena);
    cr_assert(fabs(imported_gpu_place(from_model, 0)->wire - 31.51) < 0.01);
    cr_assert(imported_finding(from_model, IMPORT_TABLE, "no speed in the file for 2 wires"));
    cr_assert(fabs(imported_gpu_place(from_user, 0)->wire - 7.875) < 0.01);
    arena_destroy(arena);
}

Test(import, unknown_product)
{
    struct arena *arena = arena_create();
    const struct import *import =
        imported_text(hwloc_text("2.8.0", hwloc_two_gpus("Foo 3000", 15.75, arena), "", arena), &imported_plain, arena);
    cr_assert(eq(str, (char *)import->gpus[1].model->name, "Foo 3000"));
    cr_assert(imported_finding(import, IMPORT_ASSUMED, "nvml0 and 1 more: no known model (Foo 3000)"));
    const struct import_options named = {.model = device_find("H100-PCIE-80GB")};
    import = imported_text(hwloc_text("2.8.0", hwloc_two_gpus("Foo 3000", 15.75, arena), "", arena), &named, arena);
    cr_assert(eq(str, (char *)import->gpus[1].model->name, "H100-PCIE-80GB"));
    arena_destroy(arena);
}

/* Below a switch: two GPUs share its way up, which is a link of its own; a bridge with one device below shares nothing.
 */
Test(import, shared_uplink)
{
    struct arena *arena = arena_create();
    const char *bridge =
        "<object type=\"Bridge\" gp_index=\"%u\" bridge_type=\"1-1\" depth=\"%u\" bridge_pci=\"0000:[%02x-%02x]\" "
        "pci_busid=\"0000:%02x:%02x.0\" pci_type=\"0604 [1000:c010] [0000:0000] 00\" pci_link_speed=\"%s\">\n";
    char root[512], upstream[512], down[2][512];
    snprintf(root, sizeof root, bridge, 20u, 1u, 0x10u, 0x20u, 0u, 1u, "2.5");
    snprintf(upstream, sizeof upstream, bridge, 21u, 2u, 0x11u, 0x20u, 0x10u, 0u, "31.5");
    snprintf(down[0], sizeof down[0], bridge, 22u, 3u, 0x12u, 0x12u, 0x11u, 0u, "8");
    snprintf(down[1], sizeof down[1], bridge, 23u, 3u, 0x13u, 0x13u, 0x11u, 4u, "31.5");
    const char *devices = arena_print(arena, "%s%s%s%s</object>%s%s</object></object></object>", root, upstream,
                                      down[0], hwloc_gpu(0x12, 0, "NVIDIA A100-PCIE-40GB", "", 15.75, arena), down[1],
                                      hwloc_gpu(0x13, 1, "NVIDIA A100-PCIE-40GB", "", 15.75, arena));
    const struct import *import = imported_text(hwloc_text("2.8.0", devices, "", arena), &imported_plain, arena);
    cr_assert(eq(u32, import->places[import->gpus[0].place].parent, import->places[import->gpus[1].place].parent));
    const struct import_place *hub = &import->places[import->places[import->gpus[0].place].parent];
    cr_assert(eq(str, (char *)hub->bus, "0000:10:00.0"));
    cr_assert(fabs(hub->wire - 31.5) < 1e-6, "the root port is idle, its partner is not");
    cr_assert(fabs(imported_gpu_place(import, 0)->wire - 15.75) < 1e-6);
    cr_assert(fabs(imported_gpu_place(import, 1)->wire - 31.5) < 1e-6, "the larger end of one wire");
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 1, steps, 8), 2));
    arena_destroy(arena);
}

/* On POWER9 the way to the processor is NVLink, which no file shows; PCI Express is narrow. */
Test(import, power9)
{
    struct arena *arena = arena_create();
    const char *devices =
        arena_print(arena, "%s%s", hwloc_two_gpus("Tesla V100-SXM2-16GB", 1.97, arena),
                    arena_print(arena, "%s%s", hwloc_gpu(3, 2, "Tesla V100-SXM2-16GB", "", 1.97, arena),
                                hwloc_gpu(4, 3, "Tesla V100-SXM2-16GB", "", 1.97, arena)));
    char *text = arena_copy(arena, hwloc_text("2.8.0", devices, "", arena));
    char *marker = strstr(text, "<object type=\"NUMANode\"");
    const char *info = "<info name=\"CPUModel\" value=\"POWER9, altivec supported\"/>\n";
    const char *whole = arena_print(arena, "%.*s%s%s", (int)(marker - text), text, info, marker);
    const struct import *import = imported_text(whole, &imported_plain, arena);
    cr_assert(imported_near(import->gpus[3].socket_bandwidth, 75));
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 3, steps, 8), 2));
    cr_assert(imported_near(import->node->cables[steps[0].cable].bandwidth, 60e9));
    cr_assert(imported_finding(import, IMPORT_TABLE, "3 of 25 GB/s each, as POWER9 nodes with 4 V100 have"));
    arena_destroy(arena);
}

/* Eight dies in four modules and four interfaces, all equally far: the two dies of a module share one. */
Test(import, dies_of_a_module_share_an_interface)
{
    struct arena *arena = arena_create();
    const char *devices = "", *values = "", *indices = "";
    for (unsigned i = 0; i < 8; i++)
        devices = arena_print(arena, "%s%s", devices, hwloc_gpu(1 + i, i, "AMD Instinct MI250X", "", 31.5, arena));
    for (unsigned i = 0; i < 4; i++)
        devices = arena_print(arena,
                              "%s<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"0000:%02x:00.0\" "
                              "pci_type=\"0207 [15b3:101b] [15b3:0001] 00\" pci_link_speed=\"31.5\">"
                              "<object type=\"OSDev\" gp_index=\"%u\" name=\"mlx5_%u\" osdev_type=\"3\"/></object>\n",
                              devices, 500 + 10 * i, 64 + i, 501 + 10 * i, i);
    for (unsigned i = 0; i < 64; i++)
        values = arena_print(arena, "%s%u ", values, i % 9 ? 100000 : 1000000);
    for (unsigned i = 0; i < 8; i++)
        indices = arena_print(arena, "%s%u ", indices, 101 + 10 * i);
    const char *matrix = arena_print(arena,
                                     "<distances2 type=\"OSDev\" nbobjs=\"8\" kind=\"9\" name=\"XGMIBandwidth\" "
                                     "indexing=\"gp\">\n<indexes length=\"%zu\">%s</indexes>\n"
                                     "<u64values length=\"%zu\">%s</u64values>\n</distances2>\n",
                                     strlen(indices), indices, strlen(values), values);
    const struct import *import = imported_text(hwloc_text("2.9.1", devices, matrix, arena), &imported_plain, arena);
    cr_assert(eq(u32, import->gpu_count, 8));
    cr_assert(eq(u32, import->nic_count, 4));
    uint32_t users[64] = {0};
    for (uint32_t die = 0; die < 8; die++) {
        cr_assert(import->node->parts[die].exit < 64);
        users[import->node->parts[die].exit]++;
        cr_assert(eq(u32, import->node->parts[die].exit, import->node->parts[die ^ 1].exit), "die %u", die);
    }
    for (uint32_t i = 0; i < 64; i++)
        cr_assert(users[i] == 0 || users[i] == 2, "%u dies use one interface", users[i]);
    arena_destroy(arena);
}

Test(import, partitions)
{
    struct arena *arena = arena_create();
    const char *parts = "<object type=\"OSDev\" gp_index=\"300\" name=\"rsmi0\" subtype=\"RSMI\" osdev_type=\"1\"/>"
                        "<object type=\"OSDev\" gp_index=\"301\" name=\"rsmi1\" subtype=\"RSMI\" osdev_type=\"1\"/>"
                        "<object type=\"OSDev\" gp_index=\"302\" name=\"rsmi2\" subtype=\"RSMI\" osdev_type=\"1\"/>";
    const char *text = hwloc_text("2.9.1", hwloc_gpu(1, 0, "NVIDIA A100-PCIE-40GB", parts, 31.5, arena), "", arena);
    const struct import_options split = {.partitions = true};
    const struct import *whole = imported_text(text, &imported_plain, arena),
                        *three = imported_text(text, &split, arena);
    cr_assert(eq(u32, node_device_count(whole->node), 1));
    cr_assert(imported_finding(whole, IMPORT_ASSUMED, "partitioned in 3"));
    cr_assert(eq(u32, node_device_count(three->node), 3));
    cr_assert(imported_near(three->node->parts[2].model->peak[PRECISION_BF16], 104));
    arena_destroy(arena);
}
