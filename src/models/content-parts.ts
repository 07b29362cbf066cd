/** The parts that messages are made of, in questions and in answers. All of them are plain JSON. */
import type { Json, JsonObject } from '../json.js';
import { requireList } from '../operators/invalid-option.js';

/** What every part may carry for its provider or its reader; nothing of it is sent unless a provider knows it. */
export interface PartExtra {
  /** Facts that no other field holds. @default none */
  readonly extra?: JsonObject;
}

/**
 * Where the bytes of an image, a sound, a video or a file are: behind a URL (`https:` or `data:…;base64,…`), here in base64, or stored at the
 * provider under an id of its own.
 */
export type MediaSource =
  | { readonly url: string; readonly mimeType?: string }
  | { readonly data: string; readonly mimeType: string }
  | { readonly fileId: string; readonly mimeType?: string };

/** A text. */
export interface TextPart extends PartExtra {
  readonly type: 'text';
  readonly text: string;
  /** Where an answer has its facts from, in the provider's words. @default none */
  readonly citations?: readonly Json[];
}

/** An image by URL, in the short form; {@link ImagePart} says more. */
export interface ImageUrlPart {
  readonly type: 'image_url';
  readonly url: string;
}

/** An image. */
export type ImagePart = MediaSource &
  PartExtra & {
    readonly type: 'image';
    /** How closely a model looks at it. @default the provider's */
    readonly detail?: 'auto' | 'low' | 'high';
  };

/** A sound. Of an answer that is spoken while it is made, pieces of `data` follow one another. */
export type AudioPart = MediaSource &
  PartExtra & {
    readonly type: 'audio';
    /** The provider's id of a spoken answer, by which a later request may refer to it. */
    readonly id?: string;
    /** What is said. */
    readonly transcript?: string;
  };

/** A video. */
export type VideoPart = MediaSource & PartExtra & { readonly type: 'video' };

/** Any other file, such as a PDF. */
export type FilePart = MediaSource &
  PartExtra & {
    readonly type: 'file';
    /** Its name, with the ending. */
    readonly name?: string;
  };

/** A part with bytes. */
export type MediaPart = ImageUrlPart | ImagePart | AudioPart | VideoPart | FilePart;

/** What a model thought before it answered. */
export interface ReasoningPart extends PartExtra {
  readonly type: 'reasoning';
  /** The thoughts, or a summary of them; empty when the provider hides them. */
  readonly text: string;
  /** The provider's proof, or the thoughts encrypted: some models want it back with the results of their tool calls. */
  readonly signature?: string;
  /** The provider's id of it. */
  readonly id?: string;
  /** The provider hides these thoughts; `signature` has them, encrypted. @default false */
  readonly isRedacted?: boolean;
}

/** A call of a tool that a model asks for; `arguments` is JSON text as the model wrote it, not yet checked. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** The provider's word for the kind of call. @default 'function' */
  readonly kind?: string;
  /** Facts that the provider wants back with the result. @default none */
  readonly extra?: JsonObject;
}

/** A {@link ToolCall} at its place among the parts of an answer. */
export interface ToolCallPart extends ToolCall {
  readonly type: 'tool-call';
}

/** The name of a deferred tool that a search found: a provider that knows it describes the tool to the model from there on. */
export interface ToolReferencePart extends PartExtra {
  readonly type: 'tool-reference';
  readonly name: string;
}

/** A piece of what a tool gave. */
export type ToolOutputPart = TextPart | MediaPart | ToolReferencePart;

/** What a tool gave, for a message of a user that carries several results; alone it is a message of the role `tool`. */
export interface ToolResultPart extends PartExtra {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  /** The tool. */
  readonly name?: string;
  readonly content: string | readonly ToolOutputPart[];
  /** Whether `content` says why the tool failed. @default false */
  readonly isError?: boolean;
}

/** A call of a tool that the provider runs itself, such as its search of the web. */
export interface ServerToolCallPart extends PartExtra {
  readonly type: 'server-tool-call';
  readonly id: string;
  readonly name: string;
  /** In the provider's words. */
  readonly arguments: Json;
}

/** What a tool gave that the provider ran itself. */
export interface ServerToolResultPart extends PartExtra {
  readonly type: 'server-tool-result';
  /** Id of the {@link ServerToolCallPart}. */
  readonly callId: string;
  readonly name: string;
  /** In the provider's words. */
  readonly content: Json;
}

/** A tool of an MCP server. */
export interface McpListedTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema of an object. */
  readonly parameters?: JsonObject;
}

/** The tools of an MCP server that the provider asked for them. */
export interface McpListPart extends PartExtra {
  readonly type: 'mcp-list';
  readonly id?: string;
  /** The name of the server in the request. */
  readonly server: string;
  readonly tools: readonly McpListedTool[];
  /** Why the server gave no list. */
  readonly error?: string;
}

/** A call of an MCP server's tool that the provider makes itself. */
export interface McpCallPart extends PartExtra {
  readonly type: 'mcp-call';
  readonly id: string;
  readonly server: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Id of the {@link McpApprovalRequestPart} that was answered before. */
  readonly approvalRequestId?: string;
}

/** What an MCP server's tool gave. */
export interface McpResultPart extends PartExtra {
  readonly type: 'mcp-result';
  /** Id of the {@link McpCallPart}. */
  readonly callId: string;
  readonly server?: string;
  readonly name?: string;
  /** Text, or what the server gave in the provider's words. */
  readonly content: Json;
  /** Why the tool failed. */
  readonly error?: string;
}

/** The provider asks a person before it calls an MCP server's tool. */
export interface McpApprovalRequestPart extends PartExtra {
  readonly type: 'mcp-approval-request';
  readonly id: string;
  readonly server: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** A person's answer to a {@link McpApprovalRequestPart}. */
export interface McpApprovalPart extends PartExtra {
  readonly type: 'mcp-approval';
  readonly requestId: string;
  readonly isApproved: boolean;
  /** For the model. */
  readonly reason?: string;
}

/** A part of a message that goes to a model. */
export type ContentPart = TextPart | MediaPart | ToolResultPart | McpApprovalPart;

/** A part of an answer of a model. */
export type AssistantPart =
  | TextPart
  | ReasoningPart
  | ImagePart
  | AudioPart
  | VideoPart
  | FilePart
  | ToolCallPart
  | ServerToolCallPart
  | ServerToolResultPart
  | McpListPart
  | McpCallPart
  | McpResultPart
  | McpApprovalRequestPart;

/** The text of a message's content, its text parts joined by line ends; everything else is left out. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  requireList('contentText', 'content', content, 'a text or a list of parts');
  return content
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
}
