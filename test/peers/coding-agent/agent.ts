import type { Agent } from 'parley-a2a/agents';
import agent from '../agent.ts';

/** The test agent with the streams of coding-agent-a2a: they stay open at an approval. */
const coding: Agent = { ...agent, questionsKeepStream: true };

export default coding;
