/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is offered for a name that is not there. */
#include "base/path_near.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/stagesim-near-XXXXXX";
static const char *const folders[] = {"scenarios", "platforms", "platforms/old", "empty"};
static const char *const files[] = {"scenarios/demo.yaml",
                                    "scenarios/gpt-7.5b.yaml",
                                    "scenarios/gpt-7.5b.csv",
                                    "scenarios/mixtral-8x7b.yaml",
                                    "platforms/dgx-a100-2.xml",
                                    "platforms/.hidden.xml",
                                    "mine.csv"};

static void make(void)
{
    cr_assert(mkdtemp(directory) && chdir(directory) == 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        cr_assert(mkdir(folders[i], 0777) == 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(files[i], "w");
        cr_assert(file && fclose(file) == 0);
    }
}

static void clear(void)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        rmdir(folders[i]);
    cr_assert(chdir("/") == 0 && rmdir(directory) == 0);
}

TestSuite(path_near, .init = make, .fini = clear);

Test(path_near, offers_what_is_like_it)
{
    static const struct {
        const char *directory, *path, *near; /* near NULL: nothing */
    } cases[] = {
        {".", "scenario/gpt.yaml", "scenarios/gpt-7.5b.yaml"},
        {".", "scenarios/dmo.yaml", "scenarios/demo.yaml"},
        {".", "scenarios/demo", "scenarios/demo.yaml"},
        {".", "scenarios/demo.yml", "scenarios/demo.yaml"},
        {".", "mixtral-8x7b.yaml", "scenarios/mixtral-8x7b.yaml"},
        {".", "scenarios/gpt-7.5b.cvs", NULL},
        {".", "scenarios/gpt-7.6b.csv", "scenarios/gpt-7.5b.csv"},
        {".", "platform/dgx-a100-4.xml", "platforms/dgx-a100-2.xml"},
        {".", "platforms/old/dgx-a100-2.xml", NULL},
        {".", "platforms/hidden.xml", NULL},
        {".", "scenarios/mine.csv", NULL},
        {".", "nowhere/mine.csv", "mine.csv"},
        {".", "my.csv", NULL},
        {".", "scenarios/unlike-any.yaml", NULL},
        {".", "scenarios/demo.yaml", NULL}, /* is there */
        {"scenarios", "../platforms/dgx-a100-3.xml", "../platforms/dgx-a100-2.xml"},
        {"scenarios", "gpt-7.5.yaml", "gpt-7.5b.yaml"},
        {"scenarios", "/no/such/folder/x.xml", NULL},
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[128] = "";
        if (cases[i].near)
            snprintf(expected, sizeof expected, "; did you mean '%s'?", cases[i].near);
        errno = EXDEV;
        cr_assert_str_eq(path_near(cases[i].directory, cases[i].path, arena), expected, "for %s", cases[i].path);
        cr_assert_eq(errno, EXDEV);
    }
    arena_destroy(arena);
}

Test(path_near, typed_names_are_seen_from_here_too)
{
    struct arena *arena = arena_create();
    cr_assert_str_eq(path_near_file("scenarios", "platforms/dgx-a100-4.xml", false, arena), "");
    cr_assert_str_eq(path_near_file("scenarios", "platforms/dgx-a100-4.xml", true, arena),
                     "; did you mean 'platforms/dgx-a100-2.xml'?");
    cr_assert_str_eq(path_near_directory("scenaros/", arena), "; did you mean 'scenarios'?");
    cr_assert_str_eq(path_near_directory("scenarios/", arena), "");
    cr_assert_str_eq(path_near_directory("something", arena), "");
    struct fault fault = {""};
    cr_assert(!path_check_typed("mine.cvs", &fault));
    cr_assert_str_eq(fault.text, "cannot read 'mine.cvs': No such file or directory");
    cr_assert(path_check_typed("mine.csv", &fault));
    arena_destroy(arena);
}
