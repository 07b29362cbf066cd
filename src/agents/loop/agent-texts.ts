/** What agents and teams say to models by themselves, in English and Chinese. */
import type { Language } from '../language.js';

/** Texts of one language. */
export interface AgentTexts {
  /** Offers a handoff to an agent. */
  handsOver(to: string, description: string): string;
  /** Results of the calls of an answer that hands over: of the handoff, and of others. */
  handedOver(to: string): string;
  readonly notCalled: string;
  /** The result of a call that gave none. */
  readonly noResult: string;
  /** Sends an answer back; `problem` is what its reader said. */
  repair(problem: string): string;
  /** Begins what another agent said. */
  context(agent: string): string;
  /** Of the calls of others. */
  called(tool: string, args: string): string;
  gave(tool: string, result: string): string;
  /** What a handoff gave, as others hear it. */
  aside(result: string): string;
  readonly aTool: string;
  readonly cut: string;
  /** What a request to an agent as a tool is. */
  readonly request: string;
  /** In place of an answer of a member of `parallelAgents`. */
  noAnswer(why: string): string;
  handedTo(agent: string): string;
  /** The tool that ends a loop, and its argument. */
  readonly exit: string;
  readonly exitAnswer: string;
}

/** By language. */
export const AGENT_TEXTS: Readonly<Record<Language, AgentTexts>> = {
  en: {
    handsOver: (to, description) => `Hands the conversation over to ${to}, which then answers. ${description}`.trim(),
    handedOver: (to) => `Handed over to ${to}.`,
    notCalled: 'Not called: the agent handed over.',
    noResult: 'The call gave no result.',
    repair: (problem) => `${problem} Answer again, with that form and nothing else.`,
    context: (agent) => `For context, from the agent "${agent}":`,
    called: (tool, args) => `(called ${tool} with ${args})`,
    gave: (tool, result) => `(${tool} gave: ${result})`,
    aside: (result) => `(${result})`,
    aTool: 'a tool',
    cut: '… (cut)',
    request: 'What it has to do, with everything that it needs to know.',
    noAnswer: (why) => `No answer: ${why}`,
    handedTo: (agent) => `it handed over to "${agent}"`,
    exit: 'Ends the work of the team, when nothing is left to be done. Its answer is what the user gets.',
    exitAnswer: 'The whole answer for the user.',
  },
  zh: {
    handsOver: (to, description) => `将对话移交给 ${to}，之后由它回答。${description}`,
    handedOver: (to) => `已移交给 ${to}。`,
    notCalled: '未调用：智能体已移交对话。',
    noResult: '该调用没有给出结果。',
    repair: (problem) => `你的回答不符合要求的格式：${problem} 请重新回答，只给出该格式的内容。`,
    context: (agent) => `供参考，以下来自智能体“${agent}”：`,
    called: (tool, args) => `（调用了 ${tool}，参数为 ${args}）`,
    gave: (tool, result) => `（${tool} 返回：${result}）`,
    aside: (result) => `（${result}）`,
    aTool: '某个工具',
    cut: '……（已截断）',
    request: '它要完成的工作，以及它需要知道的一切。',
    noAnswer: (why) => `没有回答：${why}`,
    handedTo: (agent) => `它将对话移交给了“${agent}”`,
    exit: '当没有剩余工作时，结束团队的工作。其中的答案就是用户得到的答复。',
    exitAnswer: '给用户的完整答案。',
  },
};
