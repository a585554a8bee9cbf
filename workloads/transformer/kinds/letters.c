/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/kinds/letters.h"

#include <stddef.h>

const struct transformer_letter transformer_mixer_letters[] = {
    {'*', MIXER_ATTENTION, "attention"},
    {'W', MIXER_LOCAL, "attention in a window or chunk"},
    {'M', MIXER_MAMBA, "Mamba-2"},
    {'G', MIXER_GATED_DELTA, "gated delta net"},
    {'K', MIXER_KIMI_DELTA, "Kimi delta attention"},
    {'L', MIXER_LIGHTNING, "lightning attention"},
    {'C', MIXER_SHORT, "gated short convolution"},
    {'D', MIXER_SPARSE, "sparse attention with an indexer"},
    {'S', MIXER_SPARSE_SHARED, "sparse attention with the keys that the layer before picked"},
    {'B', MIXER_BLOCK_SPARSE, "block-sparse attention with an indexer"},
    {'w', MIXER_NEAR, "compressed attention's window alone"},
    {'c', MIXER_COMPRESSED, "compressed attention, of picked entries"},
    {'h', MIXER_HEAVILY_COMPRESSED, "compressed attention, of all entries"},
    {'.', MIXER_NONE, "nothing"},
    {0, 0, NULL},
};

const struct transformer_letter transformer_feed_letters[] = {
    {'-', FEED_DENSE, "feed-forward"},
    {'E', FEED_EXPERTS, "experts"},
    {'.', FEED_NONE, "nothing"},
    {0, 0, NULL},
};

static const struct transformer_letter *find(const struct transformer_letter *letters, char letter)
{
    for (; letters->letter; letters++)
        if (letters->letter == letter)
            return letters;
    return NULL;
}

const struct transformer_letter *transformer_mixer_of(char letter)
{
    return find(transformer_mixer_letters, letter == '+' ? '*' : letter);
}

const struct transformer_letter *transformer_feed_of(char letter)
{
    return find(transformer_feed_letters, letter);
}
