/* SPDX-License-Identifier: Apache-2.0 */
/* Towers of images and of sound beside a language model. What no file says is in transformers' modeling code of each
 * kind: qwen2_audio, voxtral, qwen2_5_omni, qwen3_omni_moe, qwen3_vl. */
#include "frameworks/models/huggingface_parts.h"

#include "base/arena.h"

#include <string.h>

/* Goes into the map of a tower, which counts as read. */
static const struct node *enter(struct config *c, const char *key)
{
    const struct node *text = c->root;
    c->root = c->top;
    config_enter(c, key);
    if (c->root != c->top)
        return c->root;
    c->root = text;
    return NULL;
}

/* What a tower makes is as wide as the language model. */
static void check_width(struct config *c, const char *key)
{
    uint64_t hidden = settings_count(c->settings, "model.hidden", 0), width = config_count(c, key, hidden);
    if (width != hidden)
        settings_remark(c->settings, REMARK_PARTIAL, config_get(c, key)->key_at, key,
                        "its tokens are taken to be as wide as the language model, %llu", (unsigned long long)hidden);
}

/* ---- images: Qwen3-VL, Qwen3.5, Qwen3-Omni ---- */

const struct node *config_read_qwen_tower(struct config *c)
{
    const struct node *text = c->root, *vision = node_get(c->top, "vision_config");
    if (!vision || vision->kind != NODE_MAP || !node_given(node_get(vision, "depth")))
        return NULL;
    enter(c, "vision_config");
    config_put_count(c, "model.tower_layers", "depth", 0, true);
    config_put_count(c, "model.tower_hidden", "hidden_size", 0, true);
    config_put_count(c, "model.tower_heads", "num_heads", 0, true);
    config_put_count(c, "model.tower_ffn", "intermediate_size", 0, true);
    config_put_count(c, "model.tower_positions", "num_position_embeddings", 0, false);
    uint64_t patch = config_positive(c, "patch_size", 16), merge = config_positive(c, "spatial_merge_size", 2);
    uint64_t frames = config_positive(c, "temporal_patch_size", 2), channels = config_positive(c, "in_channels", 3);
    check_width(c, "out_hidden_size");
    const struct node *deep = config_get(c, "deepstack_visual_indexes");
    c->root = text;
    settings_put_count(c->settings, "model.tower_inputs",
                       settings_product(settings_product(channels, frames), settings_product(patch, patch)),
                       config_given(vision));
    settings_put_count(c->settings, "model.tower_merge", settings_product(merge, merge), config_given(vision));
    settings_put_count(c->settings, "model.tower_mergers", 1 + (deep && deep->kind == NODE_LIST ? deep->count : 0),
                       config_given(vision));
    settings_remark(
        c->settings, REMARK_CHOICE, vision->key_at, "vision_config",
        "no file has the images of a sample: --set model.tower_images=1 --set model.tower_patches=1024 runs "
        "the tower, which otherwise has its weights alone");
    return vision;
}

/* ---- sound ---- */

/* Frames as a time, a hundred in a second. */
static void put_clip(struct config *c, uint64_t frames, struct source from)
{
    settings_put(c->settings, "model.audio_clip",
                 arena_print(c->settings->arena, "%llums", (unsigned long long)settings_product(frames, 10)), from);
}

/* Whisper's encoder over 30 seconds, or two frames for each of its positions: whole clips alone. */
static void read_whisper(struct config *c, const struct node *audio)
{
    uint64_t positions = config_put_count(c, "model.audio_positions", "max_source_positions", 1500, true);
    put_clip(c, settings_product(2, positions), config_given(audio));
    settings_put(c->settings, "model.audio_padded", "true", config_given(audio));
    settings_put(c->settings, "model.audio_key_biases", "false", config_given(audio));
}

/* Of which the mean of each two positions is projected. */
static void read_qwen2_audio(struct config *c, const struct node *audio)
{
    read_whisper(c, audio);
    settings_put(c->settings, "model.audio_pool", "2", config_given(audio));
}

/* The same, of which as many positions as fill its inner width become one token. */
static void read_voxtral(struct config *c, const struct node *audio)
{
    uint64_t hidden = settings_count(c->settings, "model.audio_hidden", 1),
             inner = settings_count(c->settings, "model.audio_ffn", 0);
    read_whisper(c, audio);
    config_find(c, "head_dim num_key_value_heads vocab_size"); /* of a decoder, which it has not */
    if (hidden && inner % hidden == 0 && inner)
        settings_put_count(c->settings, "model.audio_merge", inner / hidden, config_given(audio));
    else
        diag_error(c->settings->diag, audio->at,
                   "intermediate_size %llu is no multiple of hidden_size %llu, as Voxtral's projector has it",
                   (unsigned long long)inner, (unsigned long long)hidden);
    settings_put_count(c->settings, "model.audio_projector", settings_count(c->settings, "model.hidden", 0),
                       config_given(audio));
    settings_put(c->settings, "model.audio_projector_biases", "false", config_given(audio));
}

/* Positions attend to each other in windows of 2 n_window frames, and two vectors mark begin and end. */
static void read_qwen25_omni(struct config *c, const struct node *audio)
{
    config_find(c, "max_source_positions");
    check_width(c, "output_dim");
    put_clip(c, settings_product(2, config_positive(c, "n_window", 100)), config_given(audio));
    settings_put(c->settings, "model.audio_key_biases", "false", config_given(audio));
    settings_put(c->settings, "model.audio_pool", "2", config_given(audio));
    settings_put(c->settings, "model.audio_vectors", "2", config_given(audio));
}

/* Three convolutions over frames and bins, of 2 n_window frames at a time; windows of n_window_infer frames. */
static void read_qwen3_omni(struct config *c, const struct node *audio)
{
    config_find(c, "max_source_positions");
    check_width(c, "output_dim");
    uint64_t chunk = settings_product(2, config_positive(c, "n_window", 50));
    settings_put_count(c->settings, "model.audio_chunk", chunk, config_given(audio));
    put_clip(c, config_positive(c, "n_window_infer", 800), config_given(audio));
    settings_put(c->settings, "model.audio_strides", "[2, 2, 2]", config_given(audio));
    config_put_count(c, "model.audio_channels", "downsample_hidden_size", 480, true);
    settings_put_count(c->settings, "model.audio_projector", settings_count(c->settings, "model.audio_hidden", 0),
                       config_given(audio));
}

/* Encoders whose code is known. */
static const struct encoder {
    const char *type; /* model_type of audio_config */
    void (*read)(struct config *config, const struct node *audio);
} encoders[] = {
    {"qwen2_5_omni_audio_encoder", read_qwen25_omni},
    {"qwen2_audio_encoder", read_qwen2_audio},
    {"qwen3_omni_moe_audio_encoder", read_qwen3_omni},
    {"voxtral_encoder", read_voxtral},
};

static const struct encoder *find_encoder(const struct node *type)
{
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (type && type->kind == NODE_SCALAR && !strcmp(type->text, encoders[i].type))
            return &encoders[i];
    return NULL;
}

/* An encoder that nobody has described is left out, and said to be. */
static void leave_out(struct config *c, const struct node *audio, const struct node *type)
{
    bool scalar = type && type->kind == NODE_SCALAR;
    bool conforms = node_get(audio, "conv_kernel_size") || node_get(audio, "conf_conv_kernel_size") ||
                    node_get(audio, "convolution_module") || node_get(audio, "conv_depthwise_kernel_size");
    settings_remark(c->settings, REMARK_PARTIAL, audio->key_at, "audio_config",
                    "the tower %s%s is left out: %s; keys audio_* describe one by hand (doc/layer-kinds.md)",
                    scalar ? "of model_type " : "without a model_type", scalar ? type->text : "",
                    conforms ? "its layers have convolutions (conformers), a kind that stagesim lacks"
                             : "its layers are not known");
}

const struct node *config_read_audio_tower(struct config *c)
{
    const struct node *text = c->root, *audio = enter(c, "audio_config");
    const struct node *type = audio ? node_get(audio, "model_type") : NULL;
    const struct encoder *encoder = find_encoder(type);
    const struct node *other = node_get(c->top, "audio_config");
    if (!audio && node_given(other))
        diag_error(c->settings->diag, other->at, "audio_config is %s; expected a map that describes a tower of sound",
                   node_describe(other, c->settings->arena));
    if (audio && !encoder)
        leave_out(c, audio, type);
    if (encoder) {
        config_put_count(c, "model.audio_layers", "encoder_layers num_hidden_layers", 32, true);
        config_put_count(c, "model.audio_hidden", "d_model hidden_size", 1280, true);
        config_put_count(c, "model.audio_heads", "encoder_attention_heads num_attention_heads", 20, true);
        config_put_count(c, "model.audio_ffn", "encoder_ffn_dim intermediate_size", 5120, true);
        config_put_count(c, "model.audio_inputs", "num_mel_bins", 128, true);
        encoder->read(c, audio);
        settings_remark(c->settings, REMARK_CHOICE, audio->key_at, "audio_config",
                        "no file has the sound of a sample: --set model.audio_length=30s runs the tower, which "
                        "otherwise has its weights alone");
    }
    c->root = text;
    return encoder ? audio : NULL;
}
