/** A model server in OpenAI's format whose model is a script: the same question has the same answer. It counts calls and tokens. */
import { createServer } from 'node:http';
import { embed } from './embed.mjs';
import { graphOf, namesOf } from './names.mjs';

/** Characters of a token, about. */
const CHARACTERS = 4;
const DIMENSIONS = 1_536;

/** What peers ask, by words of their prompts; `answer` gets the text of the first group. */
const SCRIPTS = [
  {
    // fast-graphrag: a passage
    asked: /<<DOCUMENT_START>>\s*\*\*Document\*\*:\n([\s\S]*)\n<<DOCUMENT_END>>/,
    answer(text) {
      const { names, kinds, pairs } = graphOf(text);
      const entity = (type) => (name) => ({ name, type, desc: '' });
      return {
        entities: [...names.map(entity('NAME')), ...kinds.map(entity('KIND'))],
        relationships: pairs.map(({ source, target, sentence }) => ({ source, target, desc: sentence })),
        other_relationships: [],
      };
    },
  },
  {
    // fast-graphrag: the names of a question
    asked: /extract all entities relevant[\s\S]*-INPUT-\nQuery: ([\s\S]*)\nOutput:/,
    answer: (question) => ({ named: namesOf(question).map((name) => `[NAME] ${name}`), generic: [] }),
  },
  { asked: /generating a summary[\s\S]*Current:\n([\s\S]*)\n\nUpdated:/, answer: (description) => ({ description }) },
  { asked: /maintaining a list of facts([\s\S]*)/, answer: () => ({ grouped_facts: [] }) },
];

/** Listens on a free port of this machine. @returns `{url, close}`; `GET /count` below the url tells `{calls, tokens}` since the start */
export async function startModelServer() {
  const count = { calls: 0, tokens: 0 };
  const server = createServer(async (request, response) => {
    const reply = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    try {
      if (request.url.endsWith('/count')) return reply(200, count);
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const asked = JSON.parse(Buffer.concat(chunks).toString());
      const { body, tokens } = request.url.endsWith('/embeddings') ? embeddings(asked) : completion(asked);
      count.calls += 1;
      count.tokens += tokens;
      reply(200, body);
    } catch (error) {
      reply(400, { error: { message: error.message } });
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

function embeddings({ input, dimensions = DIMENSIONS, model }) {
  const texts = [input].flat();
  const tokens = tokensOf(texts.join(''));
  const data = texts.map((text, index) => ({ object: 'embedding', index, embedding: embed(text, dimensions) }));
  return { tokens, body: { object: 'list', model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } } };
}

function completion({ messages, model }) {
  const prompt = messages.map(({ content }) => content).join('\n');
  const script = SCRIPTS.find(({ asked }) => asked.test(prompt));
  if (script === undefined) throw new Error(`No script answers "${prompt.slice(0, 200)}"; add one to SCRIPTS.`);
  const content = JSON.stringify(script.answer(script.asked.exec(prompt)[1]));
  const [asked, answered] = [tokensOf(prompt), tokensOf(content)];
  const usage = { prompt_tokens: asked, completion_tokens: answered, total_tokens: asked + answered };
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  return {
    tokens: asked + answered,
    body: { id: 'scripted', object: 'chat.completion', created: 0, model, choices, usage },
  };
}

function tokensOf(text) {
  return Math.ceil(text.length / CHARACTERS);
}
