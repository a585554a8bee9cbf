// SPDX-License-Identifier: Apache-2.0
// One command of stagesim, in an instance of the WebAssembly module that is made for it, as a system makes a process.
'use strict';

// What a folder of one's own has beside its files, as a folder of the source tree has.
const DATA = '/usr/share/stagesim', SHIPPED = ['scenarios', 'platforms'];
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

// factory: what stagesim.js defines; module: a WebAssembly.Module. words: of the command line, without "stagesim".
// files: texts or bytes by path, put into the folder `home`, where the command runs. Resolves to {code, output, messages,
// files}: the exit code, both streams as texts, and the bytes of what the command wrote to the folder `out`, by path.
const run = async (factory, module, words, files = {}, out = null, home = '/work') => {
    let code = null, trouble = '';
    const instance = await factory({
        noInitialRun: true,
        thisProgram: '/usr/bin/stagesim',
        instantiateWasm: (imports, done) => {
            WebAssembly.instantiate(module, imports).then(made => done(made, module));
            return {};
        },
        quit: (status, thrown) => { code = status; throw thrown; },
        onExit: status => { code = status; },
        print: () => {},
        printErr: text => { trouble += text + '\n'; },
    });
    const {FS} = instance;
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
    const text = path => FS.readFile(path, {encoding: 'utf8'});
    return {code, output: text(OUTPUT), messages: text(MESSAGES) + trouble,
            files: out && FS.analyzePath(home + '/' + out).exists ? filesBelow(FS, home + '/' + out) : {}};
};

if (typeof module !== 'undefined') module.exports = {run};
