/**
 * Holds the engine to what it cost when `bench/baseline.json` was committed: `npm run bench:check [-- --update]`.
 *
 * What is compared are ratios to a graph of plain RxJS Subjects that is measured beside it, so that the speed of the machine cancels out.
 * Each figure is the median of a few processes. Exit code 1 when one is beyond the margin; `--update` keeps the new ratios instead.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { quantile, type Row } from './measure.js';

const BASELINE = fileURLToPath(new URL('./baseline.json', import.meta.url));
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const FROM_BUILD = new URL('./from-build.mjs', import.meta.url).href;
const YARDSTICK = 'compared: a graph of Subjects wired for each run';
const PROCESSES = 3;

/** A ratio may be so many times the committed one; on a busy machine medians move by a third. */
const MARGIN = 1.5;

type Ratios = Readonly<Record<string, number>>;

const now = medians(Array.from({ length: PROCESSES }, measureOnce));
if (process.argv.includes('--update')) {
  writeFileSync(BASELINE, `${JSON.stringify(now, null, 2)}\n`);
  console.log(`${Object.keys(now).length} ratios are kept in bench/baseline.json.`);
} else {
  process.exitCode = compare(JSON.parse(readFileSync(BASELINE, 'utf8')) as Ratios) ? 0 : 1;
}

/** Costs of a node, a round or a turn in one process, as ratios to the yardstick. */
function measureOnce(): Ratios {
  const args = ['--import', 'tsx', '--import', FROM_BUILD, MAIN, 'graph', 'canvas', 'agents', '--json'];
  const rows = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Row[];
  const yardstick = rows.find(({ name }) => name === YARDSTICK)?.value;
  if (yardstick === undefined) throw new Error(`The benchmark has no row "${YARDSTICK}".`);
  const costs = rows.filter(({ name, unit }) => unit.startsWith('us/') && !name.startsWith('compared'));
  return Object.fromEntries(costs.map(({ name, value }) => [name, value / yardstick]));
}

function medians(runs: readonly Ratios[]): Ratios {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      Number(
        quantile(
          runs.map((run) => run[name] ?? Number.NaN),
          0.5,
        ).toFixed(3),
      ),
    ]),
  );
}

/** Prints a table; whether everything is within the margin. */
function compare(kept: Ratios): boolean {
  const lines = [...new Set([...Object.keys(kept), ...Object.keys(now)])].map((name) => {
    const before = kept[name];
    const after = now[name];
    // A row that is new or gone is no answer to whether the engine got slower: the baseline is to be kept anew.
    const change = before === undefined || after === undefined ? Number.NaN : after / before;
    const verdict = Number.isNaN(change) ? 'NOT COMPARED' : change > MARGIN ? 'SLOWER' : 'ok';
    return { name, before, after, change: Number(change.toFixed(2)), verdict };
  });
  console.table(lines);
  const failed = lines.filter(({ verdict }) => verdict !== 'ok');
  console.log(
    failed.length === 0
      ? `All ${lines.length} ratios are within ${MARGIN} x of the committed ones.`
      : `${failed.length} of ${lines.length} ratios are beyond ${MARGIN} x or not compared; see above.`,
  );
  return failed.length === 0;
}
