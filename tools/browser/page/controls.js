// SPDX-License-Identifier: Apache-2.0
// Sliders and lists for what people vary: each changes one value in the text of the scenario.
import {changeAt, scalarAt, valueAt} from './places.js';

const powers = (from, to) => {
    const values = [];
    for (let value = from; value <= to; value *= 2) values.push(value);
    return values;
};
const range = (from, to) => Array.from({length: to - from + 1}, (_, i) => from + i);

const SLIDERS = [
    {label: 'micro-batches', path: ['batch', 'micro_batches'], values: range(1, 64)},
    {label: 'global batch', path: ['batch', 'global'], values: powers(1, 16384)},
    {label: 'micro-batch size', path: ['batch', 'micro'], values: powers(1, 64)},
    {label: 'stages', path: ['parallel', 'pipeline'], values: range(1, 32)},
    {label: 'tensor', path: ['parallel', 'tensor'], values: powers(1, 16)},
    {label: 'data', path: ['parallel', 'data'], values: powers(1, 1024)},
    {label: 'layers', path: ['model', 'layers'], values: range(1, 128)},
];
const NETWORK = ['0.1', '0.25', '0.5', '0.75', '1', '1.5', '2', '4', '10'];

export class Controls {
    // presets: names; change(change): applies a change to the editor.
    constructor(place, presets, change) {
        Object.assign(this, {place, presets, change, rows: []});
        for (const slider of SLIDERS) this.rows.push(this.slider(slider));
        this.network = this.slider({label: 'network speed', values: NETWORK, unit: ' ×', network: true});
        this.rows.push(this.network);
        this.gpu = document.createElement('select');
        this.gpu.id = 'gpu';
        this.gpu.append(...['', ...presets].map(name => new Option(name || '(as written)', name)));
        this.gpu.onchange = () => this.setPreset();
        const label = document.createElement('label');
        label.append('GPU ', this.gpu);
        place.append(label);
    }

    slider(slider) {
        const label = document.createElement('label'), input = document.createElement('input');
        const shown = document.createElement('output');
        Object.assign(input, {type: 'range', min: 0, max: slider.values.length - 1, step: 1});
        input.dataset.key = slider.path ? slider.path.join('.') : 'what_if';
        input.oninput = () => {
            const value = String(slider.values[input.value]);
            shown.textContent = value + (slider.unit || '');
            input.setAttribute('aria-valuetext', shown.textContent);
            if (slider.network) this.setNetwork(value);
            else this.change(state => changeAt(state, slider.path, value));
        };
        label.append(`${slider.label} `, input, shown);
        this.place.append(label);
        return {...slider, input, shown, box: label};
    }

    setNetwork(factor) {
        this.change(state => changeAt(state, ['what_if'], factor === '1' ? '[]' : `[nic=${factor}]`));
    }

    setPreset() {
        const name = this.gpu.value;
        if (name) this.change(state => {
            const nodes = /:(\d+)$/.exec(scalarAt(state, ['platform']))?.[1] || '4';
            return changeAt(state, ['platform'], `${name}:${nodes}`);
        });
    }

    // Shows what the text says; a slider without a key in the text is hidden.
    follow(state) {
        for (const row of this.rows) {
            if (row.network) continue;
            const text = scalarAt(state, row.path), number = Number(text);
            row.box.hidden = text === '' || !(number > 0);
            if (row.box.hidden) continue;
            const nearest = row.values.reduce((best, value, i) =>
                Math.abs(value - number) < Math.abs(row.values[best] - number) ? i : best, 0);
            if (document.activeElement !== row.input) row.input.value = nearest;
            row.shown.textContent = text;
            row.input.setAttribute('aria-valuetext', text);
        }
        const factor = /nic=([\d.]+)/.exec(valueAt(state, ['what_if'])?.text || '')?.[1] || '1';
        if (document.activeElement !== this.network.input) this.network.input.value = Math.max(NETWORK.indexOf(factor), 0);
        this.network.shown.textContent = `${factor} ×`;
        this.network.input.setAttribute('aria-valuetext', `${factor} ×`);
        const preset = scalarAt(state, ['platform']).split(':')[0];
        this.gpu.value = this.presets.includes(preset) ? preset : '';
    }
}
