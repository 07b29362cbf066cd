/** Every canvas of the examples as messages of the AI SDK's pages. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { runTurn } from '../../src/canvas/turn.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';
import { chunksOf, readChunks } from './support/read-chunks.js';

const FOLDER = path.resolve(import.meta.dirname, '../../examples');
const names = (await readdir(FOLDER)).filter((name) => existsSync(path.join(FOLDER, name, 'canvas.json')));

describe('the examples', () => {
  it('are there', () => expect(names.length).toBeGreaterThanOrEqual(10));

  it.each(names)('%s', async (name) => {
    const script = path.join(FOLDER, name, 'models.json');
    const settings = existsSync(script) ? { RUNNEL_MODELS: script } : {};
    const models = createModels(await modelsFromEnvironment(settings, (file) => readFile(file, 'utf8')));
    const canvas = loadCanvas(await readFile(path.join(FOLDER, name, 'canvas.json'), 'utf8'));
    const events = await lastValueFrom(runTurn(canvas, { query: 'hi' }, { services: { models } }).pipe(toArray()));
    const chunks = chunksOf(events, { plan: canvas.plan });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    const { parts } = await readChunks(chunks);
    expect(parts.length).toBeGreaterThan(0);
    await models.close();
  });
});
