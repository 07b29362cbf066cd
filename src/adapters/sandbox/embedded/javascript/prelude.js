// Runs inside the interpreter before a script: gives it what scripts for Node expect of their surroundings, as far as a sandbox has
// it, and gives the host a few functions that no script can reach. An expression, so that it leaves no names behind.
(host) => {
  const SLICE = 16_384;
  const MAX_FRAMES = 20;
  const { write, maxResultLength } = host;
  const { parse, stringify } = JSON;
  // Kept, because a script may replace or remove every global.
  const root = globalThis;
  const own = { Error, InternalError, String };

  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return describe(value);
    if (typeof value === 'object' && value !== null) {
      try {
        return stringify(value) ?? String(value);
      } catch {
        return String(value);
      }
    }
    return String(value);
  };
  const print = (stream, values) => {
    const text = `${values.map(shown).join(' ')}\n`;
    for (let at = 0; at < text.length; at += SLICE) write(stream, text.slice(at, at + SLICE));
  };
  const out = (...values) => print(1, values);
  const err = (...values) => print(2, values);
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err, trace: err };

  // Text and bytes.
  const encode = (text) => {
    // The shortest way to UTF-8 that the language itself has.
    const bytes = unescape(encodeURIComponent(String(text).toWellFormed()));
    const result = new Uint8Array(bytes.length);
    for (let at = 0; at < bytes.length; at += 1) result[at] = bytes.charCodeAt(at);
    return result;
  };
  const latin = (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length; at += SLICE) {
      text += String.fromCharCode.apply(null, bytes.subarray(at, at + SLICE));
    }
    return text;
  };
  const decode = (bytes) => decodeURIComponent(escape(latin(bytes)));
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const fromBase64 = (text) => {
    const letters = String(text).replace(/[=\s]/g, '');
    const result = new Uint8Array(Math.floor((letters.length * 3) / 4));
    for (let at = 0, bits = 0, held = 0, to = 0; at < letters.length; at += 1) {
      const value = ALPHABET.indexOf(letters[at]);
      if (value < 0) throw new TypeError('The text is not Base64.');
      held = ((held << 6) | value) & 0xffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        result[to++] = (held >> bits) & 255;
      }
    }
    return result;
  };
  const toBase64 = (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 3) {
      const [a, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
      const group = (a << 16) | (b << 8) | c;
      for (let part = 0; part < 4; part += 1) {
        text += at + part > bytes.length ? '=' : ALPHABET[(group >> (18 - 6 * part)) & 63];
      }
    }
    return text;
  };
  globalThis.atob = (text) => latin(fromBase64(text));
  globalThis.btoa = (text) => toBase64(Uint8Array.from(String(text), (letter) => letter.charCodeAt(0)));
  globalThis.TextEncoder = class TextEncoder {
    encode(text = '') {
      return encode(text);
    }
  };
  globalThis.TextDecoder = class TextDecoder {
    decode(bytes = new Uint8Array()) {
      return decode(new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength));
    }
  };

  // Files: memory of the interpreter. Those right under `artifacts` come back.
  const files = { __proto__: null };
  const pathOf = (name) => {
    const parts = [];
    for (const part of String(name).split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return parts.join('/');
  };
  const toBytes = (data, encoding) => {
    if (typeof data !== 'string') return new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);
    const name = typeof encoding === 'object' ? encoding?.encoding : encoding;
    return name === 'base64' ? fromBase64(data) : encode(data);
  };
  const read = (name, options) => {
    const bytes = files[pathOf(name)];
    if (bytes === undefined) {
      throw Object.assign(new Error(`ENOENT: no such file, open '${name}'`), { code: 'ENOENT' });
    }
    const encoding = typeof options === 'object' ? options?.encoding : options;
    return encoding === undefined || encoding === null ? bytes.slice() : decode(bytes);
  };
  const fs = {
    existsSync: (name) => pathOf(name) === 'artifacts' || pathOf(name) in files,
    mkdirSync: () => undefined,
    readFileSync: read,
    readdirSync: (name) => {
      const start = pathOf(name) === '' ? '' : `${pathOf(name)}/`;
      return Object.keys(files).flatMap((file) => (file.startsWith(start) ? [file.slice(start.length)] : []));
    },
    unlinkSync: (name) => void delete files[pathOf(name)],
    writeFileSync: (name, data, options) => {
      files[pathOf(name)] = toBytes(data, options).slice();
    },
    appendFileSync: (name, data, options) => {
      const [before, more] = [files[pathOf(name)] ?? new Uint8Array(), toBytes(data, options)];
      const joined = new Uint8Array(before.length + more.length);
      joined.set(before);
      joined.set(more, before.length);
      files[pathOf(name)] = joined;
    },
  };
  const later =
    (work) =>
    async (...given) =>
      work(...given);
  fs.promises = {
    readFile: later(fs.readFileSync),
    writeFile: later(fs.writeFileSync),
    appendFile: later(fs.appendFileSync),
    mkdir: later(fs.mkdirSync),
    readdir: later(fs.readdirSync),
    unlink: later(fs.unlinkSync),
  };
  const path = {
    join: (...parts) => parts.join('/').replace(/\/{2,}/g, '/'),
    basename: (name) => String(name).split('/').pop(),
    dirname: (name) => String(name).split('/').slice(0, -1).join('/') || '.',
    extname: (name) => /(?<=[^/])\.[^./]*$/.exec(String(name))?.[0] ?? '',
  };
  const modules = { __proto__: null, fs, 'fs/promises': fs.promises, path };
  globalThis.require = (name) => {
    const found = modules[String(name).replace(/^node:/, '')];
    if (found === undefined) throw new Error(`Module '${name}' is not there: the sandbox has fs and path only.`);
    return found;
  };
  globalThis.module = { exports: {} };
  globalThis.exports = globalThis.module.exports;

  // Timers: the host sleeps until `due` and calls `fire`.
  const timers = [];
  let lastTimer = 0;
  const schedule = (work, delay, given, every) => {
    const ms = Math.max(0, Number(delay) || 0);
    lastTimer += 1;
    timers.push({ id: lastTimer, due: Date.now() + ms, every: every ? Math.max(1, ms) : 0, work, given });
    return lastTimer;
  };
  const cancel = (id) => {
    const at = timers.findIndex((timer) => timer.id === id);
    if (at >= 0) timers.splice(at, 1);
  };
  globalThis.setTimeout = (work, delay, ...given) => schedule(work, delay, given, false);
  globalThis.setInterval = (work, delay, ...given) => schedule(work, delay, given, true);
  globalThis.clearTimeout = cancel;
  globalThis.clearInterval = cancel;

  const describe = (error) => {
    try {
      if (!(error instanceof own.Error)) return `Thrown: ${shown(error)}`;
      const stack = own.String(error.stack ?? '').split('\n');
      const frames = stack.filter((line) => line.trim() !== '' && !/<sandbox>|\(native\)|<eval>/.test(line));
      const left = frames.length > MAX_FRAMES ? [`    … ${frames.length - MAX_FRAMES} more`] : [];
      return [`${error.name}: ${error.message}`, ...frames.slice(0, MAX_FRAMES), ...left].join('\n');
    } catch {
      return 'The script threw something that cannot be shown.';
    }
  };
  // `isMemory` looks at the words of the engine; a script that says them itself only misleads its own author.
  const failed = (error) => {
    const isMemory = error === null || (error instanceof own.InternalError && error.message === 'out of memory');
    return stringify({ type: 'raised', text: isMemory ? 'out of memory' : describe(error), isMemory });
  };
  const returned = (value) => {
    const json = stringify(value);
    if (json === undefined) {
      const what = typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : 'undefined';
      return stringify({ type: 'raised', text: `main() returned ${what}; return null when there is no value.` });
    }
    return json.length > maxResultLength ? '{"type":"limit","limit":"output"}' : stringify({ type: 'returned', json });
  };
  const settled = (work) => {
    try {
      return work();
    } catch (error) {
      return failed(error);
    }
  };

  let outcome;
  return {
    start(argsJson, script) {
      const exports = root.module?.exports;
      const candidates = [exports, exports?.main, exports?.default, script?.main, script?.default, script];
      const main = candidates.find((candidate) => typeof candidate === 'function');
      if (main === undefined) {
        outcome = stringify({ type: 'raised', text: 'The script defines no function main().' });
        return;
      }
      (async () => main(parse(argsJson)))().then(
        (value) => {
          outcome = settled(() => returned(value));
        },
        (error) => {
          outcome = settled(() => failed(error));
        },
      );
    },
    failed: (error) => settled(() => failed(error)),
    outcome: () => outcome,
    /** Milliseconds until the next timer; -1 without one. */
    due: () => (timers.length === 0 ? -1 : Math.max(0, Math.min(...timers.map(({ due }) => due)) - Date.now())),
    fire() {
      const now = Date.now();
      for (const timer of timers.filter(({ due }) => due <= now).sort((a, b) => a.due - b.due)) {
        if (timer.every > 0) timer.due = now + timer.every;
        else cancel(timer.id);
        timer.work(...timer.given);
      }
    },
    fileNames: () => Object.keys(files).filter((name) => /^artifacts\/[^/]+$/.test(name)),
    fileBytes: (name) => files[name].slice().buffer,
  };
};
