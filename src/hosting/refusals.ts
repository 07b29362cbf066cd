/** Refusals in the words that RAGFlow's clients match on. */
import { EngineError } from '../errors.js';

/** The agent does not exist, or is not the caller's: the answer is the same, so that a caller cannot find out which. */
export const noAgent = () => new EngineError('FORBIDDEN', NO_AGENT);

const NO_AGENT = 'Make sure you have permission to access the agent.';

/** Whether an error is {@link noAgent}. */
export const isNoAgent = (error: unknown): boolean => EngineError.is(error) && error.message === NO_AGENT;

/** The text of the same refusal where no client of RAGFlow reads it. */
export const noSuchAgent = (id: string): string =>
  `There is no agent ${JSON.stringify(id)}, or the key does not open it.`;

/** The same for reading one, where RAGFlow answers differently. */
export const noCanvas = () => new EngineError('NOT_FOUND', 'canvas not found.');

export const notOwner = () =>
  new EngineError('FORBIDDEN', 'Only the owner of the agent is authorized for this operation.');

export const noSession = () => new EngineError('NOT_FOUND', 'Session not found!');

export const foreignSession = () => new EngineError('FORBIDDEN', 'Session does not belong to the requested agent.');

export const notWaiting = () => new EngineError('NOT_FOUND', 'The session does not wait for input.');

export const noRun = () => new EngineError('NOT_FOUND', 'Run not found.');

export const foreignRun = () => new EngineError('FORBIDDEN', 'Run does not belong to the requested agent.');

/** Going back in a conversation would lose the messages since. */
export const wentOn = (run: string) =>
  new EngineError('CONFLICT', `The session has gone on since run ${run}; fork that run instead.`);

export const stillRunning = (run: string) =>
  new EngineError('CONFLICT', `Run ${run} is at work; stop it, and delete it when it has ended.`);

export const noVersion = () => new EngineError('NOT_FOUND', 'Version not found.');

export const nothingPublished = () => new EngineError('NOT_FOUND', 'No available published version');

/** An argument that is missing or wrong. */
export const badArgument = (message: string) => new EngineError('BAD_REQUEST', message);

/** Another process has recovered the run, and writes it from now on. */
export const claimedElsewhere = (run: string) =>
  new EngineError('CONFLICT', `Run "${run}" was claimed by another process.`);
