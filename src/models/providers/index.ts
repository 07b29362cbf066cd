/** Every provider of models. */
import type { ProviderDefinition } from '../define-provider.js';
import { anthropic } from './anthropic.js';
import { openaiCompatible } from './openai-compatible.js';
import { openaiResponses } from './openai-responses.js';
import { tei } from './tei.js';

/** By the `kind` of a factory; the first one is the default, and the provider of `OPENAI_BASE_URL`. */
export const providers: readonly ProviderDefinition[] = [openaiCompatible, anthropic, openaiResponses, tei];
