/**
 * What is used of the libraries `@modelcontextprotocol/server` and `@modelcontextprotocol/node`. The build puts it into this file: with `hono`, which
 * they bring, they take 10 MB, of which this is a tenth.
 */
export { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
export {
  type CallToolResult,
  createMcpHandler,
  type ListToolsResult,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
