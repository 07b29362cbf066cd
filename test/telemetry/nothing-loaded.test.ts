import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startCollector } from './support/collector.js';

const PROGRAM = new URL('support/loaded-modules.ts', import.meta.url).pathname;
const CANVAS = new URL('../../examples/hello/canvas.json', import.meta.url).pathname;

/** What a process of its own has loaded after a command. */
async function loaded(args: readonly string[], env: Readonly<Record<string, string>>) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('OTEL_'));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', PROGRAM, ...args], {
    env: { ...Object.fromEntries(inherited), RUNNEL_PORT: '0', ...env },
  });
  return JSON.parse(stdout) as { readonly code: number; readonly packages: readonly string[] };
}

describe.each([
  ['run', ['run', CANVAS, '--query', 'x']],
  ['serve', ['serve']],
] as const)('runnel %s', (_, args) => {
  it('loads nothing of OpenTelemetry without a collector', async () => {
    expect(await loaded(args, {})).toEqual({ code: 0, packages: [] });
  });

  it('loads it with one', async () => {
    const { url } = await startCollector();
    const { code, packages } = await loaded(args, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    expect(code).toBe(0);
    expect(packages).toEqual(expect.arrayContaining(['@opentelemetry/api', '@opentelemetry/sdk-node']));
  });
});
