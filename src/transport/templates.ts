/** Canvases and prompts to begin with. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type JsonObject, parseOwnJson } from '../json.js';
import { success } from './envelope.js';
import { type RouteGroup, route } from './http/route.js';
import { anyObject, defineView, none, string, timeFields } from './shapes.js';

/** A canvas to begin with. */
export interface Template {
  /** Name of its folder. */
  readonly id: string;
  /** Where it stands in the list. */
  readonly kind: string;
  readonly description: string;
  readonly dsl: JsonObject;
  /** Milliseconds since 1970. */
  readonly changedAt: number;
}

const templateView = defineView<Template>()({
  id: [string, 'id'],
  avatar: [z.null(), none],
  title: [z.record(string, string), ({ id }) => ({ en: id.charAt(0).toUpperCase() + id.slice(1) })],
  description: [z.record(string, string), ({ description }) => ({ en: description })],
  canvas_type: [string, 'kind'],
  canvas_types: [z.array(string), ({ kind }) => [kind]],
  canvas_category: [string, () => 'agent_canvas'],
  dsl: [anyObject, 'dsl'],
  ...timeFields('changedAt', 'changedAt'),
});

/** Beside `src` in a clone, beside `dist` in an installed package. */
export const EXAMPLES_FOLDER = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Kind and description by the folder of the example. */
const TEMPLATE_TEXTS: Readonly<Record<string, readonly [kind: string, description: string]>> = {
  hello: ['Basics', 'The smallest canvas: it says back what it hears.'],
  chat: ['Basics', 'A model answers, and remembers what was said before.'],
  agent: ['Basics', 'A model asks another agent and runs a script before it answers.'],
  branch: ['Basics', 'A Switch looks at the question and sends it one of several ways.'],
  triage: ['Customer support', 'A model sorts messages into categories, each with an answer of its own.'],
  form: ['Interactive', 'The run waits until a user fills in a form.'],
  approval: ['Interactive', 'A model drafts, a person approves or asks for a change.'],
  iteration: ['Flow', 'The same steps for every item of a list.'],
  loop: ['Flow', 'Steps that repeat until the result is good enough.'],
  parallel: ['Flow', 'Several models work side by side, and one puts their answers together.'],
  plan: ['Research', 'A plan of searches is carried out side by side, and a report names the source of each sentence.'],
};

/** Texts that editors offer to authors of agents, by the names under which prompts refer to them. */
const PROMPTS = {
  task_analysis: `Read the task and what you know about it before you do anything.
Write down, briefly: what is asked for and in which form; what is given; what is missing and where it may be found; what would make
the answer wrong. When the task is simple, say so in one line and answer at once.`,
  plan_generation: `Plan the next steps, not all of them. For each step name one tool that you have, its exact arguments, and what you
expect to learn. Steps that do not need each other's results may be taken together. When you know enough, plan no more tools and answer.`,
  reflection: `Look at what the tools gave. For each result say whether it answers its question, whether it can be trusted, and what
follows. Change the plan when a result contradicts it. Do not repeat a call that failed with the same arguments.`,
  citation_guidelines: `Behind each sentence that rests on a source you were given, name the source as [ID:n], where n is its ID. Several sources
stand side by side, at most four. Never name an ID that you were not given, and cite nothing for what you know yourself.`,
} as const;

/** Made once for each server, because it reads the templates once. */
export function templateRoutes(): RouteGroup {
  let templates: Promise<readonly Template[]> | undefined;
  return {
    name: 'templates',
    description: 'Canvases and prompts to begin with.',
    routes: [
      route('GET /agents/templates', {
        summary: 'Lists canvases',
        data: z.array(templateView.shape),
        handle: async () => {
          // They come with the package and do not change while it runs.
          templates ??= loadTemplates();
          return success((await templates).map(templateView.of));
        },
      }),
      route('GET /agents/prompts', {
        summary: 'Gives prompts by name',
        data: z.record(string, string),
        handle: () => success(PROMPTS),
      }),
    ],
  };
}

/** Reads the canvases that come with Runnel, in alphabetical order; none when the package came without them. */
export async function loadTemplates(): Promise<readonly Template[]> {
  const names = await readdir(EXAMPLES_FOLDER).catch(() => []);
  const templates = await Promise.all(names.sort().map(load));
  return templates.filter((template) => template !== undefined);
}

async function load(id: string): Promise<Template | undefined> {
  const file = path.join(EXAMPLES_FOLDER, id, 'canvas.json');
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
    const [kind, description] = TEMPLATE_TEXTS[id] ?? ['Basics', ''];
    return { id, kind, description, dsl: parseOwnJson(text) as JsonObject, changedAt: Math.floor(mtimeMs) };
  } catch {
    // A folder without a canvas is an example of something else.
    return undefined;
  }
}
