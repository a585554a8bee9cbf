/* SPDX-License-Identifier: Apache-2.0 */
/* What `rocm-smi --showtopo` prints: matrices of weights, hops and link types between GPUs, and their NUMA nodes. Only
 * the types and the NUMA nodes are used; network interfaces are not in it. */
#include "base/arena.h"
#include "platforms/import/parts.h"
#include "platforms/import/topo_text.h"

#include <stdlib.h>
#include <string.h>

struct matrix {
    struct topo_text text;
    const struct topo_line *header;
    uint32_t count;
    bool *xgmi;     /* [row * count + column] */
    uint32_t *numa; /* [GPU], NODE_NONE: not in the file */
    bool *rows;
};

static bool has_words(const struct topo_line *line, const char *const *words)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < line->count && words[at]; i++)
        at = strcmp(line->words[i].text, words[at]) == 0 ? at + 1 : 0;
    return words[at] == NULL;
}

static const char *const title[] = {"Link", "Type", "between", "two", "GPUs", NULL};

/* The line behind the title of the matrix of link types, or the end. */
static uint32_t find_types(const struct topo_text *text)
{
    for (uint32_t i = 0; i < text->count; i++)
        if (has_words(&text->lines[i], title))
            return i + 1;
    return text->count;
}

bool import_is_rocm_topo(const char *text, size_t size, struct arena *arena)
{
    static const char *const tool[] = {"ROCm", "System", "Management", "Interface", NULL};
    struct topo_text lines = {.arena = arena};
    topo_text_split(&lines, text, size);
    for (uint32_t i = 0; i < lines.count; i++)
        if (has_words(&lines.lines[i], tool) || has_words(&lines.lines[i], title))
            return true;
    return false;
}

static bool read_header(struct matrix *m)
{
    m->count = m->header->count;
    for (uint32_t i = 0; i < m->count; i++)
        if (!topo_is_numbered(m->header->words[i].text, "GPU"))
            return topo_text_mistake(&m->text, m->header, i, "'%.20s'; expected names of GPUs, such as GPU0",
                                     m->header->words[i].text);
    if (m->count > IMPORT_GPUS_MAX)
        return topo_text_mistake(&m->text, m->header, IMPORT_GPUS_MAX, "more than %d GPUs in one node",
                                 IMPORT_GPUS_MAX);
    m->xgmi = arena_array(m->text.arena, (size_t)m->count * m->count, sizeof *m->xgmi);
    m->numa = arena_array(m->text.arena, m->count, sizeof *m->numa);
    m->rows = arena_array(m->text.arena, m->count, sizeof *m->rows);
    for (uint32_t i = 0; i < m->count; i++)
        m->numa[i] = NODE_NONE;
    return true;
}

static uint32_t find_gpu(const struct matrix *m, const char *name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->header->words[i].text, name) == 0)
            return i;
    return NODE_NONE;
}

static bool read_row(struct matrix *m, uint32_t row, const struct topo_line *line)
{
    const char *name = line->words[0].text;
    if (m->rows[row])
        return topo_text_mistake(&m->text, line, 0, "a second row %s", name);
    m->rows[row] = true;
    if (line->count != m->count + 1)
        return topo_text_mistake(&m->text, line, line->count < m->count + 1 ? line->count : m->count + 1,
                                 "row %s has %u cells; expected %u", name, line->count - 1, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        const char *cell = line->words[i + 1].text, *wanted = i == row ? "0" : "XGMI or PCIE";
        bool xgmi = strcmp(cell, "XGMI") == 0, good = i == row ? !strcmp(cell, "0") : xgmi || !strcmp(cell, "PCIE");
        if (!good)
            return topo_text_mistake(&m->text, line, i + 1, "row %s, column %s: '%.20s'; expected %s", name,
                                     m->header->words[i].text, cell, wanted);
        m->xgmi[(size_t)row * m->count + i] = xgmi;
        if (i < row && m->rows[i] && m->xgmi[(size_t)i * m->count + row] != xgmi)
            return topo_text_mistake(&m->text, line, i + 1,
                                     "row %s, column %s differs from row %s, column %s: the matrix has to be symmetric",
                                     name, m->header->words[i].text, m->header->words[i].text, name);
    }
    return true;
}

/* "GPU[0] : (Topology) Numa Node: 0", before 2023 "GPU 0 : ..." */
static void read_numa(struct matrix *m, const struct topo_line *line)
{
    static const char *const words[] = {"(Topology)", "Numa", "Node:", NULL};
    const char *name = line->words[0].text, *number = name + strcspn(name, "0123456789");
    if (!has_words(line, words) || strncmp(name, "GPU", 3) != 0)
        return;
    if (!*number && line->count > 1)
        number = line->words[1].text;
    uint32_t gpu = find_gpu(m, arena_print(m->text.arena, "GPU%u", (unsigned)strtoul(number, NULL, 10)));
    const char *node = line->words[line->count - 1].text;
    if (gpu != NODE_NONE && strspn(node, "0123456789") == strlen(node) && strlen(node) < 5)
        m->numa[gpu] = (uint32_t)strtoul(node, NULL, 10);
}

static bool read_matrix(struct matrix *m, const char *text, size_t size)
{
    topo_text_split(&m->text, text, size);
    uint32_t at = find_types(&m->text), row;
    if (at == m->text.count)
        return fault_set(m->text.fault, "%s: no matrix 'Link Type between two GPUs'; rocm-smi --showtopo prints it",
                         m->text.name);
    m->header = &m->text.lines[at++];
    if (!read_header(m))
        return false;
    for (; at < m->text.count && (row = find_gpu(m, m->text.lines[at].words[0].text)) != NODE_NONE; at++)
        if (!read_row(m, row, &m->text.lines[at]))
            return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (!m->rows[i])
            return topo_text_mistake(&m->text, m->header, i, "%s has no row", m->header->words[i].text);
    for (; at < m->text.count; at++)
        read_numa(m, &m->text.lines[at]);
    return true;
}

static uint32_t socket_of(struct import *import, uint32_t numa, uint32_t *numas, struct fault *fault)
{
    for (uint32_t i = 0; i < import->place_count; i++)
        if (import->places[i].kind == IMPORT_SOCKET && numas[i] == numa)
            return i;
    if (!import_add_place(import, IMPORT_SOCKET, NODE_NONE, 0, NULL, fault))
        return NODE_NONE;
    numas[import->place_count - 1] = numa;
    return import->place_count - 1;
}

static bool add_gpus(const struct matrix *m, struct import *import, struct fault *fault)
{
    uint32_t *numas = arena_array(import->arena, 2 * (size_t)m->count, sizeof *numas);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t socket = socket_of(import, m->numa[i], numas, fault);
        if (socket == NODE_NONE || !import_add_place(import, IMPORT_GPU, socket, 0, m->header->words[i].text, fault))
            return false;
        struct import_gpu *gpu = import_add_gpu(import, import->place_count - 1, fault);
        if (!gpu)
            return false;
        gpu->numa = m->numa[i];
        gpu->vendor = 0x1002;
    }
    return true;
}

bool import_rocm_topo(struct import *import, const char *name, const char *text, size_t size, struct fault *fault)
{
    enum { LINK = 50 }; /* GB/s of one xGMI link; the file does not say how many there are */
    struct matrix *m = arena_alloc(import->arena, sizeof *m);
    bool any = false;
    m->text = (struct topo_text){.name = name, .arena = import->arena, .fault = fault};
    import->source = "rocm-smi --showtopo";
    if (!read_matrix(m, text, size) || !add_gpus(m, import, fault))
        return false;
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t b = 0; b < m->count; b++)
            if (m->xgmi[(size_t)a * m->count + b]) {
                import_link(import, a, b, LINK);
                any = true;
            }
    import->links_unrated = any;
    if (any)
        import->link_class = "xgmi";
    return true;
}
