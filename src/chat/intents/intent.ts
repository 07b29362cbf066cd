/** What a user wants, as stage 3 of a chat finds it. */
import type { JsonObject } from '../../json.js';

/** Where an answer comes from: the chat itself, a tool, or the knowledge base. */
export type IntentKind = 'SYSTEM' | 'MCP' | 'KB';

/** What the chat answers by itself. */
export type SystemTopic = 'greeting' | 'identity' | 'help' | 'thanks';

/** One thing that a user wants. */
export interface Intent {
  readonly kind: IntentKind;
  /** Name of the tool, of the kind MCP. */
  readonly tool?: string;
  /** Its arguments, as far as the words give them. */
  readonly args?: JsonObject;
  /** Required arguments that the words do not give. @default none */
  readonly missing?: readonly string[];
  /** Of the kind SYSTEM. */
  readonly topic?: SystemTopic;
  /** The part of the words that it is about, where they ask for several things. */
  readonly text?: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** Confidence of intents that rules find. */
export const CONFIDENCE = {
  /** Small talk, which is recognised as a whole. */
  system: 0.98,
  /** A tool with all its arguments. */
  complete: 0.95,
  /** A tool that still needs some. */
  incomplete: 0.85,
  /** What no rule knows is for the knowledge base (section 3, stage 3 of the design). */
  fallback: 0.7,
} as const;
