import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CodeLanguage } from '../../../src/adapters/sandbox/code-runner.js';
import { createEmbeddedRunner } from '../../../src/adapters/sandbox/embedded/embedded-runner.js';
import { openRunner, runCode, tellResult } from './support/run-code.js';
import { countStarted, countThreads, nextThreads } from './support/threads.js';

const runner = openRunner();

const LOOPS: Readonly<Record<CodeLanguage, string>> = {
  python: 'def main():\n  print("on", flush=True)\n  while True: pass',
  nodejs: 'function main() { for (;;); }',
};
const LANGUAGES: readonly CodeLanguage[] = ['python', 'nodejs'];

describe.each([
  ['python' as const, 'def main(a, b=2):\n  print("é")\n  return {"sum": a + b, "é": None}', '{"sum":3,"é":null}'],
  [
    'nodejs' as const,
    'function main({ a, b = 2 }) { console.log("é"); return { sum: a + b, é: null }; }',
    '{"sum":3,"é":null}',
  ],
])('a script in %s', (language, source, expected) => {
  it('gets its arguments and gives what main returns', async () => {
    const result = await runCode(runner, language, source, { args: { a: 1 } });

    expect(tellResult(result)).toBe(`value ${expected}`);
    expect(result).toMatchObject({ status: 'success', stdout: 'é\n', stderr: '', exitCode: 0 });
  });

  it('is run once per subscription', async () => {
    const run$ = runner.run({ language, source, args: { a: 1 } });

    expect((await firstValueFrom(run$)).stdout).toBe('é\n');
    expect((await firstValueFrom(run$)).stdout).toBe('é\n');
  });

  it('reads arguments as data, whatever is in them', async () => {
    const hostile = { a: 1, b: 2, text: '"""\'\'\'$' + '{1}\u2028\\ \ud800 </script>', yes: true, nothing: null };
    const echo = language === 'python' ? 'def main(**args): return args' : 'module.exports = { main: (args) => args }';
    const { result } = await runCode(runner, language, echo, { args: hostile });

    expect(result?.value).toEqual(hostile);
  });
});

it.each([
  ['an expression', 'const main = async ({ x }) => x + 1'],
  ['exports', 'exports.main = ({ x }) => x + 1'],
  ['module.exports', 'module.exports = { main: async ({ x }) => x + 1 }'],
  ['a module', 'export const main = ({ x }) => x + 1'],
  ['a default export', 'export default async function ({ x }) { return x + 1 }'],
  [
    'a script that waits',
    'async function main({ x }) { await new Promise((done) => setTimeout(done, 5)); return x + 1 }',
  ],
])('finds main of JavaScript as %s', async (_what, source) => {
  expect(tellResult(await runCode(runner, 'nodejs', source, { args: { x: 1 } }))).toBe('value 2');
});

it('drives an async main of Python', async () => {
  const source = 'async def add(x): return x + 1\nasync def main(x): return await add(x)';
  expect(tellResult(await runCode(runner, 'python', source, { args: { x: 1 } }))).toBe('value 2');
});

it('has the standard library of Python', async () => {
  const names =
    'json re csv decimal datetime statistics hashlib sqlite3 zlib xml.dom uuid asyncio collections math random';
  const source = `import importlib\ndef main(names):\n  return [n for n in names.split() if importlib.import_module(n) is None]`;
  expect(tellResult(await runCode(runner, 'python', source, { args: { names } }))).toBe('value []');
});

it.each([
  [
    'python' as const,
    'import math\n\ndef helper():\n  return 1 / 0\n\ndef main():\n  return helper()',
    ['File "main.py", line 4, in helper', 'return 1 / 0', 'ZeroDivisionError'],
    '<string>',
  ],
  ['python' as const, 'def main(:', ['File "main.py", line 1', 'SyntaxError'], '<string>'],
  [
    'nodejs' as const,
    'function helper() {\n  return null.x;\n}\nfunction main() {\n  return helper();\n}',
    ['TypeError', 'main.js:2:', 'main.js:5:'],
    '<sandbox>',
  ],
  ['nodejs' as const, 'function main( {', ['SyntaxError', 'main.js:1:'], '<sandbox>'],
])('points into the script when %s throws', async (language, source, parts, hidden) => {
  const { status, stderr, exitCode } = await runCode(runner, language, source);

  expect({ status, exitCode }).toEqual({ status: 'program_error', exitCode: 1 });
  for (const part of parts) expect(stderr).toContain(part);
  expect(stderr).not.toContain(hidden);
});

it.each([
  [
    'python' as const,
    'import os\ndef main():\n  for n in NAMES:\n    open("artifacts/" + n, "wb").write(b"x" if n != "empty.csv" else b"")\n  os.mkdir("artifacts/sub")\n  open("artifacts/sub/in.csv", "w").write("x")\n  open("beside.csv", "w").write("x")\n  return 1',
  ],
  [
    'nodejs' as const,
    'const fs = require("fs");\nfunction main() {\n  for (const n of NAMES) fs.writeFileSync("artifacts/" + n, n === "empty.csv" ? "" : "x");\n  fs.mkdirSync("artifacts/sub");\n  fs.writeFileSync("artifacts/sub/in.csv", "x");\n  fs.writeFileSync("beside.csv", "x");\n  return 1;\n}',
  ],
])('gives the files of %s back that may come back', async (language, source) => {
  const names = ['a.csv', 'b.PNG', '.hidden.csv', 'c.exe', 'empty.csv', 'd..csv', 'é.json', 'noending'];
  const { artifacts } = await runCode(runner, language, source.replace('NAMES', JSON.stringify(names)));

  expect(artifacts.map(({ name, mimeType }) => `${name} ${mimeType}`)).toEqual([
    'a.csv text/csv',
    'b.PNG image/png',
    'é.json application/json',
  ]);
  expect(Buffer.from(artifacts[0]?.bytes ?? []).toString()).toBe('x');
});

it.each([
  ['python' as const, 'def main():\n  for n in range(12): open(f"artifacts/{n}.csv", "w").write("x")'],
  [
    'nodejs' as const,
    'function main() { for (let n = 0; n < 12; n++) require("fs").writeFileSync("artifacts/" + n + ".csv", "x"); return null }',
  ],
])('gives ten files of %s back at most', async (language, source) => {
  expect((await runCode(runner, language, source)).artifacts).toHaveLength(10);
});

it('writes files piece by piece, over each other, and shorter again', async () => {
  const source = [
    'def main():',
    '  with open("artifacts/a.csv", "wb") as f:',
    '    for _ in range(1000): f.write(b"0123456789")',
    '  with open("artifacts/a.csv", "r+b") as f:',
    '    f.write(b"AB")',
    '    f.truncate(4)',
    '    f.seek(6)',
    '    f.write(b"C")',
    '  with open("artifacts/a.csv", "ab") as f: f.write(b"D")',
    '  return list(open("artifacts/a.csv", "rb").read())',
  ].join('\n');
  const { result } = await runCode(runner, 'python', source);

  expect(Buffer.from(result?.value as number[]).toString('latin1')).toBe('AB23\0\0CD');
});

it('sees nothing of the script before it', async () => {
  for (const [language, first, second] of [
    [
      'nodejs',
      'globalThis.left = 1; Object.prototype.left = 1; function main() { return 1 }',
      'function main({}) { return typeof left }',
    ],
    [
      'python',
      'import builtins\nbuiltins.left = 1\nopen("left", "w").close()\ndef main(): return 1',
      'import os\ndef main():\n  return "left" in dir(__builtins__) or os.path.exists("left")',
    ],
  ] as const) {
    await runCode(runner, language, first);
    expect(['value "undefined"', 'value false']).toContain(tellResult(await runCode(runner, language, second)));
  }
});

it('keeps what was printed before the time was up', async () => {
  const result = await runCode(runner, 'python', LOOPS.python, { timeoutMs: 300 });

  expect(result).toMatchObject({ status: 'resource_limit_exceeded', limit: 'time', exitCode: -124, stdout: 'on\n' });
});

describe('threads', () => {
  it('are not there before the first script', async () => {
    const before = countThreads();
    const quiet = createEmbeddedRunner();

    expect(countThreads()).toBe(before);
    await quiet.close();
  });

  it.each(LANGUAGES)('end at once when a script in %s is unsubscribed', async (language) => {
    const lonely = createEmbeddedRunner({ maxSpares: 0 });
    const started = nextThreads(1);
    const subscription = lonely.run({ language, source: LOOPS[language], args: {} }).subscribe();
    const [worker] = (await started) as [Worker];
    await new Promise((resolve) => worker.once('message', resolve));
    const gone = new Promise((resolve) => worker.once('exit', resolve));

    subscription.unsubscribe();

    await gone;
    await lonely.close();
  });

  it('end when a script is unsubscribed before its interpreter is up', async () => {
    const lonely = createEmbeddedRunner({ maxSpares: 0 });
    const started = nextThreads(1);
    const subscription = lonely.run({ language: 'python', source: LOOPS.python, args: {} }).subscribe();
    const [worker] = (await started) as [Worker];
    const gone = new Promise((resolve) => worker.once('exit', resolve));

    subscription.unsubscribe();

    await gone;
    await lonely.close();
  });

  it('are all gone after close, and later scripts are refused', async () => {
    const closing = createEmbeddedRunner({ maxSpares: 2 });
    const workers = nextThreads(1);
    await runCode(closing, 'nodejs', 'function main() { return 1 }');
    const looping = runCode(closing, 'nodejs', LOOPS.nodejs);
    const failure = expect(looping).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
    const [first] = (await workers) as [Worker];

    await closing.close();

    await failure;
    expect(first.threadId).toBe(-1);
    await expect(runCode(closing, 'nodejs', LOOPS.nodejs)).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
  });

  it('keep no process alive that has nothing else to do', async () => {
    const program = fileURLToPath(new URL('./support/run-once.ts', import.meta.url));

    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program]);

    expect(stdout).toBe('done\n');
  });

  it('serve scripts in JavaScript again and again, and Python once', async () => {
    const counted = createEmbeddedRunner({ maxSpares: 1 });
    const before = countStarted();
    for (let at = 0; at < 5; at += 1) await runCode(counted, 'nodejs', 'function main() { return 1 }');

    expect(countStarted() - before).toBe(1);
    await counted.close();
  });
});

describe('a crowd of scripts', () => {
  it('waits for its turn, first come, first served', async () => {
    const narrow = openRunner({ maxActive: 1, maxSpares: 1 });
    const order: number[] = [];
    const source = 'function main({ n }) { return n }';
    await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const { result } = await runCode(narrow, 'nodejs', source, { args: { n } });
        order.push(result?.value as number);
      }),
    );

    expect(order).toEqual([1, 2, 3, 4]);
  });

  it('is refused when too many wait, and a place is free again when one gives up', async () => {
    const narrow = openRunner({ maxActive: 1, maxWaiting: 1, maxSpares: 0 });
    const running = narrow.run({ language: 'nodejs', source: LOOPS.nodejs, args: {} }).subscribe({ error() {} });
    const waiting = narrow.run({ language: 'nodejs', source: LOOPS.nodejs, args: {} }).subscribe({ error() {} });

    await expect(runCode(narrow, 'nodejs', LOOPS.nodejs)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    waiting.unsubscribe();
    const next = runCode(narrow, 'nodejs', 'function main() { return 1 }');
    running.unsubscribe();

    expect(tellResult(await next)).toBe('value 1');
  });

  it('lets tenants take turns', async () => {
    const narrow = openRunner({ maxActive: 1, maxSpares: 1 });
    const order: string[] = [];
    const say = async (tenant: string): Promise<void> => {
      await runCode(narrow.forTenant?.(tenant) ?? narrow, 'nodejs', 'function main() { return 1 }');
      order.push(tenant);
    };
    await Promise.all(['a', 'a', 'a', 'b'].map(say));
    expect(order).toEqual(['a', 'b', 'a', 'a']);
  });

  it('is refused when it brings too much', async () => {
    const source = `// ${'x'.repeat(17 * 1024 * 1024)}`;
    await expect(runCode(runner, 'nodejs', source)).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
  });
});

it.each([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ maxMemoryBytes: 1024 }, 'maxMemoryBytes'],
  [{ maxActive: 0 }, 'maxActive'],
  [{ maxSpares: -1 }, 'maxSpares'],
  [{ maxOutputBytes: 0.5 }, 'maxOutputBytes'],
])('refuses %j', (options, name) => {
  expect(() => createEmbeddedRunner(options)).toThrow(`"${name}" must be`);
});
