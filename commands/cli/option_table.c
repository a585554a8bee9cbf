/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/option_table.h"

#include <stddef.h>

const struct option option_table[] = {
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"set", required_argument, NULL, OPTION_SET},
    {"x", required_argument, NULL, OPTION_X},
    {"y", required_argument, NULL, OPTION_Y},
    {"by", required_argument, NULL, OPTION_BY},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"quantiles", no_argument, NULL, OPTION_QUANTILES},
    {"scale", required_argument, NULL, OPTION_SCALE},
    {"what-if", required_argument, NULL, OPTION_WHAT_IF},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"picture", required_argument, NULL, OPTION_PICTURE},
    {"picture-width", required_argument, NULL, OPTION_PICTURE_WIDTH},
    {"font-size", required_argument, NULL, OPTION_FONT_SIZE},
    {"iterations", required_argument, NULL, OPTION_ITERATIONS},
    {"report", no_argument, NULL, OPTION_REPORT},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"plugins", no_argument, NULL, OPTION_PLUGINS},
    {"schedule", required_argument, NULL, OPTION_SCHEDULE},
    {"schedules", required_argument, NULL, OPTION_SCHEDULES},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"method", required_argument, NULL, OPTION_METHOD},
    {"gpus", required_argument, NULL, OPTION_GPUS},
    {"top", required_argument, NULL, OPTION_TOP},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"exhaustive", no_argument, NULL, OPTION_EXHAUSTIVE},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"merge", no_argument, NULL, OPTION_MERGE},
    {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT},
    {"budget", required_argument, NULL, OPTION_BUDGET},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"restarts", required_argument, NULL, OPTION_RESTARTS},
    {"temperature", required_argument, NULL, OPTION_TEMPERATURE},
    {"links", required_argument, NULL, OPTION_LINKS},
    {"shard", required_argument, NULL, OPTION_SHARD},
    {"slurm", optional_argument, NULL, OPTION_SLURM},
    {"calibrate", required_argument, NULL, OPTION_CALIBRATE},
    {"symmetric", no_argument, NULL, OPTION_SYMMETRIC},
    {"tokens", required_argument, NULL, OPTION_TOKENS},
    {"below", required_argument, NULL, OPTION_BELOW},
    {"carbon", required_argument, NULL, OPTION_CARBON},
    {"prices", required_argument, NULL, OPTION_PRICES},
    {"clusters", required_argument, NULL, OPTION_CLUSTERS},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

const char *option_needs(int option)
{
    switch (option) {
    case 'o':
        return "ow";
    case OPTION_PICTURE:
    case OPTION_PICTURE_WIDTH:
    case OPTION_FONT_SIZE:
        return "o";
    case OPTION_TRACE:
    case OPTION_REPORT:
    case OPTION_ITERATIONS:
        return "t";
    case OPTION_METHOD:
        return "l";
    case OPTION_CALIBRATE:
    case OPTION_SYMMETRIC:
        return "c";
    case OPTION_TOP:
        return "k";
    case OPTION_GPUS:
        return "g";
    case OPTION_JOBS:
        return "gj";
    case OPTION_TIME_LIMIT:
        return "xd";
    case OPTION_BUDGET:
    case OPTION_SEED:
    case OPTION_RESTARTS:
    case OPTION_TEMPERATURE:
    case OPTION_LINKS:
        return "m";
    case OPTION_EXHAUSTIVE:
    case OPTION_RESUME:
    case OPTION_MERGE:
    case OPTION_SHARD:
    case OPTION_SLURM:
        return "x";
    case OPTION_SORT:
        return "r";
    case OPTION_QUANTILES:
        return "q";
    case OPTION_X:
    case OPTION_Y:
        return "p";
    case OPTION_BY:
        return "pb";
    case OPTION_TOKENS:
    case OPTION_BELOW:
    case OPTION_CARBON:
    case OPTION_PRICES:
    case OPTION_CLUSTERS:
        return "b";
    case OPTION_SCHEDULES:
    case OPTION_WHAT_IF:
        return "s";
    case OPTION_FORMAT:
        return "f";
    default:
        return "";
    }
}
