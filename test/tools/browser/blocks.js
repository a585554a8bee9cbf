// SPDX-License-Identifier: Apache-2.0
// blocks.js BUILD: runs blocks of commands as the playground does. Each line of standard input is {"lines": [...],
// "files": {...}}; each line of standard output {"done": [{"code", "text"}, ...], "error"}.
'use strict';
const fs = require('fs'), path = require('path'), readline = require('readline');
const {run} = require('../../../tools/browser/page/instance.js');
const {runLine} = require('../../../tools/browser/page/shell.js');
const folder = path.resolve(process.argv[2], 'tools/browser');
const factory = require(path.join(folder, 'stagesim.js'));

const kept = {};
process.setMaxListeners(0); // every instance has its own

const main = async () => {
    const module = await WebAssembly.compile(fs.readFileSync(path.join(folder, 'stagesim.wasm')));
    const call = (words, files) => run(factory, module, words, files, '.', '/work', kept);
    for await (const text of readline.createInterface({input: process.stdin})) {
        const {lines, files} = JSON.parse(text), done = [];
        let error = '';
        try {
            for (const line of lines) done.push(await runLine(line, files, call));
        } catch (trouble) {
            error = trouble.message;
        }
        console.log(JSON.stringify({done: done.map(({code, text}) => ({code, text})), error}));
    }
};
main();
