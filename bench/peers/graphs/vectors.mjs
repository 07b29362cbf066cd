/** No graph: the passages whose vectors are most similar to the question's, to tell what a graph adds to the same vectors. */
const SHOWN = 8;
/** Texts of one request, as fast-graphrag has them. */
const TEXTS = 32;

export async function open(url) {
  let passages = [];
  return {
    async index(documents) {
      for (let at = 0; at < documents.length; at += TEXTS) {
        const part = documents.slice(at, at + TEXTS);
        const vectors = await embed(part.map(({ text }) => text));
        passages.push(...part.map(({ id }, place) => ({ id, vector: vectors[place] })));
      }
    },
    async find(question) {
      const [asked] = await embed([question]);
      const similarity = ({ vector }) => vector.reduce((sum, value, at) => sum + value * asked[at], 0);
      const scored = passages.map((passage) => ({ id: passage.id, score: similarity(passage) }));
      return scored
        .sort((left, right) => right.score - left.score)
        .slice(0, SHOWN)
        .map(({ id }) => id);
    },
    async remove(id) {
      passages = passages.filter((passage) => passage.id !== id);
    },
  };

  async function embed(input) {
    const response = await fetch(`${url}/embeddings`, { method: 'POST', body: JSON.stringify({ input }) });
    if (!response.ok) throw new Error(`The model server answered ${response.status}: ${await response.text()}`);
    return (await response.json()).data.map(({ embedding }) => embedding);
  }
}
