/** Names with candidates and the right answer: the id of the entity, or none. Hard on purpose, in both languages. */
import type { Candidate, NameInText } from '../../../src/knowledge/graph/names/disambiguate.js';

export interface HardName {
  readonly mention: NameInText;
  readonly candidates: readonly Candidate[];
  readonly answer: string | undefined;
}

const hard = (
  name: string,
  answer: string | undefined,
  candidates: readonly (string | Candidate)[],
  about?: string,
) => ({
  mention: { name, about },
  answer,
  candidates: candidates.map((one) => (typeof one === 'string' ? { id: one, name: one } : one)),
});

const described = (name: string, about: string, aliases: readonly string[] = []): Candidate => ({
  id: name,
  name,
  about,
  aliases,
});

export const HARD_NAMES: readonly HardName[] = [
  hard('neo4j', 'Neo4j', ['Neo4j', 'Milvus']),
  hard('Stream Chat Pipeline', 'StreamChatPipeline', ['StreamChatPipeline', 'Stream API']),
  hard('stream-chat-pipeline', 'StreamChatPipeline', ['StreamChatPipeline', 'ChatPipeline2']),
  hard(
    'SCP',
    'StreamChatPipeline',
    [described('StreamChatPipeline', 'the pipeline that streams chat answers in eight stages')],
    'SCP streams chat answers through eight stages',
  ),
  hard(
    'UN',
    'United Nations',
    [
      described('United Nations', 'an international organisation for peace'),
      described('Union', 'a workers organisation'),
    ],
    'The UN is an international organisation',
  ),
  hard(
    '北大',
    '北京大学',
    [described('北京大学', '位于北京的一所大学'), described('北方工业', '一家工业公司')],
    '北大是北京的大学',
  ),
  hard('資料庫', '资料库', ['资料库', '资料']),
  hard('Stage 2', undefined, ['Stage 3', 'Stage 1']),
  hard('Stage 3', 'stage 3', ['stage 3', 'Stage 2']),
  hard('GPT-4', undefined, ['GPT-4o', 'GPT-3.5']),
  hard('GPT4', 'GPT-4', ['GPT-4', 'GPT-4o']),
  hard(
    'Kubernets',
    'Kubernetes',
    [described('Kubernetes', 'orchestrates containers in a cluster')],
    'Kubernets orchestrates containers',
  ),
  hard(
    'PostgresSQL',
    'PostgreSQL',
    [described('PostgreSQL', 'a relational database')],
    'PostgresSQL is the relational database of the server',
  ),
  hard('Iran', undefined, [described('Iraq', 'a country in the Middle East')], 'Iran is a country in the Middle East'),
  hard('Michael Jackson', undefined, [described('Michael Johnson', 'an American sprinter'), 'Michael']),
  hard('Java', undefined, [described('JavaScript', 'a language of browsers')], 'Java runs on virtual machines'),
  hard('The Beatles', 'Beatles', ['Beatles', 'Beagles']),
  hard('Café Müller', 'Cafe Muller', ['Cafe Muller', 'Cafe Miller Berlin']),
  hard('Mercury (planet)', undefined, ['Mercury (element)', 'Mercury (god)']),
  hard('World War II', undefined, ['World War I', 'World War']),
  hard('World War I', 'World War I', ['World War I', 'World War II']),
  hard('Elastic Search', 'Elasticsearch', ['Elasticsearch', 'Elastic']),
  hard('RAG Flow', 'RAGFlow', ['RAGFlow', 'Flow']),
  hard('Redis Cluster', undefined, ['Redis', 'Cluster']),
  hard('Paris', undefined, ['Parma', 'Paros']),
  hard('Layer 1', undefined, ['Layer 2', 'L2']),
  hard('bge m3', 'bge-m3', ['bge-m3', 'bge-m2']),
  hard('BGE-Reranker', undefined, ['bge-m3', 'Reranker-v2']),
  hard('检索增强', undefined, ['检索排序', '图增强']),
  hard('知識圖譜', '知识图谱', ['知识图谱', '知识库']),
  hard('第二阶段', undefined, ['第三阶段', '第一阶段']),
  hard('node.js', 'Node.js', ['Node.js', 'Nest.js']),
  hard('Next.js', undefined, ['Nest.js', 'Nuxt.js']),
  hard(
    'Scot Derrickson',
    'Scott Derrickson',
    [described('Scott Derrickson', 'an American film director')],
    'Scot Derrickson is a film director',
  ),
  hard('Austria', undefined, [described('Australia', 'a country and continent')], 'Austria is a country in Europe'),
  hard(
    'WHO',
    'World Health Organization',
    [described('World Health Organization', 'an agency for public health')],
    'The WHO is the agency for public health',
  ),
  hard(
    'MIT',
    undefined,
    [described('Ministry of Interior', 'a ministry of the government')],
    'MIT is a university in Cambridge',
  ),
  hard('Open AI', 'OpenAI', ['OpenAI', 'Open API']),
  hard('清华', undefined, [described('清洁能源', '一种能源'), described('华为', '一家公司')], '清华是一所大学'),
  hard('Lang Chain', 'LangChain', ['LangChain', 'LangGraph']),
];
