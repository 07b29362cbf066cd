/** A list of things to do, which the model keeps. */
import { z } from 'zod';
import { defineTool } from '../../compose/tools/define-tool.js';
import type { ToolMessage } from '../../models/messages.js';
import { requireOptions, requireWhole } from '../../operators/invalid-option.js';
import { type Language, requireLanguage } from '../language.js';
import { type AgentMiddleware, defineMiddleware } from '../loop/middleware.js';
import { withInstructions } from './instructions.js';

/** How far a piece of work is. */
export type TodoStatus = 'pending' | 'in_progress' | 'completed';

/** A piece of work. */
export interface Todo {
  readonly content: string;
  readonly status: TodoStatus;
}

/** See {@link todos}. */
export interface TodosOptions {
  /** Unique among the middlewares of an agent. @default 'todos' */
  readonly name?: string;
  /** Of what the model is told. @default 'en' */
  readonly language?: Language;
  /** Entries of a list; more are refused. @default 50 */
  readonly maxTodos?: number;
}

/**
 * Gives the model a list of things to do: the tool `write_todos` replaces the list, which stands in the instructions of every further round and
 * survives a resume. Of several calls in one answer the last one counts. The event `todos` tells of each new list.
 *
 * @throws EngineError OPTION_INVALID
 */
export function todos(options: TodosOptions = {}): AgentMiddleware<readonly Todo[]> {
  requireOptions('todos', options, ['name', 'language', 'maxTodos']);
  const { name = 'todos', language = 'en', maxTodos = 50 } = options;
  requireLanguage('todos', language);
  requireWhole('todos', 'maxTodos', maxTodos, 1);
  const texts = TEXTS[language];
  const write = defineTool({
    name: TOOL,
    description: texts.tool,
    input: z.object({ todos: z.array(TODO).max(maxTodos) }),
    // The list reaches the hook beside the text, in a field that no model is sent.
    run: ({ todos: list }) => ({ text: texts.written(list.length), extra: { todos: list } }),
    output: (written) => written,
  });
  return defineMiddleware<readonly Todo[]>({
    name,
    initial: () => [],
    tools: [write],
    beforeModel: (request, { own }) =>
      withInstructions(
        request,
        own.length === 0 ? texts.use : `${texts.use}\n\n${texts.list}\n${own.map(lineOf).join('\n')}`,
      ),
    afterTools(results, view) {
      const list = results.flatMap(listOf).at(-1);
      if (list === undefined) return undefined;
      view.setOwn(list);
      view.emit('todos', { agent: view.agent, todos: list.map((todo) => ({ ...todo })) });
      return undefined;
    },
  });
}

const TOOL = 'write_todos';

const TODO = z.object({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) });

const TEXTS = {
  en: {
    tool: 'Replaces your list of things to do. Give the whole list each time, with the status of each entry.',
    use: 'For work of three or more steps keep a list with write_todos: write it before you begin, have one entry in progress at a time, and mark an entry as completed as soon as it is. For less, work without a list.',
    list: 'Your list of things to do:',
    written: (count: number) =>
      `The list is kept; it has ${count} ${count === 1 ? 'entry' : 'entries'}. Go on with the work.`,
  },
  zh: {
    tool: '替换你的待办列表。每次都要给出完整列表以及每一项的状态。',
    use: '对于三步或更多步骤的工作，请用 write_todos 维护一个列表：开始前写好，同一时间只有一项进行中，完成一项立即标记为完成。步骤更少时不需要列表。',
    list: '你的待办列表：',
    written: (count: number) => `列表已保存，共 ${count} 项。请继续工作。`,
  },
} as const;

const MARKS: Readonly<Record<TodoStatus, string>> = { pending: '[ ]', in_progress: '[~]', completed: '[x]' };

/** One line each, whatever the model writes. */
function lineOf({ content, status }: Todo): string {
  return `${MARKS[status]} ${content.replace(/\s+/g, ' ').trim()}`;
}

function listOf({ name, extra, isError }: ToolMessage): (readonly Todo[])[] {
  if (name !== TOOL || isError === true) return [];
  const read = z.array(TODO).safeParse(extra?.todos);
  return read.success ? [read.data] : [];
}
