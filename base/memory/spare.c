/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/spare.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define SPARE_BYTES_MAX ((size_t)64 << 20) /* of all together */
#define STAYING_BYTES ((size_t)8 << 20)    /* of them, when a mapping is new that could be one of them */
#define HUGE_PAGE ((size_t)2 << 20)
enum { MAPPINGS_MAX = 64, SIZES = 4 /* for each power of two */ };

static struct {
    struct mapping {
        void *memory;
        size_t size;
    } mappings[MAPPINGS_MAX]; /* the one that was kept first comes first */
    size_t count, bytes;
} spare;

static size_t round_up(size_t bytes, size_t step)
{
    return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

size_t spare_size(size_t bytes)
{
    size_t power = 1;
    while (power <= bytes / 2)
        power *= 2;
    size_t step = power / SIZES ? power / SIZES : 1;
    bool huge = bytes > HUGE_PAGE;
    return round_up(bytes, huge && (step < HUGE_PAGE || bytes > SPARE_BYTES_MAX) ? HUGE_PAGE : step);
}

static void *remove_at(size_t i)
{
    void *memory = spare.mappings[i].memory;
    spare.bytes -= spare.mappings[i].size;
    spare.count--;
    memmove(&spare.mappings[i], &spare.mappings[i + 1], (spare.count - i) * sizeof *spare.mappings);
    return memory;
}

static void drop_first(void)
{
    size_t size = spare.mappings[0].size;
    munmap(remove_at(0), size);
}

void *spare_take(size_t size)
{
    for (size_t i = spare.count; i-- > 0;) /* the last one may still be in caches */
        if (spare.mappings[i].size == size)
            return remove_at(i);
    size_t staying = size > SPARE_BYTES_MAX ? 0 : STAYING_BYTES;
    for (size_t dropped = 0; dropped < size && spare.bytes > staying;) {
        dropped += spare.mappings[0].size;
        drop_first();
    }
    return NULL;
}

bool spare_keep(void *memory, size_t size)
{
    if (size > SPARE_BYTES_MAX)
        return false;
    while (spare.count == MAPPINGS_MAX || spare.bytes + size > SPARE_BYTES_MAX)
        drop_first();
    spare.mappings[spare.count++] = (struct mapping){memory, size};
    spare.bytes += size;
    return true;
}

bool spare_release(void)
{
    bool some = spare.count > 0;
    while (spare.count)
        drop_first();
    return some;
}

size_t spare_bytes(void)
{
    return spare.bytes;
}
