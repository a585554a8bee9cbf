/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/stream_reason.h"

#include <errno.h>

int stream_reason(FILE *stream)
{
    if (!errno) {
        clearerr(stream);
        fputc(' ', stream);
        fflush(stream);
    }
    return errno ? errno : EIO;
}
