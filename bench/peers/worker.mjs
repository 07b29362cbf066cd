/** Measures one engine on one workload: `node worker.mjs <engine> <workload>`; prints one line of JSON. */
import { measure } from './measure.mjs';
import { WORKLOADS } from './workloads.mjs';

const [engine, name] = process.argv.slice(2);
const workload = WORKLOADS.find((one) => one.name === name);
const { prepare } = await import(`./${engine}.mjs`);
console.log(JSON.stringify(await measure(await prepare(workload), workload.nodes)));
// An engine may keep timers; nothing of it matters any more.
process.exit(0);
