/** Calls of tools that a research makes, told to its run from their beginning to their end. */
import { defer, filter, type Observable, tap } from 'rxjs';
import { z } from 'zod';
import type { CallContext } from '../../agents/call-context.js';
import { toEngineError } from '../../errors.js';
import { callFinished, callStarted, type NodeEvent } from '../../graph/node-events.js';
import type { JsonObject } from '../../json.js';
import { keyOf } from '../../research/calls/ask-call.js';
import { callTool } from '../../tools/call-tool.js';
import type { AnyTool, Shape, ToolEvent, ToolResult } from '../../tools/tool.js';
import { toolCallOf } from '../tool-component.js';
import { createTextReader } from '../values/text-reader.js';

/** Told the run of what happens. */
export type Report = (event: NodeEvent) => void;

/** Makes a call under an id of its own; emits its result once. Errors: those of the work */
export function reportedCall<T extends ToolEvent>(
  name: string,
  { random }: Pick<CallContext, 'random'>,
  report: Report,
  work: (id: string) => Observable<T>,
): Observable<T & ToolResult> {
  return defer(() => {
    const id = `${name}-${random().toString(36).slice(2, 10)}`;
    report(callStarted({ id, kind: 'tool', name }));
    return work(id).pipe(
      filter((event): event is T & ToolResult => event.type === 'result'),
      tap({
        next: () => report(callFinished({ id })),
        error: (error: unknown) => report(callFinished({ id, error: toEngineError(error, 'TOOL_FAILED') })),
      }),
    );
  });
}

/** Calls a tool of the package. @param params as a document would set them; what they leave out has its default */
export function calledTool(
  tool: AnyTool,
  args: JsonObject,
  context: CallContext,
  report: Report,
  params: JsonObject = {},
): Observable<ToolResult> {
  return reportedCall(tool.name, context, report, (id) => {
    const own = z.object({ ...(tool.params as Shape) }).parse(params) as JsonObject;
    const call = toolCallOf(tool, own, context, createTextReader(context));
    const key = `${context.token}/${keyOf(tool.name, args)}`;
    return callTool(tool, args, { ...call, key, trace: context.trace(id) }).pipe(
      tap((event) => event.type === 'usage' && report(event)),
    );
  });
}
