// SPDX-License-Identifier: Apache-2.0
// Read first on every page. From a file, scripts may neither fetch the index of the search nor start a worker: the
// index is a script then, and the worker a hidden frame of the page.
"use strict";
// A block gets its copy button when it is first seen. The theme of Debian 12 waits until all of it is, which never comes
// where a block is taller than the window.
window.IntersectionObserver = class extends window.IntersectionObserver {
  constructor(callback, options) {
    super(callback, {...options, threshold: 0});
  }
};
if (location.protocol === "file:") {
  const root = document.currentScript.src.replace(/file\.js$/, "");
  document.write(`<script src="${root}search/search_index.js"></script>`);
  document.write("<script>var __search = {index: Promise.resolve(__index)};</script>");

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      const script = this.scope.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      this.scope.document.body.appendChild(script);
    }

    postMessage(data) {
      if (this.waiting)
        this.waiting.push(data);
      else
        this.scope.dispatchEvent(new this.scope.MessageEvent("message", {data}));
    }

    terminate() {
      this.scope.frameElement.remove();
    }
  }
  window.Worker = FrameWorker;
  window.IFrameWorker = FrameWorker;  // newer themes ask for this name before they bring their own
}
