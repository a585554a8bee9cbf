/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes `stagesim report DIR` as a whole. The input is a folder (test/support/folder.h) as `run -o` or `compare -o`
 * leaves it. Either its pictures and report are written, or it is refused with a message and stays as it was. */
#include "commands/cli/command.h"
#include "test/fuzz/words.h"
#include "test/support/folder.h"

#include <string.h>

enum { SIZE_MAX_READ = 1 << 16 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void judge(int code, bool changed, const char *path)
{
    const char *errors = streams_errors();
    bool drawn = folder_has(path, "report.html");
    if (code == EXIT_DONE && (!drawn || *errors))
        give_up(drawn ? "done, with a message" : "done without a report", errors);
    if (code == EXIT_BAD_INPUT && (changed || !*errors))
        give_up(changed ? "refused, yet something was written" : "refused without a word", errors);
    if (code != EXIT_DONE && code != EXIT_BAD_INPUT)
        give_up("neither done nor refused", errors);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char path[FOLDER_PATH], *arguments[] = {"report", path, "--quiet", "--picture", "svg", NULL};
    if (size > SIZE_MAX_READ)
        return -1;
    folder_fill(data, size, path);
    unsigned long long before = folder_sum(path);
    streams_catch();
    int code = command_report.run(&command_report, 5, arguments);
    streams_release();
    judge(code, folder_sum(path) != before, path);
    folder_remove(path);
    return 0;
}
