/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/result.h"

#include "base/standard_streams.h"
#include "commands/cli/command.h"

static int report(const char *name, const struct fault *fault, int code)
{
    char label[64];
    snprintf(label, sizeof label, "stagesim %s", name);
    diag_fault(&(struct diag){.out = stderr}, label, fault->text);
    return code;
}

static int write_file(const char *name, const char *path, bool (*write)(FILE *out, void *user, struct fault *fault),
                      void *user)
{
    struct fault fault = {""};
    FILE *out;
    struct output *output = output_create_file(path, &out, &fault);
    bool written = output && write(out, user, &fault);
    bool done = written && output_commit(output, &fault);
    if (!written)
        output_abort(output);
    return done ? EXIT_DONE : report(name, &fault, written ? EXIT_FAILED : EXIT_BAD_INPUT);
}

int result_write(const char *name, const char *path, bool (*write)(FILE *out, void *user, struct fault *fault),
                 void *user)
{
    struct fault fault = {""};
    if (path)
        return write_file(name, path, write, user);
    struct fault lost = {""};
    if (write(stdout, user, &fault))
        return EXIT_DONE;
    if (!standard_output_finish(&lost))
        return report(name, &lost, EXIT_FAILED);
    return standard_output_is_unread() ? EXIT_DONE : report(name, &fault, EXIT_BAD_INPUT);
}

bool result_settle(struct output *output, bool written, struct fault *fault)
{
    if (!written)
        output_abort(output);
    bool there = written && output_commit(output, fault);
    if (fault->text[0])
        diag_print(stderr, "stagesim: %s\n", fault->text);
    return there;
}
