/* SPDX-License-Identifier: Apache-2.0 */
/* What `nvidia-smi topo -m` prints: how each pair of GPUs and network interfaces is connected. From how near devices
 * are follows the tree of PCI Express; speeds and products are not in it. */
#include "base/arena.h"
#include "platforms/import/parts.h"
#include "platforms/import/topo_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 512, LINKS_MOST = 18 /* NVLinks of any GPU so far */ };

/* How near two devices are, the nearest first. NVLINK hides what PCI Express is. */
enum level { SELF, NVLINK, PIX, PXB, PHB, NODE, SYS, LEVELS };

static const char *const level_names[LEVELS] = {"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"};

struct cell {
    uint8_t level, links; /* of NVLINK: the number behind NV */
};

struct matrix {
    struct topo_text text;
    uint32_t count;
    const char *names[NAMES_MAX];
    bool gpus[NAMES_MAX];
    const struct topo_line *rows[NAMES_MAX]; /* NULL: nothing was printed */
    const char *cpus[NAMES_MAX];             /* CPU affinity, or NULL */
    struct cell *cells;                      /* [row * count + column] */
    uint32_t group[NAMES_MAX];               /* of devices that are joined, the first one */
};

static struct cell cell_of(const struct matrix *m, uint32_t a, uint32_t b)
{
    return m->cells[(size_t)a * m->count + b];
}

/* ---- reading ---- */

/* A cell at the beginning of a word; its length, 0 where there is none. `SOC` is how SYS was called before 2018. */
static size_t read_cell(const char *word, struct cell *cell)
{
    if (word[0] == 'N' && word[1] == 'V' && isdigit((unsigned char)word[2])) {
        char *end;
        unsigned long links = strtoul(word + 2, &end, 10);
        *cell = (struct cell){NVLINK, (uint8_t)(links < 64 ? links : 64)};
        return (size_t)(end - word);
    }
    if (strncmp(word, "SOC", 3) == 0) {
        *cell = (struct cell){SYS, 0};
        return 3;
    }
    for (unsigned level = 0; level < LEVELS; level++) {
        size_t length = strlen(level_names[level]);
        if (level != NVLINK && strncmp(word, level_names[level], length) == 0) {
            *cell = (struct cell){(uint8_t)level, 0};
            return length;
        }
    }
    return 0;
}

/* The line of names has at least one GPU, and then another name or "CPU". */
static bool is_header(const struct topo_line *line)
{
    struct cell cell;
    return line->count >= 2 && topo_is_numbered(line->words[0].text, "GPU") && !read_cell(line->words[1].text, &cell) &&
           (strcmp(line->words[1].text, "CPU") == 0 || topo_is_numbered(line->words[1].text, "GPU") ||
            topo_is_numbered(line->words[1].text, "NIC") || strchr(line->words[1].text, '_'));
}

static const struct topo_line *find_header(const struct topo_text *text)
{
    for (uint32_t i = 0; i < text->count; i++)
        if (is_header(&text->lines[i]))
            return &text->lines[i];
    return NULL;
}

bool import_is_nvidia_topo(const char *text, size_t size, struct arena *arena)
{
    struct topo_text lines = {.arena = arena};
    topo_text_split(&lines, text, size);
    const struct topo_line *header = find_header(&lines);
    struct cell cell;
    for (const struct topo_line *line = header; line && line < lines.lines + lines.count; line++)
        if (line > header && line->count >= 2 && topo_is_numbered(line->words[0].text, "GPU") &&
            read_cell(line->words[1].text, &cell))
            return true;
    return false;
}

static bool read_header(struct matrix *m, const struct topo_line *header)
{
    for (uint32_t i = 0; i < header->count && strcmp(header->words[i].text, "CPU") != 0; i++) {
        if (m->count == NAMES_MAX)
            return topo_text_mistake(&m->text, header, i, "more than %d devices in one node", NAMES_MAX);
        for (uint32_t k = 0; k < m->count; k++)
            if (strcmp(m->names[k], header->words[i].text) == 0)
                return topo_text_mistake(&m->text, header, i, "a second column %s", m->names[k]);
        m->gpus[m->count] = topo_is_numbered(header->words[i].text, "GPU");
        m->names[m->count++] = header->words[i].text;
    }
    m->cells = arena_array(m->text.arena, (size_t)m->count * m->count, sizeof *m->cells);
    return true;
}

static uint32_t find_name(const struct matrix *m, const char *name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->names[i], name) == 0)
            return i;
    return NODE_NONE;
}

/* The cells of a row. Two may stand in one word, where a tab was lost. */
static bool read_row(struct matrix *m, uint32_t row, const struct topo_line *line)
{
    uint32_t word = 1, column = 0;
    const char *rest = word < line->count ? line->words[word].text : "";
    if (m->rows[row])
        return topo_text_mistake(&m->text, line, 0, "a second row %s", m->names[row]);
    m->rows[row] = line;
    for (; column < m->count; column++) {
        if (word >= line->count)
            return topo_text_mistake(&m->text, line, word, "row %s ends after %u cells; expected %u", m->names[row],
                                     column, m->count);
        size_t length = read_cell(rest, &m->cells[(size_t)row * m->count + column]);
        if (!length)
            return topo_text_mistake(
                &m->text, line, word,
                "row %s, column %s: '%.20s'; expected X, NV and a number, PIX, PXB, PHB, NODE or SYS", m->names[row],
                m->names[column], rest);
        rest += length;
        if (!*rest)
            rest = ++word < line->count ? line->words[word].text : "";
    }
    struct cell cell;
    if (*rest && read_cell(rest, &cell)) /* a tab was lost between two names of the head */
        return topo_text_mistake(&m->text, line, word, "row %s has more cells than the %u names above it",
                                 m->names[row], m->count);
    m->cpus[row] = *rest && isdigit((unsigned char)*rest) ? rest : NULL;
    return true;
}

/* "NIC0: mlx5_0" behind the matrix. */
static void read_legend(struct matrix *m, const struct topo_line *line)
{
    size_t length = strlen(line->words[0].text);
    if (line->count != 2 || line->words[0].text[length - 1] != ':')
        return;
    uint32_t device = find_name(m, arena_print(m->text.arena, "%.*s", (int)length - 1, line->words[0].text));
    if (device != NODE_NONE && !m->gpus[device])
        m->names[device] = line->words[1].text;
}

static bool check_pair(const struct matrix *m, uint32_t a, uint32_t b)
{
    struct cell forth = cell_of(m, a, b), back = cell_of(m, b, a);
    if (forth.level == SELF)
        return topo_text_mistake(&m->text, m->rows[a], b + 1, "%s and %s are not the same device", m->names[a],
                                 m->names[b]);
    if (m->rows[b] && (forth.level != back.level || forth.links != back.links))
        return topo_text_mistake(&m->text, m->rows[b], a + 1,
                                 "row %s, column %s differs from row %s, column %s: the matrix has to be symmetric",
                                 m->names[b], m->names[a], m->names[a], m->names[b]);
    return true;
}

/* Square where there are rows; what has no row is known from its column. */
static bool check_matrix(struct matrix *m, const struct topo_line *header)
{
    for (uint32_t a = 0; a < m->count; a++) {
        if (m->gpus[a] && !m->rows[a])
            return topo_text_mistake(&m->text, header, a, "%s has no row", m->names[a]);
        if (m->rows[a] && cell_of(m, a, a).level != SELF)
            return topo_text_mistake(&m->text, m->rows[a], a + 1, "row %s, column %s: expected X", m->names[a],
                                     m->names[a]);
    }
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t b = 0; m->rows[a] && b < m->count; b++) {
            if (a != b && !check_pair(m, a, b))
                return false;
            if (!m->rows[b])
                m->cells[(size_t)b * m->count + a] = cell_of(m, a, b);
        }
    for (uint32_t a = 0; a < m->count; a++) /* between two without rows nothing is known */
        for (uint32_t b = 0; b < m->count; b++)
            if (a != b && !m->rows[a] && !m->rows[b])
                m->cells[(size_t)a * m->count + b].level = SYS;
    return true;
}

static bool read_matrix(struct matrix *m, const char *text, size_t size)
{
    topo_text_split(&m->text, text, size);
    const struct topo_line *header = find_header(&m->text), *line = header + 1;
    const struct topo_line *end = m->text.lines + m->text.count;
    if (!read_header(m, header))
        return false;
    for (uint32_t row; line < end && (row = find_name(m, line->words[0].text)) != NODE_NONE; line++)
        if (!read_row(m, row, line))
            return false;
    if (!check_matrix(m, header))
        return false;
    for (; line < end; line++)
        read_legend(m, line);
    return true;
}

/* ---- the tree ---- */

static uint32_t group_of(struct matrix *m, uint32_t device)
{
    while (m->group[device] != device)
        device = m->group[device] = m->group[m->group[device]];
    return device;
}

static void join(struct matrix *m, uint32_t a, uint32_t b)
{
    uint32_t left = group_of(m, a), right = group_of(m, b);
    m->group[left > right ? left : right] = left > right ? right : left;
}

/* Groups of devices that are as near as `level` over PCI Express, each with the number of its first one. */
static void find_groups(struct matrix *m, enum level level, uint32_t *groups)
{
    for (uint32_t a = 0; a < m->count; a++)
        m->group[a] = a;
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t b = a + 1; b < m->count; b++) {
            struct cell cell = cell_of(m, a, b);
            bool same = m->cpus[a] && m->cpus[b] && strcmp(m->cpus[a], m->cpus[b]) == 0;
            if (cell.level == NVLINK ? level == NODE && same : cell.level <= level)
                join(m, a, b);
        }
    for (uint32_t a = 0; a < m->count; a++)
        groups[a] = group_of(m, a);
}

static uint32_t members(const struct matrix *m, const uint32_t *groups, const bool *kept, uint32_t group)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        count += kept[i] && groups[i] == group;
    return count;
}

/* Interfaces that some GPU has none nearer than. Where all are as far as can be, all are kept. */
static bool choose_interfaces(const struct matrix *m, struct import *import, bool *kept)
{
    uint8_t nearest[NAMES_MAX];
    bool any = false;
    for (uint32_t a = 0; a < m->count; a++) {
        nearest[a] = SYS;
        for (uint32_t b = 0; m->gpus[a] && b < m->count; b++)
            if (!m->gpus[b] && cell_of(m, a, b).level < nearest[a])
                nearest[a] = cell_of(m, a, b).level;
        any |= nearest[a] < SYS;
    }
    for (uint32_t b = 0; b < m->count; b++) {
        kept[b] = m->gpus[b] || !any;
        for (uint32_t a = 0; any && a < m->count; a++)
            kept[b] |= m->gpus[a] && nearest[a] < SYS && cell_of(m, a, b).level == nearest[a];
        if (!kept[b])
            import_find(import, IMPORT_LEFT_OUT, "%s: every GPU has a nearer interface", m->names[b]);
    }
    return any;
}

/* The place of a group of at least two devices, made for its first one; `above` for others. */
static uint32_t switch_of(const struct matrix *m, struct import *import, const uint32_t *groups, const bool *kept,
                          uint32_t *made, uint32_t device, uint32_t above, struct fault *fault)
{
    uint32_t group = groups[device];
    if (members(m, groups, kept, group) < 2)
        return above;
    if (made[group] == NODE_NONE) {
        if (!import_add_place(import, IMPORT_SWITCH, above, 0,
                              arena_print(import->arena, "switch of %s", m->names[device]), fault))
            return NODE_NONE;
        made[group] = import->place_count - 1;
    }
    return made[group];
}

static bool add_device(const struct matrix *m, struct import *import, uint32_t device, uint32_t above,
                       struct fault *fault)
{
    bool gpu = m->gpus[device];
    const char *bus = gpu ? m->names[device] : arena_print(import->arena, "interface-%04u.0", device);
    if (!import_add_place(import, gpu ? IMPORT_GPU : IMPORT_NIC, above, 0, bus, fault))
        return false;
    uint32_t place = import->place_count - 1;
    if (gpu)
        return import_add_gpu(import, place, fault) != NULL;
    struct import_nic *nic = import_add_nic(import, place, fault);
    if (!nic)
        return false;
    nic->name = m->names[device];
    nic->unrated = true;
    return true;
}

struct tree {
    uint32_t sockets[NAMES_MAX], outer[NAMES_MAX], inner[NAMES_MAX];         /* groups of devices */
    uint32_t socket_at[NAMES_MAX], outer_at[NAMES_MAX], inner_at[NAMES_MAX]; /* places of groups */
    uint32_t of_gpus[NAMES_MAX], gpu_sockets;                                /* places of sockets with GPUs */
    bool kept[NAMES_MAX], near;
};

static bool add_sockets(struct matrix *m, struct import *import, struct tree *tree, struct fault *fault)
{
    for (uint32_t i = 0; i < m->count; i++)
        tree->socket_at[i] = tree->outer_at[i] = tree->inner_at[i] = NODE_NONE;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t group = tree->sockets[i];
        bool wanted = tree->kept[i] && (m->gpus[i] || tree->near);
        if (!wanted || tree->socket_at[group] != NODE_NONE)
            continue;
        if (!import_add_place(import, IMPORT_SOCKET, NODE_NONE, 0, NULL, fault))
            return false;
        tree->socket_at[group] = import->place_count - 1;
        tree->of_gpus[tree->gpu_sockets++] = import->place_count - 1;
    }
    return true;
}

static bool add_devices(struct matrix *m, struct import *import, struct tree *tree, struct fault *fault)
{
    uint32_t interfaces = 0, placed = 0;
    for (uint32_t i = 0; i < m->count; i++)
        interfaces += tree->kept[i] && !m->gpus[i];
    if (interfaces && !tree->near)
        import_find(import, IMPORT_ASSUMED, "%u interfaces, all as far from every GPU: spread over the processors",
                    interfaces);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!tree->kept[i])
            continue;
        uint32_t above;
        if (!m->gpus[i] && !tree->near) {
            above = tree->of_gpus[(uint64_t)placed++ * tree->gpu_sockets / interfaces];
        } else {
            above = tree->socket_at[tree->sockets[i]];
            above = switch_of(m, import, tree->outer, tree->kept, tree->outer_at, i, above, fault);
            if (above != NODE_NONE)
                above = switch_of(m, import, tree->inner, tree->kept, tree->inner_at, i, above, fault);
        }
        if (above == NODE_NONE || !add_device(m, import, i, above, fault))
            return false;
    }
    return true;
}

static bool build_tree(struct matrix *m, struct import *import, struct fault *fault)
{
    struct tree *tree = arena_alloc(import->arena, sizeof *tree);
    tree->near = choose_interfaces(m, import, tree->kept);
    find_groups(m, NODE, tree->sockets);
    find_groups(m, PXB, tree->outer);
    find_groups(m, PIX, tree->inner);
    return add_sockets(m, import, tree, fault) && add_devices(m, import, tree, fault);
}

/* ---- NVLink ---- */

/* NV# counts the links of a pair where GPUs are wired to one another, those of a GPU where NVSwitches are between. All
 * pairs have NV#, and a GPU would have more links than there are: NVSwitches. */
static bool is_switched(const struct matrix *m, uint32_t gpus, unsigned most)
{
    for (uint32_t a = 0; a < m->count; a++) {
        uint32_t sum = 0;
        for (uint32_t b = 0; m->gpus[a] && b < m->count; b++) {
            if (a != b && m->gpus[b] && cell_of(m, a, b).level != NVLINK)
                return false;
            sum += m->gpus[b] ? cell_of(m, a, b).links : 0;
        }
        if (m->gpus[a] && sum > most)
            return gpus > 1;
    }
    return false;
}

static void add_link(struct import *import, uint32_t from, uint32_t to, unsigned links, bool switched, double one)
{
    import->link_class = "nvlink";
    import->gpus[from].has_nvlink = true;
    if (!switched)
        import_link(import, from, to, links * one);
    else if (links * one > import->gpus[from].switch_bandwidth)
        import->gpus[from].switch_bandwidth = links * one;
}

static void add_links(const struct matrix *m, struct import *import, const struct import_options *options)
{
    unsigned generation = options->model ? options->model->nvlink_generation : 0;
    unsigned most = generation ? nvlink_count(options->model) : LINKS_MOST;
    bool switched = is_switched(m, import->gpu_count, most), any = false;
    for (uint32_t a = 0, from = 0; a < m->count; from += m->gpus[a++])
        for (uint32_t b = 0, to = 0; b < m->count; to += m->gpus[b++]) {
            struct cell cell = cell_of(m, a, b);
            if (!m->gpus[a] || !m->gpus[b] || cell.level != NVLINK)
                continue;
            add_link(import, from, to, cell.links, switched, generation ? nvlink_raw(generation) : 25);
            any = true;
        }
    if (switched)
        import_find(import, IMPORT_MEASURED,
                    "nvlink: a GPU would have more than %u links, so NV# are its own, to NVSwitches", most);
    if (any && !generation)
        import_find(import, IMPORT_ASSUMED, "nvlink: 25 GB/s for each link; --gpu says of which generation they are");
}

bool import_nvidia_topo(struct import *import, const char *name, const char *text, size_t size,
                        const struct import_options *options, struct fault *fault)
{
    struct matrix *m = arena_alloc(import->arena, sizeof *m);
    m->text = (struct topo_text){.name = name, .arena = import->arena, .fault = fault};
    import->source = "nvidia-smi topo -m";
    if (!read_matrix(m, text, size) || !build_tree(m, import, fault))
        return false;
    add_links(m, import, options);
    return true;
}
