import { z } from 'zod';
import { flag, oneOf, queryArgument, text, wholeNumber } from './fields.js';
import { defineJsonSearch, passageBy } from './json-search.js';
import { listIn, requireKey } from './upstream.js';

/** Searches the web through Tavily. Errors: `TOOL_FAILED` without a key, or with what Tavily answers. */
export const tavilySearch = defineJsonSearch({
  component: 'TavilySearch',
  name: 'tavily_search',
  aliases: ['tavily'],
  summary: 'Searches the web and gives passages that answer a question.',
  advice: 'Ask short questions about one aspect each, and split what has several.',
  arguments: {
    query: queryArgument('What to search for: a few words on one aspect.'),
    topic: z.enum(['general', 'news']).default('general').describe('`news` for recent events.'),
    include_domains: z.array(z.string()).default([]).describe('Only pages of these domains.'),
    exclude_domains: z.array(z.string()).default([]).describe('No pages of these domains.'),
  },
  params: {
    api_key: text('Key of Tavily; default the environment variable TAVILY_API_KEY.'),
    search_depth: oneOf(['basic', 'advanced'], 'basic', 'How thoroughly Tavily searches; default basic.'),
    max_results: wholeNumber(6, 'Passages at most, 1 to 20; default 6.', { max: 20 }),
    days: wholeNumber(14, 'How many days back news may be; default 14.'),
    include_answer: flag(false, 'Asks Tavily for an answer of its own as well; default false.'),
  },
  request({ query, ...filters }, call) {
    const { api_key: _, ...settings } = call.params;
    const key = requireKey(call, 'api_key', 'TAVILY_API_KEY');
    return {
      base: 'https://api.tavily.com',
      path: '/search',
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      json: {
        query,
        ...filters,
        ...settings,
        include_images: false,
        include_image_descriptions: false,
        include_raw_content: false,
      },
      timeoutSeconds: 30,
      attempts: 2,
      secrets: [key],
    };
  },
  results: (answer) => listIn(answer, 'results'),
  passage: passageBy('raw_content', 'content'),
});
