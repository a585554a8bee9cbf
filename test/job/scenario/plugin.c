/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-ins are built from test/plugins; PLUGIN_DIR is where they are. */
#include "job/scenario/plugin.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void expect_refusal(const char *name, const char *first, const char *second)
{
    char path[512];
    struct fault fault = {0};
    struct arena *arena = arena_create();
    snprintf(path, sizeof path, PLUGIN_DIR "/%s.so", name);
    cr_assert_null(plugin_load(path, arena, &fault), "%s was accepted", path);
    cr_assert(strstr(fault.text, path), "no path in: %s", fault.text);
    cr_assert(strstr(fault.text, first), "%s", fault.text);
    cr_assert(strstr(fault.text, second), "%s", fault.text);
    arena_destroy(arena);
}

static void expect_found(const char *name, const char *directory, const struct stagesim_workload *workload,
                         struct arena *arena)
{
    struct fault fault = {0};
    const struct stagesim_workload *found = plugin_find(name, directory, arena, &fault);
    cr_assert(found && found->build == workload->build && !*fault.text, "%s: %s", name, fault.text);
}

Test(plugin, refusals_name_the_path_and_both_numbers)
{
    char theirs[32], ours[32];
    snprintf(theirs, sizeof theirs, "ABI %u", STAGESIM_WORKLOAD_ABI + 7);
    snprintf(ours, sizeof ours, "has %u", STAGESIM_WORKLOAD_ABI);
    expect_refusal("wrong-abi", theirs, ours);
    snprintf(theirs, sizeof theirs, "%zu bytes", sizeof(struct stagesim_workload) + 8);
    snprintf(ours, sizeof ours, "the %zu that", sizeof(struct stagesim_workload));
    expect_refusal("wrong-size", theirs, ours);
    expect_refusal("not-a-plugin", "is no stagesim plug-in", "stagesim_workload_plugin");
    expect_refusal("wrong-field", "'beyond'", "outside");
    expect_refusal("wrong-name", "name", "lower-case");
    expect_refusal("no-build", "'sections'", "no build function");
    expect_refusal("does-not-exist", "cannot read", "No such file");
}

Test(plugin, loads_by_path_and_by_name)
{
    struct arena *arena = arena_create();
    struct fault fault = {0};
    const struct stagesim_workload *workload = plugin_load(PLUGIN_DIR "/sections.so", arena, &fault);
    cr_assert(workload, "%s", fault.text);
    cr_assert_str_eq(workload->name, "sections");
    expect_found("sections.so", PLUGIN_DIR, workload, arena);
    expect_found("./sections.so", PLUGIN_DIR, workload, arena);
    setenv("STAGESIM_PLUGINS", "/nowhere:" PLUGIN_DIR, 1);
    expect_found("sections", "/tmp", workload, arena);
    unsetenv("STAGESIM_PLUGINS");
    cr_assert_null(plugin_find("sections", "/tmp", arena, &fault));
    cr_assert(strstr(fault.text, "no workload 'sections'"), "%s", fault.text);
    arena_destroy(arena);
}

Test(plugin, built_in_workloads_come_first)
{
    struct arena *arena = arena_create();
    struct fault fault = {0};
    const struct stagesim_workload *workload = plugin_find("stages", "/tmp", arena, &fault);
    cr_assert(workload && !strcmp(workload->name, "stages"));
    cr_assert_null(plugin_find("stagse", "/tmp", arena, &fault));
    cr_assert(strstr(fault.text, "did you mean 'stages'?"), "%s", fault.text);
    arena_destroy(arena);
}

/* A device or a pipe in place of a plug-in must not be waited for. */
Test(plugin, only_regular_files_are_opened, .timeout = 5)
{
    struct fault fault = {0};
    struct arena *arena = arena_create();
    cr_assert_null(plugin_load("/dev/zero", arena, &fault));
    cr_assert(strstr(fault.text, "not a regular file"), "%s", fault.text);
    arena_destroy(arena);
}
