/** The studio of a server that researches an invented world with a model that plays the true steps. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { concat, concatMap, defer, ignoreElements, NEVER, of, ReplaySubject, take, throwError } from 'rxjs';
import { EngineError } from '../../../../src/errors.js';
import type { ChatModel, ChatRequest } from '../../../../src/models/chat-model.js';
import { createModels } from '../../../../src/models/router.js';
import { createScriptedPlanner } from '../../../../src/research/evaluation/scripted-planner.js';
import { modelsFromEnvironment } from '../../../../src/settings/read-settings.js';
import { SCRIPTS, WORLD } from '../../../research/support/world.js';
import { type DatasetStudio, type DatasetStudioOptions, openDatasets } from '../../support/dataset-studio.js';

/** Its answer takes four steps, each with a passage of its own. */
export const QUESTION = 'Who is the warden of the island on which the author of The Salt Atlas was born?';

/** The sub-questions, with the answers of those before. */
export const STEPS = [
  'Who wrote The Salt Atlas?',
  'In which town was Corwin Hale born?',
  'On which island is Marrow Bay?',
  'Who is the warden of Velmar?',
] as const;

const planner = createScriptedPlanner(SCRIPTS);

/** Plays the true steps. */
export const playsSteps = (): ChatModel => planner;

/** Never answers. */
export const isSilent = (): ChatModel => ({ chat: () => NEVER });

/** The same planner, which answers the calls that `isHeld` names only when it is let go. */
export function holding(isHeld: (name: string | undefined, text: string) => boolean) {
  const released = new ReplaySubject<void>(1);
  const model: ChatModel = {
    chat: (request) =>
      isHeld(request.jsonSchema?.name, textOf(request))
        ? released.pipe(
            take(1),
            concatMap(() => planner.chat(request)),
          )
        : planner.chat(request),
  };
  return { model, release: () => released.next() };
}

/** The same planner, whose report begins with a text and then fails, for good, when it is told to. */
export function failingReport(text: string) {
  const failed = new ReplaySubject<void>(1);
  const broken$ = throwError(() => new EngineError('MODEL_REQUEST', 'The model failed.'));
  const model: ChatModel = {
    chat: (request) =>
      request.jsonSchema === undefined
        ? concat(of({ type: 'text', text } as const), failed.pipe(take(1), ignoreElements()), broken$)
        : planner.chat(request),
  };
  return { model, fail: () => failed.next() };
}

/** What a call says. */
interface Asked {
  readonly text: string;
  /** Ids of the evidence that it is asked about. */
  readonly evidence: readonly string[];
}

/** The same planner, with other answers to some calls. */
export function answeringSome(answerOf: (name: string | undefined, asked: Asked) => object | string | undefined) {
  const model: ChatModel = {
    chat: (request) =>
      defer(() => {
        const answer = answerOf(request.jsonSchema?.name, askedBy(request));
        if (answer === undefined) return planner.chat(request);
        const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
        return [
          { type: 'text', text },
          { type: 'usage', promptTokens: 10, completionTokens: 10, totalTokens: 20 },
          { type: 'finish', reason: 'stop' },
        ] as const;
      }),
  };
  return model;
}

function askedBy(request: ChatRequest): Asked {
  const { evidence = [] } = JSON.parse(String(request.messages.at(-1)?.content)) as { evidence?: { id: string }[] };
  return { text: textOf(request), evidence: evidence.map(({ id }) => id) };
}

const textOf = ({ messages }: ChatRequest): string => JSON.stringify(messages.at(-1)?.content ?? '');

/** Beside the passages of the steps: what is like them and is not meant. */
const WANTED = ['book-0', 'book-1', 'person-1', 'person-2', 'town-2', 'town-3', 'isle-0', 'isle-1'];

const DOCUMENTS = readFileSync(path.join(WORLD, 'corpus.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as { id: string; text: string })
  .filter(({ id }) => WANTED.includes(id));

export interface ResearchStudioOptions extends DatasetStudioOptions {
  readonly model?: ChatModel;
}

/** Models of a server that has no other one. */
export const modelsOf = async (model: ChatModel) =>
  createModels(await modelsFromEnvironment({}, async () => ''), { scripted: model });

/** A studio with a dataset of the passages that the question needs, and some others. */
export async function openResearch({
  model = planner,
  services,
  ...options
}: ResearchStudioOptions = {}): Promise<DatasetStudio & { readonly datasetId: string }> {
  const models = await modelsOf(model);
  const studio = await openDatasets({ services: { models, ...services }, ...options });
  const datasetId = await studio.dataset('World');
  for (const { id, text } of DOCUMENTS) await studio.ingest(datasetId, `${id}.txt`, text);
  return { ...studio, datasetId };
}

/** The address of a form that asks the model of the test. */
export const formAddress = (query = ''): string => `/research?model=scripted${query === '' ? '' : `&${query}`}`;

/** Begins a research of the form that is shown. */
export async function start(page: Page, question = QUESTION): Promise<void> {
  await page.getByRole('textbox', { name: 'What is to be found out?' }).fill(question);
  await page.getByRole('button', { name: 'Start the research' }).click();
  await page.getByRole('heading', { level: 1, name: question }).waitFor();
}

/** A part of the screen by its name. */
export const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** The whole report of the question. */
export const reported = (page: Page) => part(page, 'Report').getByText('Who is the warden of Velmar: Cade Brennick');
