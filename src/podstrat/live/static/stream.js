// The entries of the board, kept up to date by the stream of the server. The browser connects again by itself.

export class Entries {
  /** `changed` gets the kinds of entries that have changed; `state` whether the stream is there. */
  constructor(path, changed, state) {
    this.all = new Map();
    const source = new EventSource(path);
    source.addEventListener("open", () => state(true));
    source.addEventListener("error", () => state(false));
    source.addEventListener("message", (message) => changed(this.take(JSON.parse(message.data))));
  }

  take({ anew, entries }) {
    const kinds = new Set(anew ? [...this.all.keys()].map(kindOf) : []);
    if (anew) this.all.clear();
    for (const [key, value] of Object.entries(entries)) {
      kinds.add(kindOf(key));
      if (value === null) this.all.delete(key);
      else this.all.set(key, value);
    }
    return kinds;
  }

  of(kind) {
    return [...this.all].filter(([key]) => kindOf(key) === kind);
  }
}

const kindOf = (key) => key.slice(0, key.indexOf("/"));
