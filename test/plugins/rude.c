/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that misbehaves: at its loading as $RUDE says, later as the scenario says. Each loading appends a byte to
 * the file $RUDE_MARK. */
#include "abi/workload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MANNERS_GOOD,
    MANNERS_SILENT,
    MANNERS_SILENT_CHECK,
    MANNERS_EXIT,
    MANNERS_CRASH,
    MANNERS_SHAPE,
    MANNERS_LOOP,
    MANNERS_SLOW,
    MANNERS_CLOSE,
    MANNERS_CLOSE_SHAPE,
    MANNERS_LOOP_SHAPE
};
static const char *const manners[] = {"good", "silent", "silent-check", "exit",        "crash",      "shape",
                                      "loop", "slow",   "close",        "close-shape", "loop-shape", NULL};

struct parameters {
    unsigned manners;
};

static const struct stagesim_field fields[] = {
    {"manners", STAGESIM_FIELD_NAME, offsetof(struct parameters, manners), .names = manners, .doc = "what it does"},
    {0},
};

static void crash(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void close_all(void)
{
    for (int descriptor = 0; descriptor < 1024; descriptor++)
        close(descriptor);
}

__attribute__((constructor)) static void on_loading(void)
{
    const char *rude = getenv("RUDE"), *mark = getenv("RUDE_MARK");
    int descriptor = mark ? open(mark, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (descriptor >= 0 && write(descriptor, "x", 1) == 1)
        close(descriptor);
    if (rude && strcmp(rude, "crash") == 0)
        crash();
    if (rude && strcmp(rude, "exit") == 0)
        exit(0);
    while (rude && strcmp(rude, "loop") == 0)
        usleep(1000);
}

static void shape(const void *parameters, struct stagesim_shape *mesh)
{
    (void)mesh;
    unsigned how = ((const struct parameters *)parameters)->manners;
    if (how == MANNERS_SHAPE)
        crash();
    while (how == MANNERS_LOOP_SHAPE)
        usleep(1000);
    if (how == MANNERS_CLOSE_SHAPE)
        close_all();
}

static bool check(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    (void)job, (void)api;
    return ((const struct parameters *)parameters)->manners != MANNERS_SILENT_CHECK;
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    unsigned how = ((const struct parameters *)parameters)->manners;
    if (how == MANNERS_EXIT)
        exit(0);
    if (how == MANNERS_CRASH)
        crash();
    while (how == MANNERS_LOOP)
        usleep(1000);
    if (how == MANNERS_CLOSE)
        close_all();
    uint32_t cost = api->cost(job, &(struct stagesim_cost){.seconds = 1});
    api->compute(job, 0, (struct stagesim_identity){.kind = STAGESIM_FORWARD, .layer = STAGESIM_NONE}, cost);
    for (unsigned step = 0; how == MANNERS_SLOW && step < 12; step++) { /* but it goes on */
        usleep(100000);
        api->compute(job, 0, (struct stagesim_identity){.kind = STAGESIM_FORWARD, .layer = STAGESIM_NONE}, cost);
    }
    return how != MANNERS_SILENT;
}

extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;
const struct stagesim_workload stagesim_workload_plugin = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof(struct stagesim_workload),
    .name = "rude",
    .summary = "misbehaves",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .check = check,
    .build = build,
    .shape = shape,
};
