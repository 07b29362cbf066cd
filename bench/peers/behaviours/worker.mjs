/** Tries one engine with one case: `node worker.mjs <engine> <case>`; prints one line of JSON: what it saw, why it could not, or why
 * there is no program. */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { READERS } from './cases.mjs';

/** How long a connection may stay open after a cancel. */
const GRACE_MS = 1_000;

const [engine, name] = process.argv.slice(2);
const { PROGRAMS, ABSENT = {}, producer } = await import(`./${engine}.mjs`);
if (ABSENT[name] !== undefined) {
  console.log(JSON.stringify({ absent: ABSENT[name] }));
  process.exit(0);
}

/** A server that never answers, and promises of what happens to the one request it gets. */
let arrive;
let close;
const arrived = new Promise((resolve) => {
  arrive = resolve;
});
const gone = new Promise((resolve) => {
  close = () => resolve(true);
});
const server = createServer((_, response) => {
  response.once('close', close);
  arrive();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const closed = arrived.then(() => Promise.race([gone, pause(GRACE_MS, false)]));
const url = `http://127.0.0.1:${server.address().port}/`;

const program = READERS[name] === undefined ? PROGRAMS[name]({ url, arrived, closed }) : READERS[name](producer);
const outcome = await program.then(
  (seen) => ({ seen }),
  (error) => ({ error: String(error?.message ?? error) }),
);
console.log(JSON.stringify(outcome));
// An engine may keep timers and runs; nothing of them matters any more.
process.exit(0);
