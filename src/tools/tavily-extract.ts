import { map, type Observable } from 'rxjs';
import { z } from 'zod';
import { checkUrls, text, urlsArgument } from './fields.js';
import { defineTool, type ToolEvent, toolResult } from './tool.js';
import { askJson, baseUrlOf, listIn, requireKey } from './upstream.js';

const BASE_URL = 'https://api.tavily.com';
const MAX_URLS = 20;

/** Gives the text of pages through Tavily. Errors: `TOOL_FAILED` without a key or URL, or with what Tavily answers. */
export const tavilyExtract = defineTool({
  component: 'TavilyExtract',
  name: 'tavily_extract',
  summary: 'Gives the text of web pages by their URLs.',
  advice: 'Use it when the URLs are known, such as those of an earlier search.',
  arguments: {
    urls: urlsArgument(MAX_URLS),
    extract_depth: z
      .enum(['basic', 'advanced'])
      .default('basic')
      .describe('`advanced` also gives tables and embedded content, and takes longer.'),
    format: z.enum(['markdown', 'text']).default('markdown').describe('How the text is written.'),
  },
  params: { api_key: text('Key of Tavily; default the environment variable TAVILY_API_KEY.') },
  outputs: {
    json: { type: 'array', description: 'The pages as Tavily gave them: url, raw_content, images.' },
    failed: { type: 'array', description: 'Pages that could not be read: url, error.' },
  },
  primaryOutput: 'json',
  timeoutSeconds: 600,
  call({ urls, ...settings }, call): Observable<ToolEvent> {
    const wanted = checkUrls(urls, MAX_URLS);
    const key = requireKey(call, 'api_key', 'TAVILY_API_KEY');
    return askJson(tavilyExtract, call, {
      url: `${baseUrlOf(tavilyExtract, call.services, BASE_URL)}/extract`,
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      json: { urls: [...wanted], ...settings, include_images: false },
      timeoutSeconds: 30,
      attempts: 2,
      secrets: [key],
    }).pipe(
      map((answer) => {
        const json = [...listIn(answer, 'results')];
        const failed = [...listIn(answer, 'failed_results')];
        // The model needs the failed URLs in its text; nodes have them as an output.
        const reply = failed.length === 0 ? json : { results: json, failed };
        return toolResult(JSON.stringify(reply), { json, failed });
      }),
    );
  },
});
