// SPDX-License-Identifier: Apache-2.0
// Runs commands one by one. The page ends the worker when the next key is pressed, and makes another.
import factory from 'stagesim.js';
import {run} from './instance.js';

const kept = {};
let module = null;
self.onmessage = async ({data}) => {
    if (data.module) module = data.module;
    if (!data.words) return;
    const begin = performance.now();
    try {
        const done = await run(factory, module, data.words, data.files, data.out, data.home, kept);
        const texts = {};
        for (const name of data.wanted || [])
            if (done.files[name]) texts[name] = new TextDecoder().decode(done.files[name]);
        self.postMessage({id: data.id, code: done.code, output: done.output, messages: done.messages, texts, files: data.all ? done.files : {},
                          milliseconds: performance.now() - begin});
    } catch (error) {
        self.postMessage({id: data.id, code: 3, output: '', messages: `stagesim: ${error && error.message || error}\n`,
                          texts: {}, files: {}, milliseconds: performance.now() - begin});
    }
};
