/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_reader.h"

double trace_reader_time(struct trace_reader *reader, const struct trace_event *event)
{
    if (!reader->has_origin) {
        reader->has_origin = true;
        reader->origin = event->micros;
    }
    return ((double)(event->micros - reader->origin) + event->fraction) * 1e-6;
}
