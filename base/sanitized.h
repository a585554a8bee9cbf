/* SPDX-License-Identifier: Apache-2.0 */
/* SANITIZED: whether this is a build with an address sanitizer. gcc has a macro for it, clang a feature. Such builds
 * give each request its own malloc, so that an overrun is seen, and a later use of what is freed. */
#ifndef STAGESIM_SANITIZED_H
#define STAGESIM_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
