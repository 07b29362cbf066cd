/** What is done with hits between a search and its reader. */
import type { Observable } from 'rxjs';
import { EngineError } from '../../../errors.js';
import { invalidOption } from '../../../operators/invalid-option.js';

/** A hit with its text. */
export interface FoundPassage {
  readonly id: string;
  readonly documentId: string;
  readonly text: string;
  /** 0 to 1; never larger than that of the hit before it. */
  readonly similarity: number;
  /** Place among the passages of its document, from 0. @default unknown */
  readonly index?: number;
  /** Where its text is in the document, in UTF-16 units. @default unknown */
  readonly start?: number;
  readonly end?: number;
  /** Pages that its text stands on, in order. @default unknown */
  readonly pages?: readonly number[];
  /** Each page with the place where its text begins in the document, in UTF-16 units. @default unknown */
  readonly pageStarts?: readonly (readonly [page: number, start: number])[];
  /** Ids of the passages that its text comes from, when these are several. @default its own id */
  readonly ids?: readonly string[];
}

/** One step: lists of hits, best first, in; such lists out. */
export type PostProcess = (hits$: Observable<readonly FoundPassage[]>) => Observable<readonly FoundPassage[]>;

/** A step with its name. */
export interface PostProcessor {
  readonly name: string;
  readonly process: PostProcess;
}

/** What one step did, for those who watch a search. */
export interface ProcessorReport {
  readonly name: string;
  /** Hits before and after. */
  readonly in: number;
  readonly out: number;
  readonly ms: number;
}

const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/**
 * Declares a step.
 *
 * @throws EngineError OPTION_INVALID for a name that is not of lower-case letters, digits and dashes.
 */
export function definePostProcessor(name: string, process: PostProcess): PostProcessor {
  if (!NAME.test(name)) {
    throw invalidOption(
      'definePostProcessor',
      'name',
      'lower-case letters, digits and dashes, beginning with a letter',
      name,
    );
  }
  if (typeof process !== 'function') throw invalidOption('definePostProcessor', 'process', 'a function', process);
  return { name, process };
}

/** The steps of a list of names, in order. @throws EngineError OPTION_INVALID for a name that none has */
export function processorsNamed(names: readonly string[], known: readonly PostProcessor[]): PostProcessor[] {
  return names.map((name) => {
    const found = known.find((one) => one.name === name);
    if (found !== undefined) return found;
    const allowed = known.map((one) => one.name).join(', ');
    throw new EngineError('OPTION_INVALID', `There is no post-processor "${name}"; there are ${allowed}.`);
  });
}
