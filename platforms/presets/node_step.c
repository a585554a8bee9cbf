/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/node_step.h"

#include <string.h>

const char *const step_parts[] = {"switch", "socket", "port", NULL};

#define CABLE                                                                                                          \
    {                                                                                                                  \
        {"cable", STAGESIM_FIELD_TEXT, .required = true, .doc = "a name of those in cables"}, STEP_FIELD               \
    }

const struct step_key step_keys[STEPS][STEP_KEYS + 1] = {
    [STEP_ADD] = {{{"add", STAGESIM_FIELD_NAME, .required = true, .names = step_parts, .doc = "adds parts"},
                   STEP_FIELD},
                  {{"as", STAGESIM_FIELD_TEXT, .doc = "their name; default: their kind"}, STEP_FIELD},
                  {{"count", STAGESIM_FIELD_COUNT, .least = 1, .most = 1024, .doc = "how many; default 1"},
                   STEP_FIELD}},
    [STEP_JOIN] =
        {{{"join", STAGESIM_FIELD_TEXTS, .required = true, .doc = "cables between two: [device, nvswitch]"}, STEP_ENDS},
         CABLE,
         {{"times", STAGESIM_FIELD_COUNT, .least = 1, .most = 64, .doc = "cables side by side; default 1"}, STEP_FIELD},
         {{"exit", STAGESIM_FIELD_COUNTS, .doc = "devices leave the node by them; or each device's cable"}, STEP_EXITS},
         {{"exit_of", STAGESIM_FIELD_COUNTS, .doc = "the devices that leave by the cable"}, STEP_FIELD},
         {{"at", STAGESIM_FIELD_COUNTS, .doc = "the part of each device"}, STEP_FIELD}},
    [STEP_MESH] = {{{"mesh", STAGESIM_FIELD_COUNT, .required = true, .least = 2, .most = 1024,
                     .doc = "a cable between every two devices, within so many or all"},
                    STEP_ALL},
                   CABLE},
    [STEP_PAIRS] = {{{"pairs", STAGESIM_FIELD_COUNTS, .required = true, .doc = "cables between two devices"},
                     STEP_PAIR_LIST},
                    CABLE},
    [STEP_CHAIN] = {{{"chain", STAGESIM_FIELD_TEXT, .required = true,
                      .doc = "the newest part of the name with the "
                             "one before it"},
                     STEP_FIELD},
                    CABLE},
    [STEP_CLOSE] = {{{"close", STAGESIM_FIELD_TEXT, .required = true,
                      .doc = "the last part of the name with the "
                             "first one"},
                     STEP_FIELD},
                    CABLE},
    [STEP_EACH] = {{{"each", STAGESIM_FIELD_COUNT, .required = true, .least = 1, .most = 1024,
                     .doc = "the steps once for so many devices"},
                    STEP_FIELD},
                   {{"order", STAGESIM_FIELD_COUNTS, .doc = "which device is in which slot"}, STEP_FIELD},
                   {{"steps", STAGESIM_FIELD_TEXTS, .required = true, .doc = "steps for these devices"}, STEP_LIST}},
};

const struct stagesim_field *step_field(enum step step, const char *key)
{
    for (const struct step_key *each = step_keys[step]; each->field.key; each++)
        if (!strcmp(each->field.key, key))
            return &each->field;
    return NULL;
}
