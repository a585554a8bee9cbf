// SPDX-License-Identifier: Apache-2.0
// node build.mjs BUILD OUTPUT UNZSTD: the playground as one page, OUTPUT/index.html, of stagesim's WebAssembly in BUILD,
// the decoder of zstd in the file UNZSTD and the sources beside this file. Which keys, schedules and products there are says stagesim itself.
import {build} from 'esbuild';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url)), root = resolve(here, '../../..');
const folder = resolve(process.argv[2], 'tools/browser'), output = resolve(process.argv[3]);
const read = path => readFileSync(join(here, path), 'utf8');
const require = createRequire(import.meta.url);
const loader = join(folder, 'stagesim.js'), bytes = readFileSync(join(folder, 'stagesim.wasm'));
const EXAMPLES = ['demo', 'gpt-7.5b', 'llama3-70b', 'mixtral-8x7b', 'deepseek-v3', 'resnet-50', 'dlrm'];

const bundle = async entry => {
    const done = await build({
        entryPoints: [join(here, entry)], bundle: true, write: false, minify: true, format: 'iife', charset: 'utf8',
        platform: 'browser', target: 'chrome109', external: ['fs', 'path', 'crypto', 'child_process'], alias: {'stagesim.js': loader},
        legalComments: 'none', logLevel: 'warning'});
    return done.outputFiles[0].text;
};

const facts = async () => {
    const {run} = require('./instance.js'), factory = require(loader), module = await WebAssembly.compile(bytes);
    process.setMaxListeners(0);
    const ask = async (...words) => {
        const done = await run(factory, module, words);
        if (done.code !== 0) throw new Error(`${words.join(' ')}: ${done.messages}`);
        return done.output;
    };
    const list = async what => JSON.parse(await ask('list', what, '--format', 'json'));
    const names = items => items.map(each => each.name ?? each.preset ?? each.model);
    const example = name => ({name, text: readFileSync(join(root, 'scenarios', name + '.yaml'), 'utf8')});
    return {schema: JSON.parse(await ask('schema', 'scenario')), presets: names(await list('presets')),
            models: names(await list('models')), version: (await ask('--version')).trim().split(' ')[1],
            schedules: (await list('schedules')).map(({name, summary}) => ({name, summary})),
            examples: [{name: 'four stages', text: read('first.yaml')}, ...EXAMPLES.map(example)]};
};

const packed = data => execFileSync('zstd', ['--ultra', '-22', '--no-check', '-c'], {input: data, maxBuffer: 2 ** 28});

// Nothing inside a script may end it.
const inside = text => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const data = JSON.stringify(await facts()).replaceAll('<', '\\u003c');
const parts = {STYLE: read('page.css'), FACTS: data, WORKER: gzipSync(await bundle('worker.js'), {level: 9}).toString('base64'),
               UNZSTD: readFileSync(resolve(process.argv[4])).toString('base64'), BYTES: String(bytes.length),
               WASM: packed(bytes).toString('base64'), PAGE: inside(await bundle('page.js'))};
mkdirSync(output, {recursive: true});
writeFileSync(join(output, 'index.html'), read('index.html').replace(/\/\*(STYLE|FACTS|WORKER|UNZSTD|BYTES|WASM|PAGE)\*\//g,
                                                                     (_, name) => parts[name]));
