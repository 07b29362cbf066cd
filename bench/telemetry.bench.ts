/**
 * What watching costs a run: `npm run bench -- telemetry`.
 *
 * A chain of 100 nodes, each doing about 1 ms of work, is run without telemetry, with numbers alone, and with an exporter to a
 * collector in a process of its own; the ways take turns, run by run, and each run is compared with the bare one before it. Time is that of the processor, so that a busy machine
 * counts the same for all three.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { lastValueFrom } from 'rxjs';
import { planOf } from '../src/graph/build.js';
import type { Plan } from '../src/graph/plan.js';
import { run } from '../src/graph/run.js';
import { watchedBy } from '../src/telemetry/run-watch.js';
import { createTelemetry, openTelemetry, type Telemetry } from '../src/telemetry/telemetry.js';
import { quantile, type Row } from './measure.js';

const NODES = 100;
const RUNS = 60;

/** By then what was gathered is sent. */
const EXPORT_MS = 6_000;

/** Runs of nodes that do nothing before anything is measured, by which the compiler has settled. */
const WARM_UP_RUNS = 1_000;

/** Answers whatever it is sent, and says where it listens. */
const COLLECTOR = `
const http = require('node:http').createServer((request, response) => request.resume().on('end', () => response.end()));
http.listen(0, '127.0.0.1', () => console.log(http.address().port));
`;

type Way = 'bare' | 'counted' | 'exported';

/** Measures the three ways; takes about 45 seconds. */
export async function benchTelemetry(): Promise<readonly Row[]> {
  const collector = spawn(process.execPath, ['-e', COLLECTOR], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(collector.stdout, 'data');
  process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `http://127.0.0.1:${String(port).trim()}/v1/traces`;
  const exporting = await openTelemetry(process.env, { version: '0', log: { warn: console.warn } });
  const rows = await measure(exporting);
  await exporting.close();
  collector.kill();
  delete process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  return rows;
}

async function measure(exporting: Telemetry): Promise<readonly Row[]> {
  const ways: readonly (readonly [Way, Telemetry | undefined])[] = [
    ['bare', undefined],
    ['counted', createTelemetry()],
    ['exported', exporting],
  ];
  const idle = chainOf(0);
  for (let done = 0; done < WARM_UP_RUNS; done += 1) for (const [, telemetry] of ways) await watched(idle, telemetry);
  await pause(EXPORT_MS);
  const plan = chainOf(roundsOfOneMillisecond());
  const taken: Record<Way, number[]> = { bare: [], counted: [], exported: [] };
  for (let done = 0; done < RUNS; done += 1) {
    for (const [way, telemetry] of ways) {
      const before = process.cpuUsage();
      await watched(plan, telemetry);
      const { user, system } = process.cpuUsage(before);
      taken[way].push(user + system);
    }
  }
  const overhead = (way: Way, at: number): number =>
    quantile(
      taken[way].map((value, round) => (value / (taken.bare[round] ?? value) - 1) * 100),
      at,
    );
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const what = `run of ${NODES} nodes of 1 ms`;
  return [
    { name: `${what}, nobody watches`, value: quantile(taken.bare, 0.5) / 1_000, unit: 'ms' },
    { name: `${what}, counted`, value: overhead('counted', 0.5), unit: '%', bar: 1, aim: 0.2 },
    { name: `${what}, exported`, value: overhead('exported', 0.5), unit: '%', bar: 2, aim: 1 },
    {
      name: `${what}, exported, with the batches that are sent`,
      value: (total(taken.exported) / total(taken.bare) - 1) * 100,
      unit: '%',
      bar: 2,
      aim: 1,
    },
  ];
}

/** One run, and what the exporter does right after it. */
async function watched(plan: Plan, telemetry: Telemetry | undefined): Promise<void> {
  const events$ = run(plan, { input: {} });
  const id = randomUUID().replaceAll('-', '');
  await lastValueFrom(telemetry === undefined ? events$ : events$.pipe(watchedBy(telemetry.watch({ id, plan }))));
  await new Promise((resolve) => setImmediate(resolve));
}

function chainOf(rounds: number) {
  const work = () => ({ sum: spin(rounds) });
  return planOf(Object.fromEntries(Array.from({ length: NODES }, (_, at) => [`n${at}`, work])));
}

/** Arithmetic that cannot be left out. */
function spin(rounds: number): number {
  let sum = 1;
  for (let at = 0; at < rounds; at += 1) sum = (sum * 1_103_515_245 + 12_345) % 2_147_483_648;
  return sum;
}

/** The same number of rounds for every node of every run. */
function roundsOfOneMillisecond(): number {
  const rounds = 1_000_000;
  spin(rounds);
  const before = process.cpuUsage();
  for (let times = 0; times < 20; times += 1) spin(rounds);
  const { user } = process.cpuUsage(before);
  return Math.round((rounds * 1_000) / (user / 20));
}
