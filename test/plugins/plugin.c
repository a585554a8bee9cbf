/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins for the loader's tests, one for each way to be refused; the build chooses with FAULT. */
#include "abi/workload.h"

#define FAULT_NONE 0
#define FAULT_ABI 1
#define FAULT_SIZE 2
#define FAULT_FIELD 3
#define FAULT_NAME 4
#define FAULT_BUILD 5
#define FAULT_OWN_SECTION 6
#define FAULT_COLUMN 7

struct parameters {
    uint64_t layers, hidden;
    double seconds;
    bool overlap;
    const char *profile;
};

static const struct parameters defaults = {.layers = 3, .hidden = 5, .seconds = 7};

#if FAULT == FAULT_COLUMN
static const struct stagesim_field columns[] = {{"beyond", STAGESIM_FIELD_TIME, 4}, {0}};
static const struct stagesim_row_type row = {.what = "a row", .fields = columns, .size = 8};
#endif

static const struct stagesim_field fields[] = {
    {"seconds", STAGESIM_FIELD_TIME, offsetof(struct parameters, seconds), .doc = "some time"},
    {"model.layers", STAGESIM_FIELD_COUNT, offsetof(struct parameters, layers), .required = true, .least = 1,
     .most = 1000},
    {"model.hidden", STAGESIM_FIELD_COUNT, offsetof(struct parameters, hidden)},
    {"communication.overlap", STAGESIM_FIELD_FLAG, offsetof(struct parameters, overlap)},
    {"model.profile", STAGESIM_FIELD_PATH, offsetof(struct parameters, profile)},
#if FAULT == FAULT_FIELD
    {"beyond", STAGESIM_FIELD_TIME, sizeof(struct parameters) - 4},
#elif FAULT == FAULT_COLUMN
    {"table", STAGESIM_FIELD_ROWS, 0, .rows = &row},
#elif FAULT == FAULT_OWN_SECTION
    {"batch.size", STAGESIM_FIELD_COUNT, offsetof(struct parameters, hidden)},
#endif
    {0},
};

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    (void)parameters;
    api->error(job, NULL, "this workload builds nothing");
    return false;
}

extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;
const struct stagesim_workload stagesim_workload_plugin = {
    .abi = STAGESIM_WORKLOAD_ABI + (FAULT == FAULT_ABI ? 7 : 0),
    .size = sizeof(struct stagesim_workload) + (FAULT == FAULT_SIZE ? 8 : 0),
    .name = FAULT == FAULT_NAME ? "No Word" : "sections",
    .summary = "reads several sections",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .defaults = &defaults,
    .build = FAULT == FAULT_BUILD ? NULL : build,
};
