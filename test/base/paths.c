/* SPDX-License-Identifier: Apache-2.0 */
#include "base/paths.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *arena;
static char folder[] = "/tmp/stagesim-paths-XXXXXX";

static void enter(void)
{
    arena = arena_create();
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    cr_assert_eq(system(arena_print(arena, "rm -r %s", folder)), 0);
    arena_destroy(arena);
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fclose(file);
}

TestSuite(paths, .init = enter, .fini = leave);

Test(paths, parts)
{
    static const struct {
        const char *path, *directory, *name;
    } cases[] = {{"a/b.yaml", "a", "b"},   {"b.yaml", ".", "b"},        {"/b.yaml", "/", "b"},
                 {"a/b/c", "a/b", "c"},    {"a.yaml/b", "a.yaml", "b"}, {"../b.yaml.yaml", "..", "b.yaml"},
                 {"a/.yaml", "a", ".yaml"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_str_eq(path_directory(cases[i].path, arena), cases[i].directory);
        cr_assert_str_eq(path_name(cases[i].path, ".yaml", arena), cases[i].name);
    }
    cr_assert_str_eq(path_resolve("a/b", "c", arena), "a/b/c");
    cr_assert_str_eq(path_resolve("a/b", "/c", arena), "/c");
}

Test(paths, what_is_typed_is_looked_for_where_the_command_was_started)
{
    mkdir("scenarios", 0777);
    make_file("here.csv");
    make_file("scenarios/there.csv");
    make_file("scenarios/here.csv");
    cr_assert_str_eq(path_of_file("scenarios", "there.csv", false, arena), "scenarios/there.csv");
    cr_assert_str_eq(path_of_file("scenarios", "here.csv", true, arena), "scenarios/here.csv");
    unlink("scenarios/here.csv");
    cr_assert_str_eq(path_of_file("scenarios", "here.csv", true, arena), "here.csv");
    cr_assert_str_eq(path_of_file("scenarios", "here.csv", false, arena), "scenarios/here.csv");
}

Test(paths, directories_of_the_environment_come_first_and_in_order)
{
    size_t count;
    mkdir("one", 0777);
    mkdir("two", 0777);
    make_file("one/b.xml");
    make_file("two/b.xml");
    make_file("two/a.xml");
    make_file("two/c.txt");
    make_file("two/cluster-of-mine.xml");
    setenv("STAGESIM_PLATFORMS", "one:two", 1);
    cr_assert_str_eq(path_find_installed(INSTALLED_PLATFORMS, "b", ".xml", arena), "one/b.xml");
    cr_assert_str_eq(path_find_installed(INSTALLED_PLATFORMS, "a", ".xml", arena), "two/a.xml");
    cr_assert_null(path_find_installed(INSTALLED_PLATFORMS, "../one/b", ".xml", arena));
    cr_assert_null(path_find_installed(INSTALLED_PLATFORMS, "c", ".xml", arena));
    cr_assert_str_eq(path_platform("a", arena), "two/a.xml");
    cr_assert_str_eq(path_platform("a.xml", arena), "two/a.xml");
    cr_assert_str_eq(path_platform("nothing", arena), "nothing");
    const char **names = path_list_installed(INSTALLED_PLATFORMS, ".xml", &count, arena, NULL);
    cr_assert(count >= 2 && !strcmp(names[0], "a") && !strcmp(names[1], "b"), "%s %s", names[0], names[1]);
    cr_assert(strstr(path_suggest(INSTALLED_PLATFORMS, "cluster-of-mice", ".xml", arena), "'cluster-of-mine'"));

    struct fault fault = {""};
    setenv("STAGESIM_PLATFORMS", "one:absent:file-of-no-kind", 1);
    path_list_installed(INSTALLED_PLATFORMS, ".xml", &count, arena, &fault);
    cr_assert_str_eq(fault.text, "", "a directory that is not there is none to list");
    char list[4 + 300] = "one:";
    memset(list + 4, 'x', 299); /* no file system has names of that length */
    setenv("STAGESIM_PLATFORMS", list, 1);
    names = path_list_installed(INSTALLED_PLATFORMS, ".xml", &count, arena, &fault);
    cr_assert(count >= 1 && !strcmp(names[0], "b") && strstr(fault.text, "cannot be listed"), "%s", fault.text);
}

Test(paths, only_files_can_be_read)
{
    struct fault fault = {""};
    make_file("file");
    cr_assert(path_check_readable("file", &fault));
    cr_assert(!path_check_readable("/dev/zero", &fault) && strstr(fault.text, "regular file"), "%s", fault.text);
    fault = (struct fault){""};
    cr_assert(!path_check_readable(".", &fault) && *fault.text);
    fault = (struct fault){""};
    cr_assert(!path_check_readable("absent", &fault) && strstr(fault.text, "absent"), "%s", fault.text);
}
