/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of unequal shape as options of Megatron-LM name them: as text, or in a file of their own. */
#include "frameworks/import/import.h"
#include "frameworks/import/parts.h"
#include "frameworks/models/unequal.h"

#include <string.h>

const char layers_config[] = "--heterogeneous-layers-config-path";
static const char layers_json[] = "--heterogeneous-layers-config-encoded-json";

static const struct document_kind text_kind = {NODE_MAP, DOCUMENT_BYTES_MAX, "a map with block_configs",
                                               "one text is one description"};

/* Layers of unequal shape: a list that is read when the model's other keys are known. */
void layers_note(struct import *import, const struct node *root, const char *what)
{
    const struct node *list = root ? node_get(root, "block_configs") : NULL;
    if (root && !list)
        diag_error(import->settings.diag, root->at, "this has no block_configs, as %s names them", what);
    if (list)
        import->blocks = list;
}

/* Options of Megatron-LM that name them: as text, or a file that may be given as well. */
void layers_read(struct import *import, const struct arguments *arguments)
{
    const struct argument *text = argument_find(arguments, layers_json + 2),
                          *path = argument_find(arguments, layers_config + 2);
    const char *json = text ? argument_text(arguments, layers_json + 2, "") : "";
    if (text && text->count && text->values[0].open)
        return; /* what is not known is said of every option alike */
    if (text)
        layers_note(import,
                    document_parse_kind(&text_kind, layers_json, json, strlen(json), import->settings.arena,
                                        import->settings.diag),
                    layers_json);
    else if (path) {
        import->blocks_named = true;
        import->blocks_at = path->at;
    }
}

/* What was noted of them, once all files are read. */
void layers_apply(struct import *import)
{
    struct settings *settings = &import->settings;
    if (import->blocks)
        unequal_read(import->blocks, import->blocks->at, source_given(import->blocks->at, "block_configs"), settings);
    else if (import->blocks_named && !settings_find(settings, "model.layer_ffn"))
        diag_error(settings->diag, import->blocks_at,
                   "layers have unequal shapes, and the file that %s names is not read%s%s; expected that file in the "
                   "command as well, or --set model.layer_ffn and model.layer_kv_heads",
                   layers_config, import->blocks_why ? ": " : "", import->blocks_why ? import->blocks_why : "");
}
