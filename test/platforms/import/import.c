/* SPDX-License-Identifier: Apache-2.0 */
/* Imports held to what is known of the files, and broken files to their messages. */
#include "platforms/import/import.h"
#include "base/arena.h"
#include "test/support/imports.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files of real nodes lie outside of the source tree; without them there is nothing to hold the importer to. */
static struct import *shared_file(const char *name, struct arena *arena)
{
    char path[1024];
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s/../shared/hwloc/%s", SOURCE_ROOT, name);
    if (access(path, R_OK) != 0)
        cr_skip_test("%s is not here", path);
    struct import *import = imported_file(path, &imported_plain, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

static const struct import_nic *nic_named(const struct import *import, const char *name)
{
    for (uint32_t i = 0; i < import->nic_count; i++)
        if (strcmp(import->nics[i].name, name) == 0)
            return &import->nics[i];
    return NULL;
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
        cr_assert(eq(str, (char *)imported_gpu_place(import, i)->bus, (char *)buses[i]));
        cr_assert(eq(u32, gpu->numa, numas[i]));
        cr_assert(fabs(gpu->memory / 1073741824 - 139.8) < 0.05);
        cr_assert(fabs(imported_gpu_place(import, i)->wire - 63.02) < 0.01);
        cr_assert(eq(str, (char *)gpu->model->name, "H200-SXM5-141GB"));
        cr_assert(nic != NULL && imported_switches(import, gpu->place, nic->place) == 1, "GPU %u and %s share a switch",
                  i, nics[i]);
        for (uint32_t k = 0; k < 4; k++)
            cr_assert(k == i || imported_near(import->links[i * 4 + k], 150));
    }
    arena_destroy(arena);
}

Test(import, four_h200_ports)
{
    struct arena *arena = arena_create();
    const struct import *import = shared_file("h200x4-thinksystem-sd665n.xml", arena);
    static const char *const down[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};
    for (uint32_t i = 0; i < 4; i++)
        cr_assert(nic_named(import, down[i])->down && imported_finding(import, IMPORT_LEFT_OUT, down[i]));
    cr_assert(not(nic_named(import, "mlx5_4")->down));
    cr_assert(not(nic_named(import, "mlx5_5")->down));
    /* two ports are up: 2 x 45 GB/s leave the node */
    cr_assert(imported_near(node_port_bandwidth(import->node), 90e9));
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
        cr_assert(imported_near(import->gpus[i].socket_bandwidth, 40));
        cr_assert(fabs(imported_gpu_place(import, i)->wire - 15.75) < 0.01,
                  "the idle reading of the bridge does not count");
        for (uint32_t k = 0; k < 4; k++)
            cr_assert(imported_near(import->links[i * 4 + k], links[i][k]));
    }
    /* P100: 18 of 20 GB/s reached; across the sockets over NVLink to the processor and the X-bus */
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 1, steps, 8), 1));
    cr_assert(imported_near(import->node->cables[steps[0].cable].bandwidth, 36e9));
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
        cr_assert(fabs(imported_gpu_place(import, i)->wire - 15.75) < 0.01, "root ports at 2.00 GB/s are idle");
    }
    const struct import_nic *efa = nic_named(import, "rdmap197s0");
    cr_assert(efa != NULL && efa->numa == 1 && !efa->down && efa->rate == 12.5);
    cr_assert(eq(u32, import->nic_count, 1));
    arena_destroy(arena);
}

/* ---- NCCL ---- */

static struct import *data_file(const char *name, const struct import_options *options, struct arena *arena)
{
    char path[1024];
    struct fault fault = {""};
    snprintf(path, sizeof path, "%s/test/platforms/data/%s", SOURCE_ROOT, name);
    struct import *import = imported_file(path, options, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

Test(import, nccl_a100)
{
    struct arena *arena = arena_create();
    const struct import *import = data_file("nccl-a100x8.xml", &imported_plain, arena);
    cr_assert(eq(u32, import->gpu_count, 8));
    cr_assert(eq(u32, import->nic_count, 8));
    for (uint32_t i = 0; i < 8; i++) {
        cr_assert(imported_near(import->gpus[i].switch_bandwidth, 300));
        cr_assert(eq(str, (char *)import->gpus[i].model->name, "A100-SXM4-80GB"));
        cr_assert(eq(u32, import->gpus[i].numa, i / 4));
        cr_assert(fabs(imported_gpu_place(import, i)->wire - 31.51) < 0.01);
        cr_assert(imported_near(import->nics[i].rate, 25));
    }
    struct node_step steps[8];
    cr_assert(eq(u32, node_route(import->node, 0, 7, steps, 8), 2));
    cr_assert(imported_near(import->node->cables[steps[0].cable].bandwidth, 240e9));
    cr_assert(eq(u32, node_route(import->node, 2, node_port(import->node), steps, 8), 2),
              "every GPU has an interface on its own switch");
    cr_assert(imported_near(import->node->cables[steps[1].cable].bandwidth, 22.5e9));
    arena_destroy(arena);
}

Test(import, nccl_without_models)
{
    struct arena *arena = arena_create();
    const struct import_options h100 = {.model = device_find("H100-SXM5-80GB")};
    const struct import *unnamed = data_file("nccl-cloud-8.xml", &imported_plain, arena),
                        *named = data_file("nccl-cloud-8.xml", &h100, arena);
    cr_assert(imported_finding(unnamed, IMPORT_ASSUMED, "no known model"));
    cr_assert(eq(str, (char *)imported_gpu_place(unnamed, 0)->bus, "0001:00:00.0"));
    cr_assert(imported_near(named->gpus[3].switch_bandwidth, 450));
    cr_assert(imported_finding(named, IMPORT_ASSUMED, "a board of 8 with NVSwitches"));
    cr_assert(imported_near(node_port_bandwidth(named->node), 8 * 45e9));
    cr_assert(eq(dbl, named->socket_link, 22));
    arena_destroy(arena);
}

/* hwloc 1: no version, no speeds; sockets and memories in other places. */
Test(import, hwloc_1)
{
    struct arena *arena = arena_create();
    const struct import *import = data_file("hwloc-v1.xml", &imported_plain, arena);
    cr_assert(eq(u32, import->gpu_count, 1));
    cr_assert(eq(str, (char *)import->gpus[0].model->name, "P100-PCIE-16GB"));
    cr_assert(fabs(imported_gpu_place(import, 0)->wire - 15.75) < 0.01);
    cr_assert(imported_finding(import, IMPORT_ASSUMED, "the file is of hwloc 1, which records no link speeds"));
    cr_assert(imported_finding(import, IMPORT_TABLE, "no speed in the file for 1 wires"));
    arena_destroy(arena);
}

/* ---- broken files ---- */

static void refused(const char *text, size_t size, const char *message)
{
    struct arena *arena = arena_create();
    struct fault fault = {""};
    cr_assert(import_text("node.xml", text, size, &imported_plain, arena, &fault) == NULL, "accepted, expected: %s",
              message);
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
    cr_assert_eq(imported_text(moved, &imported_plain, arena)->gpu_count, 1);
    arena_destroy(arena);
}

/* hwloc takes a damaged set without a word; the number of objects tells. */
Test(import, damaged_cpuset)
{
    struct arena *arena = arena_create();
    char *text = arena_copy(arena, hwloc_text("2.8.0", hwloc_two_gpus("Tesla T4", 15.75, arena), "", arena));
    char *pu = strstr(text, "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\"");
    cr_assert(pu != NULL);
    *(strstr(pu, "0x2") + 2) = '0';
    struct fault fault = {""};
    cr_assert(import_text("node.xml", text, strlen(text), &imported_plain, arena, &fault) == NULL);
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
