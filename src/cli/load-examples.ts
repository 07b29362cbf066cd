/** The canvases that come with the package, as agents of the server. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from '../dsl/read.js';
import { EngineError } from '../errors.js';
import type { AgentRecord } from '../records/agents.js';
import { modelsFromEnvironment } from '../settings/read-settings.js';
import { EXAMPLES_FOLDER, loadTemplates, type Template } from '../transport/templates.js';
import type { Script } from './open-services.js';

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
  const templates = await loadTemplates();
  if (templates.length === 0) {
    const message = `The examples are not where they should be, in "${EXAMPLES_FOLDER}".`;
    throw new EngineError('CONFIG_INVALID', message);
  }
  const rules = await Promise.all(templates.map(({ id }) => readRules(path.join(EXAMPLES_FOLDER, id, 'models.json'))));
  return { agents: templates.map((template) => agentOf(template, now)), script: { rules: rules.flat() } };
}

function agentOf({ id, description, dsl }: Template, now: number): AgentRecord {
  parseDocument(dsl);
  return {
    id: `example-${id}`,
    title: `Example: ${id}`,
    description,
    avatar: null,
    permission: 'me',
    canvasType: null,
    canvasCategory: 'agent_canvas',
    tags: 'example',
    dsl,
    createdAt: now,
    updatedAt: now,
  };
}

async function readRules(file: string): Promise<Script['rules']> {
  if (!existsSync(file)) return [];
  const { script } = await modelsFromEnvironment({ RUNNEL_MODELS: file }, (name) => readFile(name, 'utf8'));
  return script?.rules ?? [];
}
