/* SPDX-License-Identifier: Apache-2.0 */
/* The bar of long runs, as a terminal gets it: nothing for short runs and where nobody watches, and it goes in the end.
 */
#include "simulator/engines/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* A terminal: what is written to `out` can be read from `screen`. */
static int open_terminal(FILE **out)
{
    int screen = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    cr_assert(screen >= 0 && grantpt(screen) == 0 && unlockpt(screen) == 0);
    int end = open(ptsname(screen), O_RDWR | O_NOCTTY);
    struct termios raw;
    tcgetattr(end, &raw);
    cfmakeraw(&raw);
    tcsetattr(end, TCSANOW, &raw);
    *out = fdopen(end, "w");
    return screen;
}

static const char *read_screen(int screen)
{
    static char text[1000];
    ssize_t length = read(screen, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

Test(progress, shows_a_bar_on_a_terminal_after_a_while)
{
    struct progress progress;
    FILE *out;
    int screen = open_terminal(&out);
    progress_init(&progress, out, "search");
    struct engine_progress hook = progress_hook(&progress);
    hook.report(hook.user, 1, 4);
    cr_assert_str_empty(read_screen(screen));
    nanosleep(&(struct timespec){0, 800000000}, NULL);
    hook.report(hook.user, 1, 4);
    const char *bar = read_screen(screen);
    cr_assert(strstr(bar, "search [########........................]  25 %"), "%s", bar);
    hook.report(hook.user, 2, 4); /* too soon after the last one */
    progress_finish(&progress);
    cr_assert_str_eq(read_screen(screen), "\r\033[K");
}

Test(progress, shows_what_the_caller_knows_of_the_rest)
{
    struct progress progress;
    FILE *out;
    int screen = open_terminal(&out);
    progress_init(&progress, out, "looking");
    struct engine_progress hook = progress_hook(&progress);
    nanosleep(&(struct timespec){0, 800000000}, NULL);
    progress_step(&progress, "timing");
    progress_left(&progress, 42, false);
    hook.report(hook.user, 1, 2);
    const char *bar = read_screen(screen);
    cr_assert(strstr(bar, "timing [") && strstr(bar, " 50 %  42 s left"), "%s", bar);
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    progress_behind(&progress, 8, true);
    hook.report(hook.user, 1, 2);
    bar = read_screen(screen);
    cr_assert(strstr(bar, " 50 %  at least 50 s left"), "%s", bar);
    progress_finish(&progress);
}

Test(progress, leaves_short_runs_and_files_alone)
{
    struct progress progress;
    FILE *out;
    int screen = open_terminal(&out);
    progress_init(&progress, out, "run");
    progress_finish(&progress);
    cr_assert_str_empty(read_screen(screen));
    FILE *file = tmpfile();
    progress_init(&progress, file, "run");
    struct engine_progress hook = progress_hook(&progress);
    nanosleep(&(struct timespec){0, 800000000}, NULL);
    hook.report(hook.user, 1, 2);
    progress_finish(&progress);
    cr_assert_eq(ftell(file), 0);
    progress_init(&progress, NULL, "run");
    hook.report(hook.user, 1, 2);
    progress_finish(&progress);
}
