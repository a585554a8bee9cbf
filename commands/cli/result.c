/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/result.h"

#include "base/arena.h"
#include "base/output.h"
#include "base/paths.h"
#include "commands/cli/command.h"

#include <errno.h>
#include <string.h>

static int report(const char *name, const struct fault *fault, int code)
{
    fprintf(stderr, "stagesim %s: %s\n", name, fault->text);
    return code;
}

static int write_file(const char *name, const char *path, bool (*write)(FILE *out, void *user, struct fault *fault),
                      void *user)
{
    struct fault fault = {""};
    struct arena *arena = arena_create();
    struct output *output = output_create(path_directory(path, arena), &fault);
    FILE *out = output ? output_open(output, path_name(path, "", arena), &fault) : NULL;
    bool written = out && write(out, user, &fault);
    bool done = written && output_commit(output, &fault);
    if (!written)
        output_abort(output);
    arena_destroy(arena);
    return done ? EXIT_DONE : report(name, &fault, written ? EXIT_FAILED : EXIT_BAD_INPUT);
}

int result_write(const char *name, const char *path, bool (*write)(FILE *out, void *user, struct fault *fault),
                 void *user)
{
    struct fault fault = {""};
    if (path)
        return write_file(name, path, write, user);
    if (!write(stdout, user, &fault))
        return report(name, &fault, EXIT_BAD_INPUT);
    if (!fflush(stdout) && !ferror(stdout))
        return EXIT_DONE;
    fault_set(&fault, "standard output: %s", strerror(errno));
    return report(name, &fault, EXIT_FAILED);
}
