/** Documents whose graph is built by processes that are killed, a chunk each, and a model that reads them. */
import { createHash } from 'node:crypto';
import { delay, of } from 'rxjs';
import type { ChatDelta, ChatRequest } from '../../../src/models/chat-model.js';
import type { ChatChoice } from '../../../src/models/router.js';

const NAMES = ['Orion', 'Vega', 'Deneb', 'Altair', 'Rigel', 'Sirius', 'Canopus'];
const VERBS = ['uses', 'replaces', 'depends on', 'supports'];

/** Name and text of each document. */
export const GRAPH_TEXTS: readonly (readonly [name: string, text: string])[] = Array.from({ length: 40 }, (_, at) => {
  const name = (place: number): string => NAMES[(at * place + place) % NAMES.length] ?? '';
  const verb = VERBS[at % VERBS.length] ?? '';
  const body = ['The UN', 'The United Nations', 'The WHO', 'The World Health Organization'][at % 8];
  const told = body === undefined ? '' : ` ${body} met.`;
  return [`Note ${at}.md`, `Note ${at}: ${name(1)} ${verb} ${name(2)}. ${name(3)} is near ${name(5)}.${told}`] as const;
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

/** What a model of a build was asked. */
export interface AskedInBuild {
  /** Name of the call, such as `graph_extract`. */
  readonly call: string;
  /** What it was asked about: a passage, names, a pair of names, or the hash of a message. */
  readonly about: readonly string[];
}

/** The same model for all calls of a build; what it writes tells what it was asked about. */
export function writingModel(onAsked: (asked: AskedInBuild) => void): ChatChoice {
  return {
    ...{ name: 'reader', supportsImages: false, contextLength: undefined },
    model: {
      chat({ messages, jsonSchema }: ChatRequest) {
        const content = messages.at(-1)?.content;
        const call = jsonSchema?.name ?? '';
        const { about, answer } = answerTo(call, typeof content === 'string' ? content : '{}');
        onAsked({ call, about });
        return of({ type: 'text', text: JSON.stringify(answer) } as unknown as ChatDelta).pipe(delay(5));
      },
    },
  };
}

/** A pair of names, in whatever order. */
export function pairOf(names: readonly string[]): string {
  return [...names].sort().join(' | ');
}

interface CallInput {
  readonly text?: string;
  readonly name?: string;
  readonly pairs?: readonly { readonly a: { readonly name: string }; readonly b: { readonly name: string } }[];
  readonly passages?: readonly { readonly id: string }[];
}

function answerTo(call: string, message: string): { readonly about: readonly string[]; readonly answer: object } {
  const { text = '', name = '', pairs = [], passages = [] } = JSON.parse(message) as CallInput;
  switch (call) {
    case 'graph_extract': {
      const names = ['United Nations', 'World Health Organization', ...(text.match(/[A-Z][A-Za-z]+/g) ?? [])];
      const found = [...new Set(names)].filter((one) => text.includes(one));
      // Of what is perhaps one nothing is said, so that a model is asked.
      const entities = found.map((one) => ({
        ...{ name: one, type: 'technology' },
        description: NAMES.includes(one) ? `${one}, ${text.slice(0, 8)}` : '',
      }));
      return { about: [text], answer: { entities, relations: [] } };
    }
    case 'graph_same':
      return {
        about: pairs.map(({ a, b }) => pairOf([a.name, b.name])),
        answer: { same: pairs.map(({ a, b }) => `${a.name}${b.name}`.includes('United')) },
      };
    case 'graph_summarise':
      return { about: [name], answer: { description: `All of ${name}.` } };
    default: {
      const hash = createHash('sha256').update(message).digest('hex').slice(0, 16);
      const findings = passages.slice(0, 1).map(({ id }) => ({ summary: 'Stars.', chunks: [id] }));
      return { about: [hash], answer: { title: hash, summary: 'Of stars.', rating: 5, findings } };
    }
  }
}
