/** What the servers under test run, and the script of the model in it. */
import { readFile } from 'node:fs/promises';

/** A canvas with the question that it is asked. */
export interface BenchCanvas {
  readonly name: string;
  readonly query: string;
  readonly dsl: object;
}

const PIECES = 200;
const ITEMS = 100;

/** Answers of the built-in model: {@link PIECES} pieces at once in the chat, and the review of the example `loop`. */
export async function modelsOfBench(): Promise<object> {
  const { scripted } = JSON.parse(await readFile(exampleFile('loop', 'models.json'), 'utf8')) as {
    readonly scripted: { readonly rules: readonly object[] };
  };
  const pieces = Array.from({ length: PIECES }, (_, at) => `word ${at} `);
  return { scripted: { rules: [...scripted.rules, { when: { system: 'bench: chat' }, reply_stream: pieces }] } };
}

/** `hello`: two nodes · `loop`: rounds of two model calls · `chat`: one answer in 200 pieces · `iteration`: a body for each of 100 items. */
export async function canvasesOfBench(): Promise<readonly BenchCanvas[]> {
  const chat = replaceTexts(await example('chat'), '[example: chat]', '[bench: chat]');
  const words = Array.from({ length: ITEMS }, (_, at) => `word${at}`);
  return [
    { name: 'hello', query: 'hello', dsl: await example('hello') },
    { name: 'loop', query: 'the sea', dsl: await example('loop') },
    { name: 'chat', query: 'tell me', dsl: chat },
    { name: 'iteration', query: words.join(','), dsl: await example('iteration') },
  ];
}

async function example(name: string): Promise<object> {
  return JSON.parse(await readFile(exampleFile(name, 'canvas.json'), 'utf8')) as object;
}

function exampleFile(name: string, file: string): URL {
  return new URL(`../../examples/${name}/${file}`, import.meta.url);
}

function replaceTexts(dsl: object, from: string, to: string): object {
  return JSON.parse(JSON.stringify(dsl).replaceAll(from, to)) as object;
}
