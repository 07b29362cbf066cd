/** What an agent tells its model, in our own words. */

/** Said when no further tools may be called. */
export function outOfBudget(reason: string): string {
  return `${reason} No more tools can be called now. Answer with what you know so far, and say what is missing.`;
}

/** Behind the result of a call that repeats the one before. */
export const SAME_CALL =
  '(This is the result of the same call as before. Calling it again gives nothing new; go on with what you have.)';

/** The result of a tool that gave nothing. */
export const NO_RESULT = 'The tool gave no result.';

/** The result of a call that a person did not allow. */
export function declined(reason: string): string {
  return reason === '' ? 'The user declined this call.' : `The user declined this call: ${reason}`;
}

/** The question to an inner agent. */
export function taskText({ user_prompt: query, reasoning, context }: TaskArguments): string {
  if (reasoning === '' && context === '') return query;
  const part = (title: string, text: string) => (text === '' ? [] : [`${title}:\n${text}`]);
  return [...part('REASONING', reasoning), ...part('CONTEXT', context), ...part('QUERY', query)].join('\n\n');
}

/** What an outer agent passes to an inner one. */
export interface TaskArguments {
  readonly user_prompt: string;
  readonly reasoning: string;
  readonly context: string;
}
