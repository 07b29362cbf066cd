import type { Connection } from './connection.js';

/** Who hears what is told on a channel. */
export interface ChannelListener {
  /** A message that was told while there was a connection. */
  readonly heard: (message: string) => void;
  /** From now on nothing is missed, until the connection is lost: then it is called again. @default nothing */
  readonly listening?: () => void;
}

interface Channel {
  readonly listeners: Set<ChannelListener>;
  isConfirmed: boolean;
}

/** Channels of publish and subscribe over one connection: however many listen to a channel here, the server is asked once. */
export class Channels {
  readonly #connection: Connection;
  readonly #channels = new Map<string, Channel>();
  readonly #unconfirmed = new Set<Promise<unknown>>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.client.on('message', (name: string, message: string) => {
      for (const listener of [...(this.#channels.get(name)?.listeners ?? [])]) listener.heard(message);
    });
    connection.client.on('close', () => {
      for (const channel of this.#channels.values()) channel.isConfirmed = false;
    });
    connection.onReady(() => {
      for (const name of this.#channels.keys()) this.#subscribe(name);
    });
  }

  /** Listens until the function that it gives is called. */
  listen(name: string, listener: ChannelListener): () => void {
    const channel = this.#channels.get(name) ?? { listeners: new Set(), isConfirmed: false };
    const isFirst = channel.listeners.size === 0;
    channel.listeners.add(listener);
    this.#channels.set(name, channel);
    if (channel.isConfirmed) listener.listening?.();
    else if (isFirst && this.#connection.isReady) this.#subscribe(name);
    return () => this.#leave(name, channel, listener);
  }

  /** Resolves when the server has heard of every channel that is listened to here, or cannot be reached. */
  async settled(): Promise<void> {
    if (this.#unconfirmed.size > 0) await Promise.allSettled(this.#unconfirmed);
  }

  #subscribe(name: string): void {
    const asked = this.#connection.client.subscribe(name).then(
      () => this.#confirm(name),
      // Without a connection there is nothing to do: the next one asks again.
      () => {},
    );
    this.#unconfirmed.add(asked);
    void asked.finally(() => this.#unconfirmed.delete(asked));
  }

  #confirm(name: string): void {
    const channel = this.#channels.get(name);
    if (channel === undefined || !this.#connection.isReady) return;
    channel.isConfirmed = true;
    for (const listener of [...channel.listeners]) listener.listening?.();
  }

  #leave(name: string, channel: Channel, listener: ChannelListener): void {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    if (this.#connection.isReady) this.#connection.client.unsubscribe(name).catch(() => {});
  }
}
