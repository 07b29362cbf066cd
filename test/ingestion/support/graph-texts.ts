/** Documents whose graph is built by processes that are killed, a chunk each, and a model that reads them. */
import { delay, of } from 'rxjs';
import type { ChatDelta, ChatRequest } from '../../../src/models/chat-model.js';
import type { ChatChoice } from '../../../src/models/router.js';

const NAMES = ['Orion', 'Vega', 'Deneb', 'Altair', 'Rigel', 'Sirius', 'Canopus'];
const VERBS = ['uses', 'replaces', 'depends on', 'supports'];

/** Name and text of each document. */
export const GRAPH_TEXTS: readonly (readonly [name: string, text: string])[] = Array.from({ length: 40 }, (_, at) => {
  const name = (place: number): string => NAMES[(at * place + place) % NAMES.length] ?? '';
  const verb = VERBS[at % VERBS.length] ?? '';
  return [`Note ${at}.md`, `Note ${at}: ${name(1)} ${verb} ${name(2)}. ${name(3)} is near ${name(5)}.`] as const;
});

/** A model that finds the capitalised words of a passage, and takes a moment for it. @param onAsked called with each passage */
export function readingModel(onAsked: (passage: string) => void): ChatChoice {
  return {
    ...{ name: 'reader', supportsImages: false, contextLength: undefined },
    model: {
      chat({ messages }: ChatRequest) {
        const content = messages.at(-1)?.content;
        const { text = '' } = JSON.parse(typeof content === 'string' ? content : '{}') as { text?: string };
        onAsked(text);
        const names = [...new Set(text.match(/[A-Z][a-z]+/g) ?? [])];
        const entities = names.map((name) => ({ name, type: 'technology', description: `${name} is a star.` }));
        const relation = { source: names[1], target: names[2], relation: 'knows', description: '', weight: 1 };
        const answer = JSON.stringify({ entities, relations: [relation] });
        return of({ type: 'text', text: answer } as unknown as ChatDelta).pipe(delay(5));
      },
    },
  };
}
