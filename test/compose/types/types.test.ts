import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawChain, drawGraph, drawWorkflow } from './large-graphs.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SIZES = [30, 100, 300];

/**
 * Instantiations that everything together may take: chains, graphs and workflows of 30, 100 and 300 nodes, and the two files beside. Each
 * style alone may take 150,000 for 300 nodes; this is half of it for all three.
 */
const MOST_INSTANTIATIONS = 225_000;

/** What a compiler says about a line. */
interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

interface Verdict {
  readonly complaints: readonly Complaint[];
  readonly instantiations: number;
}

let folder: string;
let marks: ReadonlyMap<number, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'runnel-types-'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  await write('package.json', '{ "type": "module" }');
  const refused = await read('refused.ts');
  marks = marksIn(refused);
  await write('refused.ts', refused.replaceAll('@ts-expect-error', 'refused:'));
  await write('compiles.ts', await read('compiles.ts'));
  for (const size of SIZES) {
    await write(`chain-${size}.ts`, drawChain(size));
    await write(`graph-${size}.ts`, drawGraph(size));
    await write(`workflow-${size}.ts`, drawWorkflow(size));
  }
  const large = SIZES.flatMap((size) => ['chain', 'graph', 'workflow'].map((style) => `${style}-${size}.ts`));
  await write('tsconfig.json', configOf(['compiles.ts', 'refused.ts', ...large]));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['TypeScript 5.5', 'typescript-5.5'],
  ['TypeScript 5.9', 'typescript-5.9'],
  ['the newest TypeScript', 'typescript'],
])('under %s', (_, compiler) => {
  let verdict: Verdict;
  beforeAll(async () => {
    verdict = await compile(compiler);
  });

  it('everything compiles that has to', () => {
    expect(verdict.complaints.filter(({ file, line }) => file !== 'refused.ts' || !marks.has(line))).toEqual([]);
  });

  it('every mistake is refused at its line, in words that say what is wrong', () => {
    const said = [...marks.keys()].map((line) => {
      const complaints = verdict.complaints.filter((one) => one.file === 'refused.ts' && one.line === line);
      return `line ${line}: ${complaints.map(({ message }) => message).join('\n')}`;
    });
    expect(said).toEqual([...marks].map(([line, words]) => expect.stringMatching(wordsAt(line, words))));
  });

  it(`chains, graphs and workflows of ${SIZES.join(', ')} nodes together take ${MOST_INSTANTIATIONS} instantiations at most`, () => {
    expect(verdict.instantiations).toBeGreaterThan(1000);
    expect(verdict.instantiations).toBeLessThanOrEqual(MOST_INSTANTIATIONS);
  });
});

it('has marks at lines of code', () => {
  expect(marks.size).toBeGreaterThan(35);
});

function read(file: string): Promise<string> {
  return readFile(path.join(import.meta.dirname, file), 'utf8');
}

/** Files of the project are named by where they are, because the copy is somewhere else. */
function write(file: string, text: string): Promise<void> {
  return writeFile(path.join(folder, file), text.replaceAll("'../../../src/", `'${ROOT}/src/`));
}

function configOf(files: readonly string[]): string {
  const compilerOptions = { typeRoots: [path.join(ROOT, 'node_modules/@types')] };
  return JSON.stringify({
    extends: path.join(ROOT, 'tsconfig.json'),
    compilerOptions,
    files,
    include: [],
    exclude: [],
  });
}

/** By line: the words that the compiler has to use. The marked line is the one behind the mark. */
function marksIn(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const words = /@ts-expect-error (.+)$/.exec(line)?.[1];
    if (words !== undefined) found.set(index + 2, words);
  }
  return found;
}

/** The words as they are, anywhere in what is said about the line. */
function wordsAt(line: number, words: string): RegExp {
  return new RegExp(`^line ${line}: [^]*${words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
}

async function compile(compiler: string): Promise<Verdict> {
  const program = path.join(ROOT, 'node_modules', compiler, 'bin/tsc');
  const output = await run([program, '-p', folder, '--noEmit', '--pretty', 'false', '--extendedDiagnostics']);
  const instantiations = Number(/^Instantiations:\s+(\d+)/m.exec(output)?.[1]);
  return { complaints: complaintsIn(output), instantiations };
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: folder });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    child.stderr.on('data', (text) => {
      output += text;
    });
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}

/** Messages begin with their place; lines that are indented belong to the message before. */
function complaintsIn(output: string): readonly Complaint[] {
  const complaints: { file: string; line: number; message: string }[] = [];
  for (const line of output.split('\n')) {
    const place = /^(.+?)\((\d+),\d+\): error (.+)$/.exec(line);
    if (place !== null) {
      complaints.push({ file: path.basename(place[1] as string), line: Number(place[2]), message: place[3] as string });
    } else if (/^\s+\S/.test(line)) {
      const last = complaints.at(-1);
      if (last !== undefined) last.message += `\n${line.trim()}`;
    }
  }
  return complaints;
}
