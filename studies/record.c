/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/record.h"

#include "base/arena.h"
#include "base/json_writer.h"
#include "job/write/inputs.h"
#include "job/write/scenario_resolve.h"
#include "job/write/scenario_write.h"

#include <cairo.h>
#include <expat.h>
#include <fontconfig/fontconfig.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>
#include <zlib.h>

bool record_scenario(struct output *output, const char *directory, const char *folder, const struct scenario *scenario,
                     bool study, struct fault *fault)
{
    struct arena *arena = arena_create();
    FILE *out = output_open(output, arena_print(arena, "%sscenario.yaml", folder), fault);
    const char *place = arena_print(arena, "%s/%s", directory, folder);
    bool done = out != NULL;
    if (done && scenario->kind)
        scenario_write(out, scenario, place, false);
    else if (done)
        done = scenario_write_resolved(out, scenario, place, study,
                                       "Every key with its value, as stagesim " STAGESIM_VERSION
                                       " took it: gives the same results again. See about.json.",
                                       fault);
    arena_destroy(arena);
    return done;
}

bool record_best(struct output *output, const char *directory, const struct scenario *scenario,
                 const struct scenario_set *sets, size_t count, const char *comment, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    struct scenario_request request = scenario_request_with(&scenario->request, sets, count, arena);
    const struct scenario *best = scenario_load(&request, arena, &diag);
    FILE *out = best ? output_open(output, "best.yaml", fault) : NULL;
    if (!best)
        fault_set(fault, "the scenario changed during the search");
    if (out) {
        fprintf(out, "# %s\n", comment);
        scenario_write(out, best, directory, true);
    }
    arena_destroy(arena);
    return out != NULL;
}

/* "2.9.0"; NULL for 0.0.0, which is a library that is not there. */
static const char *number_version(unsigned major, unsigned minor, unsigned patch, struct arena *arena)
{
    return major || minor || patch ? arena_print(arena, "%u.%u.%u", major, minor, patch) : NULL;
}

/* Those that are there. */
static void write_library(struct json_writer *json, const char *name, const char *version)
{
    if (version)
        json_text(json, name, version);
}

static void write_libraries(struct json_writer *json, struct arena *arena)
{
    unsigned hwloc = hwloc_get_api_version();
    unsigned fontconfig = (unsigned)FcGetVersion();
    const char *expat = XML_ExpatVersion(); /* "expat_2.5.0" */
    json_object_begin(json, "libraries", true);
    write_library(json, "simgrid", STAGESIM_SIMGRID);
    write_library(json, "hwloc", number_version(hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff, arena));
    write_library(json, "libyaml", yaml_get_version_string());
    write_library(json, "cairo", cairo_version_string());
    write_library(json, "fontconfig",
                  number_version(fontconfig / 10000, fontconfig / 100 % 100, fontconfig % 100, arena));
    write_library(json, "expat", strchr(expat, '_') ? strchr(expat, '_') + 1 : expat);
    write_library(json, "zlib", zlibVersion());
    write_library(json, "libc", gnu_get_libc_version());
    json_object_end(json);
}

static void write_input(struct json_writer *json, const struct scenario_input *input)
{
    json_object_begin(json, NULL, false);
    json_text(json, "role", input->role);
    json_text(json, input->file ? "file" : "preset", input->file ? input->file : input->text);
    if (input->sha256[0])
        json_text(json, "sha256", input->sha256);
    json_object_end(json);
}

static bool is_in(const struct scenario_input *list, size_t count, const struct scenario_input *input)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].role, input->role) &&
            !strcmp(list[i].file ? list[i].file : list[i].text, input->file ? input->file : input->text))
            return true;
    return false;
}

struct known_inputs {
    struct scenario_input *items;
    size_t count, capacity;
};

/* Those of a job that were not written yet. */
static void write_new_inputs(struct json_writer *json, const struct scenario *scenario, struct known_inputs *known,
                             struct arena *arena, struct fault *fault)
{
    size_t count;
    const struct scenario_input *list = scenario_input_list(scenario, &count, arena, fault);
    for (size_t k = 0; list && k < count; k++) {
        if (is_in(known->items, known->count, &list[k]))
            continue;
        known->items = array_grow(known->items, &known->capacity, known->count + 1, sizeof *known->items);
        known->items[known->count++] = list[k];
        write_input(json, &list[k]);
    }
}

/* Of all scenarios, each once. */
static bool write_inputs(struct json_writer *json, const struct scenario *const *scenarios, size_t count,
                         struct arena *arena, struct fault *fault)
{
    struct known_inputs known = {NULL, 0, 0};
    json_array_begin(json, "inputs", true);
    for (size_t i = 0; i < count; i++) {
        write_new_inputs(json, scenarios[i], &known, arena, fault);
        for (size_t part = 0; scenarios[i]->kind && part < scenarios[i]->part_count; part++)
            write_new_inputs(json, scenarios[i]->parts[part], &known, arena, fault);
    }
    json_array_end(json);
    free(known.items);
    return !fault->text[0];
}

static void add_note(struct record_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (!strcmp(notes->texts[i], text))
            return;
    notes->texts = array_grow(notes->texts, &notes->capacity, notes->count + 1, sizeof *notes->texts);
    notes->texts[notes->count++] = text;
}

void record_add_notes(struct record_notes *notes, const char *lines, struct arena *arena)
{
    for (size_t length; *lines; lines += length + (lines[length] != '\0')) {
        length = strcspn(lines, "\n");
        add_note(notes, arena_print(arena, "%.*s", (int)length, lines));
    }
}

/* What of the scenarios changes nothing, and what their runs had to tell. */
static void write_notes(struct json_writer *json, const struct scenario *const *scenarios, size_t count,
                        const struct record_notes *of_runs, struct arena *arena)
{
    struct record_notes notes = {0};
    for (size_t i = 0; i < count; i++) {
        size_t remarks;
        const char *const *texts = scenario_remarks(scenarios[i], &remarks, arena);
        for (size_t k = 0; k < remarks; k++)
            add_note(&notes, texts[k]);
    }
    for (size_t i = 0; of_runs && i < of_runs->count; i++)
        add_note(&notes, of_runs->texts[i]);
    if (notes.count)
        json_array_begin(json, "notes", true);
    for (size_t i = 0; i < notes.count; i++)
        json_text(json, NULL, notes.texts[i]);
    if (notes.count)
        json_array_end(json);
    free(notes.texts);
}

#ifdef __clang__
static const char compiler[] = __VERSION__; /* names itself */
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

bool record_about(struct output *output, const char *command, const struct scenario *const *scenarios, size_t count,
                  const struct record_notes *notes, struct fault *fault)
{
    FILE *out = output_open(output, "about.json", fault);
    if (!out)
        return false;
    struct arena *arena = arena_create();
    struct json_writer json = json_writer_init(out);
    char *directory = getcwd(NULL, 0);
    json_object_begin(&json, NULL, true);
    json_text(&json, "stagesim", STAGESIM_VERSION);
    json_text(&json, "command", command);
    if (directory)
        json_text(&json, "directory", directory);
    bool done = write_inputs(&json, scenarios, count, arena, fault);
    write_notes(&json, scenarios, count, notes, arena);
    write_libraries(&json, arena);
    json_text(&json, "compiler", compiler);
    json_object_end(&json);
    putc('\n', out);
    free(directory);
    arena_destroy(arena);
    return done;
}
