"""Measures fast-graphrag as worker.mjs does the others: python fast_graphrag_worker.py <file> <url of the model server>; prints one line of JSON."""

import json
import sys
import tempfile
import time
import urllib.request

from fast_graphrag import GraphRAG, QueryParam
from fast_graphrag._llm import OpenAIEmbeddingService, OpenAILLMService
from fast_graphrag._utils import get_event_loop

SHOWN = 8


def main(file: str, url: str) -> None:
    with open(file, encoding="utf-8") as given:
        collection = json.load(given)
    documents, questions = collection["documents"], collection["questions"]
    with tempfile.TemporaryDirectory() as folder:
        graph = open_graph(folder, url, [question["text"] for question in questions[:5]])
        texts = [document["text"] for document in documents]
        ids = [{"id": document["id"]} for document in documents]
        _, index = phase(url, lambda: graph.insert(texts, metadata=ids, show_progress=False))
        found, ask = phase(url, lambda: find_all(graph, questions))
        before = contents(graph)
        # It has no call that deletes: what there is stays as it was.
        again = find_all(graph, [question for question in questions if question["id"] in collection["asked"]])
        after = {**contents(graph), "found": again}
        print(json.dumps({"index": index, "ask": ask, "found": found, "before": before, "after": after}))


def open_graph(folder: str, url: str, examples: list[str]) -> GraphRAG:
    config = GraphRAG.Config(
        llm_service=OpenAILLMService(model="scripted", base_url=url, api_key="none"),
        embedding_service=OpenAIEmbeddingService(base_url=url, api_key="none"),
    )
    return GraphRAG(
        working_dir=folder,
        domain="Names in short texts, and what they have to do with each other.",
        example_queries="\n".join(examples),
        entity_types=["Name", "Kind"],
        config=config,
    )


def find_all(graph: GraphRAG, questions: list[dict]) -> dict[str, list[str]]:
    return {question["id"]: find(graph, question["text"]) for question in questions}


def find(graph: GraphRAG, question: str) -> list[str]:
    """Ids of the passages that an answer would be written from; none where it answers that it knows nothing."""
    context = graph.query(question, QueryParam(only_context=True)).context
    return [chunk.metadata["id"] for chunk, _ in context.chunks[:SHOWN]]


def contents(graph: GraphRAG) -> dict[str, list]:
    """Names and pairs of the stored graph."""

    async def read() -> dict[str, list]:
        storage = graph.state_manager.graph_storage
        await graph.state_manager.query_start()
        nodes = [await storage.get_node_by_index(at) for at in range(await storage.node_count())]
        edges = [await storage.get_edge_by_index(at) for at in range(await storage.edge_count())]
        await graph.state_manager.query_done()
        return {"names": [node.name for node in nodes], "pairs": [[edge.source, edge.target] for edge in edges]}

    return get_event_loop().run_until_complete(read())


def phase(url: str, work):
    """The result of some work, and the time, calls and tokens that it took."""
    before, started = count(url), time.perf_counter()
    result = work()
    ms = (time.perf_counter() - started) * 1000
    return result, {"ms": ms, **{name: value - before[name] for name, value in count(url).items()}}


def count(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/count") as response:
        return json.load(response)


if __name__ == "__main__":
    main(*sys.argv[1:])
