/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plug-in. */
int some_function(void);
__attribute__((visibility("default"))) int some_function(void)
{
    return 7;
}
