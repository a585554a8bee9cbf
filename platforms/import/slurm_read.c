/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/slurm.h"

#include "base/arena.h"
#include "base/document.h"
#include "platforms/import/topo_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct slurm_switch *add(struct slurm_records *records, unsigned line, unsigned column)
{
    if (!(records->count & (records->count - 1))) { /* memory doubles at powers of two */
        struct slurm_switch *more =
            arena_array(records->arena, records->count ? 2 * (size_t)records->count : 1, sizeof *more);
        if (records->count)
            memcpy(more, records->switches, records->count * sizeof *more);
        records->switches = more;
    }
    records->switches[records->count] = (struct slurm_switch){.line = line, .column = column};
    return &records->switches[records->count++];
}

/* ---- topology.conf ---- */

/* "Key=value": whether the key is this one, in any case; the value. */
static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);
    return strncasecmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_pair(const struct topo_text *text, const struct topo_line *line, uint32_t word,
                      struct slurm_switch *record)
{
    const char *pair = line->words[word].text, *nodes = value_of(pair, "Nodes"), *children = value_of(pair, "Switches");
    if (nodes)
        record->nodes = nodes;
    else if (children)
        record->children = children;
    else if (!value_of(pair, "LinkSpeed"))
        return topo_text_mistake(text, line, word, "'%.40s'; expected Nodes=, Switches= or LinkSpeed=", pair);
    return true;
}

static bool read_record(const struct topo_text *text, const struct topo_line *line, struct slurm_records *records)
{
    const char *first = line->words[0].text, *name = value_of(first, "SwitchName"),
               *block = value_of(first, "BlockName"), *sizes = value_of(first, "BlockSizes");
    if (sizes) {
        records->sizes = sizes;
        return true;
    }
    if (!name && !block)
        return topo_text_mistake(text, line, 0, "'%.40s'; expected SwitchName=, BlockName= or BlockSizes=", first);
    if (records->count && records->blocks != (block != NULL))
        return topo_text_mistake(text, line, 0, "switches and blocks in one file; a cluster has one of them");
    records->blocks = block != NULL;
    struct slurm_switch *record = add(records, line->number, line->words[0].column);
    record->name = name ? name : block;
    for (uint32_t i = 1; i < line->count; i++)
        if (!read_pair(text, line, i, record))
            return false;
    return true;
}

static bool read_conf(const char *text, size_t size, struct slurm_records *records, struct fault *fault)
{
    struct topo_text lines = {.name = records->file, .comments = true, .arena = records->arena, .fault = fault};
    topo_text_split(&lines, text, size);
    for (uint32_t i = 0; i < lines.count; i++)
        if (!read_record(&lines, &lines.lines[i], records))
            return false;
    return true;
}

/* ---- topology.yaml ---- */

static bool mistake_at(const struct node *node, const char *what, struct fault *fault)
{
    return fault_set(fault, "%s:%u:%u: %s", node->at.file, node->at.line, node->at.column, what);
}

static const char *scalar(const struct node *map, const char *key)
{
    const struct node *node = node_get(map, key);
    return node && node->kind == NODE_SCALAR && *node->text ? node->text : NULL;
}

/* The entries of a list of switches or blocks, whose names have the key `name`. */
static bool read_entries(const struct node *list, const char *name, struct slurm_records *records, struct fault *fault)
{
    for (const struct node *entry = list->first; entry; entry = entry->next) {
        if (!scalar(entry, name))
            return mistake_at(entry, "expected a map with a name (switch, block) and nodes or children", fault);
        struct slurm_switch *record = add(records, entry->at.line, entry->at.column);
        *record = (struct slurm_switch){scalar(entry, name), scalar(entry, "nodes"), scalar(entry, "children"),
                                        entry->at.line, entry->at.column};
    }
    return true;
}

static bool read_topology(const struct node *topology, struct slurm_records *records, struct fault *fault)
{
    const struct node *tree = node_find(topology, "tree.switches"), *blocks = node_find(topology, "block.blocks");
    const struct node *list = tree ? tree : blocks;
    records->name = scalar(topology, "topology");
    records->blocks = !tree;
    if (list && list->kind == NODE_LIST)
        return read_entries(list, tree ? "switch" : "block", records, fault);
    if (node_get(topology, "flat"))
        return mistake_at(topology,
                          "a flat topology names no nodes; `stagesim platform generate PRESET --nodes N` "
                          "makes a cluster of N",
                          fault);
    if (node_get(topology, "torus3d") || node_get(topology, "ring"))
        return mistake_at(topology,
                          "a torus or ring of nodes is not imported; `stagesim platform generate` makes tori "
                          "of devices, such as tpu-v4, and rings of machines, such as graphcore-pod64",
                          fault);
    return mistake_at(topology, "expected tree: {switches: [...]} or block: {blocks: [...]}", fault);
}

/* Of several the one that was asked for, or the default. */
static const struct node *choose(const struct node *root, const char *topology, struct fault *fault)
{
    const struct node *chosen = NULL;
    for (const struct node *entry = root->first; entry; entry = entry->next) {
        const char *name = scalar(entry, "topology"), *standard = scalar(entry, "cluster_default");
        if (!name) {
            mistake_at(entry, "expected a map that begins with 'topology: NAME'", fault);
            return NULL;
        }
        bool wanted = topology ? !strcmp(name, topology) : standard && !strcmp(standard, "true");
        if (wanted && !chosen)
            chosen = entry;
    }
    if (!chosen && topology)
        mistake_at(root, "there is no topology of the name that --topology gives", fault);
    return chosen || topology ? chosen : root->first;
}

static bool read_yaml(const char *text, size_t size, const char *topology, struct slurm_records *records,
                      struct fault *fault)
{
    static const struct document_kind kind = {NODE_LIST, 64u << 20, "a list of '- topology: NAME'",
                                              "a second document; expected one list of topologies"};
    char *told = NULL;
    size_t length = 0;
    struct diag diag = {.out = open_memstream(&told, &length)};
    if (!diag.out)
        return fault_set(fault, "%s: there is no memory to read it", records->file);
    const struct node *root = document_parse_kind(&kind, records->file, text, size, records->arena, &diag);
    fclose(diag.out);
    char *what = diag.errors ? strstr(told, "error: ") : NULL;
    if (what) /* the first mistake, with its place */
        fault_set(fault, "%.*s%.*s", (int)(what - told), told, (int)strcspn(what + 7, "\n"), what + 7);
    free(told);
    if (!root || diag.errors)
        return false;
    const struct node *chosen = root->first ? choose(root, topology, fault) : NULL;
    if (!chosen)
        return fault_set(fault, "%s: no topology in this file", records->file);
    return read_topology(chosen, records, fault);
}

/* ---- both ---- */

/* The first word that is not in a comment. */
static const char *first_word(const char *text, const char *end)
{
    for (; text < end; text++)
        if (*text == '#')
            while (text + 1 < end && text[1] != '\n')
                text++;
        else if (!strchr(" \t\r\n", *text) || !*text)
            break;
    return text;
}

static bool begins(const char *text, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - text) >= length && strncasecmp(text, word, length) == 0;
}

static bool is_yaml(const char *text, size_t size)
{
    const char *end = text + size, *first = first_word(text, end);
    if (begins(first, end, "---"))
        first = first_word(first + 3, end);
    if (begins(first, end, "-"))
        first = first_word(first + 1, end);
    return begins(first, end, "topology:");
}

bool slurm_recognise(const char *text, size_t size)
{
    const char *end = text + size, *first = first_word(text, end);
    return is_yaml(text, size) || begins(first, end, "SwitchName=") || begins(first, end, "BlockName=") ||
           begins(first, end, "BlockSizes=");
}

bool slurm_read(const char *file, const char *text, size_t size, const char *topology, struct slurm_records *records,
                struct fault *fault)
{
    records->file = file;
    bool good =
        is_yaml(text, size) ? read_yaml(text, size, topology, records, fault) : read_conf(text, size, records, fault);
    return good && (records->count || fault_set(fault, "%s: no switch and no block in this file", file));
}
