/**
 * An order that asks two questions, in a process that dies: `node --import tsx order.ts <folder> <when> <count>`.
 *
 * The folder has the log, the answers that have come, and what was done. The process kills itself at its `count`-th record of a step: `before` it
 * is stored, or `after`. With the count 0 it lives. It exits with 0 when the order is done and with 3 when it waits for an answer.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { chain } from '../../../../src/compose/chain.js';
import { recoverFrom } from '../../../../src/compose/resume.js';
import { invoke } from '../../../../src/compose/run.js';
import type { StepActivation } from '../../../../src/compose/step.js';
import { ask, step } from '../../../../src/compose/steps.js';
import type { LoggedRun } from '../../../../src/compose/stored-run.js';
import { EngineError } from '../../../../src/errors.js';
import type { EventLog } from '../../../../src/graph/log.js';

const [folder = '.', when = 'after', countText = '0'] = process.argv.slice(2);
const file = (name: string) => join(folder, name);
let left = Number(countText);

/** Something that must not happen twice once it is recorded. */
const effect =
  <T>(name: string, result: (input: T) => string) =>
  (input: T, at: StepActivation) => {
    appendFileSync(file('effects.txt'), `${name} ${at.key}\n`);
    return result(input);
  };

const order = chain(
  step(
    'reserve',
    effect('reserve', (item: string) => `${item}:reserved`),
  ),
  step('size', ask(z.string(), 'Which size?')),
  step(
    'price',
    effect('price', (size: string) => `${size}:priced`),
  ),
  step('pay', ask(z.boolean(), 'Pay?')),
  step(
    'ship',
    effect('ship', (paid: boolean) => `shipped, paid ${paid}`),
  ),
);

let unwritten: string[] = [];
const log: EventLog = {
  append(event) {
    unwritten.push(JSON.stringify(event));
  },
  snapshot(checkpoint) {
    unwritten.push(JSON.stringify({ snapshot: checkpoint }));
  },
  async flush() {
    const lines = unwritten;
    unwritten = [];
    for (const line of lines) {
      const isStep = /^\{"type":"node-(settled|interrupted)"/.test(line);
      if (isStep) left -= 1;
      if (isStep && left === 0 && when === 'before') process.kill(process.pid, 'SIGKILL');
      appendFileSync(file('log.txt'), `${line}\n`);
      if (isStep && left === 0) process.kill(process.pid, 'SIGKILL');
    }
  },
};

function linesOf(name: string): readonly string[] {
  return existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').slice(0, -1) : [];
}

/** What the processes before have stored; undefined when there is nothing. */
function stored(): LoggedRun | undefined {
  const lines = linesOf('log.txt');
  const at = lines.findLastIndex((line) => line.startsWith('{"snapshot"'));
  if (at === -1) return undefined;
  const { snapshot } = JSON.parse(lines[at] as string) as { snapshot: LoggedRun['snapshot'] };
  return { snapshot, events: lines.filter((line) => !line.startsWith('{"snapshot"')) };
}

const answers = JSON.parse(existsSync(file('answers.json')) ? readFileSync(file('answers.json'), 'utf8') : '{}');

/** Goes on with the answers that have come, until there is none for what is asked. */
async function goOn(open: readonly string[]): Promise<string | undefined> {
  const before = stored();
  const given = Object.fromEntries(
    open.flatMap((address) => (address in answers ? [[address, answers[address]]] : [])),
  );
  try {
    const input = before === undefined ? 'shoes' : recoverFrom(before, given);
    return await invoke(order, input as string, { run: 'order-1', log, durability: 'sync' });
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'RUN_INTERRUPTED') throw error;
    const { questions } = error.details as { questions: readonly { readonly address: string }[] };
    const asked = questions.map(({ address }) => address);
    writeFileSync(file('asked.json'), JSON.stringify(asked));
    return asked.some((address) => address in answers) ? goOn(asked) : undefined;
  }
}

const result = await goOn([]);
if (result === undefined) process.exit(3);
writeFileSync(file('result.txt'), result);
process.exit(0);
