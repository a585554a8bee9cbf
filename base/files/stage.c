/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/stage.h"

#include "base/arena.h"
#include "base/files/owner.h"
#include "base/files/stage_record.h"
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".stagesim";
enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, ATTEMPTS = 3 };

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* ---- where the marked folder is ---- */

static bool is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* A shell that stands in a directory would stand in the old one after an exchange. */
static bool works_in(const struct stat *directory)
{
    char up[PATH_MAX] = ".";
    struct stat status, above;
    for (size_t length = 1; length + 4 < sizeof up && stat(up, &status) == 0; length += 3) {
        if (is_same(&status, directory))
            return true;
        memcpy(up + length, "/..", 4);
        if (stat(up, &above) || is_same(&above, &status))
            return false;
    }
    return false;
}

static bool is_mount_point(const char *directory)
{
    struct statx status;
    return statx(AT_FDCWD, directory, AT_SYMLINK_NOFOLLOW, 0, &status) == 0 &&
           status.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static bool can_be_exchanged(const struct stage *stage, const char *directory)
{
    struct stat status, parent;
    if (strlen(stage->place) + sizeof suffix > NAME_MAX)
        return false;
    if (stat(directory, &status))
        return true; /* it will be made */
    return fstat(stage->parent, &parent) == 0 && parent.st_dev == status.st_dev && !is_mount_point(directory) &&
           faccessat(stage->parent, ".", W_OK | X_OK, AT_EACCESS) == 0 && !works_in(&status);
}

static void close_all(struct stage *stage)
{
    close_descriptor(&stage->content);
    close_descriptor(&stage->target);
    close_descriptor(&stage->folder);
    close_descriptor(&stage->lock);
    close_descriptor(&stage->parent);
}

/* Beside the directory. */
static bool place_beside(struct stage *stage, const char *directory, struct arena *arena)
{
    stage->parent = open(path_directory(directory, arena), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    stage->place = path_name(directory, "", arena);
    stage->name = arena_print(arena, ".%s%s", stage->place, suffix);
    stage->target = stage->parent < 0 || !*stage->place ? -1 : openat(stage->parent, stage->place, FOLDER);
    return stage->parent >= 0 && *stage->place;
}

/* In the directory, which is made where it is not there. */
static bool place_inside(struct stage *stage, const char *directory)
{
    stage->place = NULL;
    stage->name = suffix;
    mkdir(directory, 0777);
    stage->parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    stage->target = stage->parent < 0 ? -1 : fcntl(stage->parent, F_DUPFD_CLOEXEC, 0);
    return stage->target >= 0;
}

static bool choose_place(struct stage *stage, const char *directory, struct arena *arena, struct fault *fault)
{
    if (place_beside(stage, directory, arena) && can_be_exchanged(stage, directory))
        return true;
    close_all(stage);
    return place_inside(stage, directory) ||
           fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(errno));
}

/* ---- the lock ---- */

static bool is_in_the_way(const struct stage *stage, struct fault *fault)
{
    return fault_set(fault, "%s: cannot be written to: '%.200s' %s it is in the way, and no folder of stagesim's",
                     stage->path, stage->name, stage->place ? "beside" : "in");
}

/* A folder of that name is ours when it has a lock. One with nothing in it is removed, to be made again. */
static bool is_ours(const struct stage *stage)
{
    struct stat status;
    if (fstat(stage->folder, &status) || status.st_uid != geteuid())
        return false;
    return faccessat(stage->folder, "lock", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           unlinkat(stage->parent, stage->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Locks of processes, not of open files: children that outlive a killed parent for a moment do not hold them. */
static bool lock(struct stage *stage, struct fault *fault)
{
    struct flock wanted = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    stage->lock = openat(stage->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (stage->lock < 0)
        return fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(errno));
    if (fcntl(stage->lock, F_SETLK, &wanted) == 0 || (errno != EACCES && errno != EAGAIN))
        return true; /* a file system without locks has none to respect */
    bool known = fcntl(stage->lock, F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
    close_descriptor(&stage->lock);
    return fault_set(fault, "%s: another process (%ld) is writing its output there", stage->path,
                     known ? (long)wanted.l_pid : 0);
}

/* Whether another process removed the folder between its opening and its locking. */
static bool is_gone(const struct stage *stage)
{
    struct stat named, opened;
    return fstatat(stage->parent, stage->name, &named, AT_SYMLINK_NOFOLLOW) || fstat(stage->folder, &opened) ||
           !is_same(&named, &opened);
}

/* The marked folder; where it was `made` just now nothing of it stays. */
static bool cannot_be_opened(const struct stage *stage, bool made, struct fault *fault)
{
    int reason = errno;
    if (made)
        unlinkat(stage->parent, stage->name, AT_REMOVEDIR);
    else if (reason == ENOTDIR || reason == ELOOP)
        return is_in_the_way(stage, fault);
    return fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(reason));
}

static bool open_locked(struct stage *stage, struct fault *fault)
{
    for (;;) {
        bool made = mkdirat(stage->parent, stage->name, 0700) == 0;
        if (!made && errno != EEXIST)
            return fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(errno));
        stage->folder = openat(stage->parent, stage->name, FOLDER);
        if (stage->folder < 0 && errno == ENOENT)
            continue;
        if (stage->folder < 0)
            return cannot_be_opened(stage, made, fault);
        if (!made && !is_ours(stage))
            return is_in_the_way(stage, fault);
        if (!is_gone(stage) && !lock(stage, fault))
            return false;
        if (!is_gone(stage))
            return true;
        close_descriptor(&stage->lock);
        close_descriptor(&stage->folder);
    }
}

/* ---- what a commit does ---- */

static bool make_folders(int at, const char *file)
{
    char path[PATH_MAX];
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - file), file);
        if (mkdirat(at, path, 0777) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static void remove_folders(int at, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", file);
    for (char *slash; (slash = strrchr(path, '/'));) {
        *slash = '\0';
        if (unlinkat(at, path, AT_REMOVEDIR) != 0)
            return; /* it is used */
    }
}

/* Brings what was replaced back, the last first. Where even that fails, the next process goes on with the files. */
static void move_back(struct stage *stage, int kept, const struct tree_names *names, size_t count)
{
    while (count-- > 0) {
        const char *file = names->names[count];
        char number[24];
        snprintf(number, sizeof number, "%zu", count);
        bool is_moved = faccessat(stage->content, file, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        if (is_moved && renameat(stage->target, file, stage->content, file) != 0)
            stage->keep = true;
        else if (renameat(kept, number, stage->target, file) != 0 && errno != ENOENT)
            stage->keep = true;
        remove_folders(stage->target, file);
    }
}

static bool move_file(const struct stage *stage, int kept, const char *file, size_t index)
{
    char number[24];
    struct stat status;
    snprintf(number, sizeof number, "%zu", index);
    if (fstatat(stage->target, file, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (renameat(stage->target, file, kept, number) != 0 && errno != ENOENT)
        return false;
    return renameat(stage->content, file, stage->target, file) == 0;
}

static bool move_files(struct stage *stage, const struct tree_names *names, struct fault *fault)
{
    struct stage_record record = {.kind = STAGE_MOVES, .names = *names};
    bool done =
        stage_record_write(&record, stage->folder) && (mkdirat(stage->folder, "old", 0700) == 0 || errno == EEXIST);
    int kept = done ? openat(stage->folder, "old", FOLDER) : -1;
    size_t moved = 0;
    done = kept >= 0;
    while (done && moved < names->count) {
        done = make_folders(stage->target, names->names[moved]) && move_file(stage, kept, names->names[moved], moved);
        moved++;
    }
    if (!done)
        fault_set(fault, "%s/%s: cannot be written: %s", stage->path, moved ? names->names[moved - 1] : "",
                  strerror(errno));
    if (!done && kept >= 0)
        move_back(stage, kept, names, moved);
    close_descriptor(&kept);
    return done;
}

/* A directory that is new: the one moment is its renaming. True as well when there is one by now. */
static bool place_new(struct stage *stage, const struct tree_names *names, bool *placed)
{
    struct stage_record record = {.kind = STAGE_IS_NEW, .names = *names};
    if (!stage_record_write(&record, stage->folder))
        return false;
    *placed = renameat2(stage->folder, "new", stage->parent, stage->place, RENAME_NOREPLACE) == 0;
    if (!*placed && errno == EINVAL) /* a file system that knows no flags; an empty directory may be replaced */
        *placed = renameat(stage->folder, "new", stage->parent, stage->place) == 0;
    if (!*placed && errno != EEXIST && errno != ENOTEMPTY)
        return false;
    if (!*placed)
        stage->target = openat(stage->parent, stage->place, FOLDER);
    return *placed || stage->target >= 0;
}

/* The old directory is `stage->folder`/new then. */
static bool exchange(const struct stage *stage, const struct tree_names *names)
{
    struct stat status;
    struct stage_record record = {.kind = STAGE_EXCHANGES, .names = *names};
    if (!stage->place || fstat(stage->target, &status))
        return false;
    record.device = (unsigned long)status.st_dev;
    record.inode = (unsigned long)status.st_ino;
    return tree_link(stage->target, stage->content, names) && tree_copy_attributes(stage->target, stage->content) &&
           stage_record_write(&record, stage->folder) &&
           renameat2(stage->folder, "new", stage->parent, stage->place, RENAME_EXCHANGE) == 0;
}

bool stage_commit(struct stage *stage, const struct tree_names *names, struct fault *fault)
{
    bool placed = false;
    if (stage->target < 0 && !place_new(stage, names, &placed))
        return fault_set(fault, "%s: cannot be written: %s", stage->path, strerror(errno));
    return placed || exchange(stage, names) || move_files(stage, names, fault);
}

/* ---- what a commit leaves ---- */

/* "new" is the old directory when the exchange took place. */
static bool was_exchanged(const struct stage_record *record, int content)
{
    struct stat status;
    return record->kind == STAGE_EXCHANGES && fstat(content, &status) == 0 &&
           record->device == (unsigned long)status.st_dev && record->inode == (unsigned long)status.st_ino;
}

/* The user's files that came into the old directory meanwhile move to the new one. */
static bool retire(const struct stage *stage, const struct stage_record *record, int content)
{
    mkdirat(stage->parent, stage->place, 0777);
    int now = openat(stage->parent, stage->place, FOLDER);
    bool done = now >= 0 && tree_retire(content, now, &record->names);
    close_descriptor(&now);
    return done;
}

/* Files that a killed process was moving arrive. */
static bool move_on(const struct stage *stage, const struct stage_record *record, int content)
{
    for (size_t i = 0; i < record->names.count; i++) {
        const char *file = record->names.names[i];
        if (make_folders(stage->target, file) && renameat(content, file, stage->target, file) == 0)
            continue;
        if (errno != ENOENT)
            return false;
    }
    return true;
}

/* What is in the marked folder goes where it belongs, by what the record says. `complete`: what was being moved is
 * moved on. False when something of the user's would be lost. */
static bool settle(const struct stage *stage, bool complete)
{
    struct stage_record record;
    int content = openat(stage->folder, "new", FOLDER);
    bool fine = stage_record_read(&record, stage->folder) == 0;
    if (fine && content >= 0 && was_exchanged(&record, content))
        fine = retire(stage, &record, content);
    else if (fine && content >= 0 && complete && record.kind == STAGE_MOVES && stage->target >= 0)
        fine = move_on(stage, &record, content);
    close_descriptor(&content);
    if (fine && record.kind == STAGE_MOVES) /* before a part of the files is gone: nothing is to be moved on */
        fine = tree_remove(stage->folder, "names");
    stage_record_free(&record);
    return fine && tree_remove(stage->folder, "new") && tree_remove(stage->folder, "old") &&
           tree_remove(stage->folder, "names.new") && tree_remove(stage->folder, "names");
}

/* ---- opening, committing, closing ---- */

static bool make_content(struct stage *stage, struct fault *fault)
{
    if (mkdirat(stage->folder, "new", 0777) == 0)
        stage->content = openat(stage->folder, "new", FOLDER);
    return stage->content >= 0 || fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(errno));
}

static bool is_writable(const struct stage *stage, struct fault *fault)
{
    return stage->target < 0 || faccessat(stage->target, ".", W_OK | X_OK, AT_EACCESS) == 0 ||
           fault_set(fault, "%s: cannot be written to: %s", stage->path, strerror(errno));
}

static bool unsettled(struct stage *stage, struct fault *fault)
{
    struct stage_record record;
    stage->keep = stage_record_read(&record, stage->folder) != 0 || record.kind != STAGE_WRITES;
    stage_record_free(&record);
    return fault_set(fault,
                     "%s: cannot be written to: an earlier process was ended while it wrote there, and what it left in "
                     "'%.200s' cannot be put in order: %s",
                     stage->path, stage->name, strerror(errno));
}

/* What was left at the other of the two places where the marked folder may be. */
static bool settle_other(const struct stage *stage, const char *directory, struct arena *arena, struct fault *fault)
{
    struct stage other = {-1, -1, -1, -1, -1, .path = stage->path};
    bool placed =
        stage->place ? stage->target >= 0 && place_inside(&other, directory) : place_beside(&other, directory, arena);
    bool fine = true;
    if (placed && faccessat(other.parent, other.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        fine = open_locked(&other, fault) && (settle(&other, true) || unsettled(&other, fault));
    stage_close(&other);
    return fine;
}

bool stage_open(struct stage *stage, const char *directory, const char *path, struct arena *arena, struct fault *fault)
{
    *stage = (struct stage){-1, -1, -1, -1, -1, .path = path};
    bool fine = choose_place(stage, directory, arena, fault) && is_writable(stage, fault) &&
                open_locked(stage, fault) && (settle(stage, true) || unsettled(stage, fault)) &&
                settle_other(stage, directory, arena, fault) && make_content(stage, fault);
    if (!fine)
        stage_close(stage);
    return fine;
}

static bool remove_folder(const struct stage *stage)
{
    bool has_lock = stage->lock >= 0;
    return (!has_lock || (settle(stage, false) && tree_remove(stage->folder, "lock"))) &&
           (unlinkat(stage->parent, stage->name, AT_REMOVEDIR) == 0 || (!has_lock && errno == ENOTEMPTY));
}

bool stage_allows(const struct stage *stage, const char *path, const char *name, struct fault *fault)
{
    return stage->target < 0 || owner_allows(stage->target, path, name, fault);
}

/* What fails once need not fail twice. Without its lock the folder is only removed when there is nothing in it. */
void stage_close(struct stage *stage)
{
    bool gone = stage->folder < 0 || stage->keep;
    close_descriptor(&stage->content);
    for (int i = 0; i < ATTEMPTS && !gone; i++)
        gone = remove_folder(stage);
    close_all(stage);
}

void stage_remove_empty(const struct stage *stage)
{
    unlinkat(stage->folder, "new", AT_REMOVEDIR);
    unlinkat(stage->folder, "lock", 0);
    unlinkat(stage->parent, stage->name, AT_REMOVEDIR);
}
