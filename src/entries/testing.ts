/**
 * `runnel/testing`: for tests of canvases, graphs and agents. A model that answers from a script, without any network; stores in memory;
 * the events of a run as a list.
 */
export { createScriptedModel, type ScriptedCall } from '../models/scripted.js';
export { createMemoryStores, type MemoryLimits, type MemoryStores } from '../stores/memory-stores.js';
export { collectEvents } from '../testing/collect-events.js';
