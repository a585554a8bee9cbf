/* SPDX-License-Identifier: Apache-2.0 */
/* What files of a run people ask for by name: bits that a scenario, the command line and the writers share. */
#ifndef STAGESIM_OUTPUT_FORMATS_H
#define STAGESIM_OUTPUT_FORMATS_H

enum trace_bit {
    TRACE_PAJE = 1,
    TRACE_CHROME = 2,
    TRACE_CSV = 4,
    TRACE_PERFETTO = 8,
    TRACE_CHROME_GZIP = 16,
    TRACE_CHAKRA = 32,
    TRACE_GOAL = 64
};
enum picture_bit { PICTURE_SVG = 1, PICTURE_PNG = 2, PICTURE_PDF = 4 };

#endif
