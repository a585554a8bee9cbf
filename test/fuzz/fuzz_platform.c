/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes platform files with settings and profiles: the text goes through what looks at it before SimGrid does, and
 * through our own reader. What passes is loaded by SimGrid in a process of its own; that must end within seconds, by a
 * platform whose numbers are sound or by a message that says something. */
#include "base/arena.h"
#include "base/isolate.h"
#include "platforms/network/network_read.h"
#include "platforms/platform_file.h"
#include "platforms/soundness.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/fuzz/words.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { SECONDS = 10, HOSTS_MAX = 2000 };

static int load(void *user, struct isolated *self)
{
    static const int defaults[] = {SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    alarm(SECONDS);
    struct fault fault = {""};
    struct arena *arena = arena_create();
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(user, arena, &fault) : NULL;
    for (uint32_t i = 0; platform && i < platform->host_count && i < 8; i++) {
        struct platform_route route;
        platform->route(platform, 0, i, &route);
        if (!(route.latency >= 0) || !(route.bandwidth > 0))
            fault_set(&fault, "nonsense in a route");
    }
    fputs(platform ? "" : fault.text, self->results);
    arena_destroy(arena);
    return platform ? 0 : 1;
}

static void load_apart(char *name)
{
    struct fault fault = {""};
    FILE *results = NULL;
    int stage = 0, code = isolate(load, name, &results, &stage, &fault);
    char text[sizeof fault.text] = "";
    if (code > 0)
        text[fread(text, 1, sizeof text - 1, results)] = '\0';
    else if (code < 0)
        memcpy(text, fault.text, sizeof text);
    if (code)
        check_words(text);
    if (results)
        fclose(results);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char name[64];
    const char *why = NULL;
    struct fault fault = {""};
    struct arena *arena = arena_create();
    struct platform_file facts;
    int descriptor = memfd_create("platform", 0);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    bool sound = platform_file_check(name, &facts, arena, &fault);
    if (sound == (fault.text[0] != '\0'))
        give_up("verdict and message differ", fault.text);
    struct platform *own = network_read_file(name, arena, &why);
    if (own && facts.setting_count)
        give_up("our own reader passes over settings", facts.settings[0]);
    if (sound && facts.hosts <= HOSTS_MAX)
        load_apart(name);
    close(descriptor);
    arena_destroy(arena);
    return 0;
}
