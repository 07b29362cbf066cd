/** The languages that agents and what stands around them speak to models. */
import { invalidOption } from '../operators/invalid-option.js';

/** Of what a model is told: English or Chinese. */
export type Language = 'en' | 'zh';

/** Refuses a language that there are no texts for. @throws EngineError OPTION_INVALID */
export function requireLanguage(owner: string, language: unknown): asserts language is Language {
  if (language !== 'en' && language !== 'zh') throw invalidOption(owner, 'language', '"en" or "zh"', language);
}
