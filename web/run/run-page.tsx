/** `#/agents/{id}` and what lies below it: an agent's canvas, and running it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useLocation } from 'wouter';
import { readDocument } from '../../src/dsl/read.js';
import { askForTypes } from '../canvas/catalogue.js';
import { EmptyNote, ErrorNote, LoadingNote } from '../parts/notes.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import type { AgentDetail } from './agent-detail.js';
import { agentPath } from './paths.js';
import { readAddress } from './place.js';
import { RunScreen } from './run-screen.js';

const texts = defineTexts({
  en: { nowhere: 'This address names no agent.' },
  zh: { nowhere: '此地址没有指向任何智能体。' },
});

export function RunPage() {
  const [path] = useLocation();
  const words = useTexts(texts);
  const address = readAddress(path);
  if (address === undefined) return <EmptyNote title={words.nowhere} />;
  return <AgentLoader key={address.agent} agent={address.agent} />;
}

function AgentLoader({ agent }: { readonly agent: string }) {
  const client = useClient();
  const queries = useQueryClient();
  useEffect(() => askForTypes(queries, client), [queries, client]);
  const { data, error, refetch } = useQuery({
    queryKey: ['agent', agent],
    queryFn: ({ signal }) => client.call<AgentDetail>(agentPath(agent), { signal }),
    // What is on the screen while its user works is not replaced.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const document = useMemo(() => (data === undefined ? undefined : readDocument(data.dsl).document), [data]);
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <LoadingNote />;
  return <RunScreen agent={data} document={document} />;
}
