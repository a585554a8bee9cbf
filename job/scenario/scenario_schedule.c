/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words/aliases.h"
#include "job/scenario/scenario_parts.h"

#include "base/arena.h"
#include "base/paths.h"
#include "base/text/names.h"
#include "job/scenario/scenario_tables.h"
#include "job/scenario/schedule_option.h"

#include <stdio.h>
#include <string.h>

/* Appends the option keys of a schedule that are not among `words` yet. */
static size_t add_options(const struct schedule *schedule, const char **words, size_t count, size_t most)
{
    for (const struct schedule_option *option = schedule->options; option && option->key && count < most; option++) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = !strcmp(words[i], option->key);
        if (!known)
            words[count++] = option->key;
    }
    return count;
}

/* Options may be those of the schedule; where it is not the file's own or not known, those of any. */
static void check_keys(struct loader *loader, const struct node *node, const struct schedule *schedule, bool any)
{
    const char *words[SCHEDULES_MAX + 1];
    size_t count = 0;
    if (schedule)
        count = add_options(schedule, words, count, SCHEDULES_MAX);
    for (const struct schedule *const *other = schedule_table; any && *other; other++)
        count = add_options(*other, words, count, SCHEDULES_MAX);
    words[count] = NULL;
    fields_check_keys(&loader->fields, &schedule_section, words, node);
}

const struct schedule *scenario_find_schedule(struct loader *loader, const char *name, struct place at)
{
    const char *names[SCHEDULES_MAX];
    size_t count = 0;
    const struct schedule *found = schedule_find(name);
    if (found)
        return found;
    for (; schedule_table[count] && count < SCHEDULES_MAX; count++)
        names[count] = schedule_table[count]->name;
    const char *near = alias_nearest(name, names, count);
    struct names_text list;
    const char *known = names_list(&list, name, names, count, "`stagesim list schedules`");
    diag_error(loader->fields.diag, at, "there is no schedule '%.60s'; %s%s%s", name,
               near ? "did you mean '" : "expected ", near ? near : known, near ? "'?" : "");
    return NULL;
}

/* The schedule that the section names, or its replacement. */
static const struct schedule *choose_schedule(struct loader *loader, const struct schedule_values *values,
                                              const char *replacement)
{
    struct place at = node_place(loader->root, "schedule.name");
    if (replacement)
        return scenario_find_schedule(loader, replacement, (struct place){.file = "--schedules"});
    if (values->name && values->file)
        diag_error(loader->fields.diag, at, "a schedule has a name or a file, not both");
    else if (values->name)
        return scenario_find_schedule(loader, values->name, at);
    return NULL;
}

bool schedule_is_file(const char *word)
{
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 4 && !strcmp(word + length - 4, ".csv"));
}

/* One word for all stages, or one for each. */
static void read_recompute(struct loader *loader, const struct node *node)
{
    struct scenario *scenario = loader->scenario;
    bool list = node && node->kind == NODE_LIST;
    if (!node || (list && !node->count))
        return;
    enum scenario_recompute *each = arena_array(loader->fields.arena, list ? node->count : 1, sizeof *each);
    uint32_t count = 0;
    for (const struct node *entry = list ? node->first : node; entry; entry = list ? entry->next : NULL) {
        unsigned index = 0;
        if (!fields_read_word(&loader->fields, "recompute", entry, scenario_recompute_names, &index))
            return;
        each[count++] = (enum scenario_recompute)index;
    }
    scenario->recompute = each[0];
    scenario->recompute_of = list ? each : NULL;
    scenario->recompute_count = list ? count : 0;
}

const char *scenario_recompute_text(const struct scenario *scenario, struct arena *arena)
{
    const char *text = "";
    for (uint32_t stage = 0; stage < scenario->recompute_count; stage++)
        text = arena_print(arena, "%s%s%s", text, stage ? ", " : "",
                           scenario_recompute_names[scenario->recompute_of[stage]]);
    return scenario->recompute_count ? arena_print(arena, "[%s]", text) : scenario_recompute_names[scenario->recompute];
}

void scenario_read_schedule(struct loader *loader, const char *replacement)
{
    struct scenario *scenario = loader->scenario;
    struct schedule_values values = {0};
    const struct node *node = node_get(loader->root, "schedule");
    if (!node && !replacement)
        return;
    unsigned errors = loader->fields.diag->errors;
    fields_read(&loader->fields, &schedule_section, node, loader->root->at, &values);
    if (loader->fields.diag->errors == errors)
        read_recompute(loader, node_get(node, "recompute"));
    bool replaced = replacement != NULL;
    if (replaced && schedule_is_file(replacement)) {
        values.file = replacement;
        replacement = NULL;
        values.name = NULL;
    }
    const struct schedule *schedule = choose_schedule(loader, &values, replacement);
    check_keys(loader, node, schedule, replaced || (!schedule && !values.file));
    if (schedule) {
        struct schedule_request defaults = schedule_request_default(schedule, 1, 1);
        memcpy(scenario->options, defaults.options, sizeof scenario->options);
        for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
            schedule_option_read(&loader->fields, &schedule->options[i], node_get(node, schedule->options[i].key),
                                 &scenario->options[i], &scenario->stashes);
        scenario->schedule = schedule;
        scenario->schedule_name = schedule->name;
    } else if (values.file) {
        scenario->schedule_file = values.file;
        scenario->schedule_name = path_name(values.file, ".csv", loader->fields.arena);
    } else if (loader->fields.diag->errors == errors) {
        diag_error(loader->fields.diag, node_place(loader->root, "schedule"),
                   "schedule has no 'name'; expected one such as 1f1b");
    }
}

struct schedule_request scenario_schedule_request(const struct scenario *scenario)
{
    struct schedule_request request =
        schedule_request_default(scenario->schedule, scenario->workers, scenario->micro_batches);
    memcpy(request.options, scenario->options, sizeof request.options);
    request.stashes = scenario->stashes;
    return request;
}

/* The value that the refusal is about: N may follow from `global`. */
static struct place refused_place(const struct scenario *scenario, const struct schedule_refusal *refusal)
{
    if (refusal->about == REFUSED_MICRO_BATCHES)
        return node_place(scenario->root,
                          node_find(scenario->root, "batch.micro_batches") ? "batch.micro_batches" : "batch.global");
    if (refusal->about == REFUSED_WORKERS)
        return node_place(scenario->root, "parallel.pipeline");
    char path[128];
    snprintf(path, sizeof path, "schedule.%s", refusal->option ? refusal->option : "name");
    return node_place(scenario->root, path);
}

bool scenario_check_pipeline(const struct scenario *scenario, struct diag *diag)
{
    unsigned errors = diag->errors;
    if (!scenario->micro_batches)
        diag_error(diag, scenario->root->at,
                   "the scenario has no batch; expected one such as 'batch: {micro_batches: 8}'");
    if (!scenario->schedule && !scenario->schedule_file)
        diag_error(diag, scenario->root->at,
                   "the scenario has no schedule; expected one such as 'schedule: {name: 1f1b}'");
    if (!scenario->schedule || diag->errors != errors)
        return diag->errors == errors;
    struct schedule_refusal refusal = {.text = ""};
    struct schedule_request request = scenario_schedule_request(scenario);
    if (schedule_fits(scenario->schedule, &request, &refusal))
        return true;
    diag_error(diag, refused_place(scenario, &refusal), "%s", refusal.text);
    return false;
}
