/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/words.h"

#include <stdlib.h>
#include <string.h>

enum recorded_work words_work(const char *text, size_t size)
{
    static const struct {
        const char *name;
        enum recorded_work work;
    } words[] = {{"F", RECORDED_FORWARD},
                 {"B", RECORDED_BACKWARD},
                 {"W", RECORDED_WEIGHT},
                 {"optimizer", RECORDED_OPTIMIZER},
                 {"activation", RECORDED_ACTIVATION},
                 {"gradient", RECORDED_GRADIENT},
                 {"gradient-sync", RECORDED_GRADIENT_SYNC},
                 {"parameter-gather", RECORDED_PARAMETER_GATHER}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == size && !memcmp(words[i].name, text, size))
            return words[i].work;
    return RECORDED_OTHER;
}

bool words_stream(const char *text, size_t size, enum recorded_kind *kind)
{
    static const struct {
        const char *start;
        enum recorded_kind kind;
    } starts[] = {{"send:", RECORDED_SEND},       {"receive:", RECORDED_RECEIVE}, {"collective:", RECORDED_COLLECTIVE},
                  {"delay:", RECORDED_MEMORY},    {"to ", RECORDED_SEND},         {"from ", RECORDED_RECEIVE},
                  {"group ", RECORDED_COLLECTIVE}};
    if (size == strlen("compute") && !memcmp(text, "compute", size)) {
        *kind = RECORDED_COMPUTE;
        return true;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (size >= strlen(starts[i].start) && !memcmp(text, starts[i].start, strlen(starts[i].start))) {
            *kind = starts[i].kind;
            return true;
        }
    return false;
}

const char *words_pair(const char *text, uint16_t *stage, uint32_t *micro_batch)
{
    char *end;
    unsigned long first = strtoul(text, &end, 10);
    *stage = end > text && first < RECORDED_NO_STAGE ? (uint16_t)first : RECORDED_NO_STAGE;
    *micro_batch = RECORDED_NONE;
    if (*end == '.') {
        const char *digits = end + 1;
        unsigned long second = strtoul(digits, &end, 10);
        *micro_batch = end > digits && second < RECORDED_NONE ? (uint32_t)second : RECORDED_NONE;
    }
    return end + (*end == 'a' || *end == 'b');
}
