/* SPDX-License-Identifier: Apache-2.0 */
/* Output files appear whole or not at all, and directories made for them go with them. */
#include "base/files/output.h"

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

/* As an earlier command did. */
static void write_own(const char *to, const char *name, const char *text)
{
    struct fault fault = {""};
    struct output *output = output_create(to, &fault);
    fputs(text, output_open(output, name, &fault));
    cr_assert(output_commit(output, &fault), "%s", fault.text);
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
    write_own("a", "summary.json", "old");
    struct output *output = output_create("a", &fault);
    fputs("new", output_open(output, "summary.json", &fault));
    output_abort(output);
    cr_assert_eq(entries("a"), 1);
    cr_assert_str_eq(read_file("a/summary.json"), "old");
}

Test(output, commit_replaces_older_files)
{
    struct fault fault = {""};
    write_own("a", "summary.json", "old");
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
    cr_assert_eq(mkdir("new", 0777), 0);
    cr_assert_eq(mkdir("new/summary.json", 0777), 0);
    struct output *output = output_create("new", &fault);
    cr_assert_null(output_open(output, "summary.json", &fault));
    cr_assert_not_null(strstr(fault.text, "new/summary.json: cannot be written: a directory"), "%s", fault.text);
    output_abort(output);
}

static unsigned long inode(const char *name)
{
    struct stat status;
    cr_assert_eq(lstat(name, &status), 0, "%s", name);
    return (unsigned long)status.st_ino;
}

/* A set of two files into "a". */
static bool write_set(const char *to, const char *text)
{
    struct fault fault = {""};
    struct output *output = output_create(to, &fault);
    cr_assert_not_null(output, "%s", fault.text);
    fputs(text, output_open(output, "summary.json", &fault));
    fputs(text, output_open(output, "x-1f1b/summary.json", &fault));
    return output_commit(output, &fault);
}

/* What a user may have put into an output directory. */
static void put_users_files(void)
{
    cr_assert_eq(system("mkdir -p a/mine/deep a/x-1f1b && chmod 750 a/mine && touch -d 2001-01-01 a/mine/deep && "
                        "ln -s nowhere a/link && mkfifo a/x-1f1b/pipe"),
                 0);
    write_file("a/notes", "notes");
    write_file("a/mine/deep/kept", "kept");
    write_file("a/x-1f1b/mine", "beside");
}

static void check_users_files(void)
{
    struct stat status;
    cr_assert_eq(entries("a"), 5);
    cr_assert_eq(entries("a/x-1f1b"), 3);
    cr_assert_str_eq(read_file("a/notes"), "notes");
    cr_assert_str_eq(read_file("a/mine/deep/kept"), "kept");
    cr_assert_str_eq(read_file("a/x-1f1b/mine"), "beside");
    cr_assert(lstat("a/link", &status) == 0 && S_ISLNK(status.st_mode));
    cr_assert(lstat("a/x-1f1b/pipe", &status) == 0 && S_ISFIFO(status.st_mode));
    cr_assert(stat("a/mine", &status) == 0 && (status.st_mode & 07777) == 0750);
}

Test(output, users_files_stay_where_they_are)
{
    put_users_files();
    unsigned long notes = inode("a/notes"), kept = inode("a/mine/deep/kept"), folder = inode("a");
    struct stat before, after;
    cr_assert_eq(stat("a/notes", &before), 0);
    cr_assert(write_set("a", "one"));
    unsigned long first = inode("a"); /* the second one may get the number of the one before, which is gone */
    cr_assert_neq(first, folder, "the directory was exchanged");
    cr_assert(write_set("a", "two"));
    check_users_files();
    cr_assert_str_eq(read_file("a/x-1f1b/summary.json"), "two");
    cr_assert_neq(inode("a"), first, "and exchanged again");
    cr_assert_eq(inode("a/notes"), notes, "the same file, no copy");
    cr_assert_eq(inode("a/mine/deep/kept"), kept);
    cr_assert_eq(stat("a/notes", &after), 0);
    cr_assert_eq(after.st_nlink, before.st_nlink);
    cr_assert_eq(entries("."), 1, "no folder is left beside it");
}

/* The shell that started the command must not stand in a directory that is gone. */
Test(output, a_directory_that_one_works_in_is_not_exchanged)
{
    put_users_files();
    unsigned long folder = inode("a");
    cr_assert_eq(chdir("a/mine"), 0);
    cr_assert(write_set("..", "one"));
    cr_assert(write_set("../", "two"));
    cr_assert_eq(chdir("../.."), 0);
    check_users_files();
    cr_assert_eq(inode("a"), folder);
    cr_assert_str_eq(read_file("a/summary.json"), "two");
    cr_assert_eq(entries("."), 1);
}

Test(output, symbolic_links_stay)
{
    cr_assert_eq(system("mkdir -p deep/real && ln -s deep/real a"), 0);
    cr_assert(write_set("a", "one"));
    struct stat status;
    cr_assert(lstat("a", &status) == 0 && S_ISLNK(status.st_mode));
    cr_assert_str_eq(read_file("deep/real/summary.json"), "one");
    cr_assert_eq(entries("deep"), 1);
}

Test(output, attributes_of_the_directory_stay)
{
    struct stat status;
    cr_assert_eq(mkdir("a", 0777), 0);
    cr_assert_eq(chmod("a", 02711), 0);
    cr_assert(write_set("a", "one"));
    cr_assert(stat("a", &status) == 0 && (status.st_mode & 07777) == 02711);
}

/* A folder of another set below, in which a process writes, must not move. */
Test(output, sets_below_each_other)
{
    struct fault fault = {""};
    cr_assert_eq(system("mkdir -p a/below"), 0);
    struct output *below = output_create("a/below", &fault);
    fputs("below", output_open(below, "first", &fault));
    cr_assert(write_set("a", "above"));
    fputs("below", output_open(below, "second", &fault));
    cr_assert(output_commit(below, &fault), "%s", fault.text);
    cr_assert_str_eq(read_file("a/below/second"), "below");
    cr_assert_str_eq(read_file("a/summary.json"), "above");
    cr_assert_eq(entries("a"), 3);
    cr_assert_eq(entries("."), 1);
}

Test(output, one_process_at_a_time)
{
    struct fault fault = {""};
    struct output *output = output_create("a", &fault);
    fputs("first", output_open(output, "summary.json", &fault));
    cr_assert_null(output_create("a", &fault));
    cr_assert_not_null(strstr(fault.text, "to be written twice"), "%s", fault.text);
    pid_t child = fork();
    if (child == 0) {
        struct fault told = {""};
        char expected[80];
        snprintf(expected, sizeof expected, "a: another process (%d) is writing its output there", (int)getppid());
        _exit(output_create("a", &told) != NULL || strcmp(told.text, expected) != 0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert(output_commit(output, &fault));
    cr_assert_str_eq(read_file("a/summary.json"), "first");
    cr_assert_eq(entries("."), 1);
}

Test(output, a_folder_that_only_has_the_name_is_left_alone)
{
    struct fault fault = {""};
    cr_assert_eq(system("mkdir -p .a.stagesim"), 0);
    write_file(".a.stagesim/mine", "mine");
    cr_assert_null(output_create("a", &fault));
    cr_assert_not_null(strstr(fault.text, "'.a.stagesim' beside it is in the way"), "%s", fault.text);
    cr_assert_str_eq(read_file(".a.stagesim/mine"), "mine");
    cr_assert_eq(entries("."), 1);
}

/* What processes leave that were killed at each step of a commit, made by hand, and the next one finds. */
static void leave_record(const char *kind, unsigned long device, unsigned long inode_number)
{
    FILE *file = fopen(".a.stagesim/names", "w");
    fprintf(file, "%s %lu %lu%csummary.json%cx-1f1b/summary.json%c", kind, device, inode_number, 0, 0, 0);
    fclose(file);
}

static void leave_new(void)
{
    cr_assert_eq(system("mkdir -p .a.stagesim/new/x-1f1b && touch .a.stagesim/lock"), 0);
    write_file(".a.stagesim/new/summary.json", "killed");
    write_file(".a.stagesim/new/x-1f1b/summary.json", "killed");
}

/* The next process puts it in order before it writes; here it writes nothing. */
static void come_next(const char *expected)
{
    struct fault fault = {""};
    struct output *output = output_create("a", &fault);
    cr_assert_not_null(output, "%s", fault.text);
    cr_assert_str_eq(read_file("a/summary.json"), expected);
    cr_assert_str_eq(read_file("a/x-1f1b/summary.json"), expected);
    output_abort(output);
    check_users_files();
    cr_assert_eq(entries("."), 1);
}

Test(output, killed_while_writing)
{
    put_users_files();
    cr_assert(write_set("a", "old"));
    leave_new();
    come_next("old");
}

Test(output, killed_before_the_exchange)
{
    struct stat status;
    put_users_files();
    cr_assert(write_set("a", "old"));
    leave_new();
    cr_assert_eq(stat("a", &status), 0);
    leave_record("exchange", status.st_dev, status.st_ino);
    cr_assert_eq(link("a/notes", ".a.stagesim/new/notes"), 0);
    come_next("old");
}

Test(output, killed_after_the_exchange)
{
    struct stat status;
    put_users_files();
    cr_assert(write_set("a", "new"));
    leave_new();
    cr_assert_eq(stat(".a.stagesim/new", &status), 0);
    leave_record("exchange", status.st_dev, status.st_ino);
    cr_assert_eq(link("a/notes", ".a.stagesim/new/notes"), 0);
    /* What was put into the old directory at the last moment, also in the place of another file. */
    cr_assert_eq(rename("a/mine", ".a.stagesim/new/mine"), 0);
    cr_assert_eq(rename("a/x-1f1b/mine", ".a.stagesim/new/x-1f1b/mine"), 0);
    write_file("a/x-1f1b/mine", "older");
    cr_assert_eq(system("touch -d 2001-01-01 a/x-1f1b/mine"), 0);
    come_next("new");
}

Test(output, killed_while_moving_files)
{
    put_users_files();
    cr_assert(write_set("a", "killed"));
    write_file("a/x-1f1b/summary.json", "old");
    leave_new();
    leave_record("move", 0, 0);
    cr_assert_eq(unlink(".a.stagesim/new/summary.json"), 0);
    come_next("killed");
}

/* A file of which the n-th cannot be moved: those before it come back. */
Test(output, files_that_cannot_be_moved_come_back)
{
    struct fault fault = {""};
    put_users_files();
    cr_assert(write_set("a", "old"));
    cr_assert_eq(chdir("a"), 0);
    struct output *output = output_create(".", &fault);
    fputs("new", output_open(output, "summary.json", &fault));
    fputs("new", output_open(output, "fresh/one", &fault));
    fputs("new", output_open(output, "x-1f1b/summary.json", &fault));
    fputs("new", output_open(output, "late", &fault));
    cr_assert_eq(mkdir("late", 0777), 0);
    cr_assert_not(output_commit(output, &fault));
    cr_assert_not_null(strstr(fault.text, "./late: cannot be written: Is a directory"), "%s", fault.text);
    cr_assert_eq(rmdir("late"), 0);
    cr_assert_eq(chdir(".."), 0);
    check_users_files();
    cr_assert_str_eq(read_file("a/summary.json"), "old");
    cr_assert_str_eq(read_file("a/x-1f1b/summary.json"), "old");
}

Test(output, a_single_file)
{
    struct fault fault = {""};
    FILE *out;
    put_users_files();
    write_file(".new.txt.stagesim", "of a process that was killed");
    for (int i = 0; i < 2; i++) {
        struct output *output = output_create_file("new.txt", &out, &fault);
        cr_assert_not_null(output, "%s", fault.text);
        fputs("text", out);
        if (i)
            output_abort(output);
        else
            cr_assert(output_commit(output, &fault), "%s", fault.text);
        cr_assert_str_eq(read_file("new.txt"), "text");
        cr_assert_eq(entries("."), 2);
    }
    cr_assert_null(output_create_file("a", &out, &fault));
    cr_assert_not_null(strstr(fault.text, "a: cannot be written: a directory"), "%s", fault.text);
    fault.text[0] = '\0';
    struct output *output = output_create_file("b/c/new.txt", &out, &fault);
    output_abort(output);
    cr_assert_eq(entries("."), 2);
}

/* A device is written to, not replaced. */
Test(output, a_device)
{
    struct fault fault = {""};
    struct stat status;
    FILE *out;
    struct output *output = output_create_file("/dev/null", &out, &fault);
    cr_assert_not_null(output, "%s", fault.text);
    fputs("text", out);
    cr_assert(output_commit(output, &fault));
    cr_assert(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
    output = output_create_file("/dev/full", &out, &fault);
    fputs("text", out);
    cr_assert_not(output_commit(output, &fault));
    cr_assert_not_null(strstr(fault.text, "/dev/full: cannot be written: No space left"), "%s", fault.text);
    cr_assert(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
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
