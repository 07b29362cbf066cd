import { expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';

/** Files that read JSON without bounds, and why they may: all of it was written by Runnel itself, or by what it started. */
const OWN: Readonly<Record<string, string>> = {
  'src/json.ts': 'has the bounded reader, and the one for texts of our own',
  'src/adapters/browser/browsers.ts': 'the state of a browser, as this process wrote it',
  'src/adapters/browser/chromium-process.ts': 'the protocol of the Chromium that this process started',
  'src/agents/sessions/memory-sessions.ts': 'entries that this process wrote',
  'src/agents/sessions/session-file.ts': 'entries of stored sessions, checked by their schemas',
  'src/canvas/turn.ts': 'a state that was made JSON in the same line',
  'src/cli/command.ts': 'the manifest of the package',
  'src/cli/session-file.ts': 'a file that the command line wrote',
  'src/compose/stored-run.ts': 'snapshots of logs that the engine wrote, checked by their schemas',
  'src/graph/log.ts': 'events of stored logs, checked by their schemas',
  'src/hosting/event-frame.ts': 'an event that this process wrote',
  'src/hosting/log-folds.ts': 'events of stored logs',
  'src/hosting/repeated-texts.ts': 'events of stored logs, and what this process wrote',
  'src/hosting/run-history.ts': 'events of stored logs',
  'src/hosting/run-past.ts': 'events of stored logs',
  'src/knowledge/base/texts.ts': 'texts of documents that this installation stored',
  'src/stores/cached-agents.ts': 'messages of other processes of this installation',
  'src/stores/postgres/agent-sessions.ts': 'entries of stored sessions, checked by their schemas',
  'src/stores/postgres/documents.ts': 'stored documents',
  'src/stores/postgres/embedded/folder-lock.ts': 'the lock of a data folder',
  'src/stores/postgres/embedded/image.ts': 'the prepared database of the package',
  'src/stores/postgres/open-database.ts': 'columns of type JSON',
  'src/stores/postgres/repository.ts': 'a summary that this process wrote',
  'src/stores/redis/read-reply.ts': 'stored records',
  'src/stores/redis/redis-run-log.ts': 'stored checkpoints',
  'src/transport/runs/values-read.ts': 'events of stored logs',
  'src/transport/templates.ts': 'canvases of the package',
  'src/transport/webhooks/webhooks.ts': 'an event that this process wrote',
};

const UNBOUNDED = /\bJSON\s*\.\s*parse\b|\bparseOwnJson\b|\.json\(\)\s*(?:as|;|\))|\bJSON\s*\[/;

/** Comments may name it. */
const code = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '').replace(/\bz\.json\(\)/g, '');

it('reads what comes from outside by the one bounded reader', () => {
  const found = readFiles('src', '.ts').filter(({ text }) => UNBOUNDED.test(code(text)));
  expect(found.map(({ path }) => path).sort()).toEqual(Object.keys(OWN).sort());
});

it.each(['JSON.parse(text)', 'const value = JSON\n  .parse(text);', 'parseOwnJson(body)', 'await response.json();'])(
  'would find %j',
  (text) => {
    expect(UNBOUNDED.test(code(text))).toBe(true);
  },
);
