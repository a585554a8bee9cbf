/* SPDX-License-Identifier: Apache-2.0 */
/* What every page carries: page.css and page.js, which tools/embed.py turns into C when stagesim is built. */
#ifndef STAGESIM_PAGE_ASSETS_H
#define STAGESIM_PAGE_ASSETS_H

extern const char page_css[], page_js[];

#endif
