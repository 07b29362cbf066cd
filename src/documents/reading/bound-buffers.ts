/** Largest buffer that a parser may make in a thread, in bytes: what one stream of a file unpacks to. */
export const MAX_BUFFER_BYTES = 16 * 1_048_576;

/**
 * Calls `exceeded` for a large buffer in the calling thread, before it is made: `pdf.js` unpacks streams into buffers that it doubles
 * without a bound, and they are not part of the heap that the thread's limit is about. As it also goes on after any error, `exceeded`
 * should end the thread.
 *
 * Replaces `Uint8Array` and `DecompressionStream` of the thread, so it is for threads that do nothing else.
 */
export function boundBuffers(exceeded: () => never, maxBytes = MAX_BUFFER_BYTES): void {
  const Native = globalThis.DecompressionStream;
  globalThis.DecompressionStream = class implements DecompressionStream {
    readonly readable: DecompressionStream['readable'];
    readonly writable: DecompressionStream['writable'];

    constructor(format: ConstructorParameters<typeof Native>[0]) {
      const native = new Native(format);
      let bytes = 0;
      this.writable = native.writable;
      this.readable = native.readable.pipeThrough(
        new TransformStream({
          transform(chunk: Uint8Array<ArrayBuffer>, controller) {
            bytes += chunk.byteLength;
            if (bytes > maxBytes) exceeded();
            controller.enqueue(chunk);
          },
        }),
      );
    }
  };
  globalThis.Uint8Array = new Proxy(globalThis.Uint8Array, {
    construct(target, values: unknown[], made) {
      const [length] = values;
      if (typeof length === 'number' && length > maxBytes) exceeded();
      return Reflect.construct(target, values, made === globalThis.Uint8Array ? target : made);
    },
  });
}
