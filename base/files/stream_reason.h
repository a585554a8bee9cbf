/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGESIM_STREAM_REASON_H
#define STAGESIM_STREAM_REASON_H

#include <stdio.h>

/* Why a stream with an error has failed, as an errno; errno itself where the last call has set it. An error of an
 * earlier call is told by one more byte: the file is not to be kept. */
int stream_reason(FILE *stream);

#endif
