import type { Connection } from './connection.js';

/** Receives what is published on a channel. */
export interface ChannelListener {
  /** A message that was published while there was a connection. */
  readonly received: (message: string) => void;
  /** From now on nothing is missed, until the connection is lost: then it is called again. @default nothing */
  readonly listening?: () => void;
}

interface Channel {
  readonly listeners: Set<ChannelListener>;
  isConfirmed: boolean;
}

/** How often a connection that only listens is tried; a dead one would be silent for ever. */
const TRIED_EVERY_MS = 5_000;

/** Channels of publish and subscribe over one connection: however many listen to a channel here, the server is asked once. */
export class Channels {
  readonly #connection: Connection;
  readonly #channels = new Map<string, Channel>();
  readonly #settling = new Set<() => void>();
  #trial: NodeJS.Timeout | undefined = undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.client.on('message', (name: string, message: string) => {
      for (const listener of [...(this.#channels.get(name)?.listeners ?? [])]) listener.received(message);
    });
    connection.client.on('close', () => {
      for (const channel of this.#channels.values()) channel.isConfirmed = false;
      this.#settle();
    });
    connection.onReady(() => {
      for (const [name, channel] of this.#channels) this.#subscribe(name, channel);
    });
  }

  /** Listens until the function that it gives is called. */
  listen(name: string, listener: ChannelListener): () => void {
    const channel = this.#channels.get(name) ?? { listeners: new Set(), isConfirmed: false };
    const isFirst = channel.listeners.size === 0;
    channel.listeners.add(listener);
    this.#channels.set(name, channel);
    this.#trial ??= setInterval(() => this.#try(), TRIED_EVERY_MS);
    if (channel.isConfirmed) listener.listening?.();
    else if (isFirst && this.#connection.isReady) this.#subscribe(name, channel);
    return () => this.#leave(name, channel, listener);
  }

  /** Resolves when the server has confirmed every channel that is listened to here, or asking it has failed. */
  settled(): Promise<void> {
    if (this.#isSettled || !this.#connection.isTrying) return Promise.resolve();
    return new Promise((resolve) => this.#settling.add(resolve));
  }

  /** Forgets every listener. */
  close(): void {
    this.#channels.clear();
    this.#stopTrying();
    this.#settle();
  }

  get #isSettled(): boolean {
    for (const { isConfirmed } of this.#channels.values()) if (!isConfirmed) return false;
    return true;
  }

  #settle(): void {
    for (const resolve of this.#settling) resolve();
    this.#settling.clear();
  }

  #subscribe(name: string, channel: Channel): void {
    this.#connection.client.subscribe(name).then(
      () => this.#confirm(name, channel),
      (error: unknown) => {
        // Without a connection there is nothing to report: the next one asks again.
        if (this.#connection.isReady) this.#connection.warn(error, `the channel "${name}" cannot be listened to`);
        this.#settle();
      },
    );
  }

  #confirm(name: string, channel: Channel): void {
    if (this.#channels.get(name) !== channel || !this.#connection.isReady) return;
    channel.isConfirmed = true;
    for (const listener of [...channel.listeners]) listener.listening?.();
    if (this.#isSettled) this.#settle();
  }

  #leave(name: string, channel: Channel, listener: ChannelListener): void {
    if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) this.#stopTrying();
    if (this.#isSettled) this.#settle();
    if (this.#connection.isReady) this.#connection.client.unsubscribe(name).catch(() => {});
  }

  #try(): void {
    // No answer in time ends the connection, and the next one asks for the channels again.
    if (this.#connection.isReady) this.#connection.client.ping().catch(() => {});
  }

  #stopTrying(): void {
    clearInterval(this.#trial);
    this.#trial = undefined;
  }
}
