import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { toolFailed } from '../adapters/failures.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { queryArgument, text } from './fields.js';
import { askQuerit } from './querit.js';
import { defineSearch, type Passage, referencesOf, searchOutputs } from './results.js';
import { type ShapeOutput, type ToolEvent, toolResult } from './tool.js';
import { listIn, textAt } from './upstream.js';

const TIME_RANGE = /^(?:[dwmy][1-9]\d{0,5}|\d{4}-\d{2}-\d{2}to\d{4}-\d{2}-\d{2})?$/;

const words = (description: string) => z.array(z.string()).default([]).describe(description);

const filters = {
  site_include: words('Only pages of these sites, such as example.org.'),
  site_exclude: words('No pages of these sites.'),
  time_range: z
    .string()
    .regex(TIME_RANGE, 'must look like d7, w2, m1, y1 or 2025-01-01to2025-02-01')
    .default('')
    .describe('Only pages of this time: d7, w2, m1, y1 (days, weeks, months, years back) or 2025-01-01to2025-02-01.'),
  country_include: words('Only pages from these countries, by English name.'),
  language_include: words('Only pages in these languages, by English name.'),
};

/** Searches the web through Querit. Errors: `TOOL_FAILED` without a key, or with what Querit answers. */
export const queritSearch = defineSearch({
  component: 'QueritSearch',
  name: 'querit_search',
  aliases: ['querit'],
  summary: 'Searches the live web and gives passages, filtered by site, time, country or language.',
  advice: 'Ask with a few words; use filters only when the user asks for such a limit.',
  arguments: {
    query: queryArgument('What to search for: a few words.'),
    count: z.coerce.number().int().min(1).max(100).default(10).describe('Results at most, 1 to 100.'),
    chunks_per_doc: z.coerce
      .number()
      .int()
      .min(1)
      .max(3)
      .nullable()
      .default(3)
      .describe('Passages of one page, 1 to 3; null leaves it to Querit.'),
    ...filters,
  },
  params: { api_key: text('Key of Querit; default the environment variable QUERIT_API_KEY.') },
  outputs: {
    ...searchOutputs,
    json: {
      type: 'object',
      description: 'The whole answer of Querit; numbers too long for JavaScript are texts.',
    },
  },
  search({ query, count, chunks_per_doc: chunksPerDoc, ...given }, call): Observable<ToolEvent> {
    const chosen = filtersOf(given);
    return askQuerit(queritSearch, call, 'search', {
      json: {
        query,
        count,
        ...(chunksPerDoc === null ? {} : { chunksPerDoc }),
        ...(Object.keys(chosen).length === 0 ? {} : { filters: chosen }),
      },
      timeoutSeconds: 15,
    }).pipe(
      map((answer) => {
        const { text: found, references } = referencesOf(resultsOf(answer).slice(0, count).map(toPassage));
        return toolResult(found, { formalized_content: found, json: answer }, { references });
      }),
    );
  },
});

/** Filters as the document or the model names them, in Querit's form; what is empty is left out. */
function filtersOf(given: ShapeOutput<typeof filters>): JsonObject {
  const geo = filled({ include: given.country_include });
  return filled({
    sites: filled({ include: given.site_include, exclude: given.site_exclude }),
    timeRange: filled({ date: given.time_range }),
    geo: filled({ countries: geo }),
    languages: filled({ include: given.language_include }),
  });
}

/** Without texts, lists and objects that are empty. */
function filled(parts: JsonObject): JsonObject {
  const isFilled = ([, part]: [string, Json]): boolean => Object.keys(part ?? {}).length > 0;
  return Object.fromEntries(Object.entries(parts).filter(isFilled));
}

function resultsOf(answer: JsonObject): readonly Json[] {
  const { results = null } = answer;
  if (results === null) return [];
  if (!isJsonObject(results)) throw toolFailed('the "results" of the answer are no object');
  return listIn(results, 'result');
}

function toPassage(result: Json): Passage {
  return { title: textAt(result, 'title'), url: textAt(result, 'url'), content: textAt(result, 'snippet') };
}
