/** Mastra's GraphRAG: passages are its nodes, and similar ones its edges; a random walk begins at the passages most similar to the question. */
import { createOpenAI } from '@ai-sdk/openai';
import { GraphRAG } from '@mastra/rag';
import { embed, embedMany } from 'ai';

const DIMENSIONS = 1_536;
const SHOWN = 8;

export async function open(url) {
  seedRandom();
  const model = createOpenAI({ baseURL: url, apiKey: 'none' }).textEmbeddingModel('text-embedding-3-small');
  const graph = new GraphRAG(DIMENSIONS);
  let passages = [];
  const build = () => {
    graph.clear();
    graph.createGraph(
      passages.map(({ id, text }) => ({ text, metadata: { id } })),
      passages.map(({ vector }) => ({ vector })),
    );
  };
  return {
    async index(documents) {
      const { embeddings } = await embedMany({ model, values: documents.map(({ text }) => text) });
      passages = documents.map((document, at) => ({ ...document, vector: embeddings[at] }));
      build();
    },
    async find(question) {
      const { embedding } = await embed({ model, value: question });
      return graph.query({ query: embedding, topK: SHOWN }).map(({ metadata }) => metadata.id);
    },
    // It cannot take a passage out: the graph is made anew of the vectors that its program keeps.
    async remove(id) {
      passages = passages.filter((passage) => passage.id !== id);
      build();
    },
  };
}

/** Its walks use Math.random: the same numbers every time make them comparable (mulberry32 by Tommy Ettinger, public domain). */
function seedRandom() {
  let state = 1;
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
