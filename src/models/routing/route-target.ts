import type { ChatDelta, ChatModel, ChatRequest } from '../chat-model.js';
import { estimateTokens } from '../estimate-tokens.js';
import { messageTokens } from '../fit-messages.js';
import type { FirstPacketTimes } from './first-packet-times.js';

/** What a million tokens cost, in any currency that all prices and ceilings share. */
export interface TokenPrice {
  readonly prompt: number;
  readonly completion: number;
}

/** A model that a route may use. */
export interface RouteTarget {
  /** As the configuration names it, such as `gpt-5@OpenAI`. */
  readonly id: string;
  /** Name of its breaker; routes that share a target share it. */
  readonly breaker: string;
  /** The provider's own name of the model. */
  readonly name: string;
  /** Its provider, as the configuration names it. @default unknown */
  readonly provider?: string | undefined;
  /** Without retries, without seats. */
  readonly model: ChatModel;
  /** @default calls cost nothing */
  readonly price?: TokenPrice | undefined;
  /** How long it took to its first packets. */
  readonly times: FirstPacketTimes;
}

/** What a call costs at least: its prompt, and the answer when the request bounds it. */
export function expectedCost({ price }: RouteTarget, request: ChatRequest): number {
  if (price === undefined) return 0;
  const prompt = request.messages.reduce((sum, message) => sum + messageTokens(message), 0);
  return (prompt * price.prompt + (request.sampling?.maxTokens ?? 0) * price.completion) / 1e6;
}

/** What the text of an answer cost beyond {@link expectedCost}. */
export function spentCost({ price }: RouteTarget, request: ChatRequest, text: string): number {
  if (price === undefined || request.sampling?.maxTokens !== undefined) return 0;
  return (estimateTokens(text) * price.completion) / 1e6;
}

/** A piece of what a route answers. */
export type RouteDelta =
  | ChatDelta
  /** From here on the pieces are those of this target. @param attempts calls that this request made so far */
  | {
      readonly type: 'served';
      readonly target: string;
      readonly model: string;
      readonly provider?: string;
      readonly attempts: number;
    }
  /** All pieces so far are void: the answer begins anew. */
  | { readonly type: 'retract'; readonly reason: string };
