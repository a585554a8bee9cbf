/* SPDX-License-Identifier: Apache-2.0 */
#include "training/failure_rates.h"

#include <string.h>

#define DAY 86400.0

/* ---- Llama 3 ---- */

/* Events in 54 days on 16,384 GPUs in 2,048 nodes. */
#define LLAMA_GPU(title, count)                                                                                        \
    {                                                                                                                  \
        .name = (title), .unit = UNIT_GPU, .every = 54 * DAY * 16384 / (count), .shape = 1, .effect = EFFECT_STOP,     \
        .slow = 1, .replace = true                                                                                     \
    }
#define LLAMA_NODE(title, count, replaced)                                                                             \
    {                                                                                                                  \
        .name = (title), .unit = UNIT_NODE, .every = 54 * DAY * 2048 / (count), .shape = 1, .effect = EFFECT_STOP,     \
        .slow = 1, .replace = (replaced)                                                                               \
    }

static const struct failure_component llama3[] = {
    LLAMA_GPU("faulty GPU", 148),
    LLAMA_GPU("GPU memory (HBM3)", 72),
    LLAMA_GPU("GPU SRAM", 19),
    LLAMA_GPU("GPU system processor", 17),
    LLAMA_GPU("GPU thermal interface and sensor", 6),
    LLAMA_GPU("silent data corruption", 6),
    LLAMA_NODE("software bug", 54, false),
    LLAMA_NODE("network switch or cable", 35, false),
    LLAMA_NODE("unplanned host maintenance", 32, true),
    LLAMA_NODE("network interface", 7, true),
    LLAMA_NODE("NCCL watchdog timeout", 7, false),
    LLAMA_NODE("SSD", 3, true),
    LLAMA_NODE("power supply", 3, true),
    LLAMA_NODE("server chassis", 2, true),
    LLAMA_NODE("IO expansion board", 2, true),
    LLAMA_NODE("dependency", 2, false),
    LLAMA_NODE("CPU", 2, true),
    LLAMA_NODE("system memory", 2, true),
    {.name = "planned maintenance",
     .unit = UNIT_NODE,
     .every = 54 * DAY * 2048 / 47,
     .shape = 1,
     .effect = EFFECT_PLANNED,
     .slow = 1,
     .replace = true},
};

/* ---- one rate for all ---- */

#define ALL(rate)                                                                                                      \
    {                                                                                                                  \
        {                                                                                                              \
            .name = "node", .unit = UNIT_NODE, .every = DAY / (rate), .shape = 1, .effect = EFFECT_STOP, .slow = 1,    \
            .replace = true                                                                                            \
        }                                                                                                              \
    }

static const struct failure_component rsc_1[] = ALL(6.50e-3), rsc_2[] = ALL(2.34e-3), opt[] = ALL(1.61e-2),
                                      bloom[] = ALL(3.0e-3), b200[] = ALL(2.9e-3);

#define TABLE(title, text, from, list)                                                                                 \
    &(const struct failure_rates)                                                                                      \
    {                                                                                                                  \
        title, text, from, list, sizeof(list) / sizeof *(list)                                                         \
    }

const struct failure_rates *const failure_rates_table[] = {
    TABLE("llama3", "54 days on 16,384 H100, by component; 47 planned stops beside them", "arXiv 2407.21783, table 5",
          llama3),
    TABLE("rsc-1", "Meta's research cluster of 16,000 A100", "arXiv 2410.21680", rsc_1),
    TABLE("rsc-2", "Meta's research cluster of 8,000 A100", "arXiv 2410.21680", rsc_2),
    TABLE("opt-175b", "992 A100; about two machines a day were lost", "metaseq, chronicles of OPT-175B", opt),
    TABLE("bloom", "384 A100 of Jean Zay, 118 days", "BigScience, chronicles of the 176B model", bloom),
    TABLE("b200-504", "55 days on 504 B200", "arXiv 2605.09370", b200),
    NULL,
};

const struct failure_rates *failure_rates_find(const char *name)
{
    for (const struct failure_rates *const *rates = failure_rates_table; *rates; rates++)
        if (!strcmp((*rates)->name, name))
            return *rates;
    return NULL;
}

double failure_rates_per_node_day(const struct failure_rates *rates)
{
    double sum = 0;
    for (size_t i = 0; i < rates->count; i++)
        sum += DAY / rates->components[i].every * (rates->components[i].unit == UNIT_GPU ? 8 : 1);
    return sum;
}
