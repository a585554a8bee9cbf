/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/mesh_platform.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *mesh_platform_write(uint32_t hosts, double latency_seconds, double bytes_per_second)
{
    char *name = strdup("/tmp/stagesim-mesh-XXXXXX");
    int descriptor = mkstemp(name);
    assert(descriptor >= 0);
    FILE *out = fdopen(descriptor, "w");
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\"><zone id=\"mesh\" routing=\"Full\">\n",
          out);
    for (uint32_t i = 0; i < hosts; i++)
        fprintf(out, "<host id=\"gpu-%u\" speed=\"1Gf\"/>\n", i);
    for (uint32_t i = 0; i < hosts; i++)
        for (uint32_t j = 0; j < hosts; j++)
            if (i != j)
                fprintf(out, "<link id=\"l-%u-%u\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n", i, j,
                        bytes_per_second, latency_seconds);
    for (uint32_t i = 0; i < hosts; i++)
        for (uint32_t j = 0; j < hosts; j++)
            if (i != j)
                fprintf(out,
                        "<route src=\"gpu-%u\" dst=\"gpu-%u\" symmetrical=\"NO\"><link_ctn id=\"l-%u-%u\"/></route>\n",
                        i, j, i, j);
    fputs("</zone></platform>\n", out);
    if (fclose(out))
        abort();
    return name;
}
