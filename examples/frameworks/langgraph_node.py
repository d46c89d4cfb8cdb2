"""LangGraph: a graph with a memory node, over any chat model of LangChain."""

import os

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph

import omoide
from omoide_frameworks.langgraph import memory_node

MODEL = os.environ.get("MODEL_URL", "http://localhost:11434/v1")
URL = os.environ.get("OMOIDE_URL", "http://127.0.0.1:8377")
KEY = os.environ.get("OMOIDE_SERVER_KEY", "")

model: BaseChatModel = ChatOpenAI(model="llama3.2", base_url=MODEL, api_key="none")

with omoide.connect(URL, key=KEY) as memory:
    graph = StateGraph(MessagesState)
    graph.add_node("talk", memory_node(memory, model))
    graph.add_edge(START, "talk")
    app = graph.compile()
    for thread, text in (
        ("monday", "I have a cat called Miso."),
        ("tuesday", "What is my cat called?"),
    ):
        config = {"configurable": {"user_id": "ana", "thread_id": thread}}
        state = app.invoke({"messages": [("user", text)]}, config)
        print(state["messages"][-1].content)
