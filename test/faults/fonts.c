/* SPDX-License-Identifier: Apache-2.0 */
/* fonts.so, put before a program by LD_PRELOAD: fontconfig does not come back, as where it finds no memory. */
#include <unistd.h>

__attribute__((visibility("default"))) int FcConfigSubstitute(void *config, void *pattern, int kind);

int FcConfigSubstitute(void *config, void *pattern, int kind)
{
    (void)config, (void)pattern, (void)kind;
    for (;;)
        pause();
}
