import { concat, concatMap, defer, from, map, type Observable, of, takeWhile, toArray } from 'rxjs';
import { z } from 'zod';
import type { BrowserSession, OpenOptions } from '../adapters/browser/browsers.js';
import { type DomainList, readDomains } from '../adapters/browser/guard-proxy.js';
import { contextOf } from '../agents/call-context.js';
import type { Activation } from '../graph/node.js';
import { type NodeEvent, type Notice, settled } from '../graph/node-events.js';
import { flag, nodeParams, nullishTexts, renaming, withDefault } from './base-params.js';
import { type Browsed, browse } from './browsing/browse.js';
import { isUpload, loadUploads, storeFiles } from './browsing/files.js';
import { nothingToAsk } from './chat/messages.js';
import { modelParams, openNodeChat, withUsualNames } from './chat/params.js';
import { defineComponent } from './component.js';
import { optionalServices, serviceOf } from './services.js';
import { createTextReader, referencedOutputs } from './values/text-reader.js';

const withPrompts = renaming({ prompts: ['prompt'] });

const browserParams = z.preprocess(
  (params) => withPrompts(withUsualNames(params)),
  nodeParams({
    ...modelParams,
    prompts: withDefault(
      z.string().refine((text) => text.trim() !== '', 'a browser needs a task'),
      '{sys.query}',
    ).describe('The task in words, with references; default the question of the user.'),
    max_steps: z
      .preprocess((given) => given ?? 30, z.coerce.number().int().min(1).max(500))
      .describe('Answers of the model until it has to be done; default 30.'),
    token_limit: z
      .preprocess((given) => given ?? 1_000_000, z.coerce.number().int().min(1))
      .describe('Tokens that all calls of the model may take together; default 1000000.'),
    headless: flag(true).describe('A server has no screen: browsers are always headless. Default true.'),
    enable_default_extensions: flag(false).describe('Extensions are never loaded. Default false.'),
    chromium_sandbox: flag(false).describe(
      'True insists on the sandbox of Chromium; it is on anyway but for root and in containers. Default false.',
    ),
    persist_session: flag(true).describe(
      'Later turns of the conversation reuse cookies and logins of the node, for half an hour. Default true.',
    ),
    allowed_domains: nullishTexts
      .transform((given, context): DomainList => {
        const domains = readDomains(given ?? '');
        if (domains !== undefined) return domains;
        context.addIssue('a list of domains such as "example.org" is needed');
        return z.NEVER;
      })
      .describe(
        'Domains that may be opened and loaded from, those below them included; a list, or a text with commas. Default all.',
      ),
    upload_sources: withDefault(z.json(), []).describe(
      'Files that pages may be given: ids, URLs, references, or lists of them. Default none.',
    ),
  }),
);

/** Parameters of {@link browser}. */
export type BrowserParams = z.output<typeof browserParams>;

/**
 * Lets a model fulfil a task in a headless browser, and stores what it downloads.
 *
 * The browser lives as long as the activation. Errors: `BROWSER_MISSING`, `BROWSER_FAILED`, `LIMIT_REACHED` when too many wait
 * for one; `MODEL_*` of the model; `NODE_FAILED` when the model gives nothing that can be done; `CONFIG_INVALID` for a run
 * without browsers.
 */
export const browser = defineComponent<BrowserParams>({
  type: 'Browser',
  group: 'web',
  summary: 'Lets a model fulfil a task in a web browser.',
  thoughts: 'Working in the browser.',
  params: browserParams,
  outputs: {
    content: { type: 'string', description: 'The answer; empty when the model came to none.' },
    downloaded_files: {
      type: 'array',
      description: 'Downloads and screenshots that were stored, as `{file_id, name, size, parent_id}`.',
    },
  },
  primaryOutput: 'content',
  timeoutSeconds: 1200,
  needs: ({ prompts }) => referencedOutputs([prompts]),
  create: (params) => (activation) => work(activation, params),
});

function work(activation: Activation, params: BrowserParams): Observable<NodeEvent> {
  const browsers = serviceOf(activation, 'browsers');
  const chat = openNodeChat(contextOf(activation), params);
  const reader = createTextReader(activation);
  const task = reader.read(params.prompts);
  if (task.trim() === '') throw nothingToAsk(activation);
  const working$ = loadUploads(params.upload_sources, activation).pipe(
    toArray(),
    concatMap((loaded) => {
      const uploads = loaded.filter(isUpload);
      const files = uploads.map(({ name }) => name);
      const use = (session: BrowserSession): Observable<NodeEvent> =>
        browse({
          node: activation.node,
          chat,
          session,
          task,
          files,
          maxRounds: params.max_steps,
          maxTokens: params.token_limit,
          maxRetries: params.max_retries ?? 0,
        }).pipe(
          concatMap((event): Observable<NodeEvent> => {
            return event.type === 'browsed' ? finish(event, activation, session) : of(event);
          }),
        );
      const warnings$ = from(loaded.filter((one): one is Notice => !isUpload(one)));
      return concat(warnings$, browsers.open({ ...openOptions(activation, params), uploads }).pipe(concatMap(use)));
    }),
    // The session stays open until it is unsubscribed.
    takeWhile((event) => event.type !== 'settled', true),
  );
  return concat(
    defer(() => from([...chat.warnings, ...reader.warnings])),
    working$,
  );
}

/** Stores the files and the logins of a session, then settles. */
function finish({ answer, pictures }: Browsed, activation: Activation, session: BrowserSession): Observable<NodeEvent> {
  return storeFiles(activation, session, pictures).pipe(
    concatMap((stored): Observable<NodeEvent> => {
      if (stored.type !== 'stored') return of(stored);
      return session.remember().pipe(map(() => settled({ content: answer, downloaded_files: [...stored.files] })));
    }),
  );
}

function openOptions(activation: Activation, params: BrowserParams): OpenOptions {
  const { session } = optionalServices(activation);
  const isRemembered = params.persist_session && session !== undefined && session.id !== '';
  return {
    isSandboxed: params.chromium_sandbox,
    allowedDomains: params.allowed_domains,
    // Ids of agents are never those of another tenant.
    ...(isRemembered && { rememberAs: JSON.stringify([session.agent ?? '', session.id, activation.node]) }),
  };
}
