/** Functions that carry the name and the kind under which runs report them. */
import { invalidOption } from '../operators/invalid-option.js';

/** What a function does with documents, models or prompts; observers are told it. */
export type ComponentKind = 'loader' | 'transformer' | 'embedder' | 'indexer' | 'retriever' | 'prompt';

/** The name and the kind of a function, for whatever makes a step of it. */
export interface StepLabel<K extends ComponentKind = ComponentKind> {
  /** The name under which a step of it is reported. */
  readonly stepName: string;
  readonly stepKind: K;
}

/**
 * Gives a function its name and kind, so that a step made of it is reported as what it is; the function given stays as it is.
 *
 * ```ts
 * import { chain, componentFunction, componentStep, invoke, knowledgeDocument } from 'runnel';
 *
 * const notes = componentFunction('notes', 'loader', async (uri: string) => [knowledgeDocument({ text: `Notes of ${uri}` })]);
 * const texts = chain(componentStep(notes), (documents) => documents.map(({ text }) => text));
 * console.log(await invoke(texts, 'today'));
 * // => [ 'Notes of today' ]
 * ```
 *
 * @throws EngineError OPTION_INVALID for an empty name.
 */
export function componentFunction<K extends ComponentKind, F extends (...given: never[]) => unknown>(
  name: string,
  kind: K,
  fn: F,
): F & StepLabel<K> {
  if (typeof name !== 'string' || name.trim() === '') {
    throw invalidOption('componentFunction', 'name', 'a text that is not empty', name);
  }
  if (typeof fn !== 'function') throw invalidOption('componentFunction', 'fn', 'a function', fn);
  // Another function, so that one function may be given several names.
  const named = ((...given: never[]) => fn(...given)) as F;
  // Also for what names a function by its own name.
  Object.defineProperty(named, 'name', { value: name, configurable: true });
  return Object.assign(named, { stepName: name, stepKind: kind });
}
