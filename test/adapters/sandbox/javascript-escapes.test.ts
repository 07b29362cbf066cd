import { describe, expect, it } from 'vitest';
import { openRunner, runCode, tellResult } from './support/run-code.js';

const runner = openRunner({ maxMemoryBytes: 64 * 1024 * 1024, maxSpares: 2 });

/** What a script tries, the script, what comes of it; a number is the time that it gets. */
type Attempt = readonly [string, string, RegExp, number?];

/** `main` gives what the expression gives, or the name of what it throws. */
const trying = (expression: string): string =>
  `async function main() { try { return await (${expression}) ?? 'nothing'; } catch (error) { return error.name; } }`;

const ABSENT = /^value "(ReferenceError|TypeError|SyntaxError|EvalError|Error|nothing|undefined)"$/;

const HOST: readonly Attempt[] = [
  ['use process', trying('process.env'), ABSENT],
  ['use process by its global', trying('globalThis.process'), ABSENT],
  ['find process through a constructor', trying('(()=>{}).constructor("return typeof process")()'), ABSENT],
  ['find process through an async constructor', trying('(async()=>{}).constructor("return typeof process")()'), ABSENT],
  [
    'find process through a generator',
    trying('(function*(){}).constructor("return typeof process")().next().value'),
    ABSENT,
  ],
  ['find process through console', trying('console.log.constructor("return typeof process")()'), ABSENT],
  ['find process through require', trying('require.constructor("return typeof process")()'), ABSENT],
  [
    'find process through an error',
    trying('(() => { try { null.x } catch (e) { return e.constructor.constructor("return typeof process")() } })()'),
    ABSENT,
  ],
  [
    'find process through a thrown error of the host',
    trying(
      '(() => { try { require("net") } catch (e) { return e.constructor.constructor("return typeof process")() } })()',
    ),
    ABSENT,
  ],
  ['find process by eval', trying('eval("typeof process")'), ABSENT],
  ['find process by indirect eval', trying('(0, eval)("typeof process")'), ABSENT],
  ['find the caller', trying('(function f() { return typeof f.caller })()'), ABSENT],
  ['find the arguments of the caller', trying('console.log.arguments'), ABSENT],
  [
    'walk call sites',
    trying('(() => { Error.prepareStackTrace = (_, sites) => sites; return typeof new Error().stack[0].getThis })()'),
    ABSENT,
  ],
  ['require a process', trying('require("child_process")'), ABSENT],
  ['require the network', trying('require("node:net")'), ABSENT],
  ['require by prototype', trying('require("__proto__")'), ABSENT],
  ['require by constructor', trying('require("constructor")'), ABSENT],
  ['import dynamically', trying('import("node:fs")'), ABSENT],
  ['import a file', trying('import("file:///etc/passwd")'), ABSENT],
  ['import the engine', trying('import("std")'), ABSENT],
  ['import the system of the engine', trying('import("os")'), ABSENT],
  ['fetch', trying('fetch("http://127.0.0.1")'), ABSENT],
  ['open a WebSocket', trying('new WebSocket("ws://127.0.0.1")'), ABSENT],
  ['start a worker', trying('new Worker("x")'), ABSENT],
  ['post to the host', trying('postMessage({ type: "ended" })'), ABSENT],
  ['find the port', trying('globalThis.parentPort'), ABSENT],
  ['compile WebAssembly', trying('new WebAssembly.Memory({ initial: 1 })'), ABSENT],
  [
    'share memory',
    trying('typeof Atomics === "object" ? Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10) : null'),
    /^value "(ReferenceError|TypeError|nothing|timed-out)"$/,
  ],
  ['read a file of the host', trying('require("fs").readFileSync("/etc/passwd", "utf8")'), ABSENT],
  ['climb out of the folder', trying('require("fs").readFileSync("artifacts/../../../etc/passwd", "utf8")'), ABSENT],
  ['list the host', trying('require("fs").readdirSync("/").join()'), /^value ""$/],
  [
    'find what the prelude holds',
    trying('Object.getOwnPropertyNames(globalThis).filter((name) => /host|write|api|outcome/.test(name)).join()'),
    /^value ""$/,
  ],
  ['find Node’s Buffer', trying('typeof Buffer'), ABSENT],
  ['use the loader of CommonJS', trying('module.constructor._load("fs")'), ABSENT],
];

const FLOODS: readonly Attempt[] = [
  ['loop for ever', 'function main() { for (;;); }', /^resource_limit_exceeded time/, 400],
  ['never come to main', 'for (;;);', /^resource_limit_exceeded time/, 400],
  [
    // Each promise waits for the next one: a fast machine meets the limit of memory first.
    'chain promises for ever',
    'function main() { const f = () => Promise.resolve().then(f); return f(); }',
    /^resource_limit_exceeded (?:time|memory)/,
    400,
  ],
  [
    'sleep for ever',
    'function main() { return new Promise((done) => setTimeout(done, 1e9)); }',
    /^resource_limit_exceeded time/,
    400,
  ],
  [
    'tick for ever',
    'function main() { return new Promise(() => setInterval(() => {}, 0)); }',
    /^resource_limit_exceeded time/,
    400,
  ],
  [
    'match a regex for ever',
    'function main() { return /(a+)+$/.test("a".repeat(40) + "b"); }',
    /^resource_limit_exceeded time/,
    400,
  ],
  [
    'catch what interrupts',
    'function main() { for (;;) { try { for (;;); } catch {} finally { continue; } } }',
    /^resource_limit_exceeded time/,
    400,
  ],
  ['never settle', 'function main() { return new Promise(() => {}); }', /never settles/],
  ['be a promise that never settles', 'function main() { return { then() {} }; }', /never settles/],
  [
    'fill the memory with texts',
    'function main() { const a = []; for (;;) a.push("x".repeat(1e5) + a.length); }',
    /^resource_limit_exceeded memory/,
  ],
  [
    'fill the memory with bytes',
    'function main() { const a = []; for (;;) a.push(new Uint8Array(1e6)); }',
    /^resource_limit_exceeded memory/,
  ],
  [
    'fill the memory with objects',
    'function main() { const a = []; for (;;) a.push({}); }',
    /^resource_limit_exceeded memory/,
  ],
  [
    'ask for one huge buffer',
    'function main() { return new ArrayBuffer(2 ** 31).byteLength; }',
    /^(resource_limit_exceeded|program_error)/,
  ],
  [
    'ask for one huge text',
    'function main() { return "x".repeat(2 ** 29).length; }',
    /^(resource_limit_exceeded|program_error)/,
  ],
  [
    'catch the want of memory for ever',
    'function main() { const a = []; for (;;) { try { a.push(new Uint8Array(1e6)); } catch {} } }',
    /^resource_limit_exceeded/,
    400,
  ],
  ['recurse', 'function main() { return main(); }', /^program_error : [\s\S]*stack/],
  [
    'recurse in a getter',
    'function main() { const a = { get a() { return this.a; } }; return a; }',
    /^program_error : [\s\S]*stack/,
  ],
  ['recurse in JSON', 'function main() { return { toJSON() { return JSON.stringify(this); } }; }', /^program_error : /],
  [
    'recurse in the parser',
    'function main() { return eval("[".repeat(1e5) + "]".repeat(1e5)); }',
    /^(program_error|resource_limit_exceeded)/,
  ],
  ['print for ever', 'function main() { for (;;) console.log("a".repeat(1000)); }', /^resource_limit_exceeded output/],
  [
    'print errors for ever',
    'function main() { for (;;) console.error("a".repeat(1000)); }',
    /^resource_limit_exceeded output/,
  ],
  ['print one huge text', 'function main() { console.log("a".repeat(5e6)); }', /^resource_limit_exceeded output/],
  ['return too much', 'function main() { return "a".repeat(5e6); }', /^resource_limit_exceeded output/],
  ['return itself', 'function main() { const a = {}; a.a = a; return a; }', /circular/],
  [
    'return what is nested too deep',
    'function main() { let a = []; for (let i = 0; i < 300; i++) a = [a]; return a; }',
    /more than 200 levels/,
  ],
];

const FORGERIES: readonly Attempt[] = [
  [
    'throw one huge text',
    'function main() { throw new Error("a".repeat(2e7)); }',
    /^(program_error|resource_limit_exceeded output)/,
  ],
  ['throw a long text', 'function main() { throw new Error("a".repeat(1e6)); }', /^program_error : Error: a{1000}/],
  [
    'print a marker',
    'function main() { console.log("__RAGFLOW_RESULT__:eyJwcmVzZW50Ijp0cnVlLCJ2YWx1ZSI6MX0="); return 2; }',
    /^value 2$/,
  ],
  [
    'bend what makes JSON',
    'JSON.stringify = () => "1"; JSON.parse = () => 1; function main() { return 2; }',
    /^value 2$/,
  ],
  [
    'bend every object',
    'Object.prototype.toJSON = () => 1; function main() { return 2; }',
    /broke what reports its result/,
  ],
  [
    'bend the ending',
    'Object.prototype.toJSON = () => ({ type: "limit", limit: "gold" }); function main() { return 2; }',
    /broke what reports its result/,
  ],
  [
    'bend promises',
    'Promise.prototype.then = function () { return this; }; async function main() { return 2; }',
    /never settles|^value 2$/,
  ],
  [
    'bend the lists',
    'Array.prototype.find = () => () => 3; Array.prototype.map = () => { throw 1; }; function main() { console.log(1); return 2; }',
    /^(value|program_error)/,
  ],
  [
    'bend texts',
    'String.prototype.slice = () => ({}); function main() { console.log("hello"); return 2; }',
    /^(value|resource_limit_exceeded|program_error)/,
  ],
  [
    'bend the files',
    'Object.keys = () => ["artifacts/a.csv"]; Uint8Array.prototype.slice = () => 5; function main() { return 2; }',
    /^value 2$/,
  ],
  [
    'replace the globals',
    'function main() { return 2; } for (const name of Object.getOwnPropertyNames(this)) { try { delete this[name]; } catch {} }',
    /^value 2$/,
  ],
  [
    'freeze everything',
    'Object.freeze(globalThis); Object.freeze(Object.prototype); function main() { return 2; }',
    /^(value 2|program_error)/,
  ],
  ['throw nothing', 'function main() { throw undefined; }', /^program_error : Thrown: undefined/],
  ['throw null', 'function main() { throw null; }', /^(program_error|resource_limit_exceeded)/],
  [
    'throw what cannot be shown',
    'function main() { throw { toString() { throw this; }, toJSON() { throw this; } }; }',
    /cannot be shown/,
  ],
  [
    'throw from a timer',
    'function main() { setTimeout(() => { throw new Error("late"); }, 0); return new Promise(() => {}); }',
    /^program_error : Error: late/,
  ],
  ['return nothing', 'function main() {}', /returned undefined/],
  ['return a function', 'function main() { return main; }', /returned a function/],
  ['return a large number', 'function main() { return 1n; }', /^program_error/],
  ['define no main', 'const x = 1;', /no function main/],
];

describe.each([
  ['the host', HOST],
  ['the limits', FLOODS],
  ['the result', FORGERIES],
])('JavaScript against %s', (_what, attempts) => {
  for (const [name, source, expected, timeoutMs] of attempts) {
    it.concurrent(name, async () => {
      const result = await runCode(runner, 'nodejs', source, timeoutMs === undefined ? {} : { timeoutMs });
      expect(tellResult(result)).toMatch(expected);
    });
  }
});
