/* SPDX-License-Identifier: Apache-2.0 */
/* framework: a file of values for keys that the scenario does not give. Documented in doc/frameworks.md. */
#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/names.h"
#include "base/words/pattern.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"
#include "workloads/workload_table.h"

#include <stdlib.h>
#include <string.h>

static const char framework_key[] = "framework", no_framework[] = "none", condition_key[] = "if", rules_key[] = "when",
                  base_key[] = "from", calibrated_key[] = "calibrated", releases_key[] = "releases";

enum { BASES_MAX = 8 }; /* profiles that start from each other */

const char *const profile_words[] = {rules_key, base_key, calibrated_key, releases_key, NULL};

/* Sections that a profile can have: what is said of how a framework works, and not of the job. */
const char *const profile_sections[] = {"schedule", "communication", "memory", "compute", "transformer", "dlrm", NULL};

static const struct fields_section recompute_section = {
    "schedule", true,
    (const struct stagesim_field[]){
        {"recompute", STAGESIM_FIELD_TEXTS, 0, .names = scenario_recompute_names, .doc = ""}, {0}}};

/* ---- what a profile may say ---- */

static bool is_section(const char *word)
{
    for (const char *const *name = profile_sections; *name; name++)
        if (!strcmp(*name, word))
            return true;
    return false;
}

/* The table of the scenario's own keys in a section; NULL: all are the workload's. */
const struct fields_section *profile_own_section(const char *name)
{
    if (!strcmp(name, recompute_section.name))
        return &recompute_section;
    return !strcmp(name, memory_section.name)          ? &memory_section
           : !strcmp(name, communication_section.name) ? &communication_section
                                                       : NULL;
}

enum { WORDS_MAX = 200 };

static size_t add_words(const char **words, size_t count, const struct fields_section *section)
{
    for (const struct stagesim_field *field = section->fields; field && field->key && count < WORDS_MAX; field++)
        if (fields_key(section, field))
            words[count++] = fields_key(section, field);
    return count;
}

/* Keys are those of the scenario and of all built-in workloads, so that a mistake shows whatever the job is. */
static size_t list_words(const char **words, const char *name)
{
    const struct fields_section *own = profile_own_section(name);
    size_t count = own ? add_words(words, 0, own) : 0;
    for (const struct stagesim_workload *const *each = workload_table; *each; each++) {
        const struct fields_section section = {name, !strcmp(name, (*each)->name), (*each)->fields};
        count = add_words(words, count, &section);
    }
    return count;
}

/* A key that no profile takes: keys that a scenario has elsewhere are none of a profile's. */
static void report_unknown(const struct loader *loader, const char *what, const struct node *node,
                           const char *const *words, size_t count)
{
    struct fields_reader reader = loader->fields;
    reader.paths = NULL;
    fields_report_unknown(&reader, what, node, words, count);
}

static void check_section(const struct loader *loader, const struct node *section)
{
    const char *words[WORDS_MAX];
    size_t count = list_words(words, section->key);
    if (section->kind != NODE_MAP) {
        diag_error(loader->fields.diag, section->at, "%s is %s; expected a map of its keys", section->key,
                   node_describe(section, loader->fields.arena));
        return;
    }
    for (const struct node *child = section->first; child; child = child->next) {
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known |= !strcmp(words[i], child->key);
        if (!known)
            report_unknown(loader, arena_print(loader->fields.arena, "a framework's %s", section->key), child, words,
                           count);
    }
}

static void check_rule(const struct loader *loader, const struct node *rule, bool conditional)
{
    static const char *const of_rules[] = {condition_key, NULL};
    const char *words[16];
    size_t count = 0;
    for (const char *const *name = profile_sections; *name; name++)
        words[count++] = *name;
    size_t sections = count;
    for (const char *const *word = conditional ? of_rules : profile_words; *word; word++)
        words[count++] = *word;
    for (const struct node *child = rule->first; child; child = child->next) {
        bool known = false;
        for (size_t i = sections; i < count; i++)
            known |= !strcmp(child->key, words[i]);
        if (is_section(child->key))
            check_section(loader, child);
        else if (!known)
            report_unknown(loader, "a framework's profile", child, words, count);
    }
}

/* ---- conditions ---- */

/* The word that the scenario has at a path; NULL: none. A platform's is the name of its preset. */
static const char *given_word(const struct loader *loader, const char *path)
{
    const char *replacement = loader->scenario->request.schedule;
    const struct node *node = node_find(loader->root, path);
    if (replacement && !strcmp(path, "schedule.name"))
        return replacement;
    if (node && node->kind == NODE_MAP && !strcmp(path, "platform"))
        node = node_get(node, "preset");
    return node && node->kind == NODE_SCALAR ? node->text : NULL;
}

/* ">1" is any larger number, all else a pattern. */
static bool is_word(const struct node *expected, const char *given)
{
    if (expected->kind == NODE_SCALAR && expected->text[0] == '>')
        return strtod(given, NULL) > strtod(expected->text + 1, NULL);
    if (expected->kind == NODE_SCALAR)
        return pattern_matches(expected->text, given);
    for (const struct node *entry = expected->kind == NODE_LIST ? expected->first : NULL; entry; entry = entry->next)
        if (is_word(entry, given))
            return true;
    return false;
}

static bool holds(const struct loader *loader, const struct node *rule)
{
    const struct node *condition = node_get(rule, condition_key);
    if (!condition || condition->kind != NODE_MAP) {
        diag_error(loader->fields.diag, rule->at,
                   "a rule has no condition; expected one such as 'if: {schedule.name: 1f1b}'");
        return false;
    }
    for (const struct node *each = condition->first; each; each = each->next) {
        const char *given = given_word(loader, each->key);
        if (!given || !is_word(each, given))
            return false;
    }
    return true;
}

/* ---- taking values over ---- */

/* A value replaces what stood there before. */
static void put(struct node *map, const struct node *value, struct arena *arena)
{
    struct node *there = node_get(map, value->key), *copy = there ? there : arena_alloc(arena, sizeof *copy);
    struct node *next = there ? there->next : NULL;
    *copy = *value;
    copy->next = next;
    if (!there)
        node_append(map, copy);
}

static struct node *section_of(struct node *root, const char *name, struct place at, struct arena *arena)
{
    struct node *section = node_get(root, name);
    if (section)
        return section;
    section = arena_alloc(arena, sizeof *section);
    *section = (struct node){.kind = NODE_MAP, .at = at, .key = name, .key_at = at};
    node_append(root, section);
    return section;
}

static void collect(struct loader *loader, const struct node *rule)
{
    struct arena *arena = loader->fields.arena;
    for (const struct node *section = rule->first; section; section = section->next)
        for (const struct node *value = is_section(section->key) && section->kind == NODE_MAP ? section->first : NULL;
             value; value = value->next)
            put(section_of(loader->framework, section->key, section->at, arena), value, arena);
}

static void collect_rules(struct loader *loader, const struct node *profile)
{
    const struct node *rules = node_get(profile, rules_key);
    if (rules && rules->kind != NODE_LIST)
        diag_error(loader->fields.diag, rules->at, "%s is %s; expected a list of rules, each with an 'if'", rules_key,
                   node_describe(rules, loader->fields.arena));
    for (const struct node *rule = rules && rules->kind == NODE_LIST ? rules->first : NULL; rule; rule = rule->next) {
        if (rule->kind != NODE_MAP) {
            diag_error(loader->fields.diag, rule->at, "a rule is %s; expected a map with an 'if'",
                       node_describe(rule, loader->fields.arena));
            continue;
        }
        check_rule(loader, rule, true);
        if (holds(loader, rule))
            collect(loader, rule);
    }
}

/* Beside a table, a profile of layers or an efficiency there is no choice of kernels, and the host's times are theirs.
 */
static bool is_moot(const struct node *section, const char *key)
{
    static const char *const of_tables[] = {"kernels", "source", "dispatch", "step"};
    bool chooses = false;
    for (unsigned i = 0; i < sizeof of_tables / sizeof *of_tables; i++)
        chooses |= !strcmp(key, of_tables[i]);
    return chooses && (node_get(section, "table") || node_get(section, "profile") || node_get(section, "efficiency"));
}

void scenario_apply_framework(struct loader *loader, const struct fields_section *table)
{
    struct arena *arena = loader->fields.arena;
    const struct node *section = node_get(loader->framework, table->name);
    struct node *own = node_get(loader->root, table->name);
    if (own && own->kind != NODE_MAP)
        return;
    for (const struct node *value = section ? section->first : NULL; value; value = value->next)
        if (fields_known(table, value->key) && !node_get(own, value->key) && !is_moot(own, value->key) &&
            !is_moot(section, value->key)) {
            own = section_of(loader->root, table->name, section->at, arena);
            put(own, value, arena);
        }
}

/* ---- releases ---- */

/* Whether `wanted` is a release of the list, or a patch of one: 0.15.2 of 0.15. */
static bool has_release(const struct node *profile, const char *wanted)
{
    const struct node *releases = node_get(profile, releases_key);
    for (const struct node *each = releases && releases->kind == NODE_LIST ? releases->first : NULL; each;
         each = each->next) {
        size_t length = each->kind == NODE_SCALAR ? strlen(each->text) : 0;
        if (length && !strncmp(each->text, wanted, length) && strchr(".", wanted[length]))
            return true;
    }
    return false;
}

/* The last one of the list, which is the newest; NULL: the profile has none. */
static const char *newest_release(struct loader *loader, const struct node *profile)
{
    const struct node *releases = node_get(profile, releases_key);
    const struct node *last = releases && releases->kind == NODE_LIST ? releases->last : NULL;
    if (releases && (!last || last->kind != NODE_SCALAR || node_is_empty(last)))
        diag_error(loader->fields.diag, releases->at, "%s is %s; expected a list such as ['0.14', '0.15']",
                   releases_key, node_describe(releases, loader->fields.arena));
    return last && last->kind == NODE_SCALAR ? last->text : NULL;
}

enum { RELEASES_MAX = 64 };

/* Releases of the installed profiles of a framework. */
struct releases {
    const char *names[RELEASES_MAX];
    size_t count;
};

/* An installed profile whose releases have the one of NAME@RELEASE; NULL: none has, and `known` has those that exist.
 */
static const char *find_release(struct loader *loader, const struct node *node, struct releases *known)
{
    struct arena *arena = loader->fields.arena;
    const char *at = strchr(node->text, '@');
    size_t count, length = at ? (size_t)(at - node->text) : 0;
    const char **names = path_list_installed(INSTALLED_FRAMEWORKS, ".yaml", &count, arena, NULL), *found = NULL;
    for (size_t i = 0; i < count && at && !found; i++) {
        if (strncmp(names[i], node->text, length) != 0 || !strchr("@", names[i][length]))
            continue;
        const char *path = path_find_installed(INSTALLED_FRAMEWORKS, names[i], ".yaml", arena);
        const struct node *profile = path ? document_load(path, node->at, arena, loader->fields.diag) : NULL;
        const struct node *releases = profile ? node_get(profile, releases_key) : NULL;
        if (profile && has_release(profile, at + 1))
            found = path;
        for (const struct node *each = releases && releases->kind == NODE_LIST ? releases->first : NULL; each;
             each = each->next)
            if (each->text && known->count < RELEASES_MAX)
                known->names[known->count++] = each->text;
    }
    return found;
}

/* ---- finding the file ---- */

/* Of a value that was typed on the command line the way starts at the scenario, of others at the file they stand in. */
static const char *find_profile(struct loader *loader, const struct node *node)
{
    struct arena *arena = loader->fields.arena;
    bool typed = node->at.line == 0;
    const char *directory = typed ? loader->scenario->directory : path_directory(node->at.file, arena);
    const char *path = path_of_file(directory, node->text, typed, arena);
    struct fault fault = {0};
    const char *found = path_find_installed(INSTALLED_FRAMEWORKS, node->text, ".yaml", arena);
    struct releases known = {.count = 0};
    struct names_text list;
    if (!found)
        found = find_release(loader, node, &known);
    if (found || path_check_readable(path, &fault))
        return found ? found : path;
    if (known.count) {
        diag_error(
            loader->fields.diag, node->at,
            "there is no profile of '%.60s'; expected one of the releases %s, or the name alone for the newest",
            node->text,
            names_list(&list, strchr(node->text, '@') + 1, known.names, known.count, "`releases` in its profile"));
        return NULL;
    }
    diag_error(loader->fields.diag, node->at,
               "%s; expected none, a framework of `stagesim list frameworks`, or the file of a profile%s", fault.text,
               path_suggest_file(INSTALLED_FRAMEWORKS, directory, node->text, ".yaml", typed, arena));
    return NULL;
}

/* A time or memory of a run; 0: there is none. */
static double figure_of_run(struct loader *loader, const struct node *run, const char *key, enum quantity quantity)
{
    const struct node *node = node_get(run, key);
    struct quantity_reason reason;
    double value = 0;
    if (node && (node->kind != NODE_SCALAR || !quantity_parse(quantity, node->text, &value, &reason) || !(value > 0)))
        diag_error(loader->fields.diag, node->at, "%s is %s; expected %s", key,
                   node_describe(node, loader->fields.arena),
                   quantity == QUANTITY_TIME ? "the time of an iteration such as 9.0s" : "bytes such as 60GiB");
    return value;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* How far each run was from what the others predict. */
static const double *read_left_out(struct loader *loader, const struct node *runs, const char *measured_key,
                                   const char *predicted_key, enum quantity quantity, size_t *count)
{
    double *ratios = arena_array(loader->fields.arena, runs->count, sizeof *ratios);
    *count = 0;
    for (const struct node *run = runs->first; run; run = run->next) {
        double measured = figure_of_run(loader, run, measured_key, quantity),
               predicted = figure_of_run(loader, run, predicted_key, quantity);
        if (measured > 0 && predicted > 0)
            ratios[(*count)++] = measured / predicted;
    }
    if (*count)
        qsort(ratios, *count, sizeof *ratios, by_value);
    return ratios;
}

/* What a profile was calibrated with: "3 runs of 2026-11-20". */
static void read_calibration(struct loader *loader, const struct node *profile)
{
    struct arena *arena = loader->fields.arena;
    const struct node *runs = node_get(profile, calibrated_key);
    const char *first = NULL, *last = NULL;
    if (!runs)
        return;
    if (runs->kind != NODE_LIST || !runs->count) {
        diag_error(loader->fields.diag, runs->at,
                   "%s is %s; expected the list of runs that `stagesim calibrate` writes", calibrated_key,
                   node_describe(runs, arena));
        return;
    }
    struct scenario *scenario = loader->scenario;
    scenario->left_out = read_left_out(loader, runs, "measured", "left_out", QUANTITY_TIME, &scenario->left_out_count);
    scenario->left_out_memory =
        read_left_out(loader, runs, "memory", "memory_left_out", QUANTITY_BYTES, &scenario->left_out_memory_count);
    size_t tables = 0;
    for (const struct node *run = runs->first; run; run = run->next) {
        tables += node_get(run, "table") != NULL;
        const struct node *date = node_get(run, "date");
        const char *text = date && date->kind == NODE_SCALAR ? date->text : NULL;
        first = text && (!first || strcmp(text, first) < 0) ? text : first;
        last = text && (!last || strcmp(text, last) > 0) ? text : last;
    }
    size_t count = runs->count - tables;
    const char *runs_text = count ? arena_print(arena, "%zu run%s", count, count == 1 ? "" : "s") : "",
               *and_text = count && tables ? " and " : "";
    if (tables)
        runs_text = arena_print(arena, "%s%s%zu table%s", runs_text, and_text, tables, tables == 1 ? "" : "s");
    loader->scenario->calibrated_runs += count;
    loader->scenario->calibration = !first                ? runs_text
                                    : strcmp(first, last) ? arena_print(arena, "%s of %s to %s", runs_text, first, last)
                                                          : arena_print(arena, "%s of %s", runs_text, first);
}

/* "nemo@26.08"; of a profile that starts from another one the other's, unless it has releases itself. */
static void name_release(struct loader *loader, const struct node *node, const char *path, const struct node *profile)
{
    struct arena *arena = loader->fields.arena;
    const char *newest = newest_release(loader, profile), *name = path_name(path, ".yaml", arena),
               *typed = strchr(node->text, '@');
    if (newest)
        loader->scenario->release =
            arena_print(arena, "%.*s@%s", (int)strcspn(name, "@"), name, typed ? typed + 1 : newest);
}

/* "nemo" of .../nemo@26.04.yaml. */
static const char *root_name(const char *path, struct arena *arena)
{
    const char *name = path_name(path, ".yaml", arena);
    return arena_copy_part(arena, name, strcspn(name, "@"));
}

/* Reads the profile that `node` names, first those that it starts from, whose values give way to its own. */
static bool take_profile(struct loader *loader, const struct node *node)
{
    struct scenario *scenario = loader->scenario;
    const char *path = find_profile(loader, node);
    if (scenario->framework_count == BASES_MAX) {
        diag_error(loader->fields.diag, node->at,
                   "more than %d profiles start from each other, perhaps in a circle; expected fewer", BASES_MAX);
        return false;
    }
    struct node *profile = path ? document_load(path, node->at, loader->fields.arena, loader->fields.diag) : NULL;
    if (!profile)
        return false;
    scenario->framework_files[scenario->framework_count++] = path;
    const struct node *base = node_get(profile, base_key);
    if (base && (base->kind != NODE_SCALAR || node_is_empty(base)))
        diag_error(loader->fields.diag, base->at, "%s is %s; expected a framework or the file of a profile", base_key,
                   node_describe(base, loader->fields.arena));
    else if (base && !take_profile(loader, base))
        return false;
    if (!base)
        scenario->framework_name = root_name(path, loader->fields.arena);
    check_rule(loader, profile, false);
    collect(loader, profile);
    collect_rules(loader, profile);
    read_calibration(loader, profile);
    name_release(loader, node, path, profile);
    return true;
}

void scenario_read_framework(struct loader *loader)
{
    struct arena *arena = loader->fields.arena;
    const struct node *node = node_get(loader->root, framework_key);
    if (!node || node->kind != NODE_SCALAR || node_is_empty(node) || !strcmp(node->text, no_framework))
        return;
    loader->framework = arena_alloc(arena, sizeof *loader->framework);
    *loader->framework = (struct node){.kind = NODE_MAP, .at = node->at};
    loader->scenario->framework_files = arena_array(arena, BASES_MAX, sizeof(const char *));
    if (!take_profile(loader, node)) {
        loader->framework = NULL;
        return;
    }
    loader->scenario->framework_file = loader->scenario->framework_files[0];
    scenario_apply_framework(loader, &memory_section);
    scenario_apply_framework(loader, &communication_section);
    if (node_get(loader->root, recompute_section.name))
        scenario_apply_framework(loader, &recompute_section);
}
