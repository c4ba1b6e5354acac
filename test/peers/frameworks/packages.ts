import { pythonByUv } from '../install.ts';

/** What is installed for each framework, each in an environment of its own. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  adk: ['google-adk[a2a]'],
  pydantic: ['pydantic-ai-slim[openai,a2a]<2', 'uvicorn'],
  strands: ['strands-agents[a2a,openai]'],
  crewai: ['crewai[a2a]', 'uvicorn'],
  'agent-framework': ['agent-framework-a2a>=1.0.0b1', 'agent-framework-openai', 'a2a-sdk[http-server]', 'uvicorn'],
  langgraph: ['langgraph-api', 'langgraph-runtime-inmem', 'langchain-openai'],
};

export type FrameworkName = keyof typeof PACKAGES;

/** The Python of a framework's environment, or undefined where it can't be installed. */
export function frameworkPython(name: FrameworkName): string | undefined {
  return pythonByUv(`framework-${name}`, { packages: PACKAGES[name] ?? [] });
}
