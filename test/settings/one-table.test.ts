import { expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';
import { describeGroups } from '../../src/settings/read-settings.js';

/** Variables that are no settings of Runnel: those of OpenTelemetry, of terminals, of the caller's trace. */
const FOREIGN = /^(?:OTEL_\w+|TERM|NO_COLOR|COLUMNS|TRACEPARENT|TRACESTATE)$/;

/** Where `runnel trace` finds a server of this machine: their rules hold for the server, not for its clients. */
const ELSEWHERE = ['src/cli/trace-command.ts: RUNNEL_HOST', 'src/cli/trace-command.ts: RUNNEL_PORT'];

it('is the only place where variables are read by name', () => {
  const read = readFiles('src', '.ts')
    .filter(({ path }) => !path.startsWith('src/settings/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:env|environment)(?:\.|\[['"`])([A-Z][A-Z0-9_]+)/g)]
        .map((match) => match[1] as string)
        .filter((name) => !FOREIGN.test(name))
        .map((name) => `${path}: ${name}`),
    );
  // RAGFlow's words for variables of a canvas, `env.NAME`, stand in messages and comments.
  const named = new Set(describeGroups().flatMap(([, settings]) => settings.map(({ name }) => name)));
  expect(read.filter((one) => named.has(one.split(': ')[1] as string))).toEqual(ELSEWHERE);
});
