// The theme's search runs in a worker, which browsers do not start for pages that are opened from disk.
// There, run the worker's script in a frame that nobody sees, and pass messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((resolve) => {
        const script = frame.contentDocument.createElement("script");
        script.src = new URL(url, location.href);
        script.addEventListener("load", resolve);
        frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  // the theme looks for this name to know that its worker runs in a frame
  window.IFrameWorker = window.Worker;
}
