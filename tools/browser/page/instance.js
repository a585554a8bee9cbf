// SPDX-License-Identifier: Apache-2.0
// One command of stagesim, in an instance of the WebAssembly module that is made for it, as a system makes a process.
'use strict';

// What a folder of one's own has beside its files, as a folder of the source tree has.
const DATA = '/usr/share/stagesim', SHIPPED = ['scenarios', 'platforms'];
const FILE_MODE = 0o100777, KEPT_MOST = 2 ** 28; // bytes
const OUTPUT = '/tmp/.output', MESSAGES = '/tmp/.messages';

// All files below a folder of the instance, by path from it; links are no files of its own.
const filesBelow = (FS, folder, before = '', found = {}) => {
    for (const name of FS.readdir(folder)) {
        if (name === '.' || name === '..') continue;
        const path = folder + '/' + name, inner = before + name;
        const mode = FS.lstat(path).mode;
        if (FS.isLink(mode)) continue;
        if (FS.isDir(mode)) filesBelow(FS, path, inner + '/', found);
        else found[inner] = FS.readFile(path);
    }
    return found;
};

// Makes a shipped file; emscripten's own way looks its path up five times, in each of 400 files.
const quickly = ({FS}) => {
    const folders = {};
    return (path, _, bytes) => {
        const end = path.lastIndexOf('/'), folder = path.slice(0, end);
        const parent = folders[folder] ||= FS.lookupPath(folder).node;
        const node = parent.node_ops.mknod(parent, path.slice(end + 1), FILE_MODE, 0);
        node.contents = bytes.slice();
        node.usedBytes = bytes.length;
    };
};

// The memory of a run is the next one's: a system clears each page that is new, which takes a third of a large run. Only
// what the program finds cleared is cleared again, below its heap. `kept`: what a caller keeps from run to run.
const memoryOf = kept => {
    if (!kept.memory) return {};
    new Uint8Array(kept.memory.buffer, 0, kept.below).fill(0);
    return {wasmMemory: kept.memory};
};
const keep = (kept, memory, instance, code) => {
    const done = code !== 3 && memory.buffer.byteLength <= KEPT_MOST;
    Object.assign(kept, {memory: done ? memory : null, below: instance.___heap_base});
};

// factory: what stagesim.js defines; module: a WebAssembly.Module. words: of the command line, without "stagesim".
// files: texts or bytes by path, put into the folder `home`, where the command runs. kept: an object that holds nothing
// at first, for callers that run one command after the other. Resolves to {code, output, messages, files}: the exit code,
// both streams as texts, and the bytes of what the command wrote to the folder `out`, by path.
const run = async (factory, module, words, files = {}, out = null, home = '/work', kept = {}) => {
    let code = null, trouble = '', memory = null;
    const given = {
        ...memoryOf(kept),
        noInitialRun: true,
        thisProgram: '/usr/bin/stagesim',
        instantiateWasm: (imports, done) => {
            memory = Object.values(Object.values(imports)[0]).find(each => each instanceof WebAssembly.Memory);
            WebAssembly.instantiate(module, imports).then(made => {
                given.FS_createDataFile = quickly(given);
                done(made, module);
            });
            return {};
        },
        quit: (status, thrown) => { code = status; throw thrown; },
        onExit: status => { code = status; },
        print: () => {},
        printErr: text => { trouble += text + '\n'; },
    };
    const instance = await factory(given), {FS} = instance;
    if (!FS.analyzePath(home).exists) {
        FS.mkdir(home);
        for (const name of SHIPPED) FS.symlink(DATA + '/' + name, home + '/' + name);
    }
    for (const path in files) {
        const parts = path.split('/');
        for (let i = 1; i < parts.length; i++) {
            const folder = home + '/' + parts.slice(0, i).join('/');
            if (!FS.analyzePath(folder).exists) FS.mkdir(folder);
        }
        FS.writeFile(home + '/' + path, files[path]);
    }
    FS.chdir(home);
    for (const [descriptor, path] of [[1, OUTPUT], [2, MESSAGES]]) {
        FS.close(FS.getStream(descriptor));
        FS.open(path, 'a+', 0o600, descriptor, descriptor);
    }
    try {
        const returned = instance.callMain(words);
        code = code === null ? returned : code;
    } catch (error) {
        if (error && error.name === 'ExitStatus') code = error.status;
        else {
            code = 3;
            trouble += `stagesim: the program ended: ${error && error.message || error}\n`;
        }
    }
    keep(kept, memory, instance, code);
    const text = path => FS.readFile(path, {encoding: 'utf8'});
    return {code, output: text(OUTPUT), messages: text(MESSAGES) + trouble,
            files: out && FS.analyzePath(home + '/' + out).exists ? filesBelow(FS, home + '/' + out) : {}};
};

if (typeof module !== 'undefined') module.exports = {run};
