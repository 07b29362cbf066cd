/** Questions whose answers stand in several documents, about an invented world: made of a seed, in the form of test collections. */
import type { Collection, JudgedDocument } from '../../../../src/knowledge/evaluation/read-collection.js';
import { seededRandom } from '../../../../src/knowledge/graph/seeded-random.js';

const SYLLABLES = 'ka lo mi ren tor va sel dun ber ash wen gil har nor pol ric tam ost yel fin cor dra hol mar'.split(
  ' ',
);
const NOUNS = 'Night River Shadow Garden Letter Winter Stone Bridge Summer Mirror'.split(' ');

/**
 * A town, a person and a company each have a document that is named after them, and so do films, which name their director and distributor; these name a
 * town. Questions lead over one name to another document (bridge), or ask for two (comparison); all documents of a kind are worded alike.
 */
export function inventedWorld(seed: number, size: number): Collection {
  const random = seededRandom(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const used = new Set<string>();
  const fresh = (make: () => string): string => {
    for (;;) {
      const name = make();
      if (!used.has(name)) {
        used.add(name);
        return name;
      }
    }
  };
  const word = (count: number): string => {
    const text = Array.from({ length: count }, () => pick(SYLLABLES)).join('');
    return `${text[0]?.toUpperCase()}${text.slice(1)}`;
  };
  const many = (share: number, make: () => string): string[] => Array.from({ length: size * share }, () => fresh(make));
  const [towns, companies, people] = [
    many(1 / 8, () => word(3)),
    many(1 / 8, () => `${word(2)} ${pick(['Pictures', 'Records', 'Press'])}`),
    many(3 / 8, () => `${word(2)} ${word(2)}`),
  ];
  const films = many(3 / 8, () => `The ${pick(NOUNS)} of ${word(2)}${random() < 0.2 ? ' (film)' : ''}`);
  const documents: JudgedDocument[] = [];
  const ids = new Map<string, string>();
  const put = (title: string, text: string): void => {
    ids.set(title, `d${documents.length}`);
    documents.push({ id: `d${documents.length}`, title, text });
  };
  const seat = new Map([...companies, ...people].map((name) => [name, pick(towns)]));
  const made = new Map(films.map((name) => [name, { director: pick(people), company: pick(companies) }]));
  for (const town of towns)
    put(town, `${town} is a town in the ${pick(['north', 'south', 'east'])} of the country. It has a market.`);
  for (const one of companies)
    put(
      one,
      `${one} is a company with headquarters in ${seat.get(one)}. It was founded in 19${10 + (documents.length % 80)}.`,
    );
  for (const one of people)
    put(
      one,
      `${one} (born in ${seat.get(one)}) is a ${pick(['director', 'writer', 'composer'])} who won several awards for films.`,
    );
  for (const [film, { director, company }] of made)
    put(
      film,
      `${bare(film)} is a ${pick(['drama', 'comedy', 'crime'])} film directed by ${director}. It was distributed by ${company}.`,
    );
  const questions = Array.from({ length: 120 }, (_, at) => {
    const [film, other] = [pick(films), pick(films)];
    const { director, company } = made.get(film) as { director: string; company: string };
    const asked: readonly (readonly [string, readonly string[]])[] = [
      [`Where was the director of the film ${bare(film)} born?`, [film, director]],
      [`In which town is the company that distributed ${bare(film)} based?`, [film, company]],
      [`Which of the films has more awards, ${bare(film)} or ${bare(other)}?`, [film, other]],
      [
        `Is there a market in the town where the director of ${bare(film)} was born?`,
        [film, director, seat.get(director) ?? ''],
      ],
    ];
    const [text, gold] = asked[at % asked.length] as readonly [string, readonly string[]];
    return { id: `q${at}`, text, judged: new Map(gold.map((title) => [ids.get(title) ?? '', 1])) };
  });
  return { documents, questions };
}

function bare(title: string): string {
  return title.replace(/ \(.*\)$/, '');
}
