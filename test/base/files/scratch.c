/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in files that have no names. */
#include "base/files/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count_files(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

enum { BYTES = 1 << 20 };

static bool holds(const char *memory, char value)
{
    return memory[0] == value && !memcmp(memory, memory + 1, BYTES - 1);
}

Test(scratch, is_zeroed_and_shared)
{
    struct fault fault = {""};
    char *memory = scratch_map(BYTES, &fault);
    cr_assert(memory && holds(memory, 0), "%s", fault.text);
    pid_t child = fork();
    if (child == 0) {
        memset(memory, 7, BYTES);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    cr_assert(holds(memory, 7));
    scratch_release(memory, BYTES);
    cr_assert(holds(memory, 7));
    scratch_unmap(memory, BYTES);
}

Test(scratch, has_no_name)
{
    char folder[] = "/tmp/scratch-XXXXXX";
    struct fault fault = {""};
    setenv("TMPDIR", mkdtemp(folder), 1);
    void *memory = scratch_map(0, &fault);
    cr_assert(memory && count_files(folder) == 0, "%s", fault.text);
    scratch_unmap(memory, 0);
    scratch_unmap(NULL, 0);
    cr_assert_eq(rmdir(folder), 0);
}

Test(scratch, says_where_there_is_no_room)
{
    struct fault fault = {""};
    setenv("TMPDIR", "/nowhere", 1);
    cr_assert_eq(scratch_file(&fault), -1);
    cr_assert(strstr(fault.text, "/nowhere/"), "%s", fault.text);
    fault = (struct fault){""};
    setenv("TMPDIR", "/tmp", 1);
    cr_assert_null(scratch_map((size_t)1 << 62, &fault));
    cr_assert(strstr(fault.text, "no room"), "%s", fault.text);
}
