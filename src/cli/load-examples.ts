/** The canvases that come with the package, as agents of the server. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { AgentRecord } from '../records/agents.js';
import { modelsFromEnvironment } from '../settings/read-settings.js';
import type { Script } from './open-services.js';

/** Beside `src` in a clone, beside `dist` in an installed package. */
const FOLDER = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Agents, and what the built-in model answers in them. */
export interface Examples {
  readonly agents: readonly AgentRecord[];
  readonly script: Script;
}

/**
 * Reads every folder of `examples/` that holds a `canvas.json`, in alphabetical order. The id of an agent is `example-` and the
 * folder's name, in every process.
 *
 * @throws EngineError CONFIG_INVALID when the folder is not there, or as reading a document or a script.
 */
export async function loadExamples(now: number): Promise<Examples> {
  const agents: AgentRecord[] = [];
  const rules: Script['rules'] = [];
  for (const [name, files] of await listFolders()) {
    if (!files.includes('canvas.json')) continue;
    agents.push(await readAgent(name, now));
    if (files.includes('models.json')) rules.push(...(await readRules(name)));
  }
  return { agents, script: { rules } };
}

async function listFolders(): Promise<readonly (readonly [name: string, files: readonly string[]])[]> {
  try {
    const entries = await readdir(FOLDER, { withFileTypes: true });
    const names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
    return await Promise.all(names.map(async (name) => [name, await readdir(path.join(FOLDER, name))] as const));
  } catch (cause) {
    throw new EngineError('CONFIG_INVALID', `The examples are not where they should be, in "${FOLDER}".`, { cause });
  }
}

async function readAgent(name: string, now: number): Promise<AgentRecord> {
  const text = await readFile(path.join(FOLDER, name, 'canvas.json'), 'utf8');
  parseDocument(text);
  return {
    id: `example-${name}`,
    title: `Example: ${name}`,
    description: null,
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: 'agent_canvas',
    tags: 'example',
    dsl: JSON.parse(text) as JsonObject,
    createdAt: now,
    updatedAt: now,
  };
}

async function readRules(name: string): Promise<Script['rules']> {
  const settings = { RUNNEL_MODELS: path.join(FOLDER, name, 'models.json') };
  const { script } = await modelsFromEnvironment(settings, (file) => readFile(file, 'utf8'));
  return script?.rules ?? [];
}
