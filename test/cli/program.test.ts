import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { frame, startServer } from '../models/fake-server.js';
import { chatWithProvider, example } from './canvases.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Starts the program as a process of its own. */
function start(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** A model that says one piece and then, until its connection is closed, whatever `goOn` says. */
async function talkingModel(goOn: (write: (piece: string) => void) => void = () => {}) {
  let close: () => void;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const { url } = await startServer((response) => {
    const write = (piece: string) => void response.write(`data: ${JSON.stringify(frame({ content: piece }))}\n\n`);
    response.on('close', () => close());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    write('piece ');
    goOn(write);
  });
  return { url, closed };
}

describe('the program', () => {
  it('reads a canvas from the standard input and writes the answer to the standard output', async () => {
    const child = start(['run', '-', '--query', 'hi']);
    child.stdin?.end(readFileSync(example('hello')));
    const [out, err, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    expect({ out, err, code }).toEqual({ out: 'Hello! You said "hi", and this is turn 1.\n', err: '', code: 0 });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends a run on %s: exit code 130, the model no longer connected',
    async (signal) => {
      const { url, closed } = await talkingModel();
      const child = start(['run', chatWithProvider(), '--query', 'x'], { OPENAI_BASE_URL: url });
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      child.kill(signal);
      const [err, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')]);
      expect({ err, code }).toEqual({ err: 'cancelled\n', code: 130 });
      await closed;
    },
  );

  it('ends with its reader', async () => {
    let isOver = false;
    const { url, closed } = await talkingModel((write) => {
      const again = () => {
        if (isOver) return;
        write('and on ');
        setImmediate(again);
      };
      again();
    });
    const child = start(['run', chatWithProvider(), '--query', 'x'], { OPENAI_BASE_URL: url });
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    child.stdout?.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'close')]);
    isOver = true;
    expect({ err, code }).toEqual({ err: '', code: 0 });
    await closed;
  });
});
