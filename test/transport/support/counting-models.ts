import { createScriptedModel, type ScriptedCall, type ScriptInput } from '../../../src/models/scripted.js';

/** A scripted model as the services of a server, and all calls that it got. */
export function countingModels(script: ScriptInput = {}) {
  const calls: ScriptedCall[] = [];
  const model = createScriptedModel(script, { onCall: (call) => calls.push(call) });
  const chat = (name: string) => ({ model, name, supportsImages: false, contextLength: undefined });
  return { services: { models: { chat, isScripted: true } }, calls };
}
