/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles as the shortest decimal text of up to 15, 16 or 17 digits that reads back as the same double, fast where
 * values repeat, as times on symmetric replicas do. Does not depend on the locale. */
#ifndef STAGESIM_NUMBER_TEXT_H
#define STAGESIM_NUMBER_TEXT_H

#include <stddef.h>

enum { NUMBER_TEXT_MAX = 32 };

/* Remembers what it wrote lately. The caller owns it. */
struct number_cache;

struct number_cache *number_cache_create(void);
void number_cache_destroy(struct number_cache *cache);

/* Writes the text of a number, which has to be finite (base/figure.h), without a terminating zero, and returns its
 * length, below NUMBER_TEXT_MAX. */
size_t number_write(char *text, double value);
/* The same through the cache (NULL is fine). */
size_t number_write_cached(struct number_cache *cache, char *text, double value);
/* Digits of an unsigned integer; returns the length. */
size_t number_write_integer(char *text, unsigned long long value);

#endif
