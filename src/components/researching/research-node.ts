/** A research as a node: its model from the services of the run, and its events as events of the node. */
import { catchError, concat, concatMap, EMPTY, filter, from, map, Observable, of } from 'rxjs';
import { z } from 'zod';
import { type CallContext, contextOf } from '../../agents/call-context.js';
import { askModel } from '../../agents/chat.js';
import { ownList, ownObject } from '../../dsl/json-copy.js';
import { renderValue } from '../../dsl/render-value.js';
import { foundValue } from '../../dsl/resolve.js';
import { EngineError } from '../../errors.js';
import type { Activation } from '../../graph/node.js';
import { delta, type NodeEvent, notice, settled } from '../../graph/node-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ChatDelta } from '../../models/chat-model.js';
import { chatRouteOf } from '../../models/chat-route.js';
import { ROUTE_PREFIX } from '../../models/configuration.js';
import type { Models } from '../../models/router.js';
import { fromAbortable } from '../../operators/from-abortable.js';
import type { DailySpending } from '../../records/spending.js';
import type { AskedModel } from '../../research/calls/ask-call.js';
import { Budget, type BudgetLimits, type CallPrice, SPENT, tighterOf } from '../../research/calls/budget.js';
import type { Journal } from '../../research/calls/journal.js';
import { runDeepSearch } from '../../research/deep/deep-search.js';
import { DEPTHS } from '../../research/deep/depths.js';
import { readGivenPlan } from '../../research/plan/make-plan.js';
import { runPlannedResearch } from '../../research/plan/plan-research.js';
import type { ResearchEvent } from '../../research/research-events.js';
import { RESEARCH_NOTICE, RESEARCH_OUTPUT } from '../../research/service/research-frames.js';
import { type ResearchSettings, readResearchSettings, wantsPlan } from '../../research/service/research-settings.js';
import { toldCall } from '../../research/service/told-call.js';
import { type Steer, storedSteerSchema } from '../../research/steer.js';
import { usageEvent } from '../chat/answers.js';
import { createTextReader } from '../values/text-reader.js';
import { withTools } from './given-plan.js';
import type { PlannedParams, ResearchParams } from './research-params.js';
import { placesOf, type Searched, withGraphs } from './research-places.js';
import type { Report } from './tool-calls.js';

/** Output to which finished steps are added while the node works; gone when it settles. */
const JOURNAL = 'journal';
/** UTF-16 units of finished steps; what is beyond is done again after a crash. */
const MAX_JOURNAL = 8_000_000;

/** How a node researches unless a request says otherwise. */
export type ResearchWay = 'questions' | 'plan';

/**
 * Researches the question of a turn; see the components DeepSearch and PlanExecuteReport.
 *
 * ```text
 * research  q--s--f--t--t--F|     (question, searched, finding, tokens, final)
 * node      n--n--n--d--d--(es)|  (notices, deltas, message-ended, settled)
 * ```
 *
 * Each step that is over is stored, so that another process that goes on with the research repeats none.
 */
export function researchNode(
  params: ResearchParams & Partial<PlannedParams>,
  activation: Activation,
  way: ResearchWay,
): Observable<NodeEvent> {
  return new Observable((subscriber) => {
    const context = contextOf(activation);
    const settings = settingsOf(activation);
    const question = questionOf(params, context);
    const usual = DEPTHS[settings.depth ?? params.depth ?? 'normal'];
    const report: Report = (event) => subscriber.next(event);
    const journal = journalOf(activation, report);
    const llmId = settings.llm_id || params.llm_id;
    const { spending, models } = context.services;
    const price = priceOf(models, llmId);
    const budget = new Budget(limitsOf(usual.budget, params, settings), { price, day: spending, journal });
    const depth = { ...usual, budget: budget.limits };
    const model = modelOf(context, llmId, { report, price });
    const ports = { asking: { model, budget, journal }, steers$: steersOf(context), now: context.now };
    const all: Searched = {
      datasetIds: settings.dataset_ids ?? params.dataset_ids ?? undefined,
      web: (settings.web ?? params.web) === true,
      ...(model !== undefined && { model: llmId }),
      ...{ budget, journal, report },
    };
    const isPlanned = wantsPlan(settings) ?? way === 'plan';
    const waits = settings.approve === true;
    const events$ = withGraphs(context, all, (searched) => {
      if (!isPlanned) return runDeepSearch({ question, depth }, { ...ports, places: placesOf(context, searched) });
      return withTools(context, { params, settings, searched }, ({ tools, calls }) => {
        const plan = isJsonObject(settings.plan)
          ? readGivenPlan(settings.plan, question, [...tools.keys(), ...calls.keys()])
          : undefined;
        const clarifies = settings.clarify ?? (waits && plan === undefined);
        const form = settings.output ?? params.output ?? 'answer';
        return runPlannedResearch({ question, depth, waits, clarifies, form, plan }, { ...ports, tools, calls });
      });
    });
    return concat(standingOf(budget, spending), events$)
      .pipe(concatMap((event) => nodeEvents(event)))
      .subscribe(subscriber);
  });
}

/** @throws EngineError QUESTION_INVALID */
function settingsOf({ input, node }: Activation): ResearchSettings {
  try {
    return readResearchSettings(ownObject(input, 'variables') ?? {});
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause).replaceAll(/\s*\n\s*/g, ' ') : String(cause);
    const message = `Node "${node}": the variable "sys.research" does not fit: ${why}`;
    throw new EngineError('QUESTION_INVALID', message, { node, cause });
  }
}

/** The question as text. @throws EngineError QUESTION_INVALID for one without any. */
function questionOf({ query }: ResearchParams, context: CallContext): string {
  const { source, node } = context;
  const text = query ? createTextReader(context).read(query) : renderValue(foundValue(source.variable('sys.query')));
  if (text.trim() !== '') return text.trim();
  throw new EngineError('QUESTION_INVALID', `Node "${node}" was asked nothing; send a question that has text.`, {
    node,
  });
}

function limitsOf(usual: BudgetLimits, params: ResearchParams, { budget }: ResearchSettings): BudgetLimits {
  const { max_tokens: tokens, max_calls: calls, max_ms: ms } = params;
  const own: BudgetLimits = { ...usual, ...given({ tokens, calls, ms }) };
  if (!budget) return own;
  const { web_requests: webRequests, ...others } = budget;
  const asked = given({ ...others, webRequests });
  // What the author of a node set is a ceiling; what a depth usually takes is none.
  return tighterOf({ ...own, ...asked }, given({ tokens, calls, ms }));
}

function given(limits: Readonly<Record<string, number | null | undefined>>): BudgetLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => typeof limit === 'number'));
}

/** Steps of this node that are over, those of a lost process included. */
function journalOf(activation: Activation, report: Report): Journal {
  const { outputs } = activation;
  const entries = ownList(outputs, JOURNAL).flatMap((entry): [string, Json][] => {
    if (!isJsonObject(entry) || typeof entry.key !== 'string') return [];
    return [[entry.key, entry.value ?? null]];
  });
  const kept = new Map(entries);
  let size = entries.reduce((sum, [, value]) => sum + JSON.stringify(value).length, 0);
  return {
    find: (key) => kept.get(key),
    keep(key, value) {
      // What was spent is small, and is known however much was found.
      if (key !== SPENT) size += JSON.stringify(value).length;
      if (key !== SPENT && size > MAX_JOURNAL) return;
      kept.set(key, value);
      report({ type: 'progress', append: { [JOURNAL]: { key, value } } });
    },
    stored: () => activation.stored(),
  };
}

/** The model of a research, its calls told to the run; undefined where none is configured. */
function modelOf(
  context: CallContext,
  llmId: string,
  { report, price }: { readonly report: Report; readonly price: CallPrice | undefined },
): AskedModel | undefined {
  const { models } = context.services;
  if (models === undefined || (models.isScripted && llmId === '')) return undefined;
  const { choice } = chatRouteOf(models, llmId);
  let calls = 0;
  return {
    name: choice.name,
    model: {
      chat: (request, asked) => {
        calls += 1;
        const asked$ = askModel(context, {
          id: `${request.jsonSchema?.name ?? 'write'}-${calls}`,
          model: choice.model,
          provider: choice.provider,
          request: { ...request, user: context.services.session?.id },
          read: (answer$) => answer$,
        });
        return asked$.pipe(
          filter((event): event is ChatDelta => {
            if (event.type === 'call') {
              report(toldCall(event, asked, price));
              return false;
            }
            if (event.type === 'usage') report(usageEvent(event));
            return true;
          }),
        );
      },
    },
  };
}

/** What is left of the day of a tenant, before anything is spent; nothing where days have no limits, or where that cannot be told. */
function standingOf(budget: Budget, spending: DailySpending | undefined): Observable<ResearchEvent> {
  if (spending === undefined) return EMPTY;
  return fromAbortable(() => spending.today()).pipe(
    map((): ResearchEvent => ({ type: 'budget', ...budget.standing })),
    catchError(() => EMPTY),
  );
}

/** What a million tokens of the model cost; of a route, of its dearest target. Undefined where that is not known. */
function priceOf(models: Models | undefined, llmId: string): CallPrice | undefined {
  if (models === undefined || (models.isScripted && llmId === '')) return undefined;
  const { prices = {}, routes = {}, defaults } = models.describe();
  const { id } = chatRouteOf(models, llmId);
  const route = new Map(Object.entries(routes)).get(id.startsWith(ROUTE_PREFIX) ? id.slice(ROUTE_PREFIX.length) : '');
  const ids = route ?? [id || (defaults.chat ?? '')];
  const priced = new Map(Object.entries(prices));
  const known = ids.flatMap((one) => priced.get(one) ?? []);
  if (known.length === 0 || known.length < ids.length) return undefined;
  return {
    input: Math.max(...known.map(({ prompt }) => prompt)),
    output: Math.max(...known.map(({ completion }) => completion)),
  };
}

/** What people change of this run, as far as it can be read. */
function steersOf({ services: { steers }, run }: CallContext): Observable<readonly Steer[]> | undefined {
  return steers?.of(run).pipe(
    map((changes) =>
      changes.flatMap((change): Steer[] => {
        const { success, data } = storedSteerSchema.safeParse(change);
        return success ? [data] : [];
      }),
    ),
  );
}

function nodeEvents(event: ResearchEvent): Observable<NodeEvent> {
  switch (event.type) {
    case 'token':
      // A piece of text does not say to which section it belongs.
      return of(notice(RESEARCH_NOTICE, event as unknown as JsonObject), delta('content', event.content));
    case 'error':
      return EMPTY;
    case 'final': {
      const { report, sources, unanswered } = event;
      const outputs = { content: report, sources, unanswered, [RESEARCH_OUTPUT]: event } as unknown as JsonObject;
      const chunks = sources.map(({ n, id, text, source, url, document_id, dataset_id, score }) => [
        String(n),
        {
          ...{ id, content: text, document_id: document_id ?? id, document_name: source },
          ...{ dataset_id: dataset_id ?? null, url: url ?? null, similarity: score, positions: [], image_id: null },
        },
      ]);
      const ended = sources.length === 0 ? {} : { reference: { chunks: Object.fromEntries(chunks), doc_aggs: {} } };
      return from([notice('message-ended', { ...ended }), settled(outputs)]);
    }
    default:
      return of(notice(RESEARCH_NOTICE, event as unknown as JsonObject));
  }
}
