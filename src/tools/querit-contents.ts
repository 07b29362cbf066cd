import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { checkUrls, text, urlsArgument } from './fields.js';
import { askQuerit } from './querit.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { listIn } from './upstream.js';

const MAX_URLS = 10;

/** Gives the contents of pages through Querit. Errors: `TOOL_FAILED` without a key or URL, or with what Querit answers. */
export const queritContents = defineTool({
  component: 'QueritContents',
  name: 'querit_contents',
  summary: 'Gives the contents of up to ten web pages by their URLs.',
  advice: 'Use it when the URLs are known, such as those of an earlier search.',
  arguments: {
    urls: urlsArgument(MAX_URLS),
    format: z.enum(['text', 'markdown', 'html']).default('markdown').describe('How the contents are written.'),
    crawl_timeout: z.coerce.number().int().min(1).max(60).default(10).describe('Seconds for the pages, 1 to 60.'),
    extras_meta: z.boolean().default(false).describe('Gives facts about each page as well, such as its language.'),
  },
  params: { api_key: text('Key of Querit; default the environment variable QUERIT_API_KEY.') },
  outputs: {
    json: {
      type: 'object',
      description: 'The answer of Querit: results (url, title, content) and statuses (url, status, error).',
    },
  },
  primaryOutput: 'json',
  timeoutSeconds: 70,
  call({ urls, format, crawl_timeout: crawlTimeout, extras_meta: extrasMeta }, call): Observable<ToolEvent> {
    return askQuerit(queritContents, call, 'contents', {
      json: { urls: [...checkUrls(urls, MAX_URLS)], format, crawlTimeout, extrasMeta },
      timeoutSeconds: Math.max(15, crawlTimeout + 5),
    }).pipe(
      map((answer) => {
        listIn(answer, 'results');
        listIn(answer, 'statuses');
        return toolResult(JSON.stringify(answer), { json: answer });
      }),
    );
  },
});
