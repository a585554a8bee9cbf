/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/variants.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/paths.h"
#include "base/words/aliases.h"
#include "commands/cli/words.h"
#include "job/scenario/scenario.h"
#include "schedules/schedule.h"

#include <stdio.h>
#include <string.h>

/* ---- schedules ---- */

static bool unknown_schedule(const char *name)
{
    const char *names[SCHEDULES_MAX];
    size_t count = 0;
    for (; schedule_table[count] && count < SCHEDULES_MAX; count++)
        names[count] = schedule_table[count]->name;
    const char *nearest = alias_nearest(name, names, count);
    diag_print(stderr,
               "--schedules: error: '%s' does not name a known schedule; %s%s%s`stagesim list schedules` lists them\n",
               name, nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "");
    return false;
}

static bool is_readable(const char *file)
{
    struct fault fault = {""};
    if (path_check_readable(file, &fault))
        return true;
    diag_print(stderr, "--schedules: error: %s\n", fault.text);
    return false;
}

static void add(struct schedule_words *words, const char *word, const char *label)
{
    words->words[words->count] = word;
    words->labels[words->count++] = label;
}

static bool add_word(struct schedule_words *words, const char *word, struct arena *arena)
{
    if (schedule_is_file(word)) {
        add(words, word, path_name(word, ".csv", arena));
        return is_readable(word);
    }
    add(words, word, word);
    return schedule_find(word) || unknown_schedule(word);
}

bool variants_schedules(const char *text, struct schedule_words *words, struct arena *arena)
{
    size_t most = strlen(text) + 1 + SCHEDULES_MAX;
    char *copy = arena_copy(arena, text), *rest;
    bool ok = true;
    *words = (struct schedule_words){arena_array(arena, most, sizeof(char *)), arena_array(arena, most, sizeof(char *)),
                                     0, !strcmp(text, "all")};
    for (const struct schedule *const *each = schedule_table; words->all && *each; each++)
        if (!(*each)->fails)
            add(words, (*each)->name, (*each)->name);
    for (char *word = words->all ? NULL : strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        ok &= add_word(words, word, arena);
    if (words->count)
        return ok;
    fputs("--schedules: error: no schedule is named; expected one such as 1f1b\n", stderr);
    return false;
}

/* ---- changed platforms ---- */

static const char *list_changes(const char *changes, struct arena *arena)
{
    char *copy = arena_copy(arena, changes), *rest;
    const char *list = "";
    for (char *word = strtok_r(copy, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        list = arena_print(arena, "%s%s%s", list, *list ? ", " : "", words_yaml(word, arena));
    return arena_print(arena, "what_if=[%s]", list);
}

struct what_if_words variants_what_if(const char *text, struct arena *arena)
{
    const char *equals = strchr(text, '='), *colon = strchr(text, ':');
    if (!equals)
        return (struct what_if_words){text, "what_if=none"};
    if (!colon || colon > equals)
        return (struct what_if_words){text, list_changes(text, arena)};
    return (struct what_if_words){arena_print(arena, "%.*s", (int)(colon - text), text),
                                  list_changes(colon + 1, arena)};
}
