/* SPDX-License-Identifier: Apache-2.0 */
/* Output files appear whole or not at all, and directories made for them go with them. */
#include "base/output.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static void enter(void)
{
    snprintf(directory, sizeof directory, "/tmp/stagesim-output-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void leave(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(output, .init = enter, .fini = leave);

/* Entries of a directory but . and .. */
static unsigned entries(const char *path)
{
    DIR *stream = opendir(path);
    unsigned count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (stream)
        closedir(stream);
    return count;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    fputs(text, file);
    fclose(file);
}

static const char *read_file(const char *name)
{
    static char text[64];
    FILE *file = fopen(name, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return text;
}

Test(output, commit_names_all_files)
{
    struct fault fault = {""};
    struct output *output = output_create("a/b", &fault);
    FILE *summary = output_open(output, "summary.json", &fault),
         *deep = output_open(output, "x-1f1b/summary.json", &fault);
    fputs("one", summary);
    fputs("two", deep);
    cr_assert_eq(access("a/b/summary.json", F_OK), -1, "nothing has its name before the commit");
    cr_assert(output_commit(output, &fault), "%s", fault.text);
    cr_assert_str_eq(read_file("a/b/summary.json"), "one");
    cr_assert_str_eq(read_file("a/b/x-1f1b/summary.json"), "two");
    cr_assert_eq(entries("a/b"), 2);
    cr_assert_eq(entries("a/b/x-1f1b"), 1);
    struct stat status;
    mode_t mask = umask(0);
    cr_assert_eq(stat("a/b/summary.json", &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0666 & ~mask);
}

Test(output, abort_leaves_nothing)
{
    struct fault fault = {""};
    struct output *output = output_create("a/b/c", &fault);
    fputs("text", output_open(output, "one/two/three", &fault));
    output_abort(output);
    cr_assert_eq(entries("."), 0);
}

Test(output, abort_keeps_what_was_there)
{
    struct fault fault = {""};
    cr_assert_eq(mkdir("a", 0777), 0);
    write_file("a/summary.json", "old");
    struct output *output = output_create("a", &fault);
    fputs("new", output_open(output, "summary.json", &fault));
    output_abort(output);
    cr_assert_eq(entries("a"), 1);
    cr_assert_str_eq(read_file("a/summary.json"), "old");
}

Test(output, commit_replaces_older_files)
{
    struct fault fault = {""};
    cr_assert_eq(mkdir("a", 0777), 0);
    write_file("a/summary.json", "old");
    struct output *output = output_create("a/", &fault);
    fputs("new", output_open(output, "summary.json", &fault));
    cr_assert(output_commit(output, &fault));
    cr_assert_eq(entries("a"), 1);
    cr_assert_str_eq(read_file("a/summary.json"), "new");
}

Test(output, a_file_in_the_way)
{
    struct fault fault = {""};
    write_file("file", "x");
    cr_assert_null(output_create("file", &fault));
    cr_assert_not_null(strstr(fault.text, "file: cannot make the output directory: a file of that name is in the way"),
                       "%s", fault.text);
    fault.text[0] = '\0';
    cr_assert_null(output_create("file/below", &fault));
    cr_assert_not_null(strstr(fault.text, "a file of that name is in the way"), "%s", fault.text);
    fault.text[0] = '\0';
    struct output *output = output_create("new", &fault);
    cr_assert_eq(mkdir("new/summary.json", 0777), 0);
    cr_assert_null(output_open(output, "summary.json", &fault));
    cr_assert_not_null(strstr(fault.text, "new/summary.json: cannot be written: a directory"), "%s", fault.text);
    output_abort(output);
}

/* A limit on the size of files stands for a full disk: the write fails when the buffer is emptied. */
Test(output, a_full_disk_leaves_nothing)
{
    struct fault fault = {""};
    struct output *output = output_create("a", &fault);
    FILE *first = output_open(output, "first", &fault), *second = output_open(output, "second", &fault);
    struct rlimit limit = {100000, 100000};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fputs("small", first);
    for (int i = 0; i < 20000; i++)
        fputs("0123456789", second);
    cr_assert_not(output_commit(output, &fault));
    cr_assert_not_null(strstr(fault.text, "a/second: cannot be written: File too large"), "%s", fault.text);
    cr_assert_eq(entries("."), 0);
}

Test(output, a_child_writes_and_its_parent_commits)
{
    struct fault fault = {""};
    struct output *output = output_create("a", &fault);
    FILE *file = output_open(output, "summary.json", &fault);
    pid_t child = fork();
    if (child == 0) {
        fputs("from the child", file);
        _exit(!output_flush(output, &fault));
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert(output_commit(output, &fault));
    cr_assert_str_eq(read_file("a/summary.json"), "from the child");
}
