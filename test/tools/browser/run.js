// SPDX-License-Identifier: Apache-2.0
// run.js BUILD: runs commands in WebAssembly. Each line of standard input is {"words": [...], "out": FOLDER, "files":
// {...}, "to": FOLDER}; each line of standard output {"code", "output", "messages"}, and the files of `out` are in `to`.
'use strict';
const fs = require('fs'), path = require('path'), readline = require('readline');
const {run} = require('../../../tools/browser/page/instance.js');
const folder = path.resolve(process.argv[2], 'tools/browser');
const factory = require(path.join(folder, 'stagesim.js'));

const kept = {};
process.setMaxListeners(0); // every instance has its own

const main = async () => {
    const module = await WebAssembly.compile(fs.readFileSync(path.join(folder, 'stagesim.wasm')));
    for await (const line of readline.createInterface({input: process.stdin})) {
        const asked = JSON.parse(line);
        const begin = performance.now();
        const done = await run(factory, module, asked.words, asked.files, asked.out, asked.home, kept);
        const seconds = (performance.now() - begin) / 1e3;
        for (const name in done.files) {
            const to = path.join(asked.to, name);
            fs.mkdirSync(path.dirname(to), {recursive: true});
            fs.writeFileSync(to, done.files[name]);
        }
        console.log(JSON.stringify({code: done.code, output: done.output, messages: done.messages, seconds}));
    }
};
main();
