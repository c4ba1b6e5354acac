"""A graph with the fake model. The fake model follows orders only where an agent has a tool."""
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph

from serve import MODEL, note

model = ChatOpenAI(model='fake-model', base_url=f'{MODEL}/v1', api_key='fake', max_retries=0).bind_tools([note])


async def answer(state: MessagesState):
    return {'messages': [await model.ainvoke(state['messages'])]}


graph = StateGraph(MessagesState).add_node('answer', answer).add_edge(START, 'answer').add_edge('answer', END).compile()
