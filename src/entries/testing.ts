/**
 * `runnel/testing`: for tests of canvases, graphs and agents. A model that answers from a script, without any network; stores in memory;
 * the events of a run as a list; models, tools and
 * persons written as marbles, and runs in virtual time.
 */
export { createScriptedModel, type ScriptedCall } from '../models/scripted.js';
export { createMemoryStores, type MemoryLimits, type MemoryStores } from '../stores/memory-stores.js';
export { collectEvents } from '../testing/collect-events.js';
export { type EventLetters, eventOf, eventsByLetter, toLetters } from '../testing/events-by-letter.js';
export type { MarbleScheduler, MarbleValues, SubscriptionFrames } from '../testing/marble.js';
export { type MarbleCall, type MarbleModel, marbleModel, toolCall } from '../testing/marble-model.js';
export { type MarbleAnswer, type MarblePerson, marblePerson } from '../testing/marble-person.js';
export { type MarbleResult, type MarbleTool, type MarbleToolSketch, marbleTool } from '../testing/marble-tool.js';
export {
  inVirtualTime,
  type VirtualRunOptions,
  type VirtualTime,
  type VirtualTimeOptions,
} from '../testing/virtual-time.js';
