/** URLs as models and documents write them. */
import { z } from 'zod';
import { toolFailed } from '../../adapters/failures.js';

/** The argument: a list, or one text with commas between the URLs. */
export function urlsArgument(most: number) {
  return z
    .union([z.array(z.string()), z.string()])
    .describe(`URLs of the pages, 1 to ${most}, each with http:// or https:// in front.`);
}

/**
 * The URLs of such an argument, in their order, each once.
 *
 * @throws EngineError TOOL_FAILED when there is none, there are too many, or one is no absolute http or https URL.
 */
export function checkUrls(given: string | readonly string[], most: number): readonly string[] {
  const parts = typeof given === 'string' ? given.split(',') : given;
  const urls = [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
  if (urls.length === 0) throw toolFailed('there is no URL; give at least one in "urls"');
  if (urls.length > most) throw toolFailed(`there are ${urls.length} URLs; at most ${most} can be read at once`);
  const bad = urls.find((url) => !isWebUrl(url));
  if (bad !== undefined) {
    throw toolFailed(`${JSON.stringify(bad.slice(0, 100))} is no URL; it must begin with http:// or https://`);
  }
  return urls;
}

/** A base URL without slashes at its end; a loop, for a pattern would take long over a million of them elsewhere. */
export function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\/[^/\\]/i.test(url) && URL.canParse(url);
}
