/* SPDX-License-Identifier: Apache-2.0 */
#include "base/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool standard_streams_open(void)
{
    signal(SIGPIPE, SIG_IGN);
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) != descriptor)
            return false;
    return true;
}

/* The end of a pipe that is written to is in an error state when nobody can read the other. */
bool standard_output_is_unread(void)
{
    struct pollfd state = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&state, 1, 0) == 1 && state.revents & (POLLERR | POLLHUP);
}

bool standard_output_finish(struct fault *fault)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
        return true;
    int reason = errno;
    return standard_output_is_unread() ||
           fault_set(fault, "standard output: %s", reason ? strerror(reason) : "not all could be written");
}
