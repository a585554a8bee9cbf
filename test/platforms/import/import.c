/* SPDX-License-Identifier: Apache-2.0 */
/* Imports held to what is known of the files, and broken files to their messages. */
#include "platforms/import/import.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct import_options plain = {0};

static struct import *from_text(const char *text, const struct import_options *options, struct arena *arena)
{
    struct fault fault = {""};
    struct import *import = import_text("node.xml", text, strlen(text), options, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

static struct import *from_file(const char *path, const struct import_options *options, struct arena *arena,
                                struct fault *fault)
{
    size_t size = 0;
    const char *text = import_load(path, &size, arena, fault);
    return text ? import_text(path, text, size, options, arena, fault) : NULL;
}

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

static bool has_finding(const struct import *import, enum import_origin origin, const char *part)
{
    for (uint32_t i = 0; i < import->finding_count; i++)
        if (import->findings[i].origin == origin && strstr(import->findings[i].text, part))
            return true;
    return false;
}

/* The files of real nodes lie outside of the source tree; without them there is nothing to hold the importer to. */
static struct import *shared_file(const char *name, struct arena *arena)
{
    char path[1024];
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s/../shared/hwloc/%s", SOURCE_ROOT, name);
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here", path);
    struct import *import = from_file(path, &plain, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

static const struct import_place *place_of_gpu(const struct import *import, uint32_t gpu)
{
    return &import->places[import->gpus[gpu].place];
}

static const struct import_nic *nic_named(const struct import *import, const char *name)
{
    for (uint32_t i = 0; i < import->nic_count; i++)
        if (strcmp(import->nics[i].name, name) == 0)
            return &import->nics[i];
    return NULL;
}

/* How many switches two places have above them in common. */
static uint32_t common_switches(const struct import *import, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t x = import->places[a].parent; x != NODE_NONE; x = import->places[x].parent)
        for (uint32_t y = import->places[b].parent; y != NODE_NONE; y = import->places[y].parent)
            count += x == y && import->places[x].kind == IMPORT_SWITCH;
    return count;
}

Test(import, four_h200)
{
    static const char *const buses[] = {"0000:06:00.0", "0000:16:00.0", "0000:96:00.0", "0000:e6:00.0"};
    static const char *const names[] = {"nvml0", "nvml1", "nvml2", "nvml3"}, *const nics[] = {"mlx5_0", "mlx5_3",
                                                                                              "mlx5_4", "mlx5_5"};
    static const uint32_t numas[] = {1, 2, 6, 7};
    struct arena *arena = arena_create();
    const struct import *import = shared_file("h200x4-thinksystem-sd665n.xml", arena);
    cr_assert(eq(u32, import->gpu_count, 4));
    cr_assert(eq(u32, import->numa_count, 8));
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(eq(u32, import->numas[i].index, i));
        cr_assert(fabs(import->numas[i].memory / 1073741824 - 189) < 1);
    }
    for (uint32_t i = 0; i < 4; i++) {
        const struct import_gpu *gpu = &import->gpus[i];
        const struct import_nic *nic = nic_named(import, nics[i]);
        cr_assert(eq(str, (char *)gpu->name, (char *)names[i]));
        cr_assert(eq(str, (char *)place_of_gpu(import, i)->bus, (char *)buses[i]));
        cr_assert(eq(u32, gpu->numa, numas[i]));
        cr_assert(fabs(gpu->memory / 1073741824 - 139.8) < 0.05);
        cr_assert(fabs(place_of_gpu(import, i)->wire - 63.02) < 0.01);
        cr_assert(eq(str, (char *)gpu->model->name, "H200-SXM5-141GB"));
        cr_assert(nic != NULL && common_switches(import, gpu->place, nic->place) == 1, "GPU %u and %s share a switch",
                  i, nics[i]);
        for (uint32_t k = 0; k < 4; k++)
            cr_assert(k == i || near(import->links[i * 4 + k], 150));
    }
    arena_destroy(arena);
}

Test(import, four_h200_ports)
{
    struct arena *arena = arena_create();
    const struct import *import = shared_file("h200x4-thinksystem-sd665n.xml", arena);
    static const char *const down[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};
    for (uint32_t i = 0; i < 4; i++)
        cr_assert(nic_named(import, down[i])->down && has_finding(import, IMPORT_LEFT_OUT, down[i]));
    cr_assert(not(nic_named(import, "mlx5_4")->down));
    cr_assert(not(nic_named(import, "mlx5_5")->down));
    /* two ports are up: 2 x 45 GB/s leave the node */
    cr_assert(near(node_port_bandwidth(import->node), 90e9));
    arena_destroy(arena);
}

Test(import, four_p100_on_power8)
{
    static const double links[4][4] = {{0, 40, 0, 0}, {40, 0, 0, 0}, {0, 0, 0, 40}, {0, 0, 40, 0}};
    struct arena *arena = arena_create();
    const struct import *import = shared_file("p100x4-power8-minsky.xml", arena);
    cr_assert(eq(u32, import->gpu_count, 4));
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert(eq(u32, import->gpus[i].numa, i / 2));
        cr_assert(near(import->gpus[i].socket_bandwidth, 40));
        cr_assert(fabs(place_of_gpu(import, i)->wire - 15.75) < 0.01, "the idle reading of the bridge does not count");
        for (uint32_t k = 0; k < 4; k++)
            cr_assert(near(import->links[i * 4 + k], links[i][k]));
    }
    /* P100: 18 of 20 GB/s reached; across the sockets over NVLink to the processor and the X-bus */
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 1, steps, 8), 1));
    cr_assert(near(import->node->cables[steps[0].cable].bandwidth, 36e9));
    cr_assert(eq(u32, node_route(import->node, 0, 2, steps, 8), 3));
    cr_assert(eq(str, (char *)import->node->cables[steps[0].cable].wire->name, "cpu-nvlink"));
    cr_assert(eq(str, (char *)import->node->cables[steps[1].cable].wire->name, "socket"));
    arena_destroy(arena);
}

Test(import, eight_t4)
{
    struct arena *arena = arena_create();
    const struct import *import = shared_file("t4x8-aws-g4dn-metal.xml", arena);
    cr_assert(eq(u32, import->gpu_count, 8));
    cr_assert(eq(u32, import->numa_count, 2));
    cr_assert(import->links == NULL);
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(eq(u32, import->gpus[i].numa, i / 4));
        cr_assert(fabs(place_of_gpu(import, i)->wire - 15.75) < 0.01, "root ports at 2.00 GB/s are idle");
    }
    const struct import_nic *efa = nic_named(import, "rdmap197s0");
    cr_assert(efa != NULL && efa->numa == 1 && !efa->down && efa->rate == 12.5);
    cr_assert(eq(u32, import->nic_count, 1));
    arena_destroy(arena);
}

/* ---- files written for the tests ---- */

/* A machine of two packages with a PCI tree; `devices` goes below the first package's host bridge. */
static const char *hwloc_text(const char *version, const char *devices, const char *matrix, struct arena *arena)
{
    return arena_print(
        arena,
        "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n"
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" "
        "nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\n<info name=\"hwlocVersion\" value=\"%s\"/>\n"
        "<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" "
        "gp_index=\"2\">\n"
        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" "
        "gp_index=\"3\" local_memory=\"68719476736\"/>\n"
        "<object type=\"Core\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" "
        "gp_index=\"4\"><object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" gp_index=\"5\"/></object>\n"
        "<object type=\"Core\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" "
        "gp_index=\"6\"><object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" gp_index=\"7\"/></object>\n"
        "<object type=\"Bridge\" gp_index=\"8\" bridge_type=\"0-1\" depth=\"0\" "
        "bridge_pci=\"0000:[00-ff]\">\n%s</object>\n"
        "</object>\n</object>\n%s</topology>\n",
        version, devices, matrix);
}

static const char *gpu_text(unsigned bus, unsigned index, const char *product, const char *inner, double speed,
                            struct arena *arena)
{
    return arena_print(
        arena,
        "<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"0000:%02x:00.0\" pci_type=\"0302 [10de:0001] [10de:0001] "
        "a1\" "
        "pci_link_speed=\"%f\">\n<object type=\"OSDev\" gp_index=\"%u\" name=\"nvml%u\" subtype=\"NVML\" "
        "osdev_type=\"1\">"
        "<info name=\"GPUModel\" value=\"%s\"/></object>\n<object type=\"OSDev\" gp_index=\"%u\" name=\"card%u\" "
        "osdev_type=\"1\"/>\n<object type=\"OSDev\" gp_index=\"%u\" name=\"cuda%u\" subtype=\"CUDA\" "
        "osdev_type=\"5\"/>%s</object>\n",
        100 + 10 * index, bus, speed, 101 + 10 * index, index, product, 102 + 10 * index, index, 103 + 10 * index,
        index, inner);
}

static const char *two_gpus(const char *product, double speed, struct arena *arena)
{
    return arena_print(arena, "%s%s", gpu_text(1, 0, product, "", speed, arena),
                       gpu_text(2, 1, product, "", speed, arena));
}

static const char *matrix_of_two(unsigned rate, struct arena *arena)
{
    const char *values = arena_print(arena, "1000000 %u %u 1000000 ", rate, rate);
    return arena_print(arena,
                       "<distances2 type=\"OSDev\" nbobjs=\"2\" kind=\"9\" name=\"NVLinkBandwidth\" "
                       "indexing=\"gp\">\n<indexes length=\"8\">101 111 "
                       "</indexes>\n<u64values length=\"%zu\">%s</u64values>\n</distances2>\n",
                       strlen(values), values);
}

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
        const char *text = hwloc_text(cases[i].version, two_gpus(cases[i].product, 15.75, arena),
                                      matrix_of_two(cases[i].rate, arena), arena);
        const struct import *import = from_text(text, &plain, arena);
        cr_assert(eq(u32, import->gpu_count, 2));
        cr_assert(near(import->links[1], cases[i].expected));
        cr_assert(eq(int, has_finding(import, IMPORT_MEASURED, "halved"), cases[i].rate != cases[i].expected * 1000));
        arena_destroy(arena);
    }
}

Test(import, impossible_sum_is_reported)
{
    struct arena *arena = arena_create();
    const char *text =
        hwloc_text("2.10.0", two_gpus("NVIDIA A100-SXM4-40GB", 15.75, arena), matrix_of_two(600000, arena), arena);
    cr_assert(
        has_finding(from_text(text, &plain, arena), IMPORT_MEASURED, "more than the 300 GB/s of a A100-SXM4-40GB"));
    arena_destroy(arena);
}

/* Without speeds: the model's generation, or what the user says. */
Test(import, missing_speeds)
{
    struct arena *arena = arena_create();
    const char *text = hwloc_text("2.8.0", two_gpus("NVIDIA A100-PCIE-40GB", 0, arena), "", arena);
    const struct import_options gen3 = {.pcie_generation = 3, .pcie_lanes = 8};
    const struct import *from_model = from_text(text, &plain, arena), *from_user = from_text(text, &gen3, arena);
    cr_assert(fabs(place_of_gpu(from_model, 0)->wire - 31.51) < 0.01);
    cr_assert(has_finding(from_model, IMPORT_TABLE, "no speed in the file for 2 wires"));
    cr_assert(fabs(place_of_gpu(from_user, 0)->wire - 7.875) < 0.01);
    arena_destroy(arena);
}

Test(import, unknown_product)
{
    struct arena *arena = arena_create();
    const struct import *import =
        from_text(hwloc_text("2.8.0", two_gpus("Foo 3000", 15.75, arena), "", arena), &plain, arena);
    cr_assert(eq(str, (char *)import->gpus[1].model->name, "Foo 3000"));
    cr_assert(has_finding(import, IMPORT_ASSUMED, "nvml0 and 1 more: no known model (Foo 3000)"));
    const struct import_options named = {.model = device_find("H100-PCIE-80GB")};
    import = from_text(hwloc_text("2.8.0", two_gpus("Foo 3000", 15.75, arena), "", arena), &named, arena);
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
                                      down[0], gpu_text(0x12, 0, "NVIDIA A100-PCIE-40GB", "", 15.75, arena), down[1],
                                      gpu_text(0x13, 1, "NVIDIA A100-PCIE-40GB", "", 15.75, arena));
    const struct import *import = from_text(hwloc_text("2.8.0", devices, "", arena), &plain, arena);
    cr_assert(eq(u32, import->places[import->gpus[0].place].parent, import->places[import->gpus[1].place].parent));
    const struct import_place *hub = &import->places[import->places[import->gpus[0].place].parent];
    cr_assert(eq(str, (char *)hub->bus, "0000:10:00.0"));
    cr_assert(fabs(hub->wire - 31.5) < 1e-6, "the root port is idle, its partner is not");
    cr_assert(fabs(place_of_gpu(import, 0)->wire - 15.75) < 1e-6);
    cr_assert(fabs(place_of_gpu(import, 1)->wire - 31.5) < 1e-6, "the larger end of one wire");
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 1, steps, 8), 2));
    arena_destroy(arena);
}

/* On POWER9 the way to the processor is NVLink, which no file shows; PCI Express is narrow. */
Test(import, power9)
{
    struct arena *arena = arena_create();
    const char *devices =
        arena_print(arena, "%s%s", two_gpus("Tesla V100-SXM2-16GB", 1.97, arena),
                    arena_print(arena, "%s%s", gpu_text(3, 2, "Tesla V100-SXM2-16GB", "", 1.97, arena),
                                gpu_text(4, 3, "Tesla V100-SXM2-16GB", "", 1.97, arena)));
    char *text = arena_copy(arena, hwloc_text("2.8.0", devices, "", arena));
    char *marker = strstr(text, "<object type=\"NUMANode\"");
    const char *info = "<info name=\"CPUModel\" value=\"POWER9, altivec supported\"/>\n";
    const char *whole = arena_print(arena, "%.*s%s%s", (int)(marker - text), text, info, marker);
    const struct import *import = from_text(whole, &plain, arena);
    cr_assert(near(import->gpus[3].socket_bandwidth, 75));
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 3, steps, 8), 2));
    cr_assert(near(import->node->cables[steps[0].cable].bandwidth, 60e9));
    cr_assert(has_finding(import, IMPORT_TABLE, "3 of 25 GB/s each, as POWER9 nodes with 4 V100 have"));
    arena_destroy(arena);
}

/* Eight dies in four modules and four interfaces, all equally far: the two dies of a module share one. */
Test(import, dies_of_a_module_share_an_interface)
{
    struct arena *arena = arena_create();
    const char *devices = "", *values = "", *indices = "";
    for (unsigned i = 0; i < 8; i++)
        devices = arena_print(arena, "%s%s", devices, gpu_text(1 + i, i, "AMD Instinct MI250X", "", 31.5, arena));
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
    const struct import *import = from_text(hwloc_text("2.9.1", devices, matrix, arena), &plain, arena);
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
    const char *text = hwloc_text("2.9.1", gpu_text(1, 0, "NVIDIA A100-PCIE-40GB", parts, 31.5, arena), "", arena);
    const struct import_options split = {.partitions = true};
    const struct import *whole = from_text(text, &plain, arena), *three = from_text(text, &split, arena);
    cr_assert(eq(u32, node_device_count(whole->node), 1));
    cr_assert(has_finding(whole, IMPORT_ASSUMED, "partitioned in 3"));
    cr_assert(eq(u32, node_device_count(three->node), 3));
    cr_assert(near(three->node->parts[2].model->peak[PRECISION_BF16], 104));
    arena_destroy(arena);
}

/* ---- NCCL ---- */

static struct import *data_file(const char *name, const struct import_options *options, struct arena *arena)
{
    char path[1024];
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s/test/platforms/data/%s", SOURCE_ROOT, name);
    struct import *import = from_file(path, options, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

Test(import, nccl_a100)
{
    struct arena *arena = arena_create();
    const struct import *import = data_file("nccl-a100x8.xml", &plain, arena);
    cr_assert(eq(u32, import->gpu_count, 8));
    cr_assert(eq(u32, import->nic_count, 8));
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(near(import->gpus[i].switch_bandwidth, 300));
        cr_assert(eq(str, (char *)import->gpus[i].model->name, "A100-SXM4-80GB"));
        cr_assert(eq(u32, import->gpus[i].numa, i / 4));
        cr_assert(fabs(place_of_gpu(import, i)->wire - 31.51) < 0.01);
        cr_assert(near(import->nics[i].rate, 25));
    }
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 7, steps, 8), 2));
    cr_assert(near(import->node->cables[steps[0].cable].bandwidth, 240e9));
    cr_assert(eq(u32, node_route(import->node, 2, node_port(import->node), steps, 8), 2),
              "every GPU has an interface on its own switch");
    cr_assert(near(import->node->cables[steps[1].cable].bandwidth, 22.5e9));
    arena_destroy(arena);
}

Test(import, nccl_without_models)
{
    struct arena *arena = arena_create();
    const struct import_options h100 = {.model = device_find("H100-SXM5-80GB")};
    const struct import *unnamed = data_file("nccl-cloud-8.xml", &plain, arena),
                        *named = data_file("nccl-cloud-8.xml", &h100, arena);
    cr_assert(has_finding(unnamed, IMPORT_ASSUMED, "no known model"));
    cr_assert(eq(str, (char *)place_of_gpu(unnamed, 0)->bus, "0001:00:00.0"));
    cr_assert(near(named->gpus[3].switch_bandwidth, 450));
    cr_assert(has_finding(named, IMPORT_ASSUMED, "a board of 8 with NVSwitches"));
    cr_assert(near(node_port_bandwidth(named->node), 8 * 45e9));
    cr_assert(eq(dbl, named->socket_link, 22));
    arena_destroy(arena);
}

/* hwloc 1: no version, no speeds; sockets and memories in other places. */
Test(import, hwloc_1)
{
    struct arena *arena = arena_create();
    const struct import *import = data_file("hwloc-v1.xml", &plain, arena);
    cr_assert(eq(u32, import->gpu_count, 1));
    cr_assert(eq(str, (char *)import->gpus[0].model->name, "P100-PCIE-16GB"));
    cr_assert(fabs(place_of_gpu(import, 0)->wire - 15.75) < 0.01);
    cr_assert(has_finding(import, IMPORT_ASSUMED, "the file is of hwloc 1, which records no link speeds"));
    cr_assert(has_finding(import, IMPORT_TABLE, "no speed in the file for 1 wires"));
    arena_destroy(arena);
}

/* ---- broken files ---- */

static void refused(const char *text, size_t size, const char *message)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    cr_assert(import_text("node.xml", text, size, &plain, arena, &fault) == NULL, "accepted, expected: %s", message);
    cr_assert(eq(str, fault.text, (char *)message));
    arena_destroy(arena);
}

Test(import, broken_texts)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "node.xml: the file is empty"},
        {"hello", "node.xml:1:1: not well-formed XML: syntax error"},
        {"<topology>", "node.xml:1:11: not well-formed XML: no element found"},
        {"<topology version=\"2.0\"><object type=\"Machine\"></topology>",
         "node.xml:1:50: not well-formed XML: mismatched tag"},
        {"<kitchen/>", "node.xml: the outermost element is <kitchen>; expected <topology> (hwloc: lstopo --of xml) or "
                       "<system> (NCCL: "
                       "NCCL_TOPO_DUMP_FILE)"},
        {"<platform version=\"4.1\"/>", "node.xml: this is a SimGrid platform already; use it as it is"},
        {"<topology version=\"3.0\"/>",
         "node.xml: this is hwloc XML of version 3.0, which this build of stagesim cannot read (it reads "
         "versions 1 and 2); write it again on "
         "that machine with: lstopo --of xml --export-xml-flags v2 node.xml"},
        {"<topology version=\"2.0\"/>",
         "node.xml: hwloc cannot load it: an object is missing, of an unknown type, or in an impossible place"},
        {"<topology version=\"2.0\"><object os_index=\"0\"/></topology>", "node.xml:1:25: an object without a type"},
        {"<topology version=\"2.0\"><object type=\"PU\" os_index=\"4294967295\"/></topology>",
         "node.xml:1:25: impossible os_index: 4294967295"},
        {"<topology version=\"2.0\"><object type=\"PU\" os_index=\"-1\"/></topology>",
         "node.xml:1:25: impossible os_index: -1"},
        {"<topology version=\"2.0\"><object type=\"PU\" os_index=\"1\" cpuset=\"0xzz\"/></topology>",
         "node.xml:1:25: damaged set of processors or memories in attribute cpuset"},
        {"<topology version=\"2.0\"><object type=\"PU\"/></topology>", "node.xml:1:25: an object without os_index: PU"},
        {"<!DOCTYPE a [<!ENTITY b \"c\">]><topology/>",
         "node.xml:1:25: topology files define no entities, this one does: b"},
        {"<system version=\"1\"/>", "node.xml: no GPU in it; was lstopo run on a login node, or hwloc built without "
                                    "its CUDA, NVML and ROCm parts?"},
        {"<system><pci busid=\"0000:00:00.0\"/></system>", "node.xml:1:9: a <pci> outside of any <cpu>"},
        {"<system><cpu><pci/></cpu></system>", "node.xml:1:14: a <pci> without busid"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].text, strlen(cases[i].text), cases[i].message);
}

/* hwloc 1 numbers a PCI device by its address; that of domain 2 is beyond what a processor's number may be. */
Test(import, hwloc_1_device_in_another_domain)
{
    char path[1024];
    struct arena *arena = arena_create();
    snprintf(path, sizeof path, "%s/test/platforms/data/hwloc-v1.xml", SOURCE_ROOT);
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL);
    char *text = arena_alloc(arena, 1 << 16);
    text[fread(text, 1, (1 << 16) - 1, in)] = '\0';
    fclose(in);
    char *index = strstr(text, "os_index=\"16384\""), *domain = strstr(text, "0000:04:00.0");
    cr_assert(index != NULL && domain != NULL);
    const char *moved = arena_print(arena, "%.*sos_index=\"2113536\"%.*s0002:04:00.0%s", (int)(index - text), text,
                                    (int)(domain - index - 16), index + 16, domain + 12);
    cr_assert_eq(from_text(moved, &plain, arena)->gpu_count, 1);
    arena_destroy(arena);
}

/* hwloc takes a damaged set without a word; the number of objects tells. */
Test(import, damaged_cpuset)
{
    struct arena *arena = arena_create();
    char *text = arena_copy(arena, hwloc_text("2.8.0", two_gpus("Tesla T4", 15.75, arena), "", arena));
    char *pu = strstr(text, "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\"");
    cr_assert(pu != NULL);
    *(strstr(pu, "0x2") + 2) = '0';
    struct fault fault = {""};
    cr_assert(import_text("node.xml", text, strlen(text), &plain, arena, &fault) == NULL);
    cr_assert(strstr(fault.text, "cpuset") != NULL || strstr(fault.text, "impossible place") != NULL, "%s", fault.text);
    arena_destroy(arena);
}

Test(import, nested_and_long)
{
    struct arena *arena = arena_create();
    size_t size = 0;
    char *text = arena_alloc(arena, 4000);
    for (int i = 0; i < 300; i++)
        size += (size_t)sprintf(text + size, "<object>");
    refused(text, size, "node.xml:1:1601: elements nested more than 200 deep");
    arena_destroy(arena);
}
