/* SPDX-License-Identifier: Apache-2.0 */
/* The C library of WebAssembly is not glibc. */
#ifndef ABSENT_LIBC_VERSION_H
#define ABSENT_LIBC_VERSION_H

static inline const char *gnu_get_libc_version(void)
{
    return 0;
}

#endif
