/** Searches by one request whose answer is JSON: what differs between them is declared, the request and the result are made here. */
import { map, of } from 'rxjs';
import type { Json } from '../json.js';
import { defineSearch, NOTHING_FOUND, type Passage, type Search, searchResult } from './results.js';
import type { Shape, ShapeOutput, Tool, ToolCall } from './tool.js';
import { askJson, baseUrlOf, numberAt, textAt, type UpstreamRequest } from './upstream.js';

/** The request of a search. */
export interface SearchRequest extends Omit<UpstreamRequest, 'url'> {
  /** Where the service is, unless the operator has set another place. */
  readonly base: string;
  readonly path: string;
  /** Results at most. @default as many as there are */
  readonly most?: number;
}

/** A search by one request. */
interface JsonSearch<A extends Shape, P extends Shape> extends Omit<Search<A, P>, 'search'> {
  /** Undefined: there is no place to search, and nothing is found. */
  request(args: ShapeOutput<A>, call: ToolCall<ShapeOutput<P>>): SearchRequest | undefined;
  /** The results in an answer, best first. @throws EngineError TOOL_FAILED when it is none. */
  results(answer: Json, request: SearchRequest): readonly Json[];
  passage(result: Json): Passage;
}

/** Makes a tool that searches by one request. */
export function defineJsonSearch<A extends Shape, P extends Shape>(search: JsonSearch<A, P>): Tool<A, P> {
  const { request, results, passage, ...rest } = search;
  const tool: Tool<A, P> = defineSearch({
    ...rest,
    search(args, call) {
      const wanted = request(args, call);
      if (wanted === undefined) return of(NOTHING_FOUND);
      const { base, path, most, ...asked } = wanted;
      return askJson(tool, call, { ...asked, url: `${baseUrlOf(tool, call.services, base)}${path}` }).pipe(
        map((answer) => {
          const found = results(answer, wanted).slice(0, most);
          return searchResult(found.map(passage), found);
        }),
      );
    },
  });
  return tool;
}

/** Makes passages of results with a `title`, a `url` and perhaps a `score`; the first of `content` that has a text is theirs. */
export function passageBy(...content: readonly string[]): (result: Json) => Passage {
  return (result) => ({
    title: textAt(result, 'title'),
    url: textAt(result, 'url'),
    content: content.map((name) => textAt(result, name)).find((text) => text !== '') ?? '',
    score: numberAt(result, 'score'),
  });
}
