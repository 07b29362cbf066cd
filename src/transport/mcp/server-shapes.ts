/** MCP servers as pickers show them. */
import { z } from 'zod';
import { anyObject, string } from '../shapes.js';

export const mcpServerShape = z.looseObject({
  id: string.describe('What documents write as `mcp_id`.'),
  status: z.enum(['ok', 'failed', 'late']).describe('`late`: it did not answer in time; asked again, it may have.'),
  error: string.optional().describe('Why it failed, or why its tools are left out.'),
  tools: z.array(
    z.looseObject({ name: string, description: string, parameters: anyObject.describe('A JSON Schema.') }),
  ),
});

/** An MCP server with its tools. */
export type ListedMcpServer = z.output<typeof mcpServerShape>;
