/* SPDX-License-Identifier: Apache-2.0 */
/* What single elements of topology files become: links by where they lead, interfaces and their ports, what counts as
 * a GPU. Expected values are computed by hand from the numbers in the text. */
#include "base/arena.h"
#include "platforms/import/import.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct import *read_text(const char *text, struct arena *arena)
{
    static const struct import_options plain = {0};
    struct fault fault = {""};
    struct import *import = import_text("node.xml", text, strlen(text), &plain, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

static bool near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

/* ---- NCCL ---- */

#define NCCL_GPU "class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\""

/* Two processors. On the first a V100 with two links to another V100, one to a switch and three to the processor; on
 * the second the other V100 and an interface with two ports of 100 Gbit/s. */
static const char *nccl_text(const char *more, struct arena *arena)
{
    return arena_print(
        arena,
        "<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
        "modelid=\"85\">\n"
        "<pci busid=\"0000:0A:00.0\" vendor=\"0x10de\" device=\"0x1db1\" " NCCL_GPU "><gpu dev=\"0\" sm=\"70\">\n"
        "<nvlink target=\"0000:0B:00.0\" count=\"2\" tclass=\"0x030200\"/>\n"
        "<nvlink target=\"0000:c0:00.0\" count=\"1\" tclass=\"0x068000\"/>\n"
        "<nvlink target=\"0000:c1:00.0\" count=\"3\" tclass=\"0x068001\"/>%s\n</gpu></pci>\n</cpu>\n"
        "<cpu numaid=\"1\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n"
        "<pci busid=\"0000:0b:00.0\" vendor=\"0x10de\" device=\"0x1db1\" " NCCL_GPU "><gpu dev=\"1\" sm=\"70\">\n"
        "<nvlink target=\"0000:0a:00.0\" count=\"2\" tclass=\"0x030200\"/>\n</gpu></pci>\n"
        "<pci busid=\"0000:0c:00.0\" class=\"0x020700\" vendor=\"0x15b3\" device=\"0x101b\" link_speed=\"8.0 GT/s "
        "PCIe\" link_width=\"8\"><nic><net name=\"mlx5_0\" speed=\"100000\"/><net name=\"mlx5_0\" "
        "speed=\"100000\"/></nic></pci>\n</cpu>\n</system>\n",
        more);
}

Test(parts, nccl_links)
{
    struct arena *arena = arena_create();
    const struct import *import = read_text(nccl_text("", arena), arena);
    cr_assert_eq(import->gpu_count, 2);
    cr_assert(near(import->links[1], 50) && near(import->links[2], 50), "two links of 25 GB/s");
    cr_assert(import->links[0] == 0 && import->links[3] == 0);
    cr_assert(near(import->gpus[0].switch_bandwidth, 25) && import->gpus[1].switch_bandwidth == 0);
    cr_assert(near(import->gpus[0].socket_bandwidth, 75) && import->gpus[1].socket_bandwidth == 0);
    cr_assert_str_eq(import->link_class, "nvlink");
    cr_assert(import->gpus[0].capability == 70 && import->gpus[0].has_nvlink);
    arena_destroy(arena);
}

/* None, and more than any GPU has. */
Test(parts, nccl_counts_out_of_bounds)
{
    struct arena *arena = arena_create();
    const char *more = "<nvlink target=\"0000:c2:00.0\" count=\"0\" tclass=\"0x068000\"/>"
                       "<nvlink target=\"0000:c2:00.0\" count=\"65\" tclass=\"0x068000\"/>"
                       "<nvlink target=\"0000:c2:00.0\" count=\"64\" tclass=\"0x068000\"/>";
    cr_assert(near(read_text(nccl_text(more, arena), arena)->gpus[0].switch_bandwidth, 65 * 25));
    arena_destroy(arena);
}

Test(parts, nccl_interface)
{
    struct arena *arena = arena_create();
    const struct import *import = read_text(nccl_text("", arena), arena);
    const struct import_nic *nic = &import->nics[0];
    cr_assert_eq(import->nic_count, 1);
    cr_assert_str_eq(nic->name, "mlx5_0");
    cr_assert(nic->vendor == 0x15b3 && nic->device == 0x101b && nic->numa == 1 && !nic->down);
    cr_assert(near(nic->rate, 25), "two ports of 12.5 GB/s");
    cr_assert(near(import->places[nic->place].wire, 8 * 8 / 8.0 * 128 / 130), "8 GT/s on 8 lanes, 128 of 130 bits");
    cr_assert(import->gpus[0].numa == 0 && import->gpus[1].numa == 1);
    cr_assert(near(import->places[import->gpus[1].place].wire, 16 * 16 / 8.0 * 128 / 130));
    arena_destroy(arena);
}

Test(parts, nccl_xgmi)
{
    struct arena *arena = arena_create();
    const char *text = "<system><cpu numaid=\"-1\">"
                       "<pci busid=\"0000:01:00.0\" vendor=\"0x1002\" device=\"0x740c\" class=\"0x120000\" "
                       "link_speed=\"5.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\"><xgmi target=\"0000:02:00.0\" "
                       "count=\"2\" tclass=\"0x120000\"/></gpu></pci>"
                       "<pci busid=\"0000:02:00.0\" vendor=\"0x1002\" device=\"0x740c\" class=\"0x120000\">"
                       "<gpu dev=\"1\"/></pci></cpu></system>";
    const struct import *import = read_text(text, arena);
    cr_assert(near(import->links[1], 100), "two links of xGMI of 50 GB/s");
    cr_assert_str_eq(import->link_class, "xgmi");
    cr_assert(import->gpus[0].numa == NODE_NONE && !import->gpus[0].has_nvlink);
    cr_assert(near(import->places[import->gpus[0].place].wire, 8), "5 GT/s on 16 lanes, 8 of 10 bits");
    arena_destroy(arena);
}

/* ---- hwloc ---- */

#define SETS "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""

static const char *hwloc_text(const char *devices, struct arena *arena)
{
    return arena_print(arena,
                       "<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" allowed_cpuset=\"0x1\" "
                       "allowed_nodeset=\"0x1\" gp_index=\"1\" " SETS "><object type=\"Package\" os_index=\"0\" "
                       "gp_index=\"2\" " SETS ">\n<object type=\"NUMANode\" os_index=\"0\" gp_index=\"3\" " SETS
                       " local_memory=\"1073741824\"/>\n<object type=\"Core\" os_index=\"0\" gp_index=\"4\" " SETS
                       "><object type=\"PU\" os_index=\"0\" gp_index=\"5\" " SETS "/></object>\n<object "
                       "type=\"Bridge\" gp_index=\"6\" bridge_type=\"0-1\" depth=\"0\" "
                       "bridge_pci=\"0000:[00-ff]\">\n%s</object></object></object></topology>\n",
                       devices);
}

/* A device of a class and with a maker's and a product's number; `inner` are its devices of the system. */
static const char *device_text(unsigned bus, const char *ids, const char *inner, struct arena *arena)
{
    return arena_print(arena,
                       "<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"0000:%02x:00.0\" pci_type=\"%s [0000:0000] "
                       "00\" pci_link_speed=\"31.5\">%s</object>\n",
                       100 + bus, bus, ids, inner);
}

/* By class, maker, and what the system makes of them. */
Test(parts, what_is_a_gpu)
{
    static const char render[] = "<object type=\"OSDev\" gp_index=\"900\" name=\"renderD128\" osdev_type=\"1\"/>",
                      card[] = "<object type=\"OSDev\" gp_index=\"901\" name=\"card0\" osdev_type=\"1\"/>",
                      rsmi[] = "<object type=\"OSDev\" gp_index=\"902\" name=\"rsmi0\" osdev_type=\"1\"/>",
                      level[] = "<object type=\"OSDev\" gp_index=\"903\" name=\"ze0\" osdev_type=\"5\"/>",
                      part[] = "<object type=\"OSDev\" gp_index=\"904\" name=\"ze0.1\" osdev_type=\"5\"/>";
    static const struct {
        const char *ids, *inner;
        bool is_gpu;
    } cases[] = {
        {"0302 [10de:20b2]", "", true},     {"0302 [10de:20b2]", card, true},    {"0300 [10de:1eb8]", card, false},
        {"0300 [10de:1eb8]", render, true}, {"0300 [10de:1eb8]", rsmi, true},    {"0300 [8086:56c0]", render, false},
        {"0300 [8086:56c0]", level, true},  {"0300 [8086:56c0]", part, false},   {"0380 [1002:740c]", "", true},
        {"1200 [1002:74a1]", "", true},     {"0300 [1a03:2000]", render, false}, {"0200 [10de:20b2]", card, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        const char *sure = device_text(1, "0302 [10de:20b2]", "", arena);
        const char *devices = arena_print(arena, "%s%s", sure, device_text(2, cases[i].ids, cases[i].inner, arena));
        const struct import *import = read_text(hwloc_text(devices, arena), arena);
        cr_assert_eq(import->gpu_count, 1 + cases[i].is_gpu, "%s with %s", cases[i].ids, cases[i].inner);
        arena_destroy(arena);
    }
}

/* Port1State is that of libibverbs: 4 is active, 1 down, 2 initialising. */
Test(parts, ports)
{
    static const struct {
        const char *inner, *name; /* NULL: no interface */
        bool down;
    } cases[] = {{"<object type=\"OSDev\" gp_index=\"900\" name=\"ib0\" osdev_type=\"2\"/><object type=\"OSDev\" "
                  "gp_index=\"901\" name=\"mlx5_7\" osdev_type=\"3\"><info name=\"Port1State\" value=\"4\"/></object>",
                  "mlx5_7", false},
                 {"<object type=\"OSDev\" gp_index=\"901\" name=\"mlx5_7\" osdev_type=\"3\"><info name=\"Port1State\" "
                  "value=\"1\"/></object>",
                  "mlx5_7", true},
                 {"<object type=\"OSDev\" gp_index=\"901\" name=\"mlx5_7\" osdev_type=\"3\"><info name=\"Port1State\" "
                  "value=\"2\"/></object>",
                  "mlx5_7", true},
                 {"<object type=\"OSDev\" gp_index=\"901\" name=\"mlx5_7\" osdev_type=\"3\"/>", "mlx5_7", false},
                 {"<object type=\"OSDev\" gp_index=\"901\" name=\"eth5\" osdev_type=\"2\"/>", "eth5", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create();
        const char *gpu = device_text(1, "0302 [10de:20b2]", "", arena);
        const char *devices =
            arena_print(arena, "%s%s", gpu, device_text(2, "0207 [15b3:101b]", cases[i].inner, arena));
        const struct import *import = read_text(hwloc_text(devices, arena), arena);
        cr_assert_eq(import->nic_count, 1, "case %zu", i);
        cr_assert_str_eq(import->nics[0].name, cases[i].name);
        cr_assert_eq(import->nics[0].down, cases[i].down, "case %zu", i);
        cr_assert(near(import->nics[0].rate, 25) && import->nics[0].numa == 0);
        arena_destroy(arena);
    }
}

/* The matrix of hwloc names packages and switches beside GPUs. */
Test(parts, hwloc_links_to_the_processor)
{
    struct arena *arena = arena_create();
    const char *inner = "<object type=\"OSDev\" gp_index=\"900\" name=\"nvml0\" subtype=\"NVML\" osdev_type=\"1\"/>",
               *other = "<object type=\"OSDev\" gp_index=\"910\" name=\"nvml1\" subtype=\"NVML\" osdev_type=\"1\"/>",
               *values = "1000000 50000 75000 50000 1000000 0 75000 0 1000000 ", *indices = "900 910 2 ";
    const char *devices = arena_print(arena, "%s%s", device_text(1, "0302 [10de:1db1]", inner, arena),
                                      device_text(2, "0302 [10de:1db1]", other, arena));
    char *text = arena_copy(arena, hwloc_text(devices, arena)), *end = strstr(text, "</topology>");
    const char *whole = arena_print(
        arena,
        "%.*s<distances2hetero nbobjs=\"3\" kind=\"25\" name=\"NVLinkBandwidth\">\n<indexes length=\"%zu\">OSDev:900 "
        "OSDev:910 Package:2 </indexes>\n<u64values length=\"%zu\">%s</u64values></distances2hetero>\n</topology>\n",
        (int)(end - text), text, strlen("OSDev: OSDev: Package: ") + strlen(indices) - 3, strlen(values), values);
    const struct import *import = read_text(whole, arena);
    cr_assert_eq(import->gpu_count, 2);
    cr_assert(import->links && near(import->links[1], 50) && near(import->links[2], 50));
    cr_assert(near(import->gpus[0].socket_bandwidth, 75) && import->gpus[1].socket_bandwidth == 0);
    arena_destroy(arena);
}
