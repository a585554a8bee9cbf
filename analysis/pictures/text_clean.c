/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/canvas.h"

#include <assert.h>
#include <string.h>

/* Length of the UTF-8 character at `text`, 0 when it is none or not printable. */
static size_t character_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t code = text[0] & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    static const uint32_t least[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
    bool surrogate = code >= 0xd800 && code < 0xe000;
    bool control = code < 0xa0 || (code & 0xfffe) == 0xfffe;
    return text[0] < 0xc2 || code < least[length] || code > 0x10ffff || surrogate || control ? 0 : length;
}

void text_clean(char *to, size_t size, const char *text)
{
    assert(size >= 4);
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = character_length(at);
        if (used + (length ? length : 1) >= size)
            break;
        if (length)
            memcpy(to + used, at, length);
        else
            to[used] = '?';
        used += length ? length : 1;
        at += length ? length : 1;
    }
    to[used] = '\0';
}
