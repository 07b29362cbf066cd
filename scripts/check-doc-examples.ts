/**
 * Keeps examples in doc comments, `README.md` and `docs/` true: every ` ```ts ` fence is compiled against the built package and run, and
 * what it prints must be what its comments say (`console.log(x); // => value`).
 *
 * A fence is a whole program: it imports what it uses, `runnel` by its name. One that must not run has `ts no-run` as its info string and
 * is only compiled. Needs `npm run build` first.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, readFiles, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** How long one example may take, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Below the root, so that `runnel` resolves to this package; `dist` is not part of the repository. */
const FOLDER = 'dist/doc-examples';

/** One fenced example. */
export interface DocExample {
  readonly file: string;
  /** Line of its first line of code, from 1. */
  readonly line: number;
  readonly code: string;
  readonly isRun: boolean;
}

/** The fenced examples of a file: in doc comments of TypeScript, anywhere in Markdown. */
export function findDocExamples({ path: file, text }: SourceFile): readonly DocExample[] {
  const prefix = file.endsWith('.ts') ? /^\s*\*( |$)/ : /^/;
  const found: DocExample[] = [];
  let open: { readonly line: number; readonly isRun: boolean; readonly code: string[] } | undefined;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = prefix.test(raw) ? raw.replace(prefix, '') : undefined;
    if (open === undefined) {
      const info = /^```ts\b(.*)$/.exec(line ?? '')?.[1];
      if (info !== undefined) open = { line: index + 2, isRun: !/\bno-run\b/.test(info), code: [] };
    } else if (line === undefined || line.startsWith('```')) {
      found.push({ file, line: open.line, isRun: open.isRun, code: open.code.join('\n') });
      open = undefined;
    } else open.code.push(line);
  }
  return found;
}

/** What an example says that it prints, in order. */
export function expectedOutput(code: string): string {
  return [...code.matchAll(/\/\/ => (.*)$/gm)].map((match) => match[1]).join('\n');
}

/** What is wrong with what an example printed; undefined when it is what the example says, white space aside. */
export function outputProblem({ file, line, code }: DocExample, printed: string): string | undefined {
  const expected = expectedOutput(code);
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
  if (plain(expected) === plain(printed)) return undefined;
  return `${file}:${line}: the example prints\n${printed.trim()}\nbut says\n${expected}`;
}

/** Errors of the compiler name the copies; this names the places they come from. */
function compileProblems(examples: readonly DocExample[]): readonly string[] {
  writeFileSync(
    path.join(ROOT, FOLDER, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
      include: ['*.ts'],
      exclude: [],
    }),
  );
  const compiler = 'node_modules/typescript/bin/tsc';
  const { status, stdout } = runNode([compiler, '-p', FOLDER, '--pretty', 'false']);
  if (status === 0) return [];
  const problems = stdout.split('\n').flatMap((text) => {
    const [, name, line, message] = /example-(\d+)\.ts\((\d+),\d+\): (.*)$/.exec(text) ?? [];
    const example = examples[Number(name)];
    return example === undefined ? [] : [`${example.file}:${example.line + Number(line) - 1}: ${message}`];
  });
  return problems.length > 0 ? problems : [`the examples do not compile:\n${stdout}`];
}

function runProblem(example: DocExample, index: number): string | undefined {
  const { status, stdout, stderr } = runNode(['--import', 'tsx', `${FOLDER}/${nameOf(index)}`]);
  if (status !== 0) return `${example.file}:${example.line}: the example fails:\n${stderr}`;
  return outputProblem(example, stdout);
}

function runNode(args: readonly string[]) {
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
}

function nameOf(index: number): string {
  return `example-${index}.ts`;
}

if (isProgram(import.meta.url)) {
  const readme = { path: 'README.md', text: readFileSync(path.join(ROOT, 'README.md'), 'utf8') };
  const examples = [readme, ...readFiles('docs', '.md'), ...readFiles('src', '.ts')].flatMap(findDocExamples);
  mkdirSync(path.join(ROOT, FOLDER), { recursive: true });
  try {
    for (const [index, { code }] of examples.entries()) {
      writeFileSync(path.join(ROOT, FOLDER, nameOf(index)), `${code}\nexport {};\n`);
    }
    const problems = [
      ...compileProblems(examples),
      ...examples.flatMap((example, index) => (example.isRun ? [runProblem(example, index) ?? []].flat() : [])),
    ];
    if (examples.length === 0) problems.push('there is no example in doc comments, README.md or docs');
    report(problems, `${examples.length} examples compile, ${examples.filter(({ isRun }) => isRun).length} ran`);
  } finally {
    rmSync(path.join(ROOT, FOLDER), { recursive: true, force: true });
  }
}
