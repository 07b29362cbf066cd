/**
 * What Runnel and libraries like it do when programs say the same: `npm run bench:behaviours`. Prints the table that docs/benchmarks.md has.
 *
 * Every engine runs every case in a process of its own. Exits with 1 when Runnel does not pass one.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CASES } from './cases.mjs';

/** Bounds what hangs; a machine under load may need a minute to start a program. */
const TIMEOUT_MS = 180_000;
const ENGINES = [
  { engine: 'runnel', title: 'Runnel' },
  { engine: 'langgraph', title: 'LangGraph.js' },
  { engine: 'mastra', title: 'Mastra' },
  { engine: 'ai-sdk', title: 'AI SDK' },
  { engine: 'openai-agents', title: 'OpenAI Agents SDK' },
];

console.log(`| what | ${ENGINES.map(({ title }) => title).join(' | ')} |`);
console.log(`| --- | ${ENGINES.map(() => '---').join(' | ')} |`);
for (const one of CASES) {
  const cells = ENGINES.map(({ engine }) => {
    const { isPassed, isAbsent, text } = tryEngine(engine, one);
    if (isAbsent) return `none: ${text}`;
    if (engine === 'runnel' && !isPassed) process.exitCode = 1;
    return `${isPassed ? 'yes' : '**no**'}: ${text}`;
  });
  console.log(`| ${one.title} | ${cells.join(' | ')} |`);
}

function tryEngine(engine, { name, passes, tell }) {
  const worker = fileURLToPath(new URL('worker.mjs', import.meta.url));
  const { stdout, error } = spawnSync(process.execPath, [worker, engine, name], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  const line = stdout.trim().split('\n').at(-1);
  if (error !== undefined || line === '') return { isPassed: false, text: error?.message ?? 'ended without a result' };
  const { seen, absent, error: reason } = JSON.parse(line);
  if (absent !== undefined) return { isAbsent: true, text: absent };
  if (seen === undefined) return { isPassed: false, text: reason.split('\n')[0] };
  return { isPassed: passes(seen), text: tell(seen) };
}
