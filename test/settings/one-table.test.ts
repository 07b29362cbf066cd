import { expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';

/** Variables that are no settings of Runnel: those of OpenTelemetry, of terminals, of the caller's trace; and RAGFlow's `env.NAME`. */
const FOREIGN = /^(?:OTEL_\w*|TERM|NO_COLOR|COLUMNS|TRACEPARENT|TRACESTATE|NAME|KEY)$/;

/** Where commands find a server of this machine: their rules hold for the server, not for its clients. */
const ELSEWHERE = ['src/cli/command.ts: RUNNEL_HOST', 'src/cli/command.ts: RUNNEL_PORT'];

it('is the only place where variables are read by name', () => {
  const read = readFiles('src', '.ts')
    .filter(({ path }) => !path.startsWith('src/settings/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:env|environment)(?:\.|\[['"`])([A-Z][A-Z0-9_]+)/g)]
        .filter(([, name = '']) => !FOREIGN.test(name))
        .map(([, name]) => `${path}: ${name}`),
    );
  expect(read).toEqual(ELSEWHERE);
});
