/** Asking: in the conversation that is shown, or, when an earlier question is asked differently, in one of its own. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Conversation } from '../run/conversation.js';
import type { ChatServer } from './chat-server.js';

export interface Asking {
  /** Gives whether the server has taken the question; then the address is that of its run. */
  readonly ask: (question: string) => Promise<boolean>;
  /** The run whose question is asked differently with the next one. */
  readonly edited: string | undefined;
  readonly edit: (run: string | undefined) => void;
  /** That conversation is being made. */
  readonly isForking: boolean;
  /** Why no conversation of its own could be made. */
  readonly error: unknown;
}

export interface AskOptions {
  /** The query of the address, which goes along. */
  readonly query: string;
  readonly fork: ChatServer['fork'];
}

export function useAsk(conversation: Conversation, { query, fork }: AskOptions): Asking {
  const [edited, setEdited] = useState<string>();
  const [isForking, setIsForking] = useState(false);
  const [error, setError] = useState<unknown>();
  const queries = useQueryClient();
  const go = useGo(query);
  const edit = useCallback((run: string | undefined) => {
    setEdited(run);
    setError(undefined);
  }, []);
  /** The conversation of its own, once it is shown. */
  const forked = async (run: string, question: string): Promise<string | undefined> => {
    setIsForking(true);
    try {
      const session = await fork(run, question);
      edit(undefined);
      await conversation.show({ session });
      return conversation.state.session === session ? session : undefined;
    } catch (failure) {
      setError(failure);
      return undefined;
    } finally {
      setIsForking(false);
    }
  };
  const ask = async (question: string) => {
    const session = edited === undefined ? undefined : await forked(edited, question);
    // Without its own conversation it would be asked in the wrong one.
    if (edited !== undefined && session === undefined) return false;
    const run = await conversation.send({ query: question });
    void queries.invalidateQueries({ queryKey: ['chats'] });
    if (run !== undefined) go(`runs/${encodeURIComponent(run)}`);
    else if (session !== undefined) go(`sessions/${encodeURIComponent(session)}`);
    return run !== undefined;
  };
  return { ask, edited, edit, isForking, error };
}

/** Goes to a place of the chat, unless the user went elsewhere meanwhile. */
function useGo(query: string): (place: string) => void {
  const [, navigate] = useLocation();
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return (place) => {
    if (isHere.current) navigate(`/chat/${place}${query === '' ? '' : `?${query}`}`);
  };
}
