/** How the operator has set tools up, read from the environment. */

import { checkUrl } from '../adapters/egress/url-policy.js';
import { EngineError } from '../errors.js';
import { isJsonObject, type Json } from '../json.js';
import { tools } from '../tools/index.js';
import { findTool } from '../tools/tool.js';
import type { ToolSettings } from '../tools/tool-services.js';
import { TOOL_VARIABLES } from './settings.js';

const BASE_URLS = 'RUNNEL_TOOL_BASE_URLS';

/**
 * The base URLs of `RUNNEL_TOOL_BASE_URLS`, and of the environment nothing but the variables that tools are known to read.
 *
 * @throws EngineError CONFIG_INVALID for base URLs that are none.
 */
export function readToolSettings(env: Readonly<Record<string, string | undefined>>): ToolSettings {
  const environment = Object.fromEntries(TOOL_VARIABLES.map(({ name }) => [name, env[name]]));
  return { baseUrls: readBaseUrls(env[BASE_URLS]?.trim() ?? ''), environment };
}

/** By the function names of tools; a name that is no tool's stays as it is, and does nothing. */
function readBaseUrls(text: string): Record<string, string> {
  if (text === '') return {};
  const parsed = parse(text);
  if (!isJsonObject(parsed)) throw invalid('it is not a JSON object');
  return Object.fromEntries(
    Object.entries(parsed).map(([name, url]): [string, string] => {
      if (typeof url !== 'string') throw invalid(`the value of ${JSON.stringify(name)} is not a text`);
      return [findTool(tools, name)?.name ?? name, checkBaseUrl(name, url)];
    }),
  );
}

/** The text is not shown, for it may hold a password. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw invalid('it is not valid JSON');
  }
}

function checkBaseUrl(name: string, text: string): string {
  const url = readUrl(name, text);
  if (url.search !== '' || url.hash !== '') throw invalid(`the URL of ${JSON.stringify(name)} has a "?" or "#" in it`);
  return url.href.replace(/\/+$/, '');
}

function readUrl(name: string, text: string): URL {
  try {
    return checkUrl(text, { reach: 'any' }, `the URL of ${JSON.stringify(name)},`);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message.replace(/\.$/, '') : 'a URL cannot be read');
  }
}

function invalid(problem: string): EngineError {
  return new EngineError(
    'CONFIG_INVALID',
    `${BASE_URLS} must be a JSON object from names of tools to http or https URLs, such as ` +
      `{"tavily_search": "https://tavily.example.org"}: ${problem}.`,
  );
}
