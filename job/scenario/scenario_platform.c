/* SPDX-License-Identifier: Apache-2.0 */
/* platform: a file, PRESET:NODES, or a map; what_if: changes of it. */
#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "job/scenario/scenario_kind.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"
#include "platforms/presets/presets.h"

#include <stdlib.h>
#include <string.h>

static void add_entry(struct node *map, const struct node *like, const char *key, const char *text, struct arena *arena)
{
    struct node *entry = arena_alloc(arena, sizeof *entry);
    *entry = (struct node){.kind = NODE_SCALAR, .at = like->at, .key = key, .key_at = like->key_at, .text = text};
    node_append(map, entry);
}

void scenario_expand_platform(struct loader *loader, struct node *node)
{
    struct arena *arena = loader->fields.arena;
    const struct node written = *node;
    char *parts = arena_copy(arena, node->text);
    node->kind = NODE_MAP;
    node->first = node->last = NULL;
    node->count = 0;
    if (!platform_source_is_preset(written.text, loader->scenario->directory, arena)) {
        add_entry(node, &written, "file", written.text, arena);
        return;
    }
    char *rest = parts;
    add_entry(node, &written, "preset", strsep(&rest, ":"), arena);
    add_entry(node, &written, "nodes", strsep(&rest, ":"), arena);
    if (rest)
        add_entry(node, &written, "nic", rest, arena);
}

const struct node *scenario_platform_plain(const struct loader *loader)
{
    struct arena *arena = loader->fields.arena;
    const struct node *platform = node_get(loader->root, "platform");
    if (!platform || platform->kind != NODE_MAP)
        return loader->root;
    struct node *plain = arena_alloc(arena, sizeof *plain);
    *plain = *loader->root;
    plain->first = plain->last = NULL;
    plain->count = 0;
    for (const struct node *child = loader->root->first; child; child = child->next) {
        struct node *copy = arena_alloc(arena, sizeof *copy);
        *copy = *child;
        copy->next = NULL;
        if (child == platform) {
            copy->kind = NODE_SCALAR;
            copy->text = "map";
        }
        node_append(plain, copy);
    }
    return plain;
}

/* ---- a file ---- */

/* A file by its path, or the name of an installed one; `at` is where it was written. */
static void read_file(struct loader *loader, const char *text, struct place at)
{
    struct platform_source *source = &loader->scenario->platform;
    struct arena *arena = loader->fields.arena;
    struct fault fault = {0}, other = {0};
    const char *directory = loader->scenario->directory;
    bool typed = at.line == 0;
    source->text = text;
    source->file = path_of_file(directory, text, typed, arena);
    const char *product = platform_source_product(text, directory, typed, arena);
    bool readable = path_check_readable(source->file, &fault);
    if (readable && product != text)
        diag_error(loader->fields.diag, at, "platform: '%s' is a product's file, which wants a number of nodes: %s:4",
                   text, text);
    if (readable)
        return;
    const char *found = path_find_installed(INSTALLED_PLATFORMS, text, "", arena);
    if (!found)
        found = path_find_installed(INSTALLED_PLATFORMS, text, ".xml", arena);
    if (found && path_check_readable(found, &other))
        source->file = found;
    else
        diag_error(loader->fields.diag, at, "platform: %s%s", fault.text,
                   platform_source_named(text)
                       ? arena_print(arena, "; '%s' is a preset, which wants a number of nodes: %s:4",
                                     platform_source_named(text), platform_source_named(text))
                       : path_suggest_file(INSTALLED_PLATFORMS, directory, text, ".xml", typed, arena));
}

/* ---- a map ---- */

/* What outputs call it: dgx-h100:64, and what is not the product's own in brackets. */
static const char *describe(const struct platform_values *values, struct arena *arena)
{
    static const char *const rails[] = {"", ", rails over the spine", ", rails over nvlink", ", planes"};
    const char *more = rails[values->rails];
    if (values->routing == ROUTING_ECMP) {
        more = arena_print(arena, "%s, routing ecmp", more);
        if (values->paths)
            more = arena_print(arena, "%s, paths %u", more, (unsigned)values->paths);
        if (values->flows)
            more = arena_print(arena, "%s, flows %u", more, (unsigned)values->flows);
        if (values->seed)
            more = arena_print(arena, "%s, seed %llu", more, (unsigned long long)values->seed);
    }
    if (values->torus)
        more = arena_print(arena, ", torus %s%s", values->torus, more);
    if (values->flow_window > 0)
        more = arena_print(arena, ", flow_window %.10g%s", values->flow_window, more);
    if (values->flow_rate > 0)
        more = arena_print(arena, ", flow_rate %.10g GB/s%s", values->flow_rate / 1e9, more);
    if (values->sites > 1)
        more = arena_print(arena, ", %u sites with %.10g Gb/s and %.10g ms%s", (unsigned)values->sites,
                           values->site_rate * 8e-9, values->site_latency * 1e3, more);
    if (values->group_oversubscription > 0)
        more = arena_print(arena, ", group_oversubscription %.10g%s", values->group_oversubscription, more);
    if (values->group_links)
        more = arena_print(arena, ", group_links direct%s", more);
    if (values->group)
        more = arena_print(arena, ", group %u%s", (unsigned)values->group, more);
    if (values->oversubscription > 0)
        more = arena_print(arena, ", oversubscription %.10g%s", values->oversubscription, more);
    if (values->pod)
        more = arena_print(arena, ", pod %u%s", (unsigned)values->pod, more);
    if (values->gpus_per_node)
        more = arena_print(arena, ", gpus_per_node %u%s", (unsigned)values->gpus_per_node, more);
    const char *name = arena_print(arena, "%s:%u%s%s", values->preset, (unsigned)values->nodes, values->nic ? ":" : "",
                                   values->nic ? values->nic : "");
    return *more ? arena_print(arena, "%s (%s)", name, more + 2) : name;
}

/* A product as the generator finds it: its name, or the path of its file, whose mistakes are reported. NULL after any.
 */
static const char *read_product(struct loader *loader, const char *preset, struct place at)
{
    struct diag *diag = loader->fields.diag;
    unsigned errors = diag->errors;
    preset = platform_source_product(preset, loader->scenario->directory, at.line == 0, loader->fields.arena);
    preset_read(preset, at, diag);
    return diag->errors == errors ? preset : NULL;
}

static void read_preset(struct loader *loader, const struct platform_values *values, const struct node *map)
{
    struct platform_source *source = &loader->scenario->platform;
    struct fault fault = {""};
    const char *preset = read_product(loader, values->preset, node_place(map, "preset"));
    if (!preset)
        return;
    if (!values->nodes && platform_source_knows(preset, &fault)) {
        diag_error(loader->fields.diag, map->at, "platform has no 'nodes'; expected how many nodes of %s there are",
                   values->preset);
        return;
    }
    source->text = describe(values, loader->fields.arena);
    source->request = (struct platform_request){.preset = preset,
                                                .nodes = (uint32_t)values->nodes,
                                                .per_node = (uint32_t)values->gpus_per_node,
                                                .pod = (uint32_t)values->pod,
                                                .oversubscription = values->oversubscription,
                                                .group = (uint32_t)values->group,
                                                .group_oversubscription = values->group_oversubscription,
                                                .group_direct = values->group_links == 1,
                                                .flow_rate = values->flow_rate,
                                                .flow_window = values->flow_window,
                                                .sites = (uint32_t)values->sites,
                                                .site_rate = values->site_rate,
                                                .site_latency = values->site_latency,
                                                .torus = values->torus,
                                                .rails = (enum fabric_rails)values->rails,
                                                .nic = values->nic,
                                                .ecmp = values->routing == ROUTING_ECMP,
                                                .paths = (uint32_t)values->paths,
                                                .flows = (uint32_t)values->flows,
                                                .seed = values->seed};
    if (!platform_source_check(source, &fault))
        diag_error(loader->fields.diag, node_place(map, "preset"), "platform: %s", fault.text);
}

static void read_map(struct loader *loader, const struct node *map)
{
    struct platform_values values = {0};
    unsigned errors = loader->fields.diag->errors;
    fields_check_keys(&loader->fields, &platform_section, NULL, map);
    fields_read(&loader->fields, &platform_section, map, map->at, &values);
    if (loader->fields.diag->errors > errors)
        return;
    for (const struct node *child = map->first; child && values.file; child = child->next)
        if (strcmp(child->key, "file") != 0) {
            diag_error(loader->fields.diag, child->key_at,
                       "platform has a 'file', to which '%s' does not apply; "
                       "expected a preset in its place",
                       child->key);
            return;
        }
    if (values.file)
        read_file(loader, values.file, node_place(map, "file"));
    else if (values.preset)
        read_preset(loader, &values, map);
    else
        diag_error(loader->fields.diag, map->at,
                   "platform has no 'file' and no 'preset'; expected one such as {preset: dgx-h100, nodes: 64}");
}

/* ---- for scenarios elsewhere ---- */

/* A file seen from anywhere; what is none stays as it is. */
static const char *rooted_file(const char *text, const char *directory, bool typed, struct arena *arena)
{
    char *whole = realpath(path_of_file(directory, text, typed, arena), NULL);
    const char *rooted = whole ? arena_copy(arena, whole) : text;
    free(whole);
    return rooted;
}

/* In single quotes, where one stands for itself as two. */
static const char *quoted(const char *text, struct arena *arena)
{
    char *copy = arena_array(arena, 2 * strlen(text) + 3, 1), *to = copy;
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *to++ = '\'';
        *to++ = *text;
    }
    *to++ = '\'';
    *to = '\0';
    return copy;
}

const char *scenario_platform_value(const struct node *platform, const char *directory, struct arena *arena)
{
    bool typed = platform->at.line == 0;
    const char *text = "";
    if (platform->kind == NODE_SCALAR)
        return platform_source_is_preset(platform->text, directory, arena)
                   ? platform_source_rooted(platform->text, directory, arena)
                   : rooted_file(platform->text, directory, typed, arena);
    for (const struct node *child = platform->first; child; child = child->next) {
        const char *value = child->kind == NODE_SCALAR ? child->text : "";
        if (!strcmp(child->key, "file"))
            value = rooted_file(value, directory, typed, arena);
        else if (!strcmp(child->key, "preset"))
            value = platform_source_rooted(value, directory, arena);
        text = arena_print(arena, "%s%s%s: %s", text, *text ? ", " : "", child->key, quoted(value, arena));
    }
    return arena_print(arena, "{%s}", text);
}

/* ---- all of them ---- */

void scenario_read_platform(struct loader *loader, const char *text, enum platform_loader which)
{
    const struct node *node = node_get(loader->root, "platform");
    struct platform_source *source = &loader->scenario->platform;
    struct fault fault = {""};
    if (node->kind == NODE_MAP)
        read_map(loader, node);
    else if (!platform_source_is_preset(text, loader->scenario->directory, loader->fields.arena))
        read_file(loader, text, node->at);
    else if (read_product(loader, arena_copy_part(loader->fields.arena, text, strcspn(text, ":")), node->at) &&
             !platform_source_parse(text, loader->scenario->directory, node->at.line == 0, source, loader->fields.arena,
                                    &fault))
        diag_error(loader->fields.diag, node->at, "platform: %s", fault.text);
    source->loader = which;
}

/* ---- what_if: changes of the platform ---- */

static const char what_if_key[] = "what_if";

void scenario_read_what_if(struct loader *loader, const struct stagesim_texts *texts)
{
    struct scenario *scenario = loader->scenario;
    struct arena *arena = loader->fields.arena;
    struct what_if *changes = arena_array(arena, texts->count + 1, sizeof *changes);
    const char *name = scenario->platform.text;
    if (texts->count == 1 && !strcmp(texts->texts[0], "none"))
        return;
    for (size_t i = 0; i < texts->count; i++) {
        struct fault fault = {""};
        if (!what_if_parse(texts->texts[i], &changes[i], arena, &fault))
            diag_error(loader->fields.diag, node_entry_place(loader->root, what_if_key, i), "%s: %s", what_if_key,
                       fault.text);
        else
            name = arena_print(arena, "%s%s%s", name, i ? ", " : " with ", texts->texts[i]);
    }
    scenario->what_if = changes;
    scenario->what_if_count = texts->count;
    scenario->platform_name = name;
}

/* ---- communication.links: what its links reach ---- */

static const char links_key[] = "communication.links";
const struct link_bounds scenario_link_bounds = {
    .rate_least = 0.01, .rate_most = 1.25, .latency_least = 0.01, .latency_most = 100};

/* A rate or a latency of a kind of links, within the bounds. */
static bool is_reach(const struct what_if *change)
{
    const struct link_bounds *bounds = &scenario_link_bounds;
    bool rate = change->figure == WHAT_IF_RATE || change->figure == WHAT_IF_BANDWIDTH;
    if (change->share < 1 || !(rate || change->figure == WHAT_IF_LATENCY))
        return false;
    return change->factor >= (rate ? bounds->rate_least : bounds->latency_least) &&
           change->factor <= (rate ? bounds->rate_most : bounds->latency_most);
}

static bool stands_before(const struct what_if *links, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (links[i].target && !strcmp(links[i].target, links[count].target) &&
            (links[i].figure == WHAT_IF_LATENCY) == (links[count].figure == WHAT_IF_LATENCY))
            return true;
    return false;
}

void scenario_read_links(struct loader *loader, const struct stagesim_texts *texts)
{
    struct scenario *scenario = loader->scenario;
    const struct link_bounds *bounds = &scenario_link_bounds;
    struct what_if *links = arena_array(loader->fields.arena, texts->count + 1, sizeof *links);
    if (texts->count == 1 && !strcmp(texts->texts[0], "none"))
        return;
    for (size_t i = 0; i < texts->count; i++) {
        struct fault fault = {""};
        struct place at = node_entry_place(loader->root, links_key, i);
        if (!what_if_parse(texts->texts[i], &links[i], loader->fields.arena, &fault))
            diag_error(loader->fields.diag, at, "%s: %s", links_key, fault.text);
        else if (!is_reach(&links[i]))
            diag_error(loader->fields.diag, at,
                       "%s: '%.60s' is not what links reach; expected KIND=RATIO from %g to %g, such as nic=0.82, or "
                       "KIND.latency=FACTOR from %g to %g",
                       links_key, texts->texts[i], bounds->rate_least, bounds->rate_most, bounds->latency_least,
                       bounds->latency_most);
        else if (stands_before(links, i))
            diag_error(loader->fields.diag, at, "%s: '%.60s' is there already; expected one of each figure", links_key,
                       texts->texts[i]);
        else if (links[i].figure == WHAT_IF_RATE)
            links[i].figure = WHAT_IF_BANDWIDTH;
    }
    scenario->links = links;
    scenario->link_count = texts->count;
}

struct platform *scenario_change_platform(const struct scenario *scenario, struct platform *platform,
                                          struct arena *arena, struct diag *diag)
{
    size_t wrong, count = 0, all = scenario->link_count + scenario->what_if_count;
    struct fault fault = {""};
    struct what_if *changes = arena_array(arena, all + 1, sizeof *changes);
    struct place *places = arena_array(arena, all + 1, sizeof *places);
    bool own = scenario_is_own(scenario, links_key); /* a profile may know more kinds of links than there are, and
                                                        counts for nothing where they cannot be changed */
    for (size_t i = 0; i < scenario->link_count; i++) {
        places[count] = node_entry_place(scenario->root, links_key, i);
        if (own || (what_if_can_change(platform) && what_if_has_links(platform, &scenario->links[i])))
            changes[count++] = scenario->links[i];
    }
    size_t links = count;
    for (size_t i = 0; i < scenario->what_if_count; i++) {
        places[count] = node_entry_place(scenario->root, what_if_key, i);
        changes[count++] = scenario->what_if[i];
    }
    struct platform *changed = what_if_platform(platform, changes, count, arena, &wrong, &fault);
    if (!changed)
        diag_error(diag, places[wrong], "%s: %s", wrong < links ? links_key : what_if_key, fault.text);
    return changed;
}
