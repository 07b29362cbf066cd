import { lastValueFrom, type Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { message } from '../../src/components/message.js';
import type { MemoryEntry, StoredFile } from '../../src/components/services.js';
import { delta, type NodeEvent } from '../../src/graph/node-events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { activationOf, nodeOf, outputsOf, runAtOnce, type Surroundings, warningsOf } from './text-activation.js';

const say = (content: string | string[], around: Surroundings = {}, params: JsonObject = {}): NodeEvent[] =>
  runAtOnce(message, { content, ...params }, around);

const values = (given: JsonObject): Surroundings => ({ outputs: { n: given } });
const pieces = (events: readonly NodeEvent[]) =>
  events.flatMap((event) => (event.type === 'delta' ? [[event.port, event.text]] : []));
const endOf = (events: readonly NodeEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' && event.name === 'message-ended' ? [event.data] : []));
/** Runs a Message whose services answer with promises. */
const sayLater = (content: string, around: Surroundings, params: JsonObject): Promise<NodeEvent[]> => {
  const result = nodeOf(message, { content, ...params })(activationOf(around));
  return lastValueFrom((result as Observable<NodeEvent>).pipe(toArray()));
};

describe('template_engine', () => {
  const inHandlebars = (content: string, given: JsonObject, more: JsonObject = {}) =>
    say(content, values(given), { template_engine: 'handlebars', ...more });

  it.each([true, false])('says what Handlebars gives, with streams: %s', (stream) => {
    const events = inHandlebars(
      '{{#each {n@l}}}- {{this}}\n{{/each}}{n@s}',
      { l: ['<a>', 'b'], s: '{{x}}' },
      { stream },
    );
    expect(pieces(events)).toEqual([['content', '- <a>\n- b\n{{x}}']]);
  });

  it('reads nothing live, as a template needs every text whole', () => {
    const params = { content: ['{{#if {n@content}}}{n@content}{{/if}}'], template_engine: 'handlebars' as const };
    expect(message.consumes?.(params)).toEqual([]);
    expect(message.needs?.(params)).toEqual(['n@content']);
    expect(outputsOf(inHandlebars(params.content[0] as string, { content: 'x' })).content).toBe('x');
  });
});

describe('text', () => {
  it.each<[string, string, JsonObject, string]>([
    ['fixed text', 'Just that.', {}, 'Just that.'],
    ['texts as they are', '<{n@a}>', { a: 'b"c\\d' }, '<b"c\\d>'],
    [
      'everything else as JSON',
      '{n@o}{n@l}{n@b}{n@f}',
      { o: { é: 1 }, l: [1, 'x'], b: true, f: 1.5 },
      '{"é": 1}[1, "x"]true1.5',
    ],
    ['null as nothing', '[{n@z}]', { z: null }, '[]'],
    ['blanks beside references', 'a {n@a} b', { a: 'x' }, 'a x b'],
    ['two and three braces like one', '{{n@a}}{{{n@a}}}{{ n@a }}', { a: 'x' }, 'xxx'],
    ['paths into lists and JSON text', '{n@l.-1.k}/{n@t.u.0}', { l: [1, { k: 'last' }], t: '{"u":["v"]}' }, 'last/v'],
    ['paths that lead nowhere', '[{n@l.9}][{n@l.x.y}]', { l: [1] }, '[][]'],
    ['braces that are no references', '{"a": 1} {plain} {item} {@x}', {}, '{"a": 1} {plain} {item} {@x}'],
    ['values without reading them again', '{n@a}', { a: '{n@b}{{ 1 }}', b: 'no' }, '{n@b}{{ 1 }}'],
    ['a template', '{% if {n@a} == "y" %}yes{% else %}no{% endif %}', { a: 'y' }, 'yes'],
    ['lists as text inside of a template', '{{ {n@l} | length }}:{{ {n@l} }}', { l: ['a', 'b'] }, '10:["a", "b"]'],
    ['what a template splits', '{% for w in {n@a}.split(",") %}<{{ w }}>{% endfor %}', { a: 'a,b' }, '<a><b>'],
    ['backslashes in a template', '{% if true %}v={n@a}{% endif %}', { a: 'C:\\dir' }, 'v=C:\\dir'],
  ])('holds %s', (_, content, given, text) => {
    for (const stream of [true, false]) {
      const events = say(content, values(given), { stream });
      expect(pieces(events)).toEqual([['content', text]]);
      expect(outputsOf(events)).toEqual({ content: text, downloads: [] });
      expect(endOf(events)).toEqual([{}]);
    }
  });

  it.each([
    ['its last line end', 'a {n@a}\r\nb\n\n', 'a x\n\nb\n'],
    ['comments', '{# none #}{n@a}', 'x\n'],
  ])('loses %s only where it is not streamed', (_, content, text) => {
    const given = values({ a: 'x\n' });
    expect(outputsOf(say(content, given, { stream: false })).content).toBe(text);
    expect(outputsOf(say(content, given)).content).toBe(content.replace('{n@a}', 'x\n'));
  });

  it('may be empty', () => {
    const events = say('{n@a}', values({ a: '' }));
    expect(events.map(({ type }) => type)).toEqual(['notice', 'settled']);
    expect(outputsOf(events)).toEqual({ content: '', downloads: [] });
  });

  it.each([
    [0, 'one'],
    [0.34, 'two'],
    [0.999, 'three'],
  ])('is drawn by chance: %d', (random, text) => {
    expect(outputsOf(say(['one', 'two', 'three'], { random })).content).toBe(text);
  });

  it('warns of names without a value', () => {
    const events = say('[{n@none}{env.none}]', values({}));
    expect(outputsOf(events).content).toBe('[]');
    expect(warningsOf(events)).toHaveLength(2);
  });

  it.each<[string, string, RegExp]>([
    ['a node that does not exist', '{ghost@a}', /no node "ghost"/],
    ['the live text of one', 'x {ghost@content}', /no node "ghost"/],
    ['a template that does not parse', '{% for x in %}{% endfor %}', /[Ll]ine 1/],
  ])('fails for %s', (_, content, problem) => {
    expect(() => say(content)).toThrow(problem);
  });

  it.each<[JsonObject]>([[{}], [{ content: [] }], [{ content: 7 }], [{ content: [null] }]])(
    'is refused as %j',
    (params) => {
      expect(message.params.safeParse(params).success).toBe(false);
    },
  );

  it('may have the name of another version', () => {
    expect(message.params.parse({ text: 'hello' }).content).toEqual(['hello']);
    expect(message.params.parse({ messages: ['one', 'two'] }).content).toEqual(['one', 'two']);
    expect(message.params.parse({ content: ['new'], messages: ['old'] }).content).toEqual(['new']);
  });
});

describe('thinking', () => {
  const marked = '<think>a</think>b<think>c';

  it('is told apart in the text of another node', () => {
    for (const name of ['content', 'other']) {
      const events = say(`:{n@${name}}`, values({ [name]: marked }));
      expect(pieces(events)).toEqual([
        ['content', ':'],
        ['thinking', 'a'],
        ['content', 'b'],
        ['thinking', 'c'],
      ]);
      expect(outputsOf(events).content).toBe(':abc');
    }
  });

  it('is plain text when the user writes the marks', () => {
    const events = say('{sys.query}', { variables: { 'sys.query': marked } });
    expect(pieces(events)).toEqual([['content', marked]]);
  });
});

describe('live text', () => {
  const live = (...texts: [string, string][]) => of(...texts.map(([port, text]) => delta(port, text)));
  const around = {
    outputs: { l: null },
    live: { 'l@content': live(['thinking', 'hm'], ['content', 'x'], ['content', 'y']) },
  };

  it('is passed on piece by piece', () => {
    const events = say('A:{l@content}:Z', around);
    expect(pieces(events)).toEqual([
      ['content', 'A:'],
      ['thinking', 'hm'],
      ['content', 'x'],
      ['content', 'y'],
      ['content', ':Z'],
    ]);
    expect(outputsOf(events).content).toBe('A:hmxy:Z');
  });

  it('that stands twice is read once', () => {
    let reads = 0;
    const counted = { outputs: { l: null }, live: {} as Record<string, Observable<ReturnType<typeof delta>>> };
    Object.defineProperty(counted.live, 'l@content', {
      get: () => {
        reads += 1;
        return live(['content', 'x']);
      },
    });
    expect(outputsOf(say('{l@content}/{l@content}/{l@content}', counted)).content).toBe('x/x/x');
    expect(reads).toBe(1);
  });

  it.each<[string, string | string[], JsonObject, string[]]>([
    ['of several nodes', '{a@content}{b@content}{sys.query}', {}, ['a@content', 'b@content']],
    ['not of other outputs', '{a@result}', {}, []],
    ['not of a node that is read in another way too', '{a@content}{a@content.0}{b@content}', {}, ['b@content']],
    ['not beside a template', ['{a@content}', '{% if true %}{% endif %}'], {}, []],
    ['not without streaming', '{a@content}', { stream: false }, []],
  ])('is read %s', (_, content, params, consumed) => {
    expect(message.consumes?.(message.params.parse({ content, ...params }))).toEqual(consumed);
  });

  it('needs every node that is read', () => {
    const params = message.params.parse({ content: ['{a@content}{env.x}', '{b@c.d}'] });
    expect(message.needs?.(params)).toEqual(['a@content', 'b@c']);
  });
});

describe('the end', () => {
  it('carries a status, when it says something', () => {
    expect(endOf(say('x', {}, { status: 201 }))).toEqual([{ status: 201 }]);
    expect(endOf(say('x', {}, { status: '' }))).toEqual([{}]);
  });

  it('carries what the run has found', () => {
    const found = (retrieval: Json) => endOf(say('x', { variables: { retrieval } }));
    const record = { chunks: { 1: {} }, doc_aggs: {} };
    expect(found([record])).toEqual([{ reference: record }]);
    expect(found([record, { chunks: [], doc_aggs: [] }])).toEqual([{}]);
    expect(found([])).toEqual([{}]);
  });

  it('carries the files that the answer offers, which are not spoken', () => {
    const file = { doc_id: '1', filename: 'a.pdf', mime_type: 'application/pdf' };
    const events = say('Take this: {n@file}{n@content}', values({ file, content: JSON.stringify([file]) }));
    expect(outputsOf(events)).toEqual({ content: 'Take this: ', downloads: [file] });
    expect(endOf(events)).toEqual([{ downloads: [file] }]);
  });
});

describe('files', () => {
  const store = () => {
    const saved: Omit<StoredFile, 'id'>[] = [];
    const save = async (file: Omit<StoredFile, 'id'>) => {
      saved.push(file);
      return '0123456789abcdef';
    };
    return { saved, files: { save, read: async () => undefined } };
  };
  const text = (file: Omit<StoredFile, 'id'> | undefined) => new TextDecoder().decode(file?.bytes);

  it.each([
    ['markdown', 'markdown', 'text/markdown', '# a < b'],
    ['txt', 'txt', 'text/plain', 'a < b\n'],
    ['surprise', 'markdown', 'text/markdown', '# a < b'],
    ['html', 'html', 'text/html', expect.stringContaining('<h1>a &lt; b</h1>')],
  ])('are made as %s', async (wanted, format, mimeType, content) => {
    const { saved, files } = store();
    const around = { ...values({ a: '<think>no</think># a < b' }), services: { files } };
    const events = await sayLater('{n@a}', around, { output_format: wanted });
    const attachment = { doc_id: '0123456789abcdef', format, file_name: `01234567.${format}` };
    expect(outputsOf(events)).toEqual({ content: 'no# a < b', downloads: [], attachment });
    expect(endOf(events)).toEqual([{ attachment }]);
    expect(saved.map((file) => [file.mimeType, text(file)])).toEqual([[mimeType, content]]);
  });

  it('are made by the writer of their format', async () => {
    const { saved, files } = store();
    const events = await sayLater('x', { services: { files } }, { output_format: 'pdf' });
    expect(endOf(events)).toEqual([{ attachment: expect.objectContaining({ format: 'pdf' }) }]);
    expect(text(saved[0]).slice(0, 5)).toBe('%PDF-');
  });

  it.each<[string, object, RegExp]>([
    ['no file store', {}, /no service for files/],
    ['a broken store', { files: { save: () => Promise.reject(new Error('torn')) } }, /torn/],
  ])('that cannot be made are told, and the answer stands: %s', async (_, services, problem) => {
    const events = await sayLater('x', { services }, { output_format: 'pdf' });
    expect(warningsOf(events)).toEqual([expect.stringMatching(problem)]);
    expect(outputsOf(events)).toEqual({ content: 'x', downloads: [] });
    expect(endOf(events)).toEqual([{}]);
  });
});

describe('memory', () => {
  const variables = { 'sys.query': 'q', 'sys.user_id': 'u' };

  it.each([
    [{}, 'u'],
    [{ user_id: '{n@id}' }, 'from n'],
    [{ user_id: 'a@b.example' }, 'a@b.example'],
  ])('keeps the turn without what was thought: %j', async (params, userId) => {
    const kept: MemoryEntry[] = [];
    const services = { remember: async (entry: MemoryEntry) => void kept.push(entry) };
    const around = { ...values({ a: '<think>no</think>yes', id: 'from n' }), variables, services };
    const events = await sayLater('{n@a}', around, { memory_ids: ['m'], ...params });
    expect(kept).toEqual([{ memoryIds: ['m'], userId, userInput: 'q', agentResponse: 'yes' }]);
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['notice', 'settled']);
  });

  it('that cannot be kept is told', async () => {
    const services = { remember: () => Promise.reject(new Error('full')) };
    expect(warningsOf(await sayLater('x', { services }, { memory_ids: ['m'] }))).toEqual([
      'The turn is not remembered: full',
    ]);
    expect(warningsOf(say('x', {}, { memory_ids: ['m'] }))).toEqual([expect.stringContaining('no memories')]);
    expect(warningsOf(say('x', {}, { memory_ids: [] }))).toEqual([]);
  });
});

describe('speech', () => {
  it('is left out with a warning when there is no model for it', () => {
    const refuse = () => {
      throw new Error('no voice');
    };
    for (const services of [undefined, { models: { speech: refuse } }]) {
      const events = say('Hi.', { ...(services && { services }) }, { auto_play: true });
      expect(warningsOf(events)).toEqual([expect.stringContaining('The answer is not read aloud')]);
      expect(outputsOf(events).content).toBe('Hi.');
    }
  });

  it('goes along with the text', async () => {
    const asked: unknown[] = [];
    const speech = {
      speak: async (text: string, { headers }: { readonly headers?: object }) => {
        asked.push(headers);
        return { bytes: new TextEncoder().encode(text), mediaType: 'audio/mpeg' };
      },
    };
    const trace = { contextOf: () => ({ traceparent: 'of the node' }) };
    const services = { models: { speech: () => speech }, trace };
    const events = await sayLater('Hi. Bye.', { services }, { auto_play: true });
    expect(asked).toEqual([{ traceparent: 'of the node' }, { traceparent: 'of the node' }]);
    const audio = events.flatMap((event) => (event.type === 'notice' && event.name === 'audio' ? [event.data] : []));
    expect(audio).toEqual(['Hi.', 'Bye.'].map((text) => ({ audio_binary: Buffer.from(text).toString('hex') })));
    expect(outputsOf(events).content).toBe('Hi. Bye.');
  });
});
