/**
 * Documents of others on the page: dropped, looked at, edited, run. Those of RAGFlow are not in this repository: set RAGFLOW_DOCUMENTS to a folder with
 * them, however deep; otherwise only documents of our own are tried.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { toV2 } from '../../src/dsl/convert.js';
import { parseDocument, readDocument } from '../../src/dsl/read.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import { upstreamServices } from '../canvas/support/upstream-services.js';
import { skippedUnless } from '../support/skipped.js';
import { conversation, exampleModels, messageField, say } from './support/conversation.js';
import { hasChromium, named, type OpenedStudio, openStudio } from './support/studio.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDER = process.env.RAGFLOW_DOCUMENTS ?? '';
const given =
  FOLDER === ''
    ? []
    : readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.json'))
        .toSorted();

const ours = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const asV2 = (text: string): string => JSON.stringify(toV2(parseDocument(JSON.parse(text))).canvas);

/** A document of our own, what its preview says, and what comes of its run. */
interface Own {
  readonly name: string;
  readonly text: string;
  readonly preview: RegExp;
  readonly ends: RegExp;
  readonly models?: Promise<string>;
}

const OWN: readonly Own[] = [
  {
    name: 'an agent with tools',
    text: ours('examples/agent/canvas.json'),
    preview: /^Version 1, 3 components\./,
    ends: /^succeeded/,
  },
  {
    name: 'an iteration',
    text: ours('examples/iteration/canvas.json'),
    preview: /^Version 1, 6 components\./,
    ends: /^succeeded/,
    models: exampleModels('iteration'),
  },
  {
    name: 'a loop',
    text: ours('examples/loop/canvas.json'),
    preview: /^Version 1, 7 components\./,
    ends: /^succeeded/,
    models: exampleModels('loop'),
  },
  {
    name: 'version 2',
    text: asV2(ours('examples/triage/canvas.json')),
    preview: /^Version 2, 6 components\./,
    ends: /^succeeded/,
    models: exampleModels('triage'),
  },
  {
    name: 'fields that belong to others',
    text: ours('test/dsl/documents/parcel-desk.json'),
    preview: /^Version 1, 7 components\.[\s\S]*\d+ parts would be lost/,
    ends: /^succeeded/,
  },
  {
    name: 'a layout without components',
    text: ours('test/dsl/documents/parcel-layout.json'),
    preview: /they were rebuilt from the layout/,
    ends: /^succeeded/,
  },
  {
    name: 'unknown types',
    text: ours('test/web/documents/unknown-types.json'),
    preview: /This server has no Warp\.[\s\S]*"Periscope"/,
    ends: /^refused: .*Warp/,
  },
  {
    name: 'a tool without its key',
    text: ours('test/web/documents/tool-without-key.json'),
    preview: /^Version 1, 3 components\./,
    ends: /^failed in TavilySearch .*set "api_key"/,
  },
  {
    name: 'a pipeline',
    text: ours('test/web/documents/pipeline.json'),
    preview: /It is an ingestion pipeline/,
    ends: /^a pipeline: .*What is missing here is a dataset/,
  },
  {
    name: 'a pipeline with a type that does not work here',
    text: ours('test/web/documents/compiling-pipeline.json'),
    preview: /Error[\s\S]*it compiles knowledge into a graph/,
    ends: /^a pipeline: .*What is missing here is a dataset/,
  },
];

/** What ends of runs may say of documents that are not ours: an end, a form, or what is missing, by name. */
const NAMED =
  /^(?:succeeded|waiting|a form: .*This is needed|a pipeline: .*What is missing here is a dataset|failed in .*(?:api_key|API key|[Nn]o dataset|has no value|needs? |host|does not exist|must ))/;

/** The palette has its place beside a run. */
const WIDE = { viewport: { width: 1680, height: 1000 } };

interface Imported extends OpenedStudio {
  readonly id: string;
  /** The document as it was dropped. */
  readonly dsl: JsonObject;
  readonly preview: string;
}

/** Drops a file on the page, reads its preview and takes it. */
async function importByDrop(name: string, text: string, models: string | undefined): Promise<Imported> {
  const services = await upstreamServices();
  const studio = await openStudio({ services, browser: WIDE, ...(models !== undefined && { models }) });
  const { page } = studio;
  await studio.open('/agents');
  await page.getByText('There is no agent yet.').waitFor();
  const transfer = await page.evaluateHandle(
    ([content = '', file = '']) => {
      const data = new DataTransfer();
      data.items.add(new File([content], file, { type: 'application/json' }));
      return data;
    },
    [text, name],
  );
  await page.getByRole('heading', { name: 'Agents' }).dispatchEvent('drop', { dataTransfer: transfer });
  const region = page.getByRole('region', { name });
  await region.getByText(/^Version \d/).waitFor();
  for (const more of await region.getByRole('group').all()) await unfold(more);
  const said = await region.getByText(/^Version \d/).textContent();
  const preview = [said, ((await region.textContent()) ?? '').replaceAll('\n', ' ')].join(' ');
  await page.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('toolbar', { name: 'Tools of the editor' }).waitFor();
  const id = decodeURIComponent(page.url().split('/agents/')[1] ?? '');
  return { ...studio, id, dsl: dslIn(JSON.parse(text)), preview };
}

const unfold = (group: Locator): Promise<void> => group.evaluate((one) => one.setAttribute('open', ''));

function dslIn(value: JsonObject): JsonObject {
  const isTemplate = isJsonObject(value.dsl as Json) && value.components === undefined && value.graph === undefined;
  return (isTemplate ? value.dsl : value) as JsonObject;
}

async function stored({ server }: OpenedStudio, id: string): Promise<JsonObject> {
  return (await server.call('GET', `/api/v1/agents/${id}`)).body.data.dsl;
}

/** Each component has a node on the canvas that says its name, its type, and that the type is unknown where it is. */
async function expectDrawn({ page, dsl, server }: Imported): Promise<void> {
  const components = Object.values(readDocument(dsl).document?.components ?? {});
  const { body } = await server.call('POST', '/api/v1/agents/validate', { dsl });
  const unknown: readonly string[] = body.data.unknown_types;
  const canvas = page.getByRole('region', { name: 'Canvas' });
  for (const { name, type } of components) {
    const same = components.filter((one) => one.name === name && one.type === type).length;
    const nodes = canvas.getByRole('group', { name: `${name}, ${type}`, exact: true });
    await expect.poll(() => nodes.count(), { message: `${name}, ${type}` }).toBe(same);
    if (unknown.includes(type)) await nodes.getByText(`${type}, unknown type`, { exact: true }).first().waitFor();
  }
}

/** Adds a component, and takes it back: what it has nothing to do with is as it was, then all is. */
async function expectEditKeeps(studio: Imported): Promise<void> {
  const { page, id, dsl } = studio;
  const palette = page.getByRole('region', { name: 'Components' });
  // Its types have come.
  await palette.getByRole('heading', { level: 3 }).first().waitFor();
  await palette.getByRole('searchbox').fill('e');
  await page.keyboard.press('Enter');
  await page.getByText(/^Draft, saved/).waitFor();
  const edited = await stored(studio, id);
  expect(partsOf(edited)).toEqual(expect.arrayContaining([...partsOf(dsl)]));
  expect(Object.keys(edited.components as JsonObject).length).toBeGreaterThan(
    Object.keys((dsl.components as JsonObject | undefined) ?? {}).length,
  );
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => JSON.stringify(await stored(studio, id))).toBe(JSON.stringify(dsl));
}

/** Every part of a document that an added component leaves alone, as its own bytes; places are written as they are drawn. */
function partsOf({ components = {}, graph = {}, ...others }: JsonObject): readonly string[] {
  const { nodes = [], edges = [], ...beside } = graph as JsonObject;
  const lines = (where: string, parts: Json): string[] =>
    Object.entries(parts as JsonObject).map(([name, part]) => `${where} ${name} ${JSON.stringify(part)}`);
  const list = (where: string, parts: Json): string[] =>
    (parts as readonly Json[]).map((part) => `${where} ${JSON.stringify(part)}`);
  return [
    ...lines('component', components),
    ...lines('graph', beside),
    ...list('node', (nodes as readonly JsonObject[]).map(withoutPlace)),
    ...list('edge', edges),
    ...lines('document', others),
  ];
}

function withoutPlace(node: JsonObject): JsonObject {
  const entries = Object.entries(node).filter(
    ([name]) => !/^(?:position|positionAbsolute|width|height|measured|style)$/.test(name),
  );
  return Object.fromEntries(entries);
}

const pipelineNote = (page: Page): Locator => page.getByRole('region', { name: 'This is an ingestion pipeline' });

/** Says something, fills in what Begin asks for, and gives what comes of it, as the page says it. */
async function outcomeOf({ page, server, id }: Imported): Promise<string> {
  await messageField(page).or(pipelineNote(page)).first().waitFor();
  if (await pipelineNote(page).isVisible()) return `a pipeline: ${await textOf(pipelineNote(page))}`;
  await say(page, 'hello');
  const refusal = conversation(page).getByRole('alert');
  const needed = page.getByRole('region', { name: 'Run panel' }).getByText('This is needed.');
  let isFilled = false;
  let found = '';
  const look = async (): Promise<string> => {
    if (!isFilled && (await needed.count()) > 0) {
      isFilled = true;
      const form = page.getByRole('region', { name: 'Run panel' }).getByRole('group');
      const fields = form.getByRole('textbox').or(form.getByRole('spinbutton'));
      // What is no text, such as a file, stays asked for.
      if ((await fields.count()) === 0) return `a form: ${await textOf(form.first())}`;
      for (const field of await fields.all()) await field.fill('1');
      await messageField(page).press('Enter');
    }
    const [run] = (await server.call('GET', `/api/v1/agents/${id}/runs`)).body.data;
    if (run?.status === 'failed') {
      await conversation(page).getByText('The run failed in').waitFor();
      return `failed in ${(await textOf(conversation(page))).split('The run failed in ')[1]}`;
    }
    if (run !== undefined && run.status !== 'running') return run.status;
    return (await refusal.count()) > 0 ? `refused: ${await textOf(refusal)}` : '';
  };
  await expect.poll(async () => (found = await look()), { timeout: 20_000 }).not.toBe('');
  if (found === 'waiting') await conversation(page).getByRole('button', { name: 'Send' }).first().waitFor();
  return found;
}

const textOf = async (locator: Locator): Promise<string> => ((await locator.textContent()) ?? '').replace(/\s+/g, ' ');

describe.skipIf(!hasChromium)(named('documents of others'), () => {
  it.each(OWN)('$name', async ({ name, text, preview, ends, models }) => {
    const studio = await importByDrop(`${name}.json`, text, await models);
    expect(studio.preview).toMatch(preview);
    await expectDrawn(studio);
    expect(JSON.stringify(await stored(studio, studio.id))).toBe(JSON.stringify(studio.dsl));
    expect(await outcomeOf(studio)).toMatch(ends);
    expect(JSON.stringify(await stored(studio, studio.id))).toBe(JSON.stringify(studio.dsl));
    await expectEditKeeps(studio);
  });

  it('says on the card of an agent which of its tools the server has not', async () => {
    const { page } = await importByDrop('strange.json', ours('test/web/documents/unknown-types.json'), undefined);
    const pilot = page.getByRole('group', { name: 'Pilot, Agent', exact: true });
    await pilot.getByText('Periscope, unknown type', { exact: true }).waitFor();
  });

  it.skipIf(given.length === 0).each(given.length === 0 ? ['its documents'] : given)(
    skippedUnless(given.length > 0, 'no folder at RAGFLOW_DOCUMENTS', '%s of RAGFlow'),
    async (name) => {
      const studio = await importByDrop(path.basename(name), readFileSync(path.join(FOLDER, name), 'utf8'), undefined);
      await expectDrawn(studio);
      expect(JSON.stringify(await stored(studio, studio.id))).toBe(JSON.stringify(studio.dsl));
      expect(await outcomeOf(studio)).toMatch(NAMED);
      expect(JSON.stringify(await stored(studio, studio.id))).toBe(JSON.stringify(studio.dsl));
      await expectEditKeeps(studio);
    },
    60_000,
  );
});
