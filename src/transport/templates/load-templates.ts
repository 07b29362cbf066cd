import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../json.js';
import { TEMPLATE_TEXTS } from './template-texts.js';

/** A canvas to begin with. */
export interface Template {
  /** Name of its folder. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly kind: string;
  readonly dsl: JsonObject;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

/** Beside `src` in a clone, beside `dist` in an installed package. */
const FOLDER = fileURLToPath(new URL('../../../examples/', import.meta.url));

/** Reads the canvases that come with Runnel, in alphabetical order; none when the package came without them. */
export async function loadTemplates(folder: string = FOLDER): Promise<readonly Template[]> {
  const names = await readdir(folder).catch(() => []);
  const templates = await Promise.all(names.sort().map((name) => load(folder, name)));
  return templates.filter((template) => template !== undefined);
}

async function load(folder: string, id: string): Promise<Template | undefined> {
  const file = path.join(folder, id, 'canvas.json');
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
    const texts = TEMPLATE_TEXTS.get(id) ?? { title: id, description: '', kind: 'Basics' };
    return { id, ...texts, dsl: JSON.parse(text) as JsonObject, changedAt: Math.floor(mtimeMs) };
  } catch {
    // A folder without a canvas is an example of something else.
    return undefined;
  }
}
