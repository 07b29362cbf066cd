import { expect, it } from 'vitest';
import { readFiles } from '../../scripts/support/files.js';

/** The only files that know RAGFlow's events: the projections of the engine's events and of chats, and what reads the first one back. */
const OWNERS = [
  'src/canvas/ragflow-events.ts',
  'src/canvas/read-ragflow-events.ts',
  'src/transport/chats/ragflow-chat.ts',
];

const WORDS =
  /\b(?:workflow_started|node_started|node_finished|node_restarted|message_end|user_inputs|workflow_finished|start_to_think|end_to_think)\b/g;

/** Descriptions of the API name events for its readers. */
const DESCRIPTION = /\.describe\((?:[^()]|\([^()]*\))*\)/g;

/** Names of RAGFlow's events in files that must read the engine's, a line each. */
function strayWords(files: readonly { readonly path: string; readonly text: string }[]): readonly string[] {
  return files
    .filter(({ path }) => !OWNERS.includes(path))
    .flatMap(({ path, text }) =>
      [...text.replace(DESCRIPTION, '').matchAll(WORDS)].map(([word]) => `${path}: ${word}`),
    );
}

it('RAGFlow’s event names stand in its projection and its reader alone', () => {
  const files = readFiles('src', '.ts');
  expect(files.filter(({ path }) => OWNERS.includes(path))).toHaveLength(OWNERS.length);
  expect(strayWords(files)).toEqual([]);
});

it('finds a name elsewhere, but for the descriptions of the API', () => {
  const text = "if (event === 'node_finished') z.string().describe('Such as node_started.');";
  expect(strayWords([{ path: 'src/a.ts', text }])).toEqual(['src/a.ts: node_finished']);
});
