/** What the compiler knows of prompts: this file must compile, and every line behind `@ts-expect-error` must not. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { assistant, placeholder, system, user } from '../../../src/compose/prompt/message-template.js';
import { fString, handlebars, jinja, type Prompt } from '../../../src/compose/prompt/prompt.js';
import type { ChatMessage } from '../../../src/models/messages.js';

type FieldsOf<P> = P extends Prompt<infer F> ? F : never;

const judge = fString(system('You are {role}.'), placeholder('history', { optional: true }), user('{question}'));

describe('the fields of a prompt, as a type', () => {
  it('are those of its texts and its placeholders', () => {
    expectTypeOf<FieldsOf<typeof judge>>().toEqualTypeOf<{
      role: string;
      question: string;
      history?: readonly ChatMessage[] | undefined;
    }>();
    expectTypeOf(judge).returns.toEqualTypeOf<ChatMessage[]>();
    expectTypeOf(judge.stepKind).toEqualTypeOf<'prompt'>();
    expectTypeOf(judge.named('x')).toEqualTypeOf(judge);
  });

  it('are numbers for specifications of numbers, and either for other specifications', () => {
    const prompt = fString(user('{n:.2f} {m:,} {p:.1%} {d:05d} {w:>10} {s:.5s} {t}'));
    expectTypeOf<FieldsOf<typeof prompt>>().toEqualTypeOf<{
      n: number;
      m: number;
      p: number;
      d: number;
      w: string | number;
      s: string;
      t: string;
    }>();
  });

  it('have what all places of a name need', () => {
    const prompt = fString(user('{n} {n:.2f} {t} {t:>5}'));
    expectTypeOf<FieldsOf<typeof prompt>>().toEqualTypeOf<{ n: number; t: string }>();
  });

  it('leave doubled braces out', () => {
    const prompt = fString(user('{{no}} {{{yes}}} {{"a": {b}}} }}{{ {{{{no}}}}'));
    expectTypeOf<FieldsOf<typeof prompt>>().toEqualTypeOf<{ yes: string; b: string }>();
    const none = fString(user('plain'), { role: 'user', content: '{no}' });
    // biome-ignore lint/complexity/noBannedTypes: this is the type of no fields
    expectTypeOf<FieldsOf<typeof none>>().toEqualTypeOf<{}>();
    expect(none({})).toHaveLength(2);
  });

  it('are found in parts and in assistant messages', () => {
    const prompt = fString(
      assistant('{a}'),
      user([
        { type: 'text', text: '{b}' },
        { type: 'image', url: 'https://example.com/{c}' },
        { type: 'file', data: '{d}', mimeType: 'application/pdf', name: '{e}' },
      ]),
      placeholder('f'),
    );
    expectTypeOf<FieldsOf<typeof prompt>>().toEqualTypeOf<{
      a: string;
      b: string;
      c: string;
      d: string;
      e: string;
      f: readonly ChatMessage[];
    }>();
  });

  it('are not known of a text that is not literal', () => {
    const text: string = 'Hello {name}';
    const prompt = fString(user(text), system('{role}'));
    expectTypeOf<FieldsOf<typeof prompt>>().toEqualTypeOf<Record<string, unknown>>();
    expect(prompt({ name: 'Ann', role: 'x' })).toHaveLength(2);
  });

  it('are found in a long text with many fields', () => {
    const prompt = fString(
      user(
        '{a0} {a1} {a2} {a3} {a4} {a5} {a6} {a7} {a8} {a9} {b0} {b1} {b2} {b3} {b4} {b5} {b6} {b7} {b8} {b9} {c0} {c1} {c2} {c3} {c4} {c5} {c6} {c7} {c8} {c9} {d0} {d1} {d2} {d3} {d4} {d5} {d6} {d7} {d8} {d9} {e0} {e1} {e2} {e3} {e4} {e5} {e6} {e7} {e8} {last}',
      ),
    );
    expectTypeOf<FieldsOf<typeof prompt>>().toHaveProperty('last').toEqualTypeOf<string>();
    expect(prompt.fields).toHaveLength(50);
  });

  it('are those that are given for Jinja and Handlebars', () => {
    const typed = jinja<{ docs: readonly { text: string }[]; history: readonly ChatMessage[] }>(
      placeholder('history'),
      user('{{ docs[0].text }}'),
    );
    expectTypeOf<FieldsOf<typeof typed>>().toEqualTypeOf<{
      docs: readonly { text: string }[];
      history: readonly ChatMessage[];
    }>();
    const untyped = handlebars(user('{{ anything }}'));
    expectTypeOf<FieldsOf<typeof untyped>>().toEqualTypeOf<Record<string, unknown>>();
    expect(typed.fields).toEqual([{ name: 'history', type: 'messages', optional: false }]);
  });
});

describe('what the compiler refuses', () => {
  it('is a field that is missing, of another type, or of another name', () => {
    const number = fString(user('{n:.2f}'));
    const wrong = [
      // @ts-expect-error the field "question" is missing
      () => judge({ role: 'x' }),
      // @ts-expect-error a text is needed
      () => judge({ role: 7, question: 'y' }),
      // @ts-expect-error there is no field "rôle"
      () => judge({ role: 'x', question: 'y', rôle: 'z' }),
      // @ts-expect-error a list of messages is needed
      () => judge({ role: 'x', question: 'y', history: 'z' }),
      // @ts-expect-error a list is needed, and not one message
      () => judge({ role: 'x', question: 'y', history: { role: 'user', content: 'z' } }),
      // @ts-expect-error a number is needed
      () => number({ n: '1' }),
      // @ts-expect-error parts of a message have a type
      () => user([{ text: '{x}' }]),
      // @ts-expect-error an assistant message is a text here
      () => assistant([{ type: 'text', text: 'x' }]),
      // @ts-expect-error a part of a prompt is a message
      () => fString('You are {role}.'),
    ];
    expect(wrong).toHaveLength(9);
  });
});
