/* SPDX-License-Identifier: Apache-2.0 */
/* Towers of images and of sound beside a language model. What no file says is in transformers' modeling code of each
 * kind: qwen2_audio, voxtral, qwen2_5_omni, qwen3_omni_moe, qwen3_vl, qwen2_5_vl, clip, siglip, llava, gemma3. */
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

/* ---- images: Qwen ---- */

static void put_inputs(struct config *c, const char *channels, uint64_t patch, uint64_t frames, struct source from)
{
    uint64_t inputs = settings_product(config_positive(c, channels, 3), settings_product(patch, patch));
    settings_put_count(c->settings, "model.tower_inputs", settings_product(inputs, frames), from);
}

/* Patches of `frames` images that follow each other, of which some together make a token. */
static void put_qwen_patches(struct config *c, uint64_t patch, const struct node *vision)
{
    uint64_t merge = config_positive(c, "spatial_merge_size", 2), frames = config_positive(c, "temporal_patch_size", 2);
    put_inputs(c, "in_channels in_chans", patch, frames, config_given(vision));
    settings_put_count(c->settings, "model.tower_merge", settings_product(merge, merge), config_given(vision));
    check_width(c, "out_hidden_size");
}

static void put_qwen_shape(struct config *c)
{
    config_put_count(c, "model.tower_layers", "depth", 0, true);
    config_put_count(c, "model.tower_hidden", "hidden_size", 0, true);
    config_put_count(c, "model.tower_heads", "num_heads", 0, true);
    config_put_count(c, "model.tower_ffn", "intermediate_size", 0, true);
}

static void read_qwen3_tower(struct config *c, const struct node *vision)
{
    put_qwen_shape(c);
    config_put_count(c, "model.tower_positions", "num_position_embeddings", 0, false);
    put_qwen_patches(c, config_positive(c, "patch_size", 16), vision);
    const struct node *deep = config_get(c, "deepstack_visual_indexes");
    settings_put_count(c->settings, "model.tower_mergers", 1 + (deep && deep->kind == NODE_LIST ? deep->count : 0),
                       config_given(vision));
}

/* Gated blocks, normalisations without biases; most layers attend within windows of patches. */
static void read_qwen25_tower(struct config *c, const struct node *vision)
{
    const struct node *window = config_get(c, "window_size");
    put_qwen_shape(c);
    put_qwen_patches(c, config_positive(c, "patch_size spatial_patch_size", 14), vision);
    settings_put(c->settings, "model.tower_gated", "true", config_given(vision));
    settings_put(c->settings, "model.tower_rms", "true", config_given(vision));
    settings_put(c->settings, "model.tower_input_biases", "false", config_given(vision));
    config_find(c, "fullatt_block_indexes tokens_per_second");
    settings_remark(c->settings, REMARK_PARTIAL, window ? window->key_at : vision->key_at,
                    window ? window->key : vision->key,
                    "layers whose patches see those of a window are taken to see all of an image");
}

/* ---- images: CLIP and SigLIP ---- */

/* What makes tokens of a vision model's positions, by the model_type of the whole file. */
static const struct projector {
    const char *type;
    bool one_matrix, biases, norm, pools;
    bool newline; /* a learned vector of the language model's width */
} projectors[] = {
    {"gemma3", .one_matrix = true, .norm = true, .pools = true},
    {"llava", .biases = true},
    {"llava_next", .biases = true, .newline = true},
    {"llava_onevision", .biases = true, .newline = true},
    {"paligemma", .one_matrix = true, .biases = true},
};

static const struct projector *find_projector(const struct config *c)
{
    const struct node *type = node_get(c->top, "model_type");
    for (size_t i = 0; i < sizeof projectors / sizeof *projectors; i++)
        if (type && type->kind == NODE_SCALAR && !strcmp(type->text, projectors[i].type))
            return &projectors[i];
    return NULL;
}

/* Of a square of patches the mean of squares that leave so many tokens. */
static void put_pool(struct config *c, uint64_t patches, const struct node *vision)
{
    uint64_t tokens = config_positive(c, "mm_tokens_per_image", 256);
    if (tokens && patches % tokens == 0)
        settings_put_count(c->settings, "model.tower_pool", patches / tokens, config_given(vision));
    else if (tokens)
        diag_error(c->settings->diag, vision->at, "%llu patches cannot become mm_tokens_per_image, %llu tokens",
                   (unsigned long long)patches, (unsigned long long)tokens);
}

/* Which layers' features become tokens, and of CLIP whether its vector beside the patches does, too. */
static void tell_features(struct config *c, const struct projector *projector)
{
    const struct node *layers = config_get(c, "vision_feature_layer"),
                      *way = config_get(c, "vision_feature_select_strategy");
    bool full = way && way->kind == NODE_SCALAR && !strcmp(way->text, "full"),
         clip = settings_find(c->settings, "model.tower_extra") != NULL;
    if (layers && layers->kind == NODE_LIST && layers->count > 1)
        settings_remark(c->settings, REMARK_PARTIAL, layers->key_at, layers->key,
                        "tokens are made of one layer's features; those of %zu layers beside each other, and that many "
                        "times the weights of the first matrix, are left out",
                        layers->count);
    if (clip ? full : way && !full && !projector->one_matrix)
        settings_remark(c->settings, REMARK_PARTIAL, way->key_at, way->key,
                        clip ? "the vector beside the patches becomes a token, too: not counted"
                             : "the first patch of an image becomes no token: it is counted");
}

static void put_projector(struct config *c, uint64_t patches, const struct node *vision)
{
    const struct projector *projector = find_projector(c);
    const struct node *inner = c->root;
    struct source from = config_given(vision);
    c->root = c->top;
    bool biases = config_flag(c, "multimodal_projector_bias", projector->biases);
    config_find(c, "image_token_index image_seq_length image_grid_pinpoints use_image_newline_parameter "
                   "projection_dim");
    tell_features(c, projector);
    settings_put(c->settings, "model.tower_merge", "1", from);
    if (projector->one_matrix)
        settings_put(c->settings, "model.tower_one_matrix", "true", from);
    else
        settings_put_count(c->settings, "model.tower_projector", settings_count(c->settings, "model.hidden", 0), from);
    settings_put_flag(c->settings, "model.tower_projector_biases", biases, from);
    if (projector->norm)
        settings_put(c->settings, "model.tower_projector_norm", "true", from);
    if (projector->newline)
        settings_put(c->settings, "model.tower_vectors", "1", from);
    if (projector->pools)
        put_pool(c, patches, vision);
    c->root = inner;
}

/* Both see a square image of patches, each with a learned position. */
static uint64_t read_square(struct config *c, uint64_t patch, const struct node *vision)
{
    config_put_count(c, "model.tower_layers", "num_hidden_layers", 12, true);
    config_put_count(c, "model.tower_hidden", "hidden_size", 768, true);
    config_put_count(c, "model.tower_heads", "num_attention_heads", 12, true);
    config_put_count(c, "model.tower_ffn", "intermediate_size", 3072, true);
    config_find(c, "projection_dim vocab_size num_image_tokens projector_hidden_act num_positions");
    patch = config_positive(c, "patch_size", patch);
    uint64_t side = config_positive(c, "image_size", 224) / (patch ? patch : 1);
    put_inputs(c, "num_channels", patch, 1, config_given(vision));
    settings_put_count(c->settings, "model.tower_patches", settings_product(side, side), config_given(vision));
    put_projector(c, settings_product(side, side), vision);
    return settings_product(side, side);
}

static void read_siglip_tower(struct config *c, const struct node *vision)
{
    const struct node *head = config_get(c, "vision_use_head");
    settings_put_count(c->settings, "model.tower_positions", read_square(c, 16, vision), config_given(vision));
    if (config_flag(c, "vision_use_head", true))
        settings_remark(c->settings, REMARK_PARTIAL, head ? head->key_at : vision->key_at,
                        head ? head->key : vision->key,
                        "weights of a head that pools the image, which no token passes, are left out");
}

/* A learned vector attends with the patches; one more normalisation is before the layers. */
static void read_clip_tower(struct config *c, const struct node *vision)
{
    settings_put(c->settings, "model.tower_extra", "1", config_given(vision));
    settings_put_count(c->settings, "model.tower_positions", read_square(c, 32, vision) + 1, config_given(vision));
    settings_put(c->settings, "model.tower_norms", "2", config_given(vision));
    settings_put(c->settings, "model.tower_input_biases", "false", config_given(vision));
}

/* The reader of a file's vision_config; NULL: its code is not known, or nothing says how tokens come about. */
static void (*find_viewer(const struct config *c, const struct node *vision))(struct config *, const struct node *)
{
    const struct node *type = node_get(vision, "model_type");
    const char *name = type && type->kind == NODE_SCALAR ? type->text : "";
    bool depth = node_given(node_get(vision, "depth"));
    if (!strncmp(c->family->type, "qwen3_", strlen("qwen3_")))
        return depth ? read_qwen3_tower : NULL;
    if (!strncmp(c->family->type, "qwen2_5_vl", strlen("qwen2_5_vl")))
        return depth ? read_qwen25_tower : NULL;
    if (!find_projector(c))
        return NULL;
    return !strcmp(name, "siglip_vision_model") ? read_siglip_tower
           : !strcmp(name, "clip_vision_model") ? read_clip_tower
                                                : NULL;
}

const struct node *config_read_image_tower(struct config *c)
{
    const struct node *text = c->root, *vision = node_get(c->top, "vision_config");
    void (*read)(struct config *, const struct node *) =
        vision && vision->kind == NODE_MAP ? find_viewer(c, vision) : NULL;
    if (!read)
        return NULL;
    enter(c, "vision_config");
    read(c, vision);
    c->root = text;
    bool square = settings_find(c->settings, "model.tower_patches") != NULL;
    settings_remark(c->settings, REMARK_CHOICE, vision->key_at, "vision_config",
                    "no file has the images of a sample: --set model.tower_images=1%s runs the tower, which otherwise "
                    "has its weights alone",
                    square ? "" : " --set model.tower_patches=1024");
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
    settings_put(c->settings, "model.audio_pool", "2", config_given(audio)); /* padding is masked before they go on */
}

/* The same, of which as many positions as fill its inner width become one token. */
static void read_voxtral(struct config *c, const struct node *audio)
{
    uint64_t hidden = settings_count(c->settings, "model.audio_hidden", 1),
             inner = settings_count(c->settings, "model.audio_ffn", 0);
    read_whisper(c, audio);
    settings_put(c->settings, "model.audio_padding_passed", "true", config_given(audio));
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
