/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include "base/arena.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BUFFER = 1 << 16 };

struct output_file {
    FILE *stream;          /* NULL: closed */
    char *name;            /* final path */
    char *temporary;       /* beside it */
    bool is_new, is_named; /* nothing had the name before; the file has it */
};

struct output {
    struct output *next; /* of those that are being written */
    pid_t owner;
    struct arena *arena;
    const char *directory;
    struct output_file *files;
    size_t file_count, file_capacity;
    char **made; /* directories, outer ones first */
    size_t made_count, made_capacity;
};

/* ---- interruption ---- */

static const int interruptions[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

/* What is being written. A signal's handler can reach nothing else. */
static struct output *being_written;

/* Only what a signal's handler may call. */
static void remove_files(const struct output *output)
{
    for (size_t i = 0; i < output->file_count; i++) {
        const struct output_file *file = &output->files[i];
        if (!file->is_named)
            unlink(file->temporary);
        else if (file->is_new)
            unlink(file->name);
    }
    for (size_t i = output->made_count; i-- > 0;)
        rmdir(output->made[i]);
}

/* Ends the process as the signal would have done without a handler; a child process leaves the files to its parent. */
static void on_interruption(int number)
{
    for (const struct output *output = being_written; output; output = output->next)
        if (output->owner == getpid())
            remove_files(output);
    signal(number, SIG_DFL);
    raise(number);
}

/* While what the handler reads changes. */
static sigset_t block_interruptions(void)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof interruptions / sizeof *interruptions; i++)
        sigaddset(&blocked, interruptions[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    return before;
}

static void allow_interruptions(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* A signal that was ignored (nohup) stays so. */
static void await_interruptions(struct output *output)
{
    sigset_t before = block_interruptions();
    output->owner = getpid();
    output->next = being_written;
    being_written = output;
    for (size_t i = 0; i < sizeof interruptions / sizeof *interruptions; i++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        if (sigaction(interruptions[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
            action = (struct sigaction){.sa_handler = on_interruption};
            sigaction(interruptions[i], &action, NULL);
        }
    }
    allow_interruptions(&before);
}

static void forget(struct output *output)
{
    for (struct output **at = &being_written; *at; at = &(*at)->next)
        if (*at == output) {
            *at = output->next;
            return;
        }
}

/* ---- directories ---- */

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool make_directory(struct output *output, const char *path, struct fault *fault)
{
    sigset_t before = block_interruptions();
    bool made = mkdir(path, 0777) == 0;
    int reason = errno;
    if (made) {
        output->made = array_grow(output->made, &output->made_capacity, output->made_count + 1, sizeof(char *));
        output->made[output->made_count++] = arena_copy(output->arena, path);
    }
    allow_interruptions(&before);
    if (made)
        return true;
    if (is_directory(path))
        return true;
    if (reason == EEXIST || reason == ENOTDIR)
        return fault_set(fault, "%s: cannot make the output directory: a file of that name is in the way", path);
    return fault_set(fault, "%s: cannot make the output directory: %s", path, strerror(reason));
}

/* Every directory on the way to the end of `path`. */
static bool make_directories(struct output *output, const char *path, struct fault *fault)
{
    char *prefix = arena_copy(output->arena, path);
    for (char *slash = prefix + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        bool made = make_directory(output, prefix, fault);
        *slash = '/';
        if (!made)
            return false;
    }
    return make_directory(output, path, fault);
}

struct output *output_create(const char *directory, struct fault *fault)
{
    if (!*directory) {
        fault_set(fault, "the output directory has an empty name");
        return NULL;
    }
    struct arena *arena = arena_create();
    struct output *output = arena_alloc(arena, sizeof *output);
    output->arena = arena;
    output->directory = arena_copy(arena, directory);
    signal(SIGXFSZ, SIG_IGN);
    await_interruptions(output);
    if (make_directories(output, directory, fault))
        return output;
    output_abort(output);
    return NULL;
}

/* ---- files ---- */

static bool open_temporary(struct output_file *file, struct fault *fault)
{
    int descriptor = mkstemp(file->temporary);
    if (descriptor < 0)
        return fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor, 0666 & ~mask) == 0)
        file->stream = fdopen(descriptor, "w");
    if (file->stream) {
        setvbuf(file->stream, NULL, _IOFBF, STREAM_BUFFER);
        return true;
    }
    fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
    close(descriptor);
    unlink(file->temporary);
    return false;
}

FILE *output_open(struct output *output, const char *name, struct fault *fault)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    char *directory = arena_print(output->arena, "%s/%.*s", output->directory, (int)(base - name), name);
    directory[strlen(directory) - 1] = '\0';
    if (base != name && !make_directories(output, directory, fault))
        return NULL;
    struct output_file file = {.name = arena_print(output->arena, "%s/%s", directory, base),
                               .temporary = arena_print(output->arena, "%s/.%s.XXXXXX", directory, base)};
    if (is_directory(file.name)) {
        fault_set(fault, "%s: cannot be written: a directory of that name is in the way", file.name);
        return NULL;
    }
    file.is_new = access(file.name, F_OK) != 0;
    sigset_t before = block_interruptions();
    if (open_temporary(&file, fault)) {
        output->files =
            array_grow(output->files, &output->file_capacity, output->file_count + 1, sizeof *output->files);
        output->files[output->file_count++] = file;
    }
    allow_interruptions(&before);
    return file.stream;
}

bool output_flush(struct output *output, struct fault *fault)
{
    bool fine = true;
    for (size_t i = 0; i < output->file_count; i++) {
        struct output_file *file = &output->files[i];
        errno = 0;
        if (file->stream && (fflush(file->stream) != 0 || ferror(file->stream)))
            fine = fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno ? errno : EIO));
    }
    return fine;
}

void output_print_names(const struct output *output, FILE *out)
{
    for (size_t i = 0; i < output->file_count; i++)
        fprintf(out, "%s\n", output->files[i].name);
}

static bool close_files(struct output *output, struct fault *fault)
{
    bool fine = true;
    for (size_t i = 0; i < output->file_count; i++) {
        struct output_file *file = &output->files[i];
        if (file->stream && fclose(file->stream) != 0)
            fine = fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
        file->stream = NULL;
    }
    return fine;
}

static bool name_files(struct output *output, struct fault *fault)
{
    for (size_t i = 0; i < output->file_count; i++) {
        struct output_file *file = &output->files[i];
        if (rename(file->temporary, file->name) != 0)
            return fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
        file->is_named = true;
    }
    return true;
}

/* Interruptions are blocked. */
static void output_free(struct output *output)
{
    forget(output);
    free(output->files);
    free(output->made);
    arena_destroy(output->arena);
}

bool output_commit(struct output *output, struct fault *fault)
{
    bool flushed = output_flush(output, fault), fine = close_files(output, fault) && flushed;
    sigset_t before = block_interruptions();
    fine = fine && name_files(output, fault);
    if (!fine)
        remove_files(output);
    output_free(output);
    allow_interruptions(&before);
    return fine;
}

void output_abort(struct output *output)
{
    if (!output)
        return;
    struct fault ignored = {""};
    close_files(output, &ignored);
    sigset_t before = block_interruptions();
    remove_files(output);
    output_free(output);
    allow_interruptions(&before);
}
