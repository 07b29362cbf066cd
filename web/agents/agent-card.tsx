/** An agent as a card: what it is, how it ran last, and what can be done with it. */
import { Copy, Download, MoreHorizontal, Play, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { IconButton } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { Menu } from '../parts/menu.js';
import { MenuItem } from '../parts/menu-item.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './agent-card.module.css';
import { type AgentItem, duplicateAgent, exportAgent, useAgentsChanged } from './agent-data.js';
import { LastRun } from './last-run.js';

const texts = defineTexts({
  en: {
    published: 'published',
    draft: 'draft',
    run: 'Run',
    runAgent: (title: string) => `Run ${title}`,
    more: (title: string) => `More for ${title}`,
    duplicate: 'Duplicate',
    exportV1: 'Export for RAGFlow (version 1)',
    exportV2: 'Export as version 2',
    delete: 'Delete',
  },
  zh: {
    published: '已发布',
    draft: '草稿',
    run: '运行',
    runAgent: (title: string) => `运行 ${title}`,
    more: (title: string) => `${title} 的更多操作`,
    duplicate: '复制',
    exportV1: '导出为 RAGFlow 格式（版本 1）',
    exportV2: '导出为版本 2',
    delete: '删除',
  },
});

interface AgentCardProps {
  readonly agent: AgentItem;
  readonly onDelete: (agent: AgentItem) => void;
}

export function AgentCard({ agent, onDelete }: AgentCardProps) {
  const words = useTexts(texts);
  const { id, title, description, tags, release } = agent;
  const [error, setError] = useState<unknown>();
  const href = `#/agents/${encodeURIComponent(id)}`;
  return (
    <li className={style.card}>
      <div className={style.head}>
        <a href={href} className={style.title}>
          {title}
        </a>
        <AgentMenu agent={agent} onDelete={onDelete} onFailure={setError} />
      </div>
      {description !== null && description !== '' && <p className={style.description}>{description}</p>}
      <p className={style.marks}>
        <span className={release ? style.published : style.draft}>{release ? words.published : words.draft}</span>
        {tagsIn(tags).map((tag) => (
          <span key={tag} className={style.tag}>
            {tag}
          </span>
        ))}
      </p>
      {error !== undefined && <FailureLine error={error} />}
      <div className={style.foot}>
        <LastRun agent={id} />
        <a href={href} className={style.run} aria-label={words.runAgent(title)}>
          <Play size={14} aria-hidden="true" /> {words.run}
        </a>
      </div>
    </li>
  );
}

function AgentMenu({ agent, onDelete, onFailure }: AgentCardProps & { readonly onFailure: (error: unknown) => void }) {
  const words = useTexts(texts);
  const client = useClient();
  const changed = useAgentsChanged();
  const [, navigate] = useLocation();
  const duplicate = async () => {
    const id = await duplicateAgent(client, agent);
    changed();
    navigate(`/agents/${encodeURIComponent(id)}`);
  };
  return (
    <Menu
      opener={
        <IconButton label={words.more(agent.title)}>
          <MoreHorizontal size={18} aria-hidden="true" />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => void duplicate().catch(onFailure)}>
        <Copy size={15} aria-hidden="true" /> {words.duplicate}
      </MenuItem>
      {(['v1', 'v2'] as const).map((version) => (
        <MenuItem key={version} onSelect={() => void exportAgent(client, agent, version).catch(onFailure)}>
          <Download size={15} aria-hidden="true" /> {version === 'v1' ? words.exportV1 : words.exportV2}
        </MenuItem>
      ))}
      <MenuItem isDanger onSelect={() => onDelete(agent)}>
        <Trash2 size={15} aria-hidden="true" /> {words.delete}
      </MenuItem>
    </Menu>
  );
}

function tagsIn(tags: string): readonly string[] {
  return [...new Set(tags.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}
