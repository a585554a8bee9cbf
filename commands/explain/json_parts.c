/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/json_parts.h"

void explain_json_begin(struct json_writer *json, const char *const *files, size_t count,
                        const struct recorded *recorded)
{
    json_object_begin(json, NULL, true);
    json_array_begin(json, "traces", true);
    for (size_t i = 0; i < count; i++)
        json_text(json, NULL, files[i]);
    json_array_end(json);
    json_text(json, "format", recorded->format);
}

void explain_json_end(struct json_writer *json, const char *verdict, const struct recorded *recorded, FILE *out)
{
    json_text(json, "verdict", verdict);
    json_array_begin(json, "notes", true);
    for (size_t i = 0; i < recorded->note_count; i++)
        json_text(json, NULL, recorded->notes[i]);
    json_array_end(json);
    json_object_end(json);
    fputc('\n', out);
}
