/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a set before the whole of it: files that are closed or taken back. */
#include "base/files/output_set.h"
#include "base/files/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool output_close_last(struct output *output, struct fault *fault)
{
    struct output_file *file = &output->files[output->file_count - 1];
    sigset_t before = output_block_interruptions();
    errno = 0;
    bool fine = fflush(file->stream) == 0 && !ferror(file->stream);
    int reason = errno;
    if (fine)
        owner_mark(fileno(file->stream));
    if (fclose(file->stream) != 0 && fine) {
        fine = false;
        reason = errno;
    }
    file->stream = NULL;
    output_allow_interruptions(&before);
    return fine || fault_set(fault, "%s: cannot be written: %s", file->name, strerror(reason));
}

const char *output_directory(const struct output *output)
{
    return output->directory;
}

static bool is_below(const char *path, const char *folder)
{
    return strncmp(path, folder, strlen(folder)) == 0;
}

void output_drop(struct output *output, const char *folder)
{
    size_t files = 0, folders = 0, length = strlen(folder);
    sigset_t before = output_block_interruptions();
    for (size_t i = 0; i < output->file_count; i++) {
        struct output_file *file = &output->files[i];
        if (!is_below(file->path, folder)) {
            output->files[files++] = *file;
            continue;
        }
        if (file->stream)
            fclose(file->stream);
        unlinkat(output->stage.content, file->path, 0);
    }
    output->file_count = files;
    for (size_t i = 0; i < output->folder_count; i++)
        if (strncmp(output->folders[i], folder, length - 1) != 0 || output->folders[i][length - 1] != '\0')
            output->folders[folders++] = output->folders[i];
        else
            unlinkat(output->stage.content, output->folders[i], AT_REMOVEDIR);
    output->folder_count = folders;
    output_allow_interruptions(&before);
}
