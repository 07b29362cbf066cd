import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Json } from '../../src/json.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');

/** A file of an example. */
export function example(name: string, file = 'canvas.json'): string {
  return path.join(EXAMPLES, name, file);
}

/** A folder for one test; gone with it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a file for one test and gives its path. */
export function temporaryFile(name: string, content: Json): string {
  const file = path.join(temporaryFolder(), name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** The example "chat" with a model that is not the built-in one. */
export function chatWithProvider(): string {
  const text = readFileSync(example('chat'), 'utf8');
  return temporaryFile('chat.json', text.replaceAll('"scripted"', '"some-model"'));
}

/** A canvas that says one text, with these variables. */
export function says(content: string, variables: Json = {}): string {
  return temporaryFile('says.json', {
    components: {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['m'], upstream: [] },
      m: { obj: { component_name: 'Message', params: { content: [content] } }, downstream: [], upstream: ['begin'] },
    },
    variables,
  });
}
