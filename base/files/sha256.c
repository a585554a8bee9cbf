/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct state {
    uint32_t hash[8];
    uint8_t block[64];
    size_t held; /* bytes in block */
    uint64_t size;
};

/* Fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t value, int by)
{
    return value >> by | value << (32 - by);
}

static void fill_schedule(const uint8_t *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void mix(struct state *state)
{
    uint32_t w[64], v[8];
    fill_schedule(state->block, w);
    memcpy(v, state->hash, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]), majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t first = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice + constants[i] + w[i];
        uint32_t second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state->hash[i] += v[i];
}

static void add(struct state *state, const uint8_t *data, size_t size)
{
    state->size += size;
    while (size) {
        size_t part = sizeof state->block - state->held < size ? sizeof state->block - state->held : size;
        memcpy(state->block + state->held, data, part);
        state->held += part;
        data += part;
        size -= part;
        if (state->held == sizeof state->block) {
            mix(state);
            state->held = 0;
        }
    }
}

/* A one, zeros, and the size in bits fill the last block. */
static void finish(struct state *state, char text[SHA256_TEXT])
{
    uint64_t bits = 8 * state->size;
    uint8_t end[8], one = 0x80, zero = 0;
    for (int i = 0; i < 8; i++)
        end[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(state, &one, 1);
    while (state->held != 56)
        add(state, &zero, 1);
    add(state, end, 8);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * (ptrdiff_t)i, 9, "%08x", state->hash[i]);
}

static struct state begin(void)
{
    return (struct state){
        .hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

bool sha256_of_file(const char *file, char text[SHA256_TEXT])
{
    uint8_t buffer[8192];
    struct state state = begin();
    FILE *in = fopen(file, "rb");
    if (!in)
        return false;
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, in)) > 0;)
        add(&state, buffer, size);
    bool whole = !ferror(in);
    fclose(in);
    finish(&state, text);
    return whole;
}
