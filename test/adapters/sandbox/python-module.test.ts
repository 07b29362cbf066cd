import { expect, it } from 'vitest';
import { webAssembly } from '../../../src/adapters/sandbox/embedded/messages.js';
import { capMemory } from '../../../src/adapters/sandbox/embedded/modules.js';

const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** Exports memory 0 as `m`. */
const EXPORT = [7, 5, 1, 1, 0x6d, 2, 0];
const CUSTOM = [0, 3, 1, 0x78, 5];

const moduleOf = (...sections: number[][]): Uint8Array => new Uint8Array([...HEADER, ...sections.flat()]);

it.each([
  ['no maximum', moduleOf([5, 3, 1, 0, 2], EXPORT)],
  ['a maximum of its own', moduleOf([5, 4, 1, 1, 2, 100], EXPORT)],
  ['sections around it', moduleOf(CUSTOM, [5, 3, 1, 0, 2], EXPORT, CUSTOM)],
  ['a long minimum', moduleOf([5, 4, 1, 0, 0x82, 0x00], EXPORT)],
])('bounds the memory of a module with %s', async (_what, wasm) => {
  const compiled = await webAssembly.compile(capMemory(wasm, 300 * 65_536 + 5));
  const { exports } = await webAssembly.instantiate(compiled, {});
  const memory = exports.m as { readonly buffer: ArrayBuffer; grow(pages: number): number };

  expect(memory.buffer.byteLength).toBe(2 * 65_536);
  expect(memory.grow(298)).toBe(2);
  expect(() => memory.grow(1)).toThrow(RangeError);
});

it('refuses a module that needs more, or has no memory', () => {
  expect(() => capMemory(moduleOf([5, 3, 1, 0, 2]), 65_536)).toThrow('needs 2 pages, of at most 1');
  expect(() => capMemory(moduleOf(CUSTOM), 65_536)).toThrow('has no memory of its own');
});
