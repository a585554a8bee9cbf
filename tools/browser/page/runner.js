// SPDX-License-Identifier: Apache-2.0
// Commands of stagesim in a worker: one at a time, and a new one ends the old.
const HOME = '/usr/share/stagesim/scenarios';

// Bytes that are embedded in the page: base64 in a script that is no program.
const embedded = id => {
    const raw = atob(document.getElementById(id).textContent.trim()), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
};
const gunzip = bytes =>
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
// The program is packed with zstd, which browsers have not; its decoder is in the page, too.
const unzstd = async (bytes, count) => {
    const {exports} = (await WebAssembly.instantiate(embedded('unzstd'), {})).instance;
    exports._initialize();
    const from = exports.malloc(bytes.length), to = exports.malloc(count);
    new Uint8Array(exports.memory.buffer).set(bytes, from);
    if (exports.ZSTD_decompress(to, count, from, bytes.length) !== count) throw new Error('the program cannot be unpacked');
    return new Uint8Array(exports.memory.buffer, to, count);
};

let parts = null; // the compiled module and the address of the worker's program, made once
const load = () => parts ||= (async () => {
    const count = +document.getElementById('wasm').dataset.bytes;
    const [bytes, program] = await Promise.all([unzstd(embedded('wasm'), count), gunzip(embedded('worker'))]);
    return {module: await WebAssembly.compile(bytes),
            address: URL.createObjectURL(new Blob([program], {type: 'text/javascript'}))};
})();

export class Runner {
    constructor() {
        this.count = 0;
        this.worker = this.waiting = this.starting = null;
    }

    start() {
        return this.starting ||= load().then(({module, address}) => {
            this.starting = null;
            this.worker = new Worker(address);
            this.worker.onmessage = ({data}) => {
                const waiting = this.waiting;
                if (!waiting || waiting.id !== data.id) return;
                this.waiting = null;
                waiting.done(data);
            };
            this.worker.postMessage({module});
        });
    }

    // Ends what runs; who waits for it gets null. Another worker starts at once, so that the next run need not wait for it.
    cancel() {
        this.count++;
        if (!this.waiting) return;
        const {done} = this.waiting;
        this.worker.terminate();
        this.worker = this.waiting = null;
        done(null);
        this.start();
    }

    // {code, output, messages, texts: the wanted files of the folder `out`, files: with `all`, all of them as bytes}, or null
    // where something else came.
    async run(words, {files = {}, out = null, wanted = [], home = HOME, all = false} = {}) {
        this.cancel();
        const id = this.count;
        if (!this.worker) await this.start();
        if (id !== this.count) return null;
        return new Promise(done => {
            this.waiting = {id, done};
            this.worker.postMessage({id, words, files, out, wanted, home, all});
        });
    }
}
