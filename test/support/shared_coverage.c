/* SPDX-License-Identifier: Apache-2.0 */
/* To be compiled without counters of its own, or the compiler gives the linker's names to others. */
#include "test/support/shared_coverage.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];

void coverage_share(void)
{
    enum { PAGE = 4096 };
    uint8_t *begin = __start___sancov_cntrs + (PAGE - (uintptr_t)__start___sancov_cntrs % PAGE) % PAGE;
    uint8_t *end = __stop___sancov_cntrs - (uintptr_t)__stop___sancov_cntrs % PAGE;
    if (end <= begin)
        return;
    size_t size = (size_t)(end - begin);
    uint8_t *kept = malloc(size);
    if (!kept)
        abort();
    memcpy(kept, begin, size);
    if (mmap(begin, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
    memcpy(begin, kept, size);
    free(kept);
}
