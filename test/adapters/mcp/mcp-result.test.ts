import type { CallToolResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { mcpResult } from '../../../src/adapters/mcp/mcp-result.js';
import type { Files, StoredFile } from '../../../src/records/files.js';
import { failureOf } from '../egress/support/servers.js';

const PNG = Buffer.from('picture').toString('base64');

function keeping() {
  const kept: Omit<StoredFile, 'id'>[] = [];
  const files: Files = {
    read: async () => undefined,
    save: async (file) => {
      kept.push(file);
      return `id${kept.length}`;
    },
  };
  return { files, kept };
}

const resultOf = (content: unknown[], files?: Files, more: object = {}) =>
  mcpResult({ content, ...more } as CallToolResult, { files, secrets: [] });

describe('the result of a call', () => {
  it('joins texts, also those of resources, and names links', async () => {
    const { text } = await resultOf([
      { type: 'text', text: 'one' },
      { type: 'resource', resource: { uri: 'file:///x', mimeType: 'text/plain', text: 'two' } },
      { type: 'resource_link', uri: 'https://a.example/', name: 'A' },
    ]);
    expect(text).toBe('one\ntwo\nA: https://a.example/');
  });

  it('keeps pictures, sounds and other bytes as files under names of our own', async () => {
    const { files, kept } = keeping();
    const { text, artifacts } = await resultOf(
      [
        { type: 'text', text: 'look:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: PNG, mimeType: 'Audio/WAV; rate=1' },
        { type: 'resource', resource: { uri: 'x://../../etc/passwd', mimeType: 'application/pdf', blob: PNG } },
      ],
      files,
    );
    expect(kept).toMatchObject([
      { name: 'image-1.png', mimeType: 'image/png', bytes: Buffer.from('picture') },
      { name: 'audio-2.wav', mimeType: 'audio/wav' },
      { name: 'file-3.pdf', mimeType: 'application/pdf' },
    ]);
    const urlOf = (id: string, name: string) =>
      `/api/v1/agents/attachments/${id}/download?ext=${name.slice(-3)}&filename=${name}`;
    expect(artifacts?.map(({ url }) => url)).toEqual([
      urlOf('id1', 'image-1.png'),
      urlOf('id2', 'audio-2.wav'),
      urlOf('id3', 'file-3.pdf'),
    ]);
    expect(text.split('\n')[1]).toBe(`![image-1.png](${urlOf('id1', 'image-1.png')})`);
  });

  it.each([
    ['without a store', 'image/png', undefined],
    ['of a type that could be anything', 'application/x-msdownload', keeping().files],
    ['of a type that is a trap', '__proto__', keeping().files],
  ])('says what it leaves out %s', async (_, mimeType, files) => {
    const { text, artifacts } = await resultOf([{ type: 'image', data: PNG, mimeType }], files);
    expect(text).toMatch(/^\[image of 7 bytes, not kept: /);
    expect(artifacts).toBeUndefined();
  });

  it('keeps no more than twenty files', async () => {
    const { files, kept } = keeping();
    await resultOf(Array(30).fill({ type: 'image', data: PNG, mimeType: 'image/png' }), files);
    expect(kept).toHaveLength(20);
  });

  it('gives structured contents as an output, and as text where there is none', async () => {
    const structuredContent = { a: { b: [1] } };
    expect(await resultOf([], undefined, { structuredContent })).toMatchObject({
      text: '{"a":{"b":[1]}}',
      outputs: { structured: structuredContent },
    });
  });

  it('is a failure when the server says so', async () => {
    const failed = (content: unknown[]) => failureOf(resultOf(content, undefined, { isError: true }));
    expect(await failed([{ type: 'text', text: 'no such city' }])).toMatchObject({
      code: 'TOOL_FAILED',
      message: 'MCP server error: no such city',
    });
    expect(String(await failed([]))).toContain('it does not say why');
  });
});
