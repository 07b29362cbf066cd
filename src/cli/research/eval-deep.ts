/** `runnel eval --pipeline deep` and `plan`: test collections whose questions are researched. */
import { EngineError } from '../../errors.js';
import type { EvaluationOptions, IndexedCollection } from '../../knowledge/evaluation/evaluate-collection.js';
import type { SearchSettings } from '../../knowledge/search/search-settings.js';
import { chatRouteOf } from '../../models/chat-route.js';
import { DEPTH_NAMES, DEPTHS, type DepthName } from '../../research/deep/depths.js';
import { type DeepResult, evaluateDeep } from '../../research/evaluation/evaluate-deep.js';
import { readSettings } from '../../settings/read-settings.js';
import type { EvalValues } from '../eval-measured.js';
import { openServices } from '../open-services.js';

/** Researches the questions of a collection with the model that is configured; by rules where there is none. @throws EngineError USAGE */
export async function evaluateByResearch(
  indexed: IndexedCollection,
  { depth: given = 'normal', pipeline }: EvalValues,
  settings: SearchSettings,
  options: EvaluationOptions,
  env: NodeJS.ProcessEnv,
): Promise<DeepResult> {
  const depth = DEPTH_NAMES.find((name): name is DepthName => name === given);
  if (depth === undefined) {
    throw new EngineError('USAGE', `--depth must be one of ${DEPTH_NAMES.join(', ')}; received "${given}".`);
  }
  const services = await openServices(readSettings(env, 'stores', 'models', 'nodes', 'tools'), { env });
  try {
    const { models } = services;
    const { model, name } = chatRouteOf(models).choice;
    const asked = models.isScripted ? undefined : { model, name };
    const isPlanned = pipeline === 'plan';
    return await evaluateDeep(indexed, { ...options, settings, depth: DEPTHS[depth], isPlanned, model: asked });
  } finally {
    await services.close();
  }
}

/** What researches took and gave, as lines of a terminal. */
export function deepText({ answers }: DeepResult): string {
  const mean = (values: readonly number[]): string =>
    (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(3);
  const judged = answers.filter(({ f1 }) => f1 !== undefined);
  const money = answers.map(({ spent }) => spent.money).filter((one) => one !== 'unknown');
  const lines = [
    `  calls ${mean(answers.map(({ spent }) => spent.calls))}, prompt tokens ${mean(answers.map(({ spent }) => spent.promptTokens))}, tokens ${mean(answers.map(({ spent }) => spent.tokens))}, money ${money.length < answers.length ? 'unknown' : mean(money)} a question`,
    ...(judged.length === 0
      ? []
      : [
          `  exact match ${mean(judged.map(({ exact = 0 }) => exact))}, F1 ${mean(judged.map(({ f1 = 0 }) => f1))} of ${judged.length} answers`,
        ]),
    `  refused ${answers.filter(({ isRefused }) => isRefused).length} of ${answers.length}, sentences marked as unsupported ${answers.reduce((sum, { unsupported }) => sum + unsupported, 0)}`,
  ];
  return `${lines.join('\n')}\n`;
}
