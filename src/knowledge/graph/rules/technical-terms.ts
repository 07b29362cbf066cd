/** Technical terms that are names wherever they stand, with their types and what they are called otherwise. */

/** A term of the dictionary, or one of a user's. */
export interface TechnicalTerm {
  readonly name: string;
  readonly type: string;
  readonly aliases?: readonly string[];
}

type Row = readonly [name: string, ...aliases: string[]];

const TECHNOLOGIES: readonly Row[] = [
  ['StreamChatPipeline', 'SCP'],
  ['GraphRAG'],
  ['DeepSearch'],
  ['RAG', 'retrieval-augmented generation', '检索增强生成'],
  ['MCP', 'Model Context Protocol', '模型上下文协议'],
  ['RAPTOR'],
  ['HyDE'],
  ['BM25'],
  ['RRF', 'reciprocal rank fusion', '倒数排名融合'],
  ['SSE', 'server-sent events'],
  ['WebSocket'],
  ['WebAssembly', 'WASM'],
  ['OAuth'],
  ['OpenTelemetry', 'OTel'],
  ['TypeScript'],
  ['JavaScript'],
  ['Python'],
  ['GraphQL'],
  ['gRPC'],
];

const STORAGES: readonly Row[] = [
  ['Neo4j'],
  ['Milvus'],
  ['pgvector'],
  ['Redis'],
  ['S3', 'Amazon S3'],
  ['MinIO'],
  ['PostgreSQL', 'Postgres'],
  ['MySQL'],
  ['MariaDB'],
  ['SQLite'],
  ['MongoDB'],
  ['Elasticsearch'],
  ['OpenSearch'],
  ['Qdrant'],
  ['Weaviate'],
  ['FAISS'],
];

const FRAMEWORKS: readonly Row[] = [
  ['LangChain'],
  ['LangGraph'],
  ['LlamaIndex'],
  ['LightRAG'],
  ['RAGFlow'],
  ['FastAPI'],
  ['Next.js'],
  ['React'],
  ['RxJS'],
  ['Koa'],
  ['Node.js', 'NodeJS'],
  ['PyTorch'],
  ['TensorFlow'],
  ['Fusion'],
];

const MODELS: readonly Row[] = [
  ['GLM-4'],
  ['GPT-4'],
  ['GPT-4o'],
  ['Qwen', '通义千问'],
  ['DeepSeek'],
  ['Llama'],
  ['bge-m3'],
  ['BGE-Reranker'],
  ['MiniLM'],
  ['BERT'],
  ['LLM', 'large language model', '大语言模型', '大模型'],
];

const TOOLS: readonly Row[] = [
  ['Docker'],
  ['Kubernetes', 'K8s'],
  ['Tika', 'Apache Tika'],
  ['networkx'],
  ['graphology'],
  ['Caddy'],
  ['Nginx'],
  ['Prometheus'],
  ['Grafana'],
  ['Kafka', 'Apache Kafka'],
  ['Git'],
];

const METRICS: readonly Row[] = [['nDCG'], ['MRR'], ['MAP'], ['F1'], ['QPS'], ['TTFT', 'time to first token']];

const CONCEPTS: readonly Row[] = [
  ['knowledge graph', '知识图谱'],
  ['vector database', '向量数据库'],
  ['entity disambiguation', '实体消歧'],
  ['community detection', '社区检测'],
];

/** The dictionary. */
export const TECHNICAL_TERMS: readonly TechnicalTerm[] = Object.entries({
  technology: TECHNOLOGIES,
  storage: STORAGES,
  framework: FRAMEWORKS,
  model: MODELS,
  tool: TOOLS,
  metric: METRICS,
  concept: CONCEPTS,
}).flatMap(([type, rows]) => rows.map(([name, ...aliases]) => ({ name, type, aliases })));
