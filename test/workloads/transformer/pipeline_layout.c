/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines `WORKERS TEXT` and writes for each one what the stages hold and the normal form, or why it is refused:
 * pipeline_layout.py compares this with a reader of its own. */
#include "workloads/transformer/pipeline_layout.h"

#include "base/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print(const struct pipeline_layout *layout)
{
    char *text = pipeline_layout_text(layout);
    printf("ok %s", text);
    for (uint32_t stage = 0; stage < layout->stages; stage++)
        printf(" %u", layout->counts[stage]);
    printf(" E%u L%u", layout->embedding, layout->loss);
    if (layout->prediction_layers)
        printf(" m%u*%u", layout->prediction, layout->prediction_layers);
    putchar('\n');
    free(text);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        struct fault fault = {""};
        struct pipeline_layout layout;
        char *text;
        uint32_t workers = (uint32_t)strtoul(line, &text, 10);
        text[strcspn(text, "\n")] = '\0';
        if (pipeline_layout_read(text + 1, workers, &layout, &fault)) {
            print(&layout);
            pipeline_layout_finish(&layout);
        } else {
            printf("refused %s\n", fault.text);
        }
    }
    free(line);
    return 0;
}
