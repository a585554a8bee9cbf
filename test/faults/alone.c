/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: a system that makes no processes, as a browser is one. */
#include <errno.h>
#include <unistd.h>

pid_t fork(void)
{
    errno = ENOSYS;
    return -1;
}
