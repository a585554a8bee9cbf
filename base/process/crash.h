/* SPDX-License-Identifier: Apache-2.0 */
/* The last resort when a mistake of the program, or of a library that got no memory, ends the process by a signal:
 * files that are being written are removed, a message says what happened, and the exit code is 3. */
#ifndef STAGESIM_CRASH_H
#define STAGESIM_CRASH_H

/* From now on in this process, where `last`, which may do what a signal's handler may, removes the files; not in
 * isolated children. Not in builds with a sanitizer, which says more, and where the process may leave a core file,
 * which it then does. */
void crash_catch(void (*last)(void));

#endif
