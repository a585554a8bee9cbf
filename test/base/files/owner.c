/* SPDX-License-Identifier: Apache-2.0 */
/* An output replaces what stagesim wrote and nobody changed, and nothing that this process read. */
#include "base/files/owner.h"

#include "base/files/output.h"
#include "base/paths.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static char directory[64];
static bool has_no_attributes; /* the file system */

/* In place of the C library's. */
ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size)
{
    if (!has_no_attributes)
        return syscall(SYS_fgetxattr, descriptor, name, value, size);
    errno = ENOTSUP;
    return -1;
}

static void enter(void)
{
    snprintf(directory, sizeof directory, "/tmp/stagesim-owner-XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static void leave(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    cr_assert_eq(system(command), 0);
}

TestSuite(owner, .init = enter, .fini = leave);

static void write_text(const char *name, const char *mode, const char *text)
{
    FILE *file = fopen(name, mode);
    fputs(text, file);
    fclose(file);
}

/* As an output of stagesim's. False with the fault filled. */
static bool write_own(const char *path, const char *text, struct fault *fault)
{
    FILE *out;
    struct output *output = output_create_file(path, &out, fault);
    return output && fputs(text, out) >= 0 && output_commit(output, fault);
}

static bool allows(const char *path)
{
    struct fault fault = {""};
    bool allowed = owner_allows(AT_FDCWD, path, "its name", &fault);
    cr_assert(allowed ? !*fault.text : !strncmp(fault.text, "its name: ", 10), "%s", fault.text);
    return allowed;
}

Test(owner, what_stagesim_wrote_is_replaced)
{
    struct fault fault = {""};
    cr_assert(allows("new"));
    cr_assert(write_own("new", "one", &fault), "%s", fault.text);
    cr_assert(allows("new"));
    cr_assert(write_own("new", "two and more", &fault), "%s", fault.text);
    write_text("empty", "w", "");
    cr_assert(allows("empty"));
}

Test(owner, what_others_wrote_is_not)
{
    struct fault fault = {""};
    write_text("notes", "w", "text");
    cr_assert(!allows("notes"));
    cr_assert(!write_own("notes", "one", &fault));
    cr_assert(strstr(fault.text, "notes: there is a file that stagesim did not write"), "%s", fault.text);
    cr_assert_eq(mkdir("folder", 0777), 0);
    cr_assert(!allows("folder"));
}

Test(owner, what_was_changed_since_is_not)
{
    struct fault fault = {""};
    cr_assert(write_own("longer", "text", &fault) && write_own("other", "text", &fault), "%s", fault.text);
    write_text("longer", "a", "\n");
    cr_assert(!allows("longer"));
    struct timespec later[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1, .tv_nsec = 5}};
    cr_assert_eq(utimensat(AT_FDCWD, "other", later, 0), 0);
    cr_assert(!allows("other"), "as long as before, but written at another time");
}

Test(owner, what_was_read_is_not)
{
    struct fault fault = {""};
    cr_assert(write_own("order.csv", "text", &fault), "%s", fault.text);
    cr_assert_eq(link("order.csv", "hard") + symlink("order.csv", "soft"), 0);
    fclose(path_open_read("soft"));
    cr_assert(!allows("order.csv") && !allows("hard") && !allows("soft"));
    cr_assert(!write_own("order.csv", "other", &fault));
    cr_assert(strstr(fault.text, "order.csv: this file was read"), "%s", fault.text);
}

Test(owner, a_set_is_refused_before_its_work)
{
    struct fault fault = {""};
    static const char *const names[] = {"absent", "summary.json", NULL};
    cr_assert_eq(mkdir("out", 0777), 0);
    write_text("out/summary.json", "w", "mine");
    struct output *output = output_create("out", &fault);
    cr_assert(!output_foresee(output, names, &fault));
    cr_assert(strstr(fault.text, "out/summary.json: there is a file that stagesim did not write"), "%s", fault.text);
    cr_assert_null(output_open(output, "summary.json", &fault));
    cr_assert(output_foresee(output, (const char *const[]){"absent", NULL}, &fault));
    output_abort(output);
}

/* In a set's directory. */
static bool allows_there(const char *path)
{
    struct fault fault = {""};
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool allowed = owner_allows(folder, path, "its name", &fault);
    close(folder);
    return allowed;
}

Test(owner, a_directory_that_was_copied_is_known_by_its_about)
{
    struct fault fault = {""};
    write_text("notes", "w", "text");
    write_text("about.json", "w", "{\n  \"stage\": 1}");
    cr_assert(!allows_there("notes"));
    write_text("about.json", "w", "{\n  \"stagesim\": \"0.1.0\",\n");
    cr_assert(allows_there("notes") && allows_there("about.json"));
    cr_assert(!allows("notes"), "a file by itself is of no set");
    unlink("about.json");
    cr_assert(write_own("about.json", "{\n  \"stagesim\": \"0.1.0\",\n", &fault), "%s", fault.text);
    cr_assert(!allows_there("notes"), "the directory was not copied, so the file came into it");
}

Test(owner, without_attributes_the_directory_says_it)
{
    struct fault fault = {""};
    cr_assert(write_own("about.json", "{\n  \"stagesim\": \"0.1.0\",\n", &fault), "%s", fault.text);
    write_text("notes", "w", "text");
    has_no_attributes = true;
    cr_assert(allows_there("notes") && !allows("notes"));
    unlink("about.json");
    cr_assert(!allows_there("notes"));
}
