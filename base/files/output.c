/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/output.h"

#include "base/arena.h"
#include "base/figure.h"
#include "base/files/output_set.h"
#include "base/files/owner.h"
#include "base/files/stream_reason.h"
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BUFFER = 1 << 16, FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

/* ---- interruption ---- */

static const int interruptions[] = {SIGHUP, SIGINT, SIGTERM};

/* What is being written. A signal's handler can reach nothing else. */
static struct output *being_written;

/* Only what a signal's handler may call; no commit has begun. */
static void remove_files(const struct output *output)
{
    int folder = output->is_single ? output->folder : output->stage.content;
    for (size_t i = 0; i < output->file_count && folder >= 0; i++)
        unlinkat(folder, output->files[i].path, 0);
    for (size_t i = output->folder_count; i-- > 0;)
        unlinkat(folder, output->folders[i], AT_REMOVEDIR);
    if (!output->is_single)
        stage_remove_empty(&output->stage);
    for (size_t i = output->made_count; i-- > 0;)
        rmdir(output->made[i]);
}

/* A child process leaves the files to its parent. */
void output_remove_all(void)
{
    for (const struct output *output = being_written; output; output = output->next)
        if (output->owner == getpid() && !output->is_committing)
            remove_files(output);
}

/* Ends the process as the signal would have done without a handler. */
static void on_interruption(int number)
{
    output_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

sigset_t output_block_interruptions(void)
{
    sigset_t blocked, before;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof interruptions / sizeof *interruptions; i++)
        sigaddset(&blocked, interruptions[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    return before;
}

void output_allow_interruptions(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* The process gives up, perhaps for want of memory. */
static void on_exit_abort(void)
{
    while (being_written && being_written->owner == getpid())
        output_abort(being_written);
}

/* A signal that was ignored (nohup) stays so. */
static void await_interruptions(struct output *output)
{
    static bool awaited;
    sigset_t before = output_block_interruptions();
    output->owner = getpid();
    output->next = being_written;
    being_written = output;
    if (!awaited)
        atexit(on_exit_abort);
    awaited = true;
    for (size_t i = 0; i < sizeof interruptions / sizeof *interruptions; i++) {
        struct sigaction action = {.sa_handler = SIG_DFL};
        if (sigaction(interruptions[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
            action = (struct sigaction){.sa_handler = on_interruption};
            sigaction(interruptions[i], &action, NULL);
        }
    }
    output_allow_interruptions(&before);
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
    sigset_t before = output_block_interruptions();
    bool made = mkdir(path, 0777) == 0;
    int reason = errno;
    if (made) {
        output->made = array_grow(output->made, &output->made_capacity, output->made_count + 1, sizeof(char *));
        output->made[output->made_count++] = arena_copy(output->arena, path);
    }
    output_allow_interruptions(&before);
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

/* ---- creating ---- */

static struct output *start(const char *directory)
{
    struct arena *arena = arena_create();
    struct output *output = arena_alloc(arena, sizeof *output);
    output->arena = arena;
    output->directory = arena_copy(arena, directory);
    output->stage = (struct stage){-1, -1, -1, -1, -1, .keep = false};
    output->folder = -1;
    signal(SIGXFSZ, SIG_IGN);
    await_interruptions(output);
    return output;
}

/* One process does not lock itself out. */
static bool is_written_already(const struct output *output)
{
    for (const struct output *other = being_written; other; other = other->next)
        if (other != output && other->owner == output->owner && other->real && !strcmp(other->real, output->real))
            return true;
    return false;
}

static bool find_real(struct output *output, struct fault *fault)
{
    char *real = realpath(output->directory, NULL);
    if (!real)
        return fault_set(fault, "%s: cannot be written to: %s", output->directory, strerror(errno));
    output->real = arena_copy(output->arena, real);
    free(real);
    return !is_written_already(output) ||
           fault_set(fault, "%s: the directory is to be written twice", output->directory);
}

/* A directory that was made to see whether it can be is not there until it is complete. */
static bool open_stage(struct output *output, struct fault *fault)
{
    bool is_new = output->made_count && !strcmp(output->made[output->made_count - 1], output->directory);
    sigset_t before = output_block_interruptions();
    if (is_new && rmdir(output->real) == 0)
        output->made_count--;
    bool opened = stage_open(&output->stage, output->real, output->directory, output->arena, fault);
    if (is_new && (!opened || !output->stage.place))
        output->made_count++; /* it may be there again */
    output_allow_interruptions(&before);
    return opened;
}

struct output *output_create(const char *directory, struct fault *fault)
{
    if (!*directory) {
        fault_set(fault, "the output directory has an empty name");
        return NULL;
    }
    struct output *output = start(directory);
    for (size_t end = strlen(output->directory); end > 1 && output->directory[end - 1] == '/';)
        output->directory = arena_print(output->arena, "%.*s", (int)--end, output->directory);
    if (make_directories(output, output->directory, fault) && find_real(output, fault) && open_stage(output, fault))
        return output;
    output_abort(output);
    return NULL;
}

/* ---- files ---- */

static bool open_stream(struct output_file *file, int folder, int flags, struct fault *fault)
{
    int descriptor = openat(folder, file->path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    file->stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (file->stream) {
        setvbuf(file->stream, NULL, _IOFBF, STREAM_BUFFER);
        return true;
    }
    fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    if (descriptor >= 0 && folder != AT_FDCWD)
        unlinkat(folder, file->path, 0);
    return false;
}

static FILE *add_file(struct output *output, struct output_file file, int folder, int flags, struct fault *fault)
{
    output->files = array_grow(output->files, &output->file_capacity, output->file_count + 1, sizeof *output->files);
    sigset_t before = output_block_interruptions();
    if (open_stream(&file, folder, flags, fault))
        output->files[output->file_count++] = file;
    output_allow_interruptions(&before);
    return file.stream;
}

/* A sub-directory of the set. */
static bool make_folder(struct output *output, char *path, struct fault *fault)
{
    struct stat status;
    if (output->stage.target >= 0 && fstatat(output->stage.target, path, &status, 0) == 0 && !S_ISDIR(status.st_mode))
        return fault_set(fault, "%s/%s: cannot make the output directory: a file of that name is in the way",
                         output->directory, path);
    output->folders =
        array_grow(output->folders, &output->folder_capacity, output->folder_count + 1, sizeof *output->folders);
    sigset_t before = output_block_interruptions();
    bool made = mkdirat(output->stage.content, path, 0777) == 0;
    int reason = errno;
    if (made)
        output->folders[output->folder_count++] = path;
    output_allow_interruptions(&before);
    return made || reason == EEXIST ||
           fault_set(fault, "%s/%s: cannot make the output directory: %s", output->directory, path, strerror(reason));
}

bool output_foresee(struct output *output, const char *const *names, struct fault *fault)
{
    bool fine = true;
    for (; *names && fine; names++)
        fine =
            stage_allows(&output->stage, *names, arena_print(output->arena, "%s/%s", output->directory, *names), fault);
    return fine;
}

FILE *output_open(struct output *output, const char *name, struct fault *fault)
{
    struct output_file file = {.name = arena_print(output->arena, "%s/%s", output->directory, name),
                               .path = arena_copy(output->arena, name)};
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
        if (!make_folder(output, arena_print(output->arena, "%.*s", (int)(slash - name), name), fault))
            return NULL;
    return stage_allows(&output->stage, name, file.name, fault)
               ? add_file(output, file, output->stage.content, O_EXCL, fault)
               : NULL;
}

/* ---- a single file ---- */

/* Whether the file that is open still has its temporary name: another process may have given it the final one between
 * its opening and its locking. */
static bool is_still_temporary(const struct output *output, const struct stat *opened)
{
    struct stat named;
    return fstatat(output->folder, output->files[0].path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_dev == opened->st_dev && named.st_ino == opened->st_ino;
}

static void let_go(struct output *output)
{
    output->file_count = 0; /* it is not ours */
    fclose(output->files[0].stream);
}

/* Opens and locks the temporary file, also one that a killed process left. False with the fault filled, or without when
 * it was renamed at this moment. */
static bool open_temporary(struct output *output, const struct output_file *file, struct fault *fault)
{
    struct flock wanted = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat status;
    FILE *stream = add_file(output, *file, output->folder, O_NOFOLLOW, fault);
    if (!stream)
        return false;
    bool locked = fcntl(fileno(stream), F_SETLK, &wanted) == 0 || (errno != EACCES && errno != EAGAIN);
    bool fine = locked && fstat(fileno(stream), &status) == 0 && is_still_temporary(output, &status);
    if (!locked)
        fault_set(fault, "%s: another process is writing it", file->name);
    else if (fine && (!S_ISREG(status.st_mode) || status.st_nlink > 1))
        fine = fault_set(fault, "%s: cannot be written: '%.200s' beside it is in the way", file->name, file->path);
    else if (fine && ftruncate(fileno(stream), 0) != 0)
        return fault_set(fault, "%s: cannot be written: %s", file->name, strerror(errno));
    if (!fine)
        let_go(output);
    return fine;
}

static bool open_single(struct output *output, const char *path, struct fault *fault)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (!owner_allows(AT_FDCWD, path, path, fault))
        return false;
    output->is_single = true;
    output->target = path_name(path, "", output->arena);
    struct output_file file = {.name = output->directory, .path = path};
    if (exists && !S_ISREG(status.st_mode))
        return add_file(output, file, AT_FDCWD, O_NOCTTY, fault) != NULL;
    output->folder = open(path_directory(path, output->arena), FOLDER);
    file.path = arena_print(output->arena, ".%s.stagesim", output->target);
    while (!open_temporary(output, &file, fault))
        if (fault->text[0])
            return false;
    return true;
}

struct output *output_create_file(const char *path, FILE **out, struct fault *fault)
{
    struct output *output = start(path);
    if (make_directories(output, path_directory(path, output->arena), fault) && open_single(output, path, fault)) {
        *out = output->files[0].stream;
        return output;
    }
    output_abort(output);
    return NULL;
}

/* ---- all files ---- */

bool output_flush(struct output *output, struct fault *fault)
{
    bool fine = true;
    for (size_t i = 0; i < output->file_count; i++) {
        struct output_file *file = &output->files[i];
        errno = 0;
        if (file->stream && (fflush(file->stream) != 0 || ferror(file->stream)))
            fine = fault_set(fault, "%s: cannot be written: %s", file->name, strerror(stream_reason(file->stream)));
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

static bool place_files(struct output *output, struct fault *fault)
{
    if (output->is_single)
        return output->folder < 0 ||
               renameat(output->folder, output->files[0].path, output->folder, output->target) == 0 ||
               fault_set(fault, "%s: cannot be written: %s", output->directory, strerror(errno));
    const char **names = arena_array(output->arena, output->file_count + 1, sizeof *names);
    for (size_t i = 0; i < output->file_count; i++)
        names[i] = output->files[i].path;
    return stage_commit(&output->stage, &(struct tree_names){names, output->file_count}, fault);
}

/* Interruptions are blocked. */
static void finish(struct output *output, bool placed)
{
    forget(output);
    stage_close(&output->stage);
    if (output->folder >= 0 && output->file_count && !placed)
        unlinkat(output->folder, output->files[0].path, 0);
    if (output->folder >= 0)
        close(output->folder);
    for (size_t i = output->made_count; i-- > 0 && !placed;)
        rmdir(output->made[i]);
    free(output->files);
    free(output->folders);
    free(output->made);
    arena_destroy(output->arena);
}

bool output_commit(struct output *output, struct fault *fault)
{
    bool fine = figures_finite(fault) && output_flush(output, fault);
    sigset_t before = output_block_interruptions();
    for (size_t i = 0; i < output->file_count && fine; i++)
        if (output->files[i].stream)
            owner_mark(fileno(output->files[i].stream));
    if (!output->is_single || output->folder < 0)
        fine &= close_files(output, fault);
    else if (fine) /* it stays locked until it has its name; what closing would say */
        fine = fsync(fileno(output->files[0].stream)) == 0 || errno == EINVAL ||
               fault_set(fault, "%s: cannot be written: %s", output->directory, strerror(errno));
    output->is_committing = true;
    fine = fine && place_files(output, fault);
    if (output->is_single)
        close_files(output, &(struct fault){""});
    finish(output, fine);
    output_allow_interruptions(&before);
    return fine;
}

void output_abort(struct output *output)
{
    if (!output)
        return;
    struct fault ignored = {""};
    sigset_t before = output_block_interruptions();
    close_files(output, &ignored);
    finish(output, false);
    output_allow_interruptions(&before);
}
