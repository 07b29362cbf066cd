/** Tools of this server that its clients may call without a canvas, such as over MCP. */
import { filter, type Observable } from 'rxjs';
import { z } from 'zod';
import { callContext } from '../agents/call-context.js';
import type { JsonObject } from '../json.js';
import { callTool, parametersSchema } from '../tools/call-tool.js';
import { everydayTools } from '../tools/index.js';
import type { AnyTool, Shape, ToolResult } from '../tools/tool.js';
import type { TraceContext } from '../trace-context.js';
import type { Services } from './services.js';

/** Where a call is made. */
export interface OfferedCall {
  readonly services: Services;
  /** Equal for every repetition of this call. */
  readonly key: string;
  readonly trace?: TraceContext;
  /** Milliseconds since 1970. */
  now(): number;
}

/** A tool as a client sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** Cold; emits the result once. Errors: those of `callTool`. */
  call(args: JsonObject, call: OfferedCall): Observable<ToolResult>;
}

/** Every one of them, sorted by name. */
export const offeredTools: readonly OfferedTool[] = everydayTools.map(offer);

function offer(tool: AnyTool): OfferedTool {
  const { name, component: title, summary, advice } = tool;
  return {
    name,
    title,
    description: advice === undefined ? summary : `${summary} ${advice}`,
    inputSchema: parametersSchema(tool.arguments as Shape),
    call: (args, { services, key, trace = {}, now }) => {
      const { source, random } = callContext({ services });
      const params = z.object({ ...(tool.params as Shape) }).parse({}) as never;
      return callTool(tool, args, { params, services, source, key, trace, now, random }).pipe(
        filter((event): event is ToolResult => event.type === 'result'),
      );
    },
  };
}
