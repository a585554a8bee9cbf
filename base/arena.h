/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as a run: allocated piece by piece, freed as a whole. */
#ifndef STAGESIM_ARENA_H
#define STAGESIM_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#define SCOPED(finish) __attribute__((cleanup(finish)))

struct arena;

/* The caller owns the arena. Never NULL: out of memory ends the process with a message and exit code 3. */
struct arena *arena_create(void);
/* Frees everything allocated from it. NULL is fine. */
void arena_destroy(struct arena *arena);

/* Zeroed memory, aligned for any type, never NULL, owned by the arena. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);
/* The same, but not zeroed: for arrays that are filled at once. */
void *arena_array_unset(struct arena *arena, size_t count, size_t size);
char *arena_copy(struct arena *arena, const char *text);
/* Of the first `length` characters, which the text has. */
char *arena_copy_part(struct arena *arena, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) char *arena_print(struct arena *arena, const char *format, ...);
char *arena_vprint(struct arena *arena, const char *format, va_list arguments);

/* Room for one more item behind `count` in an array of the arena; what it outgrows stays there. *capacity begins with
 * 0. */
void *arena_grow(struct arena *arena, void *items, size_t *capacity, size_t count, size_t size);

/* realloc for growing arrays outside an arena: doubles *capacity until it holds `count` items of `size` bytes; never
 * returns NULL; new memory is not zeroed. The caller owns the result and frees it with free(). */
void *array_grow(void *items, size_t *capacity, size_t count, size_t size);
/* Zeroed, never NULL, also for a count of 0: out of memory ends the process with a message and exit code 3. The caller
 * frees it. */
void *array_zeroed(size_t count, size_t size);

#endif
