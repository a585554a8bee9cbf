/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/settings.h"

#include "base/diagnostics.h"
#include "base/quantity.h"

#include <string.h>

static const char *const switches[] = {"yes", "no", "true", "false", "1", "0", NULL};
static const char *const network_models[] = {"CM02", "LV08", "SMPI", "IB", NULL};
static const char *const optimizations[] = {"Lazy", "Full", NULL};
static const char *const solvers[] = {"maxmin", "fairbottleneck", "bmf", NULL};
static const char *const factories[] = {"thread", "raw", "boost", "ucontext", NULL};

const struct stagesim_field simgrid_settings[] = {
    {"network/model", STAGESIM_FIELD_NAME, .names = network_models,
     .doc = "how flows share links; stagesim's default is CM02; SimGrid has IB up to 3.33"},
    {"network/crosstraffic", STAGESIM_FIELD_NAME, .names = switches,
     .doc = "whether acknowledgements take a part of the bandwidth of the way back; default 0"},
    {"network/TCP-gamma", STAGESIM_FIELD_RATIO, .least = 0, .most = 1e12,
     .doc = "largest TCP window in bytes, 0: none; default 0"},
    {"network/bandwidth-factor", STAGESIM_FIELD_RATIO, .least = 1e-6, .most = 1e6,
     .doc = "factor on all bandwidths; default: that of the model"},
    {"network/latency-factor", STAGESIM_FIELD_RATIO, .least = 0, .most = 1e6,
     .doc = "factor on the latencies of transfers, and on that of the first step of a collective; default: that of the "
            "model"},
    {"network/weight-S", STAGESIM_FIELD_RATIO, .least = 0, .most = 1e12,
     .doc = "weight of a flow's bandwidths in its share of a link; default: that of the model"},
    {"network/loopback-lat", STAGESIM_FIELD_RATIO, .least = 0, .most = 1e3,
     .doc = "latency of a rank to itself, in seconds; default 0"},
    {"network/loopback-bw", STAGESIM_FIELD_RATIO, .least = 1, .most = 1e18,
     .doc = "bandwidth of a rank to itself, in bytes per second"},
    {"network/optim", STAGESIM_FIELD_NAME, .names = optimizations,
     .doc = "which flows an event updates: Lazy, those that it concerns; Full, all; default Lazy"},
    {"network/solver", STAGESIM_FIELD_NAME, .names = solvers, .doc = "the solver for shares of links; default maxmin"},
    {"cpu/optim", STAGESIM_FIELD_NAME, .names = optimizations,
     .doc = "which computations an event updates: Lazy, those that it concerns; Full, all; default Lazy"},
    {"surf/precision", STAGESIM_FIELD_RATIO, .least = 1e-18, .most = 1e-3,
     .doc = "events that are less than so many seconds apart are one; default: 2.3e-13 of the time without contention"},
    {"maxmin/precision", STAGESIM_FIELD_RATIO, .least = 1e-18, .most = 1e-3,
     .doc = "relative precision of the solver; default 1e-5"},
    {"maxmin/concurrency-limit", STAGESIM_FIELD_COUNT, .least = 1, .most = 1e6,
     .doc = "most flows that run on one link at once; default: no limit"},
    {"contexts/factory", STAGESIM_FIELD_NAME, .names = factories, .doc = "how actors are run"},
    {"contexts/stack-size", STAGESIM_FIELD_COUNT, .least = 16, .most = 8192,
     .doc = "an actor's stack in KiB; default 64"},
    {0},
};

enum { SETTINGS = sizeof simgrid_settings / sizeof *simgrid_settings - 1 };

static const struct stagesim_field *find_setting(const char *key, struct fault *fault)
{
    const char *keys[SETTINGS];
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(simgrid_settings[i].key, key) == 0)
            return &simgrid_settings[i];
        keys[i] = simgrid_settings[i].key;
    }
    const char *nearest = diag_nearest(key, keys, SETTINGS);
    fault_set(fault,
              "'%.100s' is no setting of SimGrid that can be changed%s%s%s; doc/scenario.md lists those under simgrid",
              key, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

static bool check_word(const struct stagesim_field *setting, const char *value, struct fault *fault)
{
    char known[256] = "";
    for (const char *const *name = setting->names; *name; name++) {
        if (strcmp(*name, value) == 0)
            return true;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", *name);
    }
    return fault_set(fault, "%s: '%.100s' is none of %s", setting->key, value, known);
}

static bool check_number(const struct stagesim_field *setting, const char *value, struct fault *fault)
{
    struct quantity_reason reason;
    double number = 0;
    uint64_t count = 0;
    bool whole = setting->type == STAGESIM_FIELD_COUNT;
    if (whole ? !quantity_count(value, &count, &reason) : !quantity_parse(QUANTITY_RATIO, value, &number, &reason))
        return fault_set(fault, "%s: %s", setting->key, reason.text);
    if (whole)
        number = (double)count;
    return (number >= setting->least && number <= setting->most) ||
           fault_set(fault, "%s: %.100s is out of range: %g to %g", setting->key, value, setting->least, setting->most);
}

bool setting_check(const char *key, const char *value, struct fault *fault)
{
    const struct stagesim_field *setting = find_setting(key, fault);
    if (!setting)
        return false;
    return setting->type == STAGESIM_FIELD_NAME ? check_word(setting, value, fault)
                                                : check_number(setting, value, fault);
}
