/* SPDX-License-Identifier: Apache-2.0 */
#include "test/mutation/mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int mutant_active = -1;
unsigned char *mutant_reached;

__attribute__((constructor)) static void begin(void)
{
    const char *active = getenv("MUTANT"), *reached = getenv("MUTANT_REACHED");
    struct stat status;
    int file = reached ? open(reached, O_RDWR | O_CLOEXEC) : -1;
    if (active)
        mutant_active = atoi(active);
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        mutant_reached = map == MAP_FAILED ? NULL : map;
    }
    close(file);
}
