/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/rules.h"

const struct schedule *const schedule_rules[] = {SCHEDULE_RULES NULL};
