/** The spans of one research: its tasks, questions and searches, and of each question the reading and the check of what was read. */
import { type Context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { CallAttributes, CallEnd } from '../graph/node-events.js';
import type { Json, JsonObject } from '../json.js';
import { ResearchTally } from './research-tally.js';
import { ATTRIBUTE, type Moment, RESEARCH_ATTRIBUTE, shortened } from './span-attributes.js';

type Attributes = Record<string, string | number>;

/** Tasks and questions that may be open at once; further ones have no span of their own. */
const MAX_OPEN = 1_000;

/** A part of a research that has not ended; spent counts its calls and those within it. */
export interface ResearchPart {
  readonly span: Span;
  readonly context: Context;
  readonly around: ResearchPart | undefined;
  readonly startedAt: number;
  readonly spent: { calls: number; tokens: number; money: number | undefined };
}

/** A question at work, and what of it is: its reading, or the check of that. */
interface OpenQuestion {
  readonly part: ResearchPart;
  inner: ResearchPart | undefined;
  isChecked: boolean;
}

/** The node that researches. */
export interface ResearchingNode {
  readonly span: Span;
  readonly context: Context;
}

/**
 * Folds the events of a research, and the calls of its model, into spans within that of its node. None holds a text: no question, no answer, no source.
 *
 * A search has a span once it is over. A question begins when it is asked, also when it waits for others.
 */
export class ResearchSpans {
  readonly #tracer: Tracer;
  readonly #moment: Moment;
  readonly #node: ResearchingNode;
  readonly #tally = new ResearchTally();
  readonly #tasks = new Map<string, ResearchPart>();
  readonly #questions = new Map<string, OpenQuestion>();

  constructor(tracer: Tracer, moment: Moment, node: ResearchingNode) {
    this.#tracer = tracer;
    this.#moment = moment;
    this.#node = node;
  }

  told(event: JsonObject): void {
    this.#tally.told(event);
    switch (event.type) {
      case 'task_started':
        this.#taskStarted(event);
        return;
      case 'task_finished':
        this.#taskFinished(event);
        return;
      case 'question':
        this.#asked(event);
        return;
      case 'searched':
        this.#searched(event);
        return;
      case 'evidence':
        this.#reads(event);
        return;
      case 'finding':
        this.#found(event);
        return;
      case 'steered':
        this.#steered(event);
        return;
      case 'gap':
        this.#judged(event);
        return;
      default:
    }
  }

  /** Where a call of the model belongs; undefined: to the node. */
  partOf(attributes: CallAttributes | undefined): ResearchPart | undefined {
    const about = attributes?.[RESEARCH_ATTRIBUTE.about];
    if (typeof about !== 'string') return undefined;
    const question = this.#questions.get(about);
    if (question === undefined) return this.#around(about);
    const isCheck = attributes?.[RESEARCH_ATTRIBUTE.call] === 'research_verify';
    if (isCheck && !question.isChecked) this.#open(question, about, 'check');
    return question.inner ?? question.part;
  }

  /** A call of a part is over. */
  took(part: ResearchPart, { usage, attributes }: CallEnd): void {
    const tokens = usage === undefined ? 0 : usage.promptTokens + usage.completionTokens;
    const money = attributes?.[RESEARCH_ATTRIBUTE.money];
    for (let at: ResearchPart | undefined = part; at !== undefined; at = at.around) {
      at.spent.calls += 1;
      at.spent.tokens += tokens;
      if (typeof money === 'number') at.spent.money = (at.spent.money ?? 0) + money;
    }
  }

  /** The node settles with these outputs. */
  settled(outputs: JsonObject): void {
    this.#tally.settled(outputs);
    const { final } = this.#tally;
    if (final === undefined) return;
    const { outcome, sources, unsupported } = final;
    this.#node.span.setAttributes({
      [RESEARCH_ATTRIBUTE.outcome]: shortened(String(outcome)),
      [RESEARCH_ATTRIBUTE.sources]: lengthOf(sources),
      ...numbers({ [RESEARCH_ATTRIBUTE.unsupported]: unsupported }),
    });
  }

  /** Ends what is left, and writes what the research spent to its node. */
  end(): void {
    this.#stopAll();
    const { budget = {}, rounds } = this.#tally;
    const { tokens, calls, webRequests, money } = budget;
    this.#node.span.setAttributes({
      [RESEARCH_ATTRIBUTE.rounds]: rounds,
      ...numbers({
        [RESEARCH_ATTRIBUTE.tokens]: tokens,
        [RESEARCH_ATTRIBUTE.calls]: calls,
        [RESEARCH_ATTRIBUTE.webRequests]: webRequests,
        [RESEARCH_ATTRIBUTE.money]: money,
      }),
    });
  }

  #taskStarted({ task_id, tool }: JsonObject): void {
    const id = String(task_id);
    if (this.#tasks.size >= MAX_OPEN || this.#tasks.has(id)) return;
    const about = { [RESEARCH_ATTRIBUTE.task]: shortened(id), [RESEARCH_ATTRIBUTE.tool]: shortened(String(tool)) };
    this.#tasks.set(id, this.#start('task', about, undefined));
  }

  #taskFinished({ task_id, status }: JsonObject): void {
    const id = String(task_id);
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#tasks.delete(id);
    for (const question of this.#questions.keys()) if (question.startsWith(`${id}/`)) this.#stop(question);
    this.#end(task, { [RESEARCH_ATTRIBUTE.status]: shortened(String(status)) });
  }

  #asked({ id: given, parent, round }: JsonObject): void {
    const id = String(given);
    if (this.#questions.size >= MAX_OPEN || this.#questions.has(id)) return;
    const about = {
      [RESEARCH_ATTRIBUTE.question]: shortened(id),
      ...(typeof parent === 'string' && { [RESEARCH_ATTRIBUTE.parent]: shortened(parent) }),
      ...numbers({ [RESEARCH_ATTRIBUTE.round]: round }),
    };
    const part = this.#start('question', about, this.#around(id));
    this.#questions.set(id, { part, inner: undefined, isChecked: false });
  }

  #searched({ question, where, found, ms, unread }: JsonObject): void {
    const id = String(question);
    const around = this.#questions.get(id)?.part ?? this.#around(id);
    const about = {
      [RESEARCH_ATTRIBUTE.question]: shortened(id),
      [RESEARCH_ATTRIBUTE.where]: shortened(String(where)),
      ...numbers({ [RESEARCH_ATTRIBUTE.found]: found }),
      ...(unread !== undefined && { [RESEARCH_ATTRIBUTE.unread]: lengthOf(unread) }),
    };
    const { at } = this.#moment;
    const begun = typeof ms === 'number' ? at - Math.max(0, ms) : at;
    // The clock of the research has whole milliseconds.
    const search = this.#start('search', about, around, Math.max(begun, around?.startedAt ?? begun));
    search.span.end(at);
  }

  /** Each look at what was found is a reading. */
  #reads({ question: id, items }: JsonObject): void {
    const question = this.#questions.get(String(id));
    const texts = lengthOf(items);
    if (question !== undefined && texts > 0)
      this.#open(question, String(id), 'read', { [RESEARCH_ATTRIBUTE.texts]: texts });
  }

  #open(question: OpenQuestion, id: string, name: 'read' | 'check', own: Attributes = {}): void {
    if (question.inner !== undefined) this.#end(question.inner);
    const about = { [RESEARCH_ATTRIBUTE.question]: shortened(id), ...own };
    question.inner = this.#start(name, about, question.part);
    question.isChecked = name === 'check';
  }

  #found({ question: id, verdict, confidence, supported_by }: JsonObject): void {
    this.#close(String(id), {
      [RESEARCH_ATTRIBUTE.verdict]: shortened(String(verdict)),
      [RESEARCH_ATTRIBUTE.supports]: lengthOf(supported_by),
      ...numbers({ [RESEARCH_ATTRIBUTE.confidence]: confidence }),
    });
  }

  #steered({ action, question }: JsonObject): void {
    const about = { [RESEARCH_ATTRIBUTE.action]: shortened(String(action)) };
    this.#node.span.addEvent('research_steered', about, this.#moment.at);
    if (action === 'drop') this.#stop(String(question));
  }

  #judged({ action, missing }: JsonObject): void {
    const about = {
      [RESEARCH_ATTRIBUTE.action]: shortened(String(action)),
      [RESEARCH_ATTRIBUTE.missing]: lengthOf(missing),
    };
    this.#node.span.addEvent('research_gap', about, this.#moment.at);
    // A report follows; what is still open was cut off.
    if (action !== 'follow_up') this.#stopAll();
  }

  /** The task that the id of a question begins with, or that the id is of. */
  #around(id: string): ResearchPart | undefined {
    return this.#tasks.get(id.split('/', 1)[0] ?? '');
  }

  #start(
    name: 'task' | 'question' | 'search' | 'read' | 'check',
    attributes: Attributes,
    around: ResearchPart | undefined,
    startedAt = this.#moment.at,
  ): ResearchPart {
    const parent = around?.context ?? this.#node.context;
    const about = { kind: SpanKind.INTERNAL, startTime: startedAt, attributes };
    const span = this.#tracer.startSpan(`research ${name}`, about, parent);
    const spent = { calls: 0, tokens: 0, money: undefined };
    return { span, context: trace.setSpan(parent, span), around, startedAt, spent };
  }

  #end({ span, spent }: ResearchPart, attributes: Attributes = {}): void {
    const { calls, tokens, money } = spent;
    const sums = { [RESEARCH_ATTRIBUTE.calls]: calls, [RESEARCH_ATTRIBUTE.tokens]: tokens };
    span.setAttributes({ ...attributes, ...sums, ...(money !== undefined && { [RESEARCH_ATTRIBUTE.money]: money }) });
    span.end(this.#moment.at);
  }

  #close(id: string, attributes: Attributes): void {
    const question = this.#questions.get(id);
    if (question === undefined) return;
    this.#questions.delete(id);
    if (question.inner !== undefined) this.#end(question.inner);
    this.#end(question.part, attributes);
  }

  /** Ends the span of a question that has no finding. */
  #stop(id: string): void {
    const question = this.#questions.get(id);
    for (const part of [question?.inner, question?.part]) part?.span.setAttribute(ATTRIBUTE.isStopped, true);
    this.#close(id, {});
  }

  #stopAll(): void {
    for (const id of [...this.#questions.keys()]) this.#stop(id);
    for (const task of this.#tasks.values()) {
      task.span.setAttribute(ATTRIBUTE.isStopped, true);
      this.#end(task);
    }
    this.#tasks.clear();
  }
}

function lengthOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

/** Those of the attributes that are numbers. */
function numbers(given: Readonly<Record<string, Json | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
