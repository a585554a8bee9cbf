/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of towers, rows of the table in fields.c: those that all kinds have under a prefix of their own, and those of
 * one kind. */
#ifndef STAGESIM_TRANSFORMER_TOWER_FIELDS_H
#define STAGESIM_TRANSFORMER_TOWER_FIELDS_H

#define TOWER_ROW(prefix, kind, key, field, type, low, high, text)                                                     \
    {                                                                                                                  \
        "model." prefix key, type, offsetof(struct transformer_parameters, model.towers[kind].field), false, low,      \
            high, NULL, text                                                                                           \
    }
#define TOWER_COUNT(prefix, kind, key, field, low, high, text)                                                         \
    TOWER_ROW(prefix, kind, key, field, STAGESIM_FIELD_COUNT, low, high, text)
#define TOWER_FLAG(prefix, kind, key, field, text) TOWER_ROW(prefix, kind, key, field, STAGESIM_FIELD_FLAG, 0, 0, text)

/* `what` it is for, `item` a layer's positions are of. */
#define TOWER_FIELDS(prefix, kind, what, item, projector_default, merge_default)                                       \
    TOWER_COUNT(prefix, kind, "layers", layers, 0, 10000,                                                              \
                "layers of full attention before the language model, on its first stage, for " what                    \
                "; default 0: none"),                                                                                  \
        TOWER_COUNT(prefix, kind, "hidden", hidden, 1, 1 << 20, "width of the tower for " what),                       \
        TOWER_COUNT(prefix, kind, "heads", heads, 1, 1 << 16, "heads of the tower for " what),                         \
        TOWER_COUNT(prefix, kind, "ffn", ffn, 1, 1 << 24,                                                              \
                    "inner width of the tower's feed-forward blocks; default 4 x " prefix "hidden"),                   \
        TOWER_COUNT(prefix, kind, "positions", positions, 0, 1 << 26,                                                  \
                    "number of learned positions of the tower for " what "; default 0"),                               \
        TOWER_COUNT(prefix, kind, "merge", merge, 1, 1 << 16,                                                          \
                    "positions of " item " that become one token together; default " merge_default),                   \
        TOWER_COUNT(prefix, kind, "pool", pool, 1, 1 << 16,                                                            \
                    "neighbours of which the mean is taken before that; default 1"),                                   \
        TOWER_COUNT(prefix, kind, "projector", projector, 1, 1 << 24,                                                  \
                    "inner width of what makes tokens; default " projector_default),                                   \
        TOWER_FLAG(prefix, kind, "projector_biases", projector_biases,                                                 \
                   "whether matrices that make tokens have biases; default true"),                                     \
        TOWER_FLAG(prefix, kind, "key_biases", key_biases,                                                             \
                   "whether the tower's matrices of keys have biases; default true"),                                  \
        TOWER_COUNT(prefix, kind, "vectors", vectors, 0, 1 << 16,                                                      \
                    "learned vectors of the language model's width, which mark begin and end; default 0"),             \
        TOWER_FLAG(prefix, kind, "frozen", frozen,                                                                     \
                   "whether the tower for " what " is frozen: it has only a forward; default false"),                  \
        TOWER_COUNT(prefix, kind, "parameters", parameters, 1, 1e15,                                                   \
                    "published number of the tower's parameters; default: not checked")

#define TOWER_IMAGE_FIELDS                                                                                             \
    TOWER_COUNT("tower_", TOWER_IMAGES, "inputs", inputs, 1, 1 << 24,                                                  \
                "numbers of a patch that enter the tower: channels x frames x height x width"),                        \
        TOWER_COUNT("tower_", TOWER_IMAGES, "patches", patches, 1, 1 << 26,                                            \
                    "patches of an image, which attend to each other"),                                                \
        TOWER_FLAG("tower_", TOWER_IMAGES, "input_biases", input_biases,                                               \
                   "whether the matrix of patches has biases; default true"),                                          \
        TOWER_FLAG("tower_", TOWER_IMAGES, "gated", gated,                                                             \
                   "whether the tower's feed-forward blocks are gated; default false"),                                \
        TOWER_FLAG("tower_", TOWER_IMAGES, "rms", rms,                                                                 \
                   "whether the tower's normalisations have no biases; default false"),                                \
        TOWER_COUNT("tower_", TOWER_IMAGES, "norms", norms, 1, 100,                                                    \
                    "normalisations before and behind the tower's layers; default 1"),                                 \
        TOWER_COUNT("tower_", TOWER_IMAGES, "extra", extra, 0, 1 << 16,                                                \
                    "learned vectors that attend with the patches and make no tokens; default 0"),                     \
        TOWER_FLAG("tower_", TOWER_IMAGES, "one_matrix", one_matrix,                                                   \
                   "whether one matrix makes tokens, in place of two; default false"),                                 \
        TOWER_FLAG("tower_", TOWER_IMAGES, "projector_norm", projector_norm,                                           \
                   "whether what makes tokens has a normalisation of its own, without biases; default false"),         \
        TOWER_COUNT("tower_", TOWER_IMAGES, "mergers", mergers, 1, 1000,                                               \
                    "number of mergers: one, and one more for each layer of the tower whose features later layers "    \
                    "add; default 1"),                                                                                 \
        TOWER_ROW("tower_", TOWER_IMAGES, "images", amount, STAGESIM_FIELD_RATIO, 0, 1 << 20,                          \
                  "images of a sample; default 0: the tower has weights, but computes nothing"),                       \
        TOWER_ROW("tower_", TOWER_IMAGES, "image_counts", amounts, STAGESIM_FIELD_FACTORS, 0, 0,                       \
                  "in place of tower_images: images of a sample, drawn for each one"),                                 \
        TOWER_ROW("tower_", TOWER_IMAGES, "image_list", listed, STAGESIM_FIELD_RATIOS, 0, 1 << 20,                     \
                  "in place of tower_images: images of the samples of an iteration, one after the other; from the "    \
                  "start again where they are fewer"),                                                                 \
        TOWER_COUNT("tower_", TOWER_IMAGES, "seed", seed, 0, 1e15,                                                     \
                    "with tower_image_counts: seed by which they are drawn; default 0")

#define TOWER_AUDIO_FIELDS                                                                                             \
    TOWER_COUNT("audio_", TOWER_AUDIO, "inputs", inputs, 1, 1 << 24, "numbers of a frame: mel bins"),                  \
        TOWER_ROW("audio_", TOWER_AUDIO, "rate", rate, STAGESIM_FIELD_RATIO, 1e-3, 1e6,                                \
                  "frames of a second of sound; default 100"),                                                         \
        TOWER_ROW("audio_", TOWER_AUDIO, "strides", strides, STAGESIM_FIELD_COUNTS, 1, 1000,                           \
                  "strides of the convolutions over frames before the layers, as a list; default [1, 2]"),             \
        TOWER_COUNT("audio_", TOWER_AUDIO, "kernel", kernel, 1, 1000, "taps of these convolutions; default 3"),        \
        TOWER_COUNT(                                                                                                   \
            "audio_", TOWER_AUDIO, "channels", channels, 1, 1 << 20,                                                   \
            "channels of convolutions over frames and bins, with a matrix behind; default: over frames alone, "        \
            "as wide as the tower"),                                                                                   \
        TOWER_COUNT("audio_", TOWER_AUDIO, "chunk", chunk, 1, 1 << 26,                                                 \
                    "frames that the convolutions see together; default: those of a clip"),                            \
        TOWER_ROW("audio_", TOWER_AUDIO, "clip", clip, STAGESIM_FIELD_TIME, 1e-3, 1e6,                                 \
                  "sound whose positions attend to each other; default 30s"),                                          \
        TOWER_FLAG("audio_", TOWER_AUDIO, "padded", padded,                                                            \
                   "whether the tower computes a shorter clip as a whole one; default false"),                         \
        TOWER_FLAG("audio_", TOWER_AUDIO, "padding_passed", padding_passed,                                            \
                   "whether the language model gets tokens of what is added to a shorter clip, too; default false"),   \
        TOWER_ROW("audio_", TOWER_AUDIO, "length", amount, STAGESIM_FIELD_TIME, 0, 1e9,                                \
                  "sound of a sample; default 0: the tower has weights, but computes nothing"),                        \
        TOWER_ROW("audio_", TOWER_AUDIO, "lengths", amounts, STAGESIM_FIELD_DISTRIBUTION, 0, 0,                        \
                  "in place of audio_length: sound of a sample, drawn for each one"),                                  \
        TOWER_ROW("audio_", TOWER_AUDIO, "length_list", listed, STAGESIM_FIELD_TIMES, 0, 1e9,                          \
                  "in place of audio_length: sound of the samples of an iteration, one after the other; from the "     \
                  "start again where they are fewer"),                                                                 \
        TOWER_COUNT("audio_", TOWER_AUDIO, "seed", seed, 0, 1e15,                                                      \
                    "with audio_lengths: seed by which they are drawn; default 0")

#endif
