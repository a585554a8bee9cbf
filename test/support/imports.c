/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/imports.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

const struct import_options imported_plain = {0};

struct import *imported_text(const char *text, const struct import_options *options, struct arena *arena)
{
    struct fault fault = {""};
    struct import *import = import_text("node.xml", text, strlen(text), options, arena, &fault);
    cr_assert(import != NULL, "%s", fault.text);
    return import;
}

struct import *imported_file(const char *path, const struct import_options *options, struct arena *arena,
                             struct fault *fault)
{
    size_t size = 0;
    const char *text = import_load(path, &size, arena, fault);
    return text ? import_text(path, text, size, options, arena, fault) : NULL;
}

bool imported_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

bool imported_finding(const struct import *import, enum import_origin origin, const char *part)
{
    for (uint32_t i = 0; i < import->finding_count; i++)
        if (import->findings[i].origin == origin && strstr(import->findings[i].text, part))
            return true;
    return false;
}

const struct import_place *imported_gpu_place(const struct import *import, uint32_t gpu)
{
    return &import->places[import->gpus[gpu].place];
}

/* How many switches two places have above them in common. */
uint32_t imported_switches(const struct import *import, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (uint32_t x = import->places[a].parent; x != NODE_NONE; x = import->places[x].parent)
        for (uint32_t y = import->places[b].parent; y != NODE_NONE; y = import->places[y].parent)
            count += x == y && import->places[x].kind == IMPORT_SWITCH;
    return count;
}

/* A machine of two packages with a PCI tree; `devices` goes below the first package's host bridge. */
const char *hwloc_text(const char *version, const char *devices, const char *matrix, struct arena *arena)
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

const char *hwloc_gpu(unsigned bus, unsigned index, const char *product, const char *inner, double speed,
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

const char *hwloc_two_gpus(const char *product, double speed, struct arena *arena)
{
    return arena_print(arena, "%s%s", hwloc_gpu(1, 0, product, "", speed, arena),
                       hwloc_gpu(2, 1, product, "", speed, arena));
}

const char *hwloc_matrix_of_two(unsigned rate, struct arena *arena)
{
    const char *values = arena_print(arena, "1000000 %u %u 1000000 ", rate, rate);
    return arena_print(arena,
                       "<distances2 type=\"OSDev\" nbobjs=\"2\" kind=\"9\" name=\"NVLinkBandwidth\" "
                       "indexing=\"gp\">\n<indexes length=\"8\">101 111 "
                       "</indexes>\n<u64values length=\"%zu\">%s</u64values>\n</distances2>\n",
                       strlen(values), values);
}
