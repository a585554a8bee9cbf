/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the whole way from a user's files to those of a run. The input is a folder (test/support/folder.h) with a
 * scenario s.yaml and whatever it names: a platform, profiles, a schedule, a model. `check`, `run` and `report` agree
 * on whether it is good; what is refused leaves no file; what runs has a finite time. */
#include "base/arena.h"
#include "commands/cli/command.h"
#include "job/scenario/scenario.h"
#include "test/fuzz/words.h"
#include "test/support/folder.h"
#include "test/support/shared_coverage.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_FUZZED = 32, BATCHES_MAX = 32, SIZE_MAX_READ = 1 << 14 };

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* A child that SimGrid ends is no finding; its parent hears of it. */
static void release_signals(void)
{
    static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXFSZ};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        signal(caught[i], SIG_DFL);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    pthread_atfork(NULL, NULL, release_signals);
    coverage_share();
    return 0;
}

/* Small enough to be simulated within a second; refused ones are, too. */
static bool is_small(const char *path)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct scenario_request request = {.file = "s.yaml"};
    const struct scenario *scenario = folder_has(path, "s.yaml") ? scenario_load(&request, arena, &silent) : NULL;
    bool small = !scenario || (scenario->mesh.ranks <= RANKS_FUZZED && scenario->micro_batches <= BATCHES_MAX &&
                               scenario->iterations <= 4 && scenario->platform.request.nodes <= RANKS_FUZZED);
    arena_destroy(arena);
    return small;
}

/* A message without its place. */
static const char *behind_place(const char *text)
{
    const char *mark = strstr(text, "error: ");
    return mark ? mark + strlen("error: ") : strncmp(text, "stagesim: ", 10) == 0 ? text + 10 : text;
}

static int call(const struct command *command, int count, char **arguments)
{
    streams_catch();
    int code = command->run(command, count, arguments);
    streams_release();
    if (code == EXIT_DONE)
        return code;
    if (code != EXIT_BAD_INPUT && code != EXIT_FAILED)
        give_up("an exit code that is none", streams_errors());
    const char *text = behind_place(streams_errors()), *failed = strstr(text, "the simulation failed: ");
    check_words(failed ? failed + strlen("the simulation failed: ") : text);
    return code;
}

static void check_time(const char *file)
{
    char text[8192];
    FILE *in = fopen(file, "rb");
    size_t size = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        fclose(in);
    text[size] = '\0';
    const char *key = strstr(text, "\"iteration_s\": ");
    double seconds = key ? strtod(key + strlen("\"iteration_s\": "), NULL) : NAN;
    if (!isfinite(seconds) || seconds < 0)
        give_up("no time in the summary", text);
}

static void go(const char *path)
{
    char *check[] = {"check", "s.yaml", NULL},
         *run[] = {"run", "s.yaml", "-o", "out", "--trace", "csv", "--quiet", NULL};
    char *report[] = {"report", "out", "--quiet", "--picture", "svg", NULL};
    unsigned long long before = folder_sum(path);
    int checked = call(&command_check, 2, check), ran = call(&command_run, 7, run);
    if ((checked == EXIT_BAD_INPUT) != (ran == EXIT_BAD_INPUT))
        give_up("check and run do not agree", streams_errors());
    if (ran != EXIT_DONE && folder_sum(path) != before)
        give_up("files were left", streams_errors());
    if (ran != EXIT_DONE)
        return;
    check_time("out/summary.json");
    if (call(&command_report, 5, report) != EXIT_DONE)
        give_up("what was written cannot be read back", streams_errors());
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char path[FOLDER_PATH];
    if (size > SIZE_MAX_READ)
        return -1;
    folder_fill(data, size, path);
    if (is_small(path))
        go(path);
    folder_remove(path);
    return 0;
}
